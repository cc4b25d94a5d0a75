"""Records as Python objects: a loop that reads offset, timestamp, key and value of each."""

import pytest

import recordpress
from bench.answers import same_records
from bench.corpus import CODECS, SETS
from bench.peers.records import AIOKAFKA, KAFKA_PYTHON, Peer, visit
from bench.race import ROUNDS, Cell, Contender


def _ours(data: bytes):
    for batch in recordpress.read_batches(data):
        if not batch.is_valid():
            raise ValueError("recordpress finds a wrong CRC")
        yield batch


@pytest.mark.parametrize("codec", CODECS)
def bench_iterate(race, own_process, codec):
    """5,000 log lines; the limit is the smallest object that CPython can give, one alive at a time."""
    records = SETS["apache5000"]
    data = records.batch(codec)
    ceiling = records.ceiling()

    def ours() -> None:
        for batch in _ours(data):
            visit(batch)

    def peer(of: Peer, rounds: int = ROUNDS) -> Contender:
        def check() -> None:
            same_records((record for batch in of.batches(data) for record in batch), records)

        return own_process(of.name, of, "decode", data, check=check, rounds=rounds)

    def long_lived(of: Peer, rounds: int = ROUNDS) -> Contender:
        return own_process(f"{of.name} long-lived", of, "decode", data, long_lived=True, rounds=rounds)

    race(
        Cell("records as objects", records.name, codec, records.count, records.size),
        ours,
        Contender("limit", lambda: visit(ceiling.records(data)), lambda: same_records(ceiling.records(data), records)),
        long_lived(AIOKAFKA),
        peer(AIOKAFKA),
        long_lived(KAFKA_PYTHON, rounds=3),
        peer(KAFKA_PYTHON, rounds=3),
        check=lambda: same_records((record for batch in _ours(data) for record in batch), records),
    )
