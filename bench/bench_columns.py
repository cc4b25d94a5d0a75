"""Record sets to columns: CRC checked, decompressed, parsed, gathered; the result is handed out and dropped."""

import mmap
from pathlib import Path

import pytest

import recordpress
from bench.answers import COLUMNS, equal, same_columns, told
from bench.corpus import CODECS, SETS, RecordSet
from bench.peers.records import AIOKAFKA, KAFKA_PYTHON, Peer
from bench.race import ROUNDS, Cell, Contender


def _limit(
    records: RecordSet,
    data: bytes,
    batches: int = 1,
    columns_of: int | None = None,
    views: bool = False,
    name: str = "limit",
) -> Contender:
    """The ceiling, whose columns hold `columns_of` of the batches (all of them if it is not given)."""
    ceiling = records.ceilings(columns_of or batches)
    return Contender(
        name,
        lambda: ceiling().decode(data, views),
        lambda: equal(ceiling().decode(data, views), records.count * batches, "record count"),
    )


def _peer(
    own_process, peer: Peer, records: RecordSet, data: bytes, batches: int = 1, rounds: int = ROUNDS
) -> Contender:
    def check() -> None:
        found = [record.value for batch in peer.batches(data) for record in batch]
        equal(found, records.values * batches, f"values of {peer.name}")

    return own_process(peer.name, peer, "decode", data, check=check, rounds=rounds)


def _both(
    own_process, peer: Peer, records: RecordSet, data: bytes, batches: int = 1, rounds: int = ROUNDS
) -> list[Contender]:
    """A peer in a long-lived process, and in a new one."""
    return [
        own_process(f"{peer.name} long-lived", peer, "decode", data, long_lived=True, rounds=rounds),
        _peer(own_process, peer, records, data, batches, rounds),
    ]


def _aiokafka(own_process, records: RecordSet, data: bytes, batches: int = 1) -> list[Contender]:
    return _both(own_process, AIOKAFKA, records, data, batches)


def _read(data: bytes, **options: object) -> object:
    return recordpress.read_columns(data, COLUMNS, check_crcs=True, **options)


def _race_one_batch(race, operation: str, name: str, codec: str, peers: list[Contender], views: bool = False) -> None:
    records = SETS[name]
    data = records.batch(codec)
    binary_type = "binary_view" if views else "binary"
    race(
        Cell(operation, name, codec, records.count, records.size),
        lambda: _read(data, binary_type=binary_type),
        _limit(records, data, views=views),
        *peers,
        check=lambda: same_columns(_read(data, binary_type=binary_type), records),
    )


@pytest.mark.parametrize("codec", CODECS)
def bench_decode_log_lines(race, own_process, built, codec):
    """5,000 access log lines in a batch."""
    records, data = SETS["apache5000"], SETS["apache5000"].batch(codec)
    _race_one_batch(
        race,
        "decode to columns",
        "apache5000",
        codec,
        [
            *_aiokafka(own_process, records, data),
            *_both(own_process, KAFKA_PYTHON, records, data, rounds=3),
            *built("decode", data, told(records)),
        ],
    )


@pytest.mark.parametrize("codec", ["none", "zstd"])
@pytest.mark.parametrize("name", ["nginx500", "small10000"])
def bench_decode_other_shapes(race, own_process, name, codec):
    """500 documents of 5.6 kB; 10,000 records of 116 bytes."""
    records = SETS[name]
    _race_one_batch(race, "decode to columns", name, codec, _aiokafka(own_process, records, records.batch(codec)))


@pytest.mark.parametrize("codec", ["none", "zstd"])
def bench_decode_views(race, own_process, codec):
    """500 documents of 5.6 kB as views: values stay in the batch, or where they were decompressed to."""
    records = SETS["nginx500"]
    peers = _aiokafka(own_process, records, records.batch(codec))
    _race_one_batch(race, "decode to views", "nginx500", codec, peers, views=True)


@pytest.mark.parametrize("codec", ["none", "zstd"])
def bench_decode_many_small_batches(race, own_process, codec):
    """400 batches of 100 records in one call. The ceiling's columns hold all 40,000 records, as the result of one call
    must; those of "limit one batch" hold 100, which stay in the cache."""
    records, batches = SETS["apache100"], 400
    data = records.batches(codec, batches)
    race(
        Cell("decode 400 batches in one call", records.name, codec, records.count * batches, records.size * batches),
        lambda: _read(data),
        _limit(records, data, batches),
        _limit(records, data, batches, columns_of=1, name="limit one batch"),
        *_aiokafka(own_process, records, data, batches),
        check=lambda: same_columns(_read(data), records, batches),
    )


def _stream(path: Path, **options: object) -> int:
    """The number of records in a file, read batch by batch."""
    with open(path, "rb") as file:
        return sum(columns.num_rows for columns in recordpress.iter_columns(file, COLUMNS, check_crcs=True, **options))


def _file(log_file, smoke: bool) -> tuple[Path, int]:
    """A file of 400 zstd batches of 5,000 records, 61 MB, 477 MB uncompressed."""
    batches = 4 if smoke else 400
    return log_file(f"apache5000.zstd.{batches}.log", SETS["apache5000"].batches("zstd", batches)), batches


def bench_decode_file(race, own_process, built, log_file, smoke):
    """A whole file, batch by batch: no more than one batch's columns are alive."""
    records = SETS["apache5000"]
    path, batches = _file(log_file, smoke)
    total = records.count * batches
    ceiling = records.ceiling()

    def limit() -> int:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return ceiling.decode(data)

    race(
        Cell("decode a file batch by batch", records.name, "zstd", total, records.size * batches),
        lambda: _stream(path),
        Contender("limit", limit, lambda: equal(limit(), total, "record count")),
        own_process("aiokafka", AIOKAFKA, "decode_file", path.read_bytes(), rounds=2),
        *built("decode_file", path.read_bytes(), told(records, batches), rounds=3),
        check=lambda: equal(_stream(path), total, "record count"),
    )


def bench_decode_file_two_threads(race_by_the_wall, log_file, smoke):
    """The same file with two threads, against recordpress with one."""
    records = SETS["apache5000"]
    path, batches = _file(log_file, smoke)
    total = records.count * batches
    race_by_the_wall(
        Cell("decode a file, 2 threads", records.name, "zstd", total, records.size * batches),
        lambda: _stream(path, threads=2),
        Contender("one thread", lambda: _stream(path)),
        check=lambda: equal(_stream(path, threads=2), total, "record count"),
    )
