"""write_records: sequences in, the bytes that BatchBuilder gives out."""

import pytest

import recordpress

T = 1_700_000_000_000
KEYS = [b"k", None, b"", b"k" * 300]
VALUES = [b"v" * 10, b"", None, b"v" * 9000]
HEADERS = [[("h", b"x"), ("n", None)], None, [], (("h", b"y"),)]
TIMES = [T, T + 5, -1, T - 7]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def built(magic=2, codec="none", headers=HEADERS, offsets=(0, 1, 2, 3), **options):
    builder = recordpress.BatchBuilder(magic, codec, **options)
    for value, key, timestamp, header, offset in zip(VALUES, KEYS, TIMES, headers, offsets, strict=True):
        assert builder.append(value, key, timestamp, header, offset)
    return builder.build()


@pytest.mark.parametrize("codec", CODECS)
def test_same_bytes_as_the_builder(codec):
    options = dict(producer_id=7, producer_epoch=1, base_sequence=5, partition_leader_epoch=2, is_transactional=True)
    assert recordpress.write_records(VALUES, KEYS, TIMES, HEADERS, compression_type=codec, **options) == built(
        2, codec, **options
    )


@pytest.mark.parametrize("codec", CODECS[:-1])
@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("options", [{}, {"timestamp_type": 1, "log_append_time": T + 99}], ids=["create", "append"])
def test_same_messages_as_the_builder(magic, codec, options):
    got = recordpress.write_records(
        VALUES, KEYS, TIMES, magic=magic, compression_type=codec, offsets=[2, 3, 8, 9], **options
    )
    assert got == built(magic, codec, [None] * 4, [2, 3, 8, 9], base_offset=2, **options)


def test_one_timestamp_and_none():
    for given, expected in ((T, [T] * 3), (None, [-1] * 3), (iter([1, 2, 3]), [1, 2, 3])):
        [batch] = recordpress.read_batches(recordpress.write_records([b"v"] * 3, timestamps=given))
        assert [record.timestamp for record in batch] == expected


def test_any_sequence_of_bytes_like():
    values = (bytearray(b"a"), memoryview(b"b"), b"c")
    assert recordpress.write_records(values, iter(values)) == recordpress.write_records(
        [b"a", b"b", b"c"], [b"a", b"b", b"c"]
    )


def test_lists_that_are_borrowed_and_lists_that_are_copied():
    """Without a codec, lists of bytes, None and int are read as they are; all others are copied first."""
    values, keys, timestamps = [b"a" * 300, None, b""], [None, b"k", b"l"], [-1, 5, 1 << 40]
    expected = recordpress.write_records(tuple(values), tuple(keys), tuple(timestamps))
    assert recordpress.write_records(values, keys, timestamps) == expected
    assert recordpress.write_records([bytearray(b"a" * 300), None, b""], keys, timestamps) == expected
    assert recordpress.write_records(values, [None, memoryview(b"k"), b"l"], timestamps) == expected
    assert recordpress.write_records(values, keys, [Number(-1), 5, 1 << 40]) == expected
    assert recordpress.write_records(values, keys, timestamps, [None] * 3, offsets=[0, 1, 2]) == expected
    for large in ([bytes(1 << 20)] * 3, [None] * 200_000):
        assert recordpress.write_records(large) == recordpress.write_records(tuple(large))


class Number(int):
    """An int whose class is another."""


@pytest.mark.parametrize("change", [list.clear, lambda values: values.append(b"d")])
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_list_that_changes_while_others_are_converted(codec, change):
    """Code of the caller runs for a generator or an __index__; no row may be read that is not there."""
    for place in ("keys", "timestamps", "base_offset", "base_sequence"):
        values = [b"a", b"b", b"c"]

        class Changing:
            def __iter__(self):
                change(values)  # noqa: B023
                return iter([b"k"] * 3 if place == "keys" else [1, 2, 3])  # noqa: B023

            def __index__(self):
                change(values)  # noqa: B023
                return 0

        given = {place: Changing()} | ({"producer_id": 1, "producer_epoch": 0} if place == "base_sequence" else {})
        if place == "base_sequence":  # the options come first
            data = recordpress.write_records(values, compression_type=codec, **given)
            assert sum(batch.records_count for batch in recordpress.read_batches(data)) == len(values)
            continue
        if codec != "none":  # the list was copied before
            data = recordpress.write_records(values, compression_type=codec, **given)
            assert sum(batch.records_count for batch in recordpress.read_batches(data)) == 3
            continue
        with pytest.raises(recordpress.InvalidArgumentError, match=r"^values had 3 elements, and then [04] "):
            recordpress.write_records(values, compression_type=codec, **given)


def test_batches():
    values = [b"%05d" % i for i in range(1000)]
    counts = [b.records_count for b in recordpress.read_batches(recordpress.write_records(values, batch_records=300))]
    assert counts == [300, 300, 300, 100]
    data = recordpress.write_records(
        values, base_offset=40, batch_bytes=1000, producer_id=1, producer_epoch=0, base_sequence=9
    )
    batches = list(recordpress.read_batches(data))
    assert all(1000 - 13 < batch.size <= 1000 for batch in batches[:-1])
    assert [batch.base_sequence - 9 for batch in batches] == [batch.base_offset - 40 for batch in batches]
    assert [record.value for batch in batches for record in batch] == values


def test_nothing():
    assert recordpress.write_records([]) == recordpress.write_records([], [], [], [], compression_type="lz4") == b""


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: recordpress.write_records([b"a"], [b"k", b"k"]), "keys"),
        (lambda: recordpress.write_records([b"a"], timestamps=[]), "timestamps"),
        (lambda: recordpress.write_records([b"a"], headers=[None] * 2), "headers"),
        (lambda: recordpress.write_records([b"a"], offsets=[1, 2]), "offsets"),
        (lambda: recordpress.write_records([b"a"], offsets=[1], base_offset=1), "base_offset"),
        (lambda: recordpress.write_records([b"a", b"b"], offsets=[1, 1]), "offset"),
        (lambda: recordpress.write_records([b"a", b"b"], timestamps=[1, -2]), "timestamps"),
        (lambda: recordpress.write_records([b"a"], headers=[[("h", b"")]], magic=1), "headers"),
        (lambda: recordpress.write_records([b"a"], batch_bytes=0), "batch_bytes"),
    ],
)
def test_refused_values(call, field):
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        call()
    assert caught.value.field == field


def test_the_record_is_named():
    with pytest.raises(recordpress.InvalidArgumentError, match=r"record 700: timestamps must be from -1 to .*, not -5"):
        recordpress.write_records([b""] * 900, timestamps=[0] * 700 + [-5] * 200)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"values": [b""] * 700 + [1]}, "values"),
        ({"keys": [None] * 700 + ["key"]}, "keys"),
        ({"timestamps": [0] * 700 + ["yesterday"]}, "timestamps"),
        ({"offsets": [*range(700), -1]}, "offsets"),
        ({"headers": [None] * 700 + [[("h", 1)]]}, "headers"),
        ({"headers": [None] * 700 + [7]}, "headers"),
        ({"headers": [None] * 700 + [[("h",)]]}, "headers"),
    ],
)
def test_the_record_with_a_wrong_argument_is_named(given, field):
    with pytest.raises(recordpress.RecordpressError, match=r"^record 700: ") as caught:
        recordpress.write_records(**{"values": [b""] * 701} | given)
    assert caught.value.field == field


def test_headers_may_be_dicts():
    data = recordpress.write_records([b"", b""], headers=[{"a": b"1", "b": None}, {}])
    assert [record.headers for record in next(recordpress.read_batches(data))] == [[("a", b"1"), ("b", None)], []]


@pytest.mark.parametrize(
    "call",
    [
        lambda: recordpress.write_records(b"bytes"),
        lambda: recordpress.write_records([1]),
        lambda: recordpress.write_records(None),
        lambda: recordpress.write_records([b""], timestamps=[1.5]),
        lambda: recordpress.write_records([b""], headers=[["h"]]),
    ],
)
def test_refused_types(call):
    with pytest.raises(recordpress.ArgumentTypeError):
        call()


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_may_have_batch_bytes_and_no_byte_more(codec):
    values = [b"v" * size for size in (10, 100, 3, 200)]
    whole = len(recordpress.write_records(values))
    for batch_bytes, counts in ((whole, [4]), (whole - 1, [3, 1])):
        batches = recordpress.read_batches(
            recordpress.write_records(values, batch_bytes=batch_bytes, compression_type=codec)
        )
        assert [batch.records_count for batch in batches] == counts


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_many_batches_without_a_producer_have_no_sequence(magic):
    batches = recordpress.read_batches(recordpress.write_records(VALUES, batch_records=1, magic=magic))
    assert [(batch.base_sequence, batch.producer_id) for batch in batches] == [(-1, -1)] * len(VALUES)


@pytest.mark.parametrize(("codec", "levels"), [("gzip", (1, 9)), ("lz4", (1, 9)), ("zstd", (1, 19))])
def test_the_level_is_that_of_the_builder(codec, levels):
    values = [b"%d" % (i * i) * 9 for i in range(2000)]
    sizes = set()
    for level in levels:
        builder = recordpress.BatchBuilder(compression_type=codec, level=level)
        for value in values:
            builder.append(value)
        data = recordpress.write_records(values, compression_type=codec, level=level)
        assert data == builder.build()
        sizes.add(len(data))
    assert len(sizes) == len(levels)


def test_the_largest_offset_delta():
    offsets = [5, 5 + 2**31 - 1, 5 + 2**31]
    batches = list(recordpress.read_batches(recordpress.write_records([b"a", b"b", b"c"], offsets=offsets)))
    assert [(b.base_offset, b.last_offset) for b in batches] == [(5, offsets[1]), (offsets[2], offsets[2])]
