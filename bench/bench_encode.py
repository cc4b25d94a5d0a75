"""Records to one finished batch: from Arrow columns, from lists of bytes, and appended, all at once or one by one."""

import pytest

import recordpress
from bench.answers import as_large, same_batch, same_records
from bench.corpus import CODECS, SETS, RecordSet
from bench.peers.records import AIOKAFKA, AIOKAFKA_LEVELS, KAFKA_PYTHON, Peer
from bench.race import ROUNDS, Cell, Contender

WHOLE = 16 << 20  # more than any set takes: one batch


def _limit(records: RecordSet, codec: str) -> Contender:
    ceiling = records.ceilings()
    for each in (ceiling(), ceiling()):
        each.decode(records.batch("none"))

    def check() -> None:
        each = ceiling()
        same_batch(each.encoded(each.encode(codec)), records, codec)

    return Contender("limit", lambda: ceiling().encode(codec), check)


def _peer(own_process, peer: Peer, records: RecordSet, codec: str, rounds: int = ROUNDS) -> Contender:
    def check() -> None:
        data = bytes(peer.encode(records.keys, records.values, records.timestamps, codec))
        same_records((record for batch in peer.batches(data) for record in batch), records)

    return own_process(peer.name, peer, "encode", records.batch("none"), codec, check=check, rounds=rounds)


def _aiokafka(own_process, records: RecordSet, codec: str) -> list[Contender]:
    """As shipped, in a long-lived process too, and at the level of Java's default where that is another one."""
    data = records.batch("none")
    others = [own_process("aiokafka long-lived", AIOKAFKA, "encode", data, codec, long_lived=True)]
    if codec in AIOKAFKA_LEVELS:
        others.append(own_process("aiokafka level", AIOKAFKA, "encode_level", data, codec))
    return [_peer(own_process, AIOKAFKA, records, codec), *others]


def _race(race, operation: str, records: RecordSet, codec: str, ours, *peers: Contender) -> None:
    limit = _limit(records, codec)

    def check() -> None:
        same_batch(ours(), records, codec)
        as_large(ours(), lambda: records.batch(codec))

    race(Cell(operation, records.name, codec, records.count, records.size), ours, limit, *peers, check=check)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", ["apache5000", "nginx500"])
def bench_encode_columns(race, own_process, name, codec):
    """Arrow columns to a batch; aiokafka and kafka-python build from lists, they know no columns."""
    records = SETS[name]
    table = records.table.select(["timestamp", "key", "value"]).combine_chunks().to_batches()[0]
    _race(
        race,
        "encode from columns",
        records,
        codec,
        lambda: recordpress.write_columns(table, compression_type=codec, batch_bytes=WHOLE),
        *_aiokafka(own_process, records, codec),
        _peer(own_process, KAFKA_PYTHON, records, codec, rounds=2),
    )


@pytest.mark.parametrize("codec", ["none", "zstd"])
def bench_encode_lists(race, own_process, codec):
    """Lists of bytes to a batch, in one call."""
    records = SETS["apache5000"]
    keys, values, timestamps = records.keys, records.values, records.timestamps

    def ours() -> bytes:
        return recordpress.write_records(
            values, keys=keys, timestamps=timestamps, compression_type=codec, batch_bytes=WHOLE
        )

    _race(race, "encode from lists", records, codec, ours, *_aiokafka(own_process, records, codec))


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def bench_append(race, own_process, codec):
    """Record after record into a builder, then the batch."""
    records = SETS["apache5000"]
    keys, values, timestamps = records.keys, records.values, records.timestamps

    def ours() -> bytes:
        builder = recordpress.BatchBuilder(compression_type=codec, limit=WHOLE)
        for key, value, timestamp in zip(keys, values, timestamps, strict=True):
            builder.append(value, key=key, timestamp=timestamp)
        return builder.build()

    _race(race, "append one by one", records, codec, ours, *_aiokafka(own_process, records, codec))


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def bench_append_many(race, own_process, codec):
    """Lists of bytes into a builder, in one call, then the batch."""
    records = SETS["apache5000"]
    keys, values, timestamps = records.keys, records.values, records.timestamps

    def ours() -> bytes:
        builder = recordpress.BatchBuilder(compression_type=codec, limit=WHOLE)
        builder.append_many(values, keys, timestamps)
        return builder.build()

    _race(race, "append many", records, codec, ours, *_aiokafka(own_process, records, codec))
