"""BatchBuilder: the bytes of Java's builder, its rules, and a limit that is exact."""

import itertools
import random
import struct

import pytest

import recordpress
from together import thinned

T = 1_700_000_000_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LETTERS = bytes(random.Random(1).choices(b"abcd", k=10_000))
FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in CODECS if magic == 2 or codec != "zstd"]

# Worked examples of the formats, computed by another program.
GOLDEN = {
    "A one record": (
        {},
        [dict(value=b"v", key=b"k", timestamp=T)],
        """0000000000000000 0000003a ffffffff 02 e99b8dd8 0000 00000000 0000018bcfe56800 0000018bcfe56800
           ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00""",
    ),
    "B transactional, the sequence wraps": (
        dict(
            base_offset=100,
            producer_id=4242,
            producer_epoch=3,
            base_sequence=2**31 - 1,
            partition_leader_epoch=7,
            is_transactional=True,
        ),
        [
            dict(value=b"value", key=b"key", timestamp=T, headers=[("h", b"x"), ("n", None)]),
            dict(value=b"", timestamp=T - 5),
        ],
        """0000000000000064 0000004e 00000007 02 22e084eb 0010 00000001 0000018bcfe56800 0000018bcfe56800
           0000000000001092 0003 7fffffff 00000002
           2a 00 00 00 06 6b6579 0a 76616c7565 04 02 68 02 78 02 6e 01 0c 00 09 02 01 00 00""",
    ),
    "E tombstone and delete horizon": (
        dict(delete_horizon_ms=T + 1000),
        [dict(value=None, key=b"k", timestamp=T)],
        """0000000000000000 0000003a ffffffff 02 3a7f46b2 0040 00000000 0000018bcfe56be8 0000018bcfe56800
           ffffffffffffffff ffff ffffffff 00000001 10 00 cf0f 00 02 6b 01 00""",
    ),
    "F LogAppendTime": (
        dict(timestamp_type=1, log_append_time=T + 99),
        [dict(value=b"v", key=b"k", timestamp=T)],
        """0000000000000000 0000003a ffffffff 02 f749f8a9 0008 00000000 0000018bcfe56800 0000018bcfe56863
           ffffffffffffffff ffff ffffffff 00000001 10 00 00 00 02 6b 02 76 00""",
    ),
    "G v0": (
        dict(magic=0, base_offset=5),
        [dict(value=b"v", key=b"k")],
        "0000000000000005 00000010 1fecd70a 00 00 00000001 6b 00000001 76",
    ),
    "H v1": (
        dict(magic=1, base_offset=5),
        [dict(value=b"v", key=b"k", timestamp=T)],
        "0000000000000005 00000018 39268c33 01 00 0000018bcfe56800 00000001 6b 00000001 76",
    ),
    "I v1 LogAppendTime": (
        dict(magic=1, base_offset=5, timestamp_type=1, log_append_time=T),
        [dict(value=b"v", timestamp=3)],
        "0000000000000005 00000017 d63684c9 01 08 0000018bcfe56800 ffffffff 00000001 76",
    ),
}


def build(records, **options):
    builder = recordpress.BatchBuilder(**options)
    for record in records:
        assert builder.append(**record)
    return builder.build()


@pytest.mark.parametrize(("options", "records", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_golden_bytes(options, records, expected):
    assert build(records, **options).hex() == "".join(expected.split())


def test_golden_marker():
    builder = recordpress.BatchBuilder(
        base_offset=42,
        producer_id=4242,
        producer_epoch=3,
        partition_leader_epoch=7,
        is_transactional=True,
        is_control=True,
    )
    assert builder.append_end_txn_marker(True, 15, T)
    assert builder.build().hex() == (
        "000000000000002a000000420000000702"
        "3c61aa38"
        "0030000000000000018bcfe568000000018bcfe56800"
        "00000000000010920003ffffffff00000001"
        "20000000080000000"
        "10c00000000000f00"
    )


def test_golden_empty_batch():
    data = recordpress.empty_batch(
        10, 14, max_timestamp=T, producer_id=4242, producer_epoch=3, base_sequence=20, partition_leader_epoch=7
    )
    assert data.hex() == (
        "000000000000000a000000310000000702e92982d4000000000004ffffffffffffffff0000018bcfe56800"
        "0000000000001092000300000014"
        "00000000"
    )


@pytest.mark.parametrize(
    ("magic", "codec", "crc"),
    [
        (0, "none", 1978725405),
        (1, "none", 109425508),
        (2, "none", 3851219455),
        (0, "lz4", 66944826),
        (1, "lz4", 1407303399),
        (2, "lz4", 2745969314),
    ],
)
def test_checksums_pinned_by_kafkas_own_test(magic, codec, crc):
    """MemoryRecordsTest.testChecksum."""
    data = build(
        [dict(value=b"value1", key=b"key1", timestamp=283843), dict(value=b"value2", key=b"key2", timestamp=1234)],
        magic=magic,
        compression_type=codec,
    )
    assert struct.unpack_from(">I", data, 17 if magic == 2 else 12)[0] == crc


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
@pytest.mark.parametrize("size", [16 << 10, 32 << 10, 100_000])
def test_checksums_of_large_batches(size, codec):
    """Whose payload is copied and checked piece by piece."""
    google_crc32c = pytest.importorskip("google_crc32c", reason="google-crc32c is not installed")
    for length in range(size - 15, size + 5):
        value = random.Random(length).randbytes(length)
        data = build([dict(value=value)], compression_type=codec)
        assert struct.unpack_from(">I", data, 17)[0] == google_crc32c.value(data[21:])
        [[record]] = recordpress.read_batches(data)
        assert bytes(record.value) == value


def filled(records, codec, limit, magic=2):
    """A builder with what it took of the records, these, and the ones that it refused with what it held then."""
    builder = recordpress.BatchBuilder(magic, codec, limit=limit)
    taken, refused = [], []
    for value in records:
        before = builder.records_count, builder.next_offset, builder.uncompressed_size, builder.max_timestamp
        if builder.append(value, timestamp=T + len(taken)):
            taken.append(value)
        else:
            after = builder.records_count, builder.next_offset, builder.uncompressed_size, builder.max_timestamp
            assert after == before
            refused.append((len(taken), value))
    return builder, taken, refused


def size_of(values, codec, magic=2):
    return len(
        build([{"value": v, "timestamp": T + i} for i, v in enumerate(values)], magic=magic, compression_type=codec)
    )


def values_of(*runs):
    """Runs of (number of values, bytes each, symbols in use), which compress the better the fewer the symbols."""
    source = random.Random(7)
    return [bytes(source.choices(range(symbols), k=size)) for count, size, symbols in runs for _ in range(count)]


FILLS = {
    "text": values_of((400, 60, 8)),
    "noise": values_of((150, 90, 256)),
    "zeros": values_of((900, 50, 1)),
    "text, then noise": values_of((60, 200, 4), (80, 100, 256)),
    "small and large": values_of((30, 20, 8), (1, 9000, 256), (30, 20, 8), (1, 5000, 3), (200, 20, 8)),
}


@pytest.mark.parametrize(("format", "fill"), thinned(itertools.product(FORMATS, FILLS), 3))
def test_limit_is_exact(format, fill):
    (magic, codec), limit = format, 6000
    builder, taken, refused = filled(FILLS[fill], codec, limit, magic)
    data = builder.build()
    assert len(data) <= limit
    assert [record.value for batch in recordpress.read_batches(data) for record in batch] == taken
    assert refused or fill == "zeros"
    rows = [dict(value=value, timestamp=T + i) for i, value in enumerate(taken)]
    whole = build(rows, magic=magic, compression_type=codec)
    assert data == whole or len(whole) > limit
    for count, value in refused[:5] + refused[-5:]:
        assert size_of([*taken[:count], value], codec, magic) > limit


def drawn_rows(source, magic, count):
    """Arguments of `append_many`: lists, tuples, buffers and generators, with and without each."""
    bytes_like = (bytes, bytearray) if source.random() < 0.3 else (bytes,)

    def some():
        size = source.choice((0, 3, 30, 300, 5000))
        start = source.randrange(len(LETTERS) - size)
        return source.choice(bytes_like)(LETTERS[start : start + size]) if source.random() < 0.9 else None

    rows = {"values": [some() for _ in range(count)], "keys": [some() for _ in range(count)]}
    rows["timestamps"] = [source.choice((-1, T, T + source.randrange(10**6))) for _ in range(count)]
    rows["offsets"] = sorted(source.sample(range(7, 7 + 3 * count), count))
    if magic == 2:
        rows["headers"] = [[("h", some())] if source.random() < 0.3 else None for _ in range(count)]
    return {name: tuple(rows[name]) if source.random() < 0.3 else rows[name] for name in rows
            if name == "values" or source.random() < 0.6}  # fmt: skip


@pytest.mark.parametrize(("ratio", "format"), thinned(itertools.product([None, 0.4], FORMATS), 2))
def test_append_many_is_append_for_each(format, ratio):
    """In one call or several, up to a limit, with every kind of argument: the same bytes, and as many records."""
    magic, codec = format
    source = random.Random(f"{magic} {codec} {ratio}")
    for limit in (None, 0, 200, 3000, 40_000):
        options = dict(limit=limit, base_offset=7, estimated_compression_ratio=ratio)
        one, many = (recordpress.BatchBuilder(magic, codec, **options) for _ in range(2))
        rows = drawn_rows(source, magic, source.choice((0, 1, 255, 256, 257, 900)))
        count, taken = len(rows["values"]), 0
        names = {"values": "value", "keys": "key", "timestamps": "timestamp", "headers": "headers", "offsets": "offset"}
        columns = {name: rows.get(name, [[] if name == "headers" else None] * count) for name in names}
        if "timestamps" not in rows:
            columns["timestamps"] = [-1] * count
        while taken < count and one.append(**{names[name]: columns[name][taken] for name in names}):
            taken += 1
        half = source.choice((0, count // 2))
        first = many.append_many(**{name: rows[name][:half] for name in rows})
        rest = many.append_many(**{name: iter(rows[name][half:]) for name in rows}) if first == half else 0
        assert first + rest == taken
        assert (many.records_count, many.next_offset) == (one.records_count, one.next_offset)
        assert many.build() == one.build()


@pytest.mark.parametrize("codec", ["none", "lz4"])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"values": [b"a", b"b", "c"]}, "record 2: each of values must be a bytes-like object"),
        ({"values": [b"a"] * 3, "timestamps": [1, 1, -2]}, "record 2: .*timestamp"),
        ({"values": [b"a"] * 3, "offsets": [4, 5, 5]}, "record 2: .*offset"),
        ({"values": [b"a"] * 3, "headers": [None, [], [("\ud800", b"")]]}, "record 2: .*UTF-8"),
        ({"values": [b"a"] * 3, "keys": [b"k"]}, "1 keys for 3 values"),
    ],
)
def test_a_wrong_record_of_many(codec, rows, message):
    """Where all can be read, the records before the wrong one are in the batch, which takes more."""
    builder = recordpress.BatchBuilder(compression_type=codec)
    with pytest.raises((recordpress.InvalidArgumentError, recordpress.ArgumentTypeError), match=message):
        builder.append_many(**rows)
    assert builder.records_count == (2 if "offsets" in rows else 0)
    assert builder.append_many([b"next"]) == 1 and builder.build()


def test_many_records_for_a_builder_that_takes_none():
    builder = recordpress.BatchBuilder()
    for values in (Closes(builder), (builder.append(b"") for _ in range(2))):
        with pytest.raises(recordpress.InUseError):
            builder.append_many(values)
    assert builder.records_count == 0
    with pytest.raises(recordpress.InUseError):
        builder.append_many([b""] * 300, timestamps=[1] * 299 + [Closes(builder)])
    assert builder.records_count == 256
    builder.build()
    with pytest.raises(recordpress.ClosedError):
        builder.append_many([])
    with pytest.raises(recordpress.InvalidArgumentError, match="control"):
        recordpress.BatchBuilder(**CONTROL).append_many([b""])


@pytest.mark.parametrize("codec", ["gzip", "zstd", "lz4", "snappy"])
def test_limit_holds_where_one_stream_would_be_too_large(codec):
    """Noise compressed together with text can make the text larger: then the streams stay separate."""
    values = values_of((1, 20_000, 4), (100, 200, 256))
    for limit in (7_000, 10_000):
        builder, taken, _ = filled(values, codec, limit)
        data = builder.build()
        assert len(data) <= limit
        assert [record.value for batch in recordpress.read_batches(data) for record in batch] == taken


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_limit_to_the_byte(magic, codec):
    values = values_of((3, 200, 256))
    whole = size_of(values, codec, magic)
    for limit, fits in ((whole, True), (whole - 1, False)):
        builder, taken, _ = filled(values, codec, limit, magic)
        assert (len(taken) == 3) is fits
        assert len(builder.build()) <= limit


def test_a_first_record_that_is_too_large_is_refused():
    assert not recordpress.BatchBuilder(limit=70).append(b"x" * 100)
    assert recordpress.BatchBuilder(compression_type="zstd", limit=130).append(b"x" * 1000)
    assert not recordpress.BatchBuilder(compression_type="zstd", limit=0).append(b"")


def test_offsets_gaps_and_override():
    builder = recordpress.BatchBuilder(base_offset=10)
    assert builder.last_offset is None
    builder.append(b"a", offset=12)
    builder.append(b"b")
    builder.last_offset = 20
    builder.append(b"c")
    [batch] = recordpress.read_batches(builder.build())
    assert (batch.base_offset, batch.last_offset) == (10, 21)
    assert [record.offset for record in batch] == [12, 13, 21]


def test_what_a_builder_tells():
    builder = recordpress.BatchBuilder(2, "gzip", base_offset=3)
    assert (builder.base_timestamp, builder.max_timestamp, builder.offset_of_max_timestamp) == (None, -1, -1)
    for timestamp in (5, 9, 9, 2):
        builder.append(b"v", timestamp=timestamp)
    assert (builder.base_timestamp, builder.max_timestamp, builder.offset_of_max_timestamp) == (5, 9, 4)
    assert (builder.records_count, builder.next_offset, builder.uncompressed_size) == (4, 7, 32)
    assert builder.size_in_bytes >= len(data := builder.build())
    assert builder.size_in_bytes == len(data)
    assert builder.is_closed


CONTROL = dict(is_control=True, is_transactional=True, producer_id=1, producer_epoch=0)
BROKEN = {
    "zstd in v1": (dict(magic=1, compression_type="zstd"), None, "compression_type"),
    "transactional v1": (dict(magic=1, is_transactional=True), None, "is_transactional"),
    "control v0": (dict(magic=0, is_control=True), None, "is_control"),
    "delete horizon v1": (dict(magic=1, delete_horizon_ms=1), None, "delete_horizon_ms"),
    "no timestamp type, v1": (dict(magic=1, timestamp_type=-1), None, "timestamp_type"),
    "no timestamp type, v2": (dict(timestamp_type=-1), None, "timestamp_type"),
    "producer id in v1": (dict(magic=1, producer_id=1, producer_epoch=0, base_sequence=0), None, "producer_id"),
    "leader epoch in v0": (dict(magic=0, partition_leader_epoch=0), None, "partition_leader_epoch"),
    "transactional without producer": (dict(is_transactional=True), None, "producer_id"),
    "producer without epoch": (dict(producer_id=1, base_sequence=0), None, "producer_epoch"),
    "producer without sequence": (dict(producer_id=1, producer_epoch=0), None, "base_sequence"),
    "append time without time": (dict(timestamp_type=1), None, "log_append_time"),
    "time without append time": (dict(log_append_time=1), None, "log_append_time"),
    "record in a control batch": (CONTROL, lambda b: b.append(b"v"), "is_control"),
    "control record elsewhere": ({}, lambda b: b.append_control("COMMIT", b""), "is_control"),
    "marker without transaction": (
        dict(is_control=True),
        lambda b: b.append_end_txn_marker(True, 0),
        "is_transactional",
    ),
    "a leader change of no epoch": (
        {"is_control": True},
        lambda b: b.append_control("LEADER_CHANGE", bytes(2)),
        "partition_leader_epoch",
    ),
    "unknown control type": (CONTROL, lambda b: b.append_control("PAUSE", b""), "type"),
    "unknown control id": (CONTROL, lambda b: b.append_control(7, b""), "type"),
    "offset that does not increase": ({}, lambda b: (b.append(b"", offset=4), b.append(b"", offset=4)), "offset"),
    "offset below the base": (dict(base_offset=9), lambda b: b.append(b"", offset=8), "offset"),
    "offset delta": ({}, lambda b: b.append(b"", offset=2**31), "offset"),
    "negative timestamp": ({}, lambda b: b.append(b"", timestamp=-2), "timestamp"),
    "headers in v1": (dict(magic=1), lambda b: b.append(b"", timestamp=0, headers=[("h", b"")]), "headers"),
    "header key that is no text": ({}, lambda b: b.append(b"", headers=[("\ud800", b"")]), "headers"),
    "last offset below the records": (
        {},
        lambda b: (b.append(b"", offset=4), setattr(b, "last_offset", 3)),
        "last_offset",
    ),
}


@pytest.mark.parametrize(("options", "act", "field"), BROKEN.values(), ids=BROKEN)
def test_rules(options, act, field):
    def construct_and_act():
        builder = recordpress.BatchBuilder(**options)
        assert act is not None, "the constructor should have refused this"
        act(builder)

    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        construct_and_act()
    assert caught.value.field == field


@pytest.mark.parametrize("close", ["build", "abort"])
@pytest.mark.parametrize(
    "call", [lambda b: b.append(b""), lambda b: b.build(), lambda b: b.abort(), lambda b: setattr(b, "last_offset", 3)]
)
def test_closed(close, call):
    builder = recordpress.BatchBuilder()
    builder.append(b"")
    getattr(builder, close)()
    with pytest.raises(recordpress.ClosedError):
        call(builder)


@pytest.mark.parametrize("value", [b"v" * 9, bytearray(b"v" * 9), memoryview(b"v" * 9)])
def test_any_bytes_like(value):
    assert build([dict(value=value, key=value, headers=[("h", value)])]) == build(
        [dict(value=b"v" * 9, key=b"v" * 9, headers=[("h", b"v" * 9)])]
    )


class Closes:
    """An argument whose reading runs the caller's code, which builds the batch."""

    def __init__(self, builder):
        self.builder = builder

    def __iter__(self):
        self.builder.build()
        return iter([("h", b"x")])

    def __index__(self):
        self.builder.build()
        return 5


def test_headers_cannot_close_the_builder():
    builder = recordpress.BatchBuilder()
    builder.append(b"first")
    with pytest.raises(recordpress.InvalidArgumentError, match="in use"):
        builder.append(b"second", headers=Closes(builder))
    assert builder.append(b"third", headers=[("h", b"x")])
    [batch] = recordpress.read_batches(builder.build())
    assert [(r.value, r.headers) for r in batch] == [(b"first", []), (b"third", [("h", b"x")])]


@pytest.mark.parametrize("argument", ["timestamp", "offset"])
def test_a_number_that_closes_the_builder(argument):
    builder = recordpress.BatchBuilder()
    builder.append(b"first")
    with pytest.raises(recordpress.ClosedError):
        builder.append(b"second", **{argument: Closes(builder)})


class Appends(Closes):
    def __index__(self):
        self.builder.append(b"from within", offset=20)
        return 5


def test_a_last_offset_that_closes_the_builder():
    builder = recordpress.BatchBuilder()
    builder.append(b"first")
    with pytest.raises(recordpress.ClosedError):
        builder.last_offset = Closes(builder)


def test_a_control_type_that_closes_the_builder():
    builder = recordpress.BatchBuilder(is_control=True)
    with pytest.raises(recordpress.ClosedError):
        builder.append_control(Closes(builder), b"")


def test_a_last_offset_whose_reading_appends_does_not_go_back():
    builder = recordpress.BatchBuilder()
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        builder.last_offset = Appends(builder)
    assert (caught.value.field, builder.last_offset) == ("last_offset", 20)


def test_an_offset_whose_reading_appends_does_not_go_back():
    builder = recordpress.BatchBuilder()
    with pytest.raises(recordpress.InvalidArgumentError):
        builder.append(b"", offset=Appends(builder))
    assert (builder.records_count, builder.last_offset) == (1, 20)


@pytest.mark.parametrize("offset", [9, 11])
def test_last_offset_does_not_go_below_the_base_or_the_last_record(offset):
    builder = recordpress.BatchBuilder(base_offset=10)
    if offset > 10:
        builder.append(b"", offset=12)
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        builder.last_offset = offset
    assert caught.value.field == "last_offset"


def test_the_largest_base_offset_has_room_for_one_record():
    builder = recordpress.BatchBuilder(base_offset=2**63 - 1)
    assert builder.append(b"only")
    data = builder.build()
    assert data == recordpress.write_records([b"only"], base_offset=2**63 - 1)
    assert [batch.last_offset for batch in recordpress.read_batches(data)] == [2**63 - 1]
    builder = recordpress.BatchBuilder(base_offset=2**63 - 1)
    builder.append(b"only")
    with pytest.raises(recordpress.InvalidArgumentError):
        builder.append(b"one more")
    with pytest.raises(recordpress.InvalidArgumentError):
        recordpress.write_records([b"only", b"one more"], base_offset=2**63 - 1)


def test_the_largest_offset_delta():
    builder = recordpress.BatchBuilder(base_offset=7)
    assert builder.append(b"", offset=7 + 2**31 - 1)
    with pytest.raises(recordpress.InvalidArgumentError):
        builder.append(b"")
    [batch] = recordpress.read_batches(builder.build())
    assert batch.last_offset == 7 + 2**31 - 1


def test_last_offset_stays_within_the_largest_delta():
    builder = recordpress.BatchBuilder(base_offset=7)
    builder.append(b"")
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        builder.last_offset = 7 + 2**31
    assert caught.value.field == "last_offset"
    builder.last_offset = 7 + 2**31 - 1
    [batch] = recordpress.read_batches(builder.build())
    assert batch.last_offset == 7 + 2**31 - 1


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_limit_to_the_byte_with_the_longest_deltas(magic):
    """Every varint of a record at its longest: the computed size is the size written."""
    rows = [dict(value=b"v", timestamp=0)]
    rows += [dict(value=b"v" * size, timestamp=2**63 - 1 - size, offset=2**30 + size) for size in range(40, 130)]
    sizes = [len(build(rows[:count], magic=magic)) for count in range(1, len(rows) + 1)]
    for count, size in enumerate(sizes, 1):
        for limit, taken in ((size, count), (size - 1, count - 1)):
            builder = recordpress.BatchBuilder(magic, limit=limit)
            assert [builder.append(**row) for row in rows[:count]] == [True] * taken + [False] * (count - taken)
            assert builder.size_in_bytes == (sizes[taken - 1] if taken else 0)


def test_magic_0_has_no_timestamps():
    """Neither a timestamp nor bit 3 of the attributes, which is v1's (LegacyRecord.TIMESTAMP_TYPE_MASK)."""
    builder = recordpress.BatchBuilder(0, timestamp_type=1, log_append_time=T)
    builder.append(b"v", timestamp=T)
    assert (builder.max_timestamp, builder.offset_of_max_timestamp) == (-1, -1)
    assert builder.build() == build([dict(value=b"v")], magic=0, timestamp_type=-1)


def test_a_delete_horizon_is_the_base_timestamp():
    assert recordpress.BatchBuilder(delete_horizon_ms=T).base_timestamp == T


@pytest.mark.parametrize("codec", CODECS[1:])
def test_size_in_bytes_is_never_too_small(codec):
    """Between records whose fit was checked by compressing."""
    limit = 6000
    builder = recordpress.BatchBuilder(compression_type=codec, limit=limit)
    taken = []
    for value in FILLS["noise"]:
        if builder.append(value):
            taken.append(value)
        alone = len(build([dict(value=value) for value in taken], compression_type=codec))
        assert min(alone, limit) <= builder.size_in_bytes <= limit


@pytest.mark.parametrize(("commit", "name"), [(True, "COMMIT"), (False, "ABORT")])
def test_markers(commit, name):
    builder = recordpress.BatchBuilder(**CONTROL)
    assert builder.append_end_txn_marker(commit, 5)
    [[marker]] = recordpress.read_batches(builder.build())
    assert recordpress.control_record(marker).type == name
    assert marker.key.hex() == ("00000001" if commit else "00000000")


def test_an_empty_batch_of_append_time():
    [batch] = recordpress.read_batches(recordpress.empty_batch(10, 14, max_timestamp=T, timestamp_type=1))
    assert (batch.attributes, batch.timestamp_type, batch.max_timestamp) == (8, 1, T)
    assert batch.is_valid()


def test_an_empty_batch_keeps_what_its_batch_was():
    options = dict(producer_id=1, producer_epoch=2, base_sequence=3, partition_leader_epoch=4, is_transactional=True)
    [batch] = recordpress.read_batches(recordpress.empty_batch(10, 14, is_control=True, **options))
    assert {name: getattr(batch, name) for name in options} == options
    assert batch.is_control
    assert (batch.base_offset, batch.last_offset, batch.records_count) == (10, 14, 0)


def test_the_largest_timestamp_under_append_time():
    """MemoryRecordsBuilder notes the append time for v1, whose messages have it, and the records' own for v2."""
    for magic, offset in ((1, 0), (2, 1)):
        builder = recordpress.BatchBuilder(magic, timestamp_type=1, log_append_time=T)
        for timestamp in (5, 9, 7):
            builder.append(b"v", timestamp=timestamp)
        assert (builder.max_timestamp, builder.offset_of_max_timestamp) == (T, offset)


# --- the limit as Kafka keeps it: MemoryRecordsBuilder.hasRoomFor


def _record_bytes(value: bytes, records: int) -> int:
    return len(recordpress.write_records([value] * records)) - 61


def _float32(number: float) -> float:
    return struct.unpack("f", struct.pack("f", number))[0]


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_kafkas_limit_always_takes_the_first_record(codec: str) -> None:
    builder = recordpress.BatchBuilder(compression_type=codec, limit=0, estimated_compression_ratio=1.0)
    assert builder.append(bytes(100))
    assert not builder.append(b"")
    assert len(builder.build()) > 61


def test_kafkas_limit_without_a_codec_is_exact_from_the_second_record_on() -> None:
    size = 61 + _record_bytes(bytes(100), 3)
    for limit, taken in ((size, 3), (size - 1, 2)):
        builder = recordpress.BatchBuilder(limit=limit, estimated_compression_ratio=0.1)
        assert sum(builder.append(bytes(100)) for _ in range(4)) == taken
        assert builder.limit == limit


@pytest.mark.parametrize(
    ("ratio", "limit", "size"),
    thinned(itertools.product([1.0, 0.5, 0.05, 0.000003, 1.0499, 2], [5000, 50_000], [0, 100, 3000]), 5),
)
def test_kafkas_limit_with_a_codec_is_an_estimate(ratio: float, limit: int, size: int) -> None:
    """Header + uncompressed x ratio x 1.05, in float32, + the record as it is."""
    value = bytes(size)
    free = recordpress.BatchBuilder()
    free.append(value)
    expected = 1
    while expected < 9_000:
        written = free.uncompressed_size
        free.append(value)
        estimate = _float32(_float32(_float32(written) * _float32(ratio)) * _float32(1.05))
        if limit < 61 + int(estimate) + free.uncompressed_size - written:
            break
        expected += 1
    builder = recordpress.BatchBuilder(compression_type="zstd", limit=limit, estimated_compression_ratio=ratio)
    taken = 0
    while taken < 9_000 and builder.append(value):
        taken += 1
    assert taken == expected
    assert [len(batch) for batch in recordpress.read_batches(builder.build())] == [expected]


@pytest.mark.parametrize("last", [9, 0, -1, 10 + 2**31])
def test_the_last_offset_of_an_empty_batch_is_within_its_range(last: int) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=f"from 10 to {10 + 2**31 - 1}") as caught:
        recordpress.empty_batch(10, last)
    assert caught.value.field == "last_offset"
    for good in (10, 10 + 2**31 - 1):
        assert next(recordpress.read_batches(recordpress.empty_batch(10, good))).last_offset == good


@pytest.mark.parametrize(
    ("ratio", "error"),
    [
        (-1.0, recordpress.InvalidArgumentError),
        (3.5e38, recordpress.InvalidArgumentError),
        (float("nan"), recordpress.InvalidArgumentError),
        (float("inf"), recordpress.InvalidArgumentError),
        ("1.0", recordpress.ArgumentTypeError),
        (True, recordpress.ArgumentTypeError),
    ],
)
def test_a_ratio_that_is_none(ratio: object, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        recordpress.BatchBuilder(estimated_compression_ratio=ratio)
    assert caught.value.field == "estimated_compression_ratio"
