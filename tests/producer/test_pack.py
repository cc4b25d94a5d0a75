"""pack: batches as large as a limit allows, none larger, and every record in one of them."""

from __future__ import annotations

import functools
import gzip
import itertools
import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import recordpress
from recordpress.broker import validate
from recordpress.producer import RecordTooLargeError, pack
from strategies import CODECS as CODECS_OF, DrawnRecord, records
from together import THOROUGH, thinned

CODECS = CODECS_OF[2]
PATHS = ("index.html", "api/v1/users", "static/app.js", "login", "api/v1/orders?status=open")


@functools.cache
def access_log() -> list[bytes]:
    numbers = random.Random(10)
    return [
        b"%d.%d.1.9 - - [22/Nov/2026:09:%02d:%02d] \"GET /%s HTTP/1.1\" %d %d"
        % (number % 223, numbers.randrange(256), number // 60 % 60, number % 60,
           numbers.choice(PATHS).encode(), numbers.choice((200, 200, 200, 304, 404)), numbers.randrange(90_000))
        for number in range(100_000)
    ]  # fmt: skip


def lines(count: int) -> list[bytes]:
    """The first lines of an access log."""
    found = access_log()[:count]
    assert len(found) == count
    return found


def jumps(count: int) -> list[bytes]:
    """Stretches that compress to a twentieth, and others that do not compress."""
    numbers = random.Random(4)
    values = []
    while len(values) < count:
        dense = numbers.random() < 0.5
        values += [numbers.randbytes(200) if dense else bytes(200) for _ in range(numbers.randrange(1, 400))]
    return values[:count]


def values_of(batches: list[bytes]) -> list[bytes | None]:
    return [record.value for batch in batches for part in recordpress.read_batches(batch) for record in part]


def counts_of(batches: list[bytes]) -> list[int]:
    return [part.records_count for batch in batches for part in recordpress.read_batches(batch)]


def check(batches: list[bytes], values: list[bytes], limit: int, codec: str) -> None:
    """What holds for every packing."""
    assert values_of(batches) == values
    assert max(map(len, batches)) <= limit
    start = 0
    for batch, count in zip(batches[:-1], counts_of(batches), strict=False):
        more = recordpress.write_records(values[start : start + count + 1], base_offset=start, compression_type=codec)
        assert len(batch) >= 0.97 * limit or len(more) > limit
        start += count


@pytest.mark.parametrize(("codec", "limit"), thinned(itertools.product(CODECS, [2000, 16384, 65536, 1 << 18]), 3))
def test_batches_are_full_and_within_the_limit(codec: str, limit: int) -> None:
    values = lines(limit * 6 // (16 if codec != "none" else 90))
    batches = list(pack(values, limit=limit, compression_type=codec, base_offset=0))
    check(batches, values, limit, codec)
    assert len(batches) > 2


@pytest.mark.parametrize("codec", CODECS)
def test_they_are_as_small_as_batches_of_one_call(codec: str) -> None:
    values = lines(30_000)
    for limit in (16384, 1 << 18):
        batches = list(pack(values, limit=limit, compression_type=codec))
        start = at_once = 0
        for count in counts_of(batches):
            at_once += len(recordpress.write_records(values[start : start + count], compression_type=codec))
            start += count
        assert sum(map(len, batches)) <= 1.01 * at_once


@pytest.mark.parametrize(("codec", "limit"), thinned(itertools.product(CODECS, [1000, 16384, 200_000]), 2))
def test_records_that_compress_well_and_badly_in_turns(codec: str, limit: int) -> None:
    values = jumps(12_000)
    check(list(pack(values, limit=limit, compression_type=codec, base_offset=0)), values, limit, codec)


@pytest.mark.parametrize("codec", CODECS)
def test_records_that_are_a_large_part_of_the_limit(codec: str) -> None:
    numbers = random.Random(6)
    values = [numbers.randbytes(numbers.randrange(20_000, 120_000)) for _ in range(24)]
    check(list(pack(values, limit=262_144, compression_type=codec, base_offset=0)), values, 262_144, codec)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("before", [0, 1, 500])
def test_a_record_that_does_not_fit_alone_is_named(codec: str, before: int) -> None:
    values = [*lines(before), random.Random(1).randbytes(40_000), b"after"]
    batches = pack(values, limit=20_000, compression_type=codec)
    found = []
    with pytest.raises(RecordTooLargeError, match=rf"^record {before}: .* 4\d{{4}} bytes.* 20000") as caught:
        found += list(iter(lambda: next(batches), None))
    assert caught.value.field == "limit"
    assert caught.value.code == 10
    assert list(batches) == []


def test_a_batch_may_have_the_very_size_of_the_limit() -> None:
    one = len(recordpress.write_records([b"value"]))
    assert [len(batch) for batch in pack([b"value"] * 3, limit=one)] == [one] * 3
    with pytest.raises(RecordTooLargeError, match="record 0"):
        next(pack([b"value"], limit=one - 1))


def test_no_records_no_batches() -> None:
    assert list(pack([], limit=100)) == []
    assert list(pack(pa.table({"value": pa.array([], pa.binary())}), limit=100, compression_type="zstd")) == []


@pytest.mark.parametrize("codec", CODECS)
def test_columns_and_sequences_give_the_same_bytes(codec: str) -> None:
    values = lines(5000)
    keys = [None if number % 3 else b"%d" % number for number in range(len(values))]
    times = [1_700_000_000_000 + number * 7 for number in range(len(values))]
    headers = [[("trace", b"%d" % number)] if number % 5 == 0 else [] for number in range(len(values))]
    header = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    table = pa.table({
        "timestamp": pa.array(times, pa.int64()),
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
        "headers": pa.array([[{"key": k, "value": v} for k, v in row] for row in headers], header),
    })  # fmt: skip
    whole = list(pack(values, keys, times, headers, limit=16384, compression_type=codec, base_offset=70))
    chunked = pa.Table.from_batches(table.to_batches(max_chunksize=777))
    assert list(pack(chunked, limit=16384, compression_type=codec, base_offset=70)) == whole
    read = [record for batch in recordpress.read_batches(b"".join(whole)) for record in batch]
    assert [(record.offset, record.key, record.timestamp) for record in read] == [
        (70 + number, key, time) for number, (key, time) in enumerate(zip(keys, times, strict=True))
    ]
    assert [list(record.headers) for record in read] == headers


def test_what_a_header_says_counts_on() -> None:
    values = lines(5_000)
    batches = list(pack(values, limit=16384, compression_type="lz4", base_offset=9, producer_id=7, producer_epoch=1,
                        base_sequence=2**31 - 100, is_transactional=True, partition_leader_epoch=4))  # fmt: skip
    found = [batch for data in batches for batch in recordpress.read_batches(data)]
    assert found[0].base_offset == 9
    for first, second in itertools.pairwise(found):
        assert second.base_offset == first.last_offset + 1
        assert second.base_sequence == (first.base_sequence + first.records_count) % 2**31
        assert (second.producer_id, second.producer_epoch, second.is_transactional) == (7, 1, True)
        assert second.partition_leader_epoch == 4


def test_times_of_a_batch_are_those_of_its_own_records() -> None:
    times = [1_700_000_000_000 + (number * 7919) % 10_007 for number in range(8_000)]
    for data in pack(lines(8_000), None, times, limit=16384, compression_type="zstd", base_offset=0):
        [batch] = recordpress.read_batches(data)
        own = [record.timestamp for record in batch]
        assert batch.max_timestamp == max(own)
        assert own == times[batch.base_offset : batch.last_offset + 1]


def test_a_gap_that_no_batch_can_hold_begins_another() -> None:
    batches = list(pack([b"a", b"b", b"c"], offsets=[0, 1, 2**33], limit=16384, compression_type="zstd"))
    assert counts_of(batches) == [2, 1]


def test_other_software_reads_joined_streams() -> None:
    values = lines(40_000)
    for batch in pack(values, limit=1 << 18, compression_type="gzip"):
        [part] = recordpress.read_batches(batch)
        plain = recordpress.write_records([record.value for record in part])
        assert gzip.decompress(batch[61:]) == plain[61:]


@pytest.mark.parametrize("level", thinned([6, 1, 9], 3))
@pytest.mark.parametrize("limit", [150, 1000, 16384, 100_000])
def test_other_software_reads_streams_that_were_cut(limit: int, level: int) -> None:
    """Each ends in the middle of what was compressed; records end in matches, between them, and in stored blocks."""
    numbers = random.Random(limit)
    noise = [numbers.randbytes(numbers.randrange(60)) for _ in range(limit // 40)]
    count = 2000 if limit < 100_000 else 200  # as many would not fill one large batch either
    runs = [bytes([numbers.randrange(256)]) * numbers.randrange(limit) for _ in range(count)]
    for values in (lines(limit // 3), noise, runs, jumps(limit // 25)):
        for batch in pack([value[: limit // 3] for value in values], limit=limit, compression_type="gzip", level=level):
            [part] = recordpress.read_batches(batch)
            plain = recordpress.write_records([record.value for record in part])
            assert gzip.decompress(batch[61:]) == plain[61:]
            assert len(batch) <= limit


@pytest.mark.parametrize("codec", CODECS)
def test_a_broker_with_this_limit_takes_every_batch(codec: str) -> None:
    for data in pack(lines(20_000), timestamps=1_700_000_000_000, limit=30_000, compression_type=codec):
        assert data[:8] == bytes(8)  # the base offset
        verdict = validate(data, topic_config={"max.message.bytes": 30_000}, now_ms=1_700_000_000_000)
        assert verdict.accepted


class Reverse:
    """A codec whose payloads cannot be joined."""

    def compress(self, data: bytes) -> bytes:
        return recordpress.compress(data, "gzip")[::-1]

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return recordpress.decompress(bytes(data)[::-1], "gzip", max_decompressed_bytes=max_output)


def test_a_codec_of_ones_own() -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register("reverse", Reverse())
    values = lines(30_000)
    batches = list(pack(values, limit=250_000, compression_type="reverse", codecs=codecs))
    assert [record.value for data in batches for batch in recordpress.read_batches(data, codecs=codecs)
            for record in batch] == values  # fmt: skip
    assert all(0.97 * 250_000 <= len(batch) <= 250_000 for batch in batches[:-1])


class Meddler:
    """A timestamp that asks for another batch while it is read."""

    packed: Iterator[bytes]

    def __index__(self) -> int:
        next(self.packed)
        return 0


def test_a_call_within_a_call_is_refused() -> None:
    meddler = Meddler()
    meddler.packed = pack([b"value"], timestamps=[meddler], limit=1000)
    with pytest.raises(recordpress.InvalidArgumentError, match="in use"):
        next(meddler.packed)
    with pytest.raises(StopIteration):
        next(meddler.packed)


def test_nobody_makes_a_packer_without_pack() -> None:
    for make in (
        recordpress.producer.BatchPacker,
        lambda: recordpress.producer.BatchPacker.__new__(recordpress.producer.BatchPacker),
    ):
        with pytest.raises(recordpress.ArgumentTypeError, match="created by pack"):
            make()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"limit": 61}, "limit"),
        ({"limit": 2**31}, "limit"),
        ({"limit": 1000, "base_offset": 1, "offsets": [1]}, "base_offset"),
        ({"limit": 1000, "keys": []}, "keys"),
        ({"limit": 1000, "producer_id": 1}, "producer_epoch"),
        ({"limit": 1000, "compression_type": "lzma"}, "compression_type"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments, field) -> None:
    with pytest.raises(recordpress.RecordpressError) as caught:
        pack([b"value"], **arguments)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ({"producerId": pa.array([1])}, {}, "batch header"),
        ({"offset": pa.array([1])}, {"base_offset": 0}, "offset column"),
        ({}, {"keys": [b""]}, "keys must be one of them"),
        ({"timestampType": pa.array([1], pa.int32())}, {}, "record 0: .*LogAppendTime"),
    ],
)
def test_columns_that_pack_does_not_take(columns, arguments, message) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        list(pack(pa.table({"value": pa.array([b"v"]), **columns}), limit=1000, **arguments))


def test_a_wrong_record_is_named() -> None:
    batches = pack([b"value"] * 3000, timestamps=[5] * 2000 + [-9] + [5] * 999, limit=2000, compression_type="gzip")
    with pytest.raises(recordpress.InvalidArgumentError, match="record 2000"):
        list(batches)
    table = pa.table({"value": [b"value"] * 3000, "timestamp": pa.array([5] * 2000 + [-9] + [5] * 999)})
    with pytest.raises(recordpress.InvalidArgumentError, match="record 2000"):
        list(pack(table, limit=2000, compression_type="gzip"))


@given(drawn=records(max_size=60 if THOROUGH else 20), codec=st.sampled_from(CODECS), limit=st.integers(100, 80_000))
def test_any_records(drawn: list[DrawnRecord], codec: str, limit: int) -> None:
    packed = pack([record.value for record in drawn], [record.key for record in drawn],
                  [record.timestamp for record in drawn], [record.headers for record in drawn],
                  offsets=[record.offset for record in drawn], limit=limit, compression_type=codec)  # fmt: skip
    read: list[tuple] = []
    refused = ""
    try:
        for data in packed:
            assert len(data) <= limit
            read += [(record.offset, record.timestamp, record.key, record.value, list(record.headers))
                     for batch in recordpress.read_batches(data) for record in batch]  # fmt: skip
    except RecordTooLargeError as error:
        refused = str(error)
    if refused:
        row = drawn[len(read)]
        assert refused.startswith(f"record {len(read)}: ")
        alone = recordpress.write_records([row.value], [row.key], [row.timestamp], [row.headers], offsets=[row.offset],
                                     compression_type=codec)  # fmt: skip
        assert len(alone) > limit
        drawn = drawn[: len(read)]
    assert read == [(row.offset, row.timestamp, row.key, row.value, row.headers) for row in drawn]
