"""write_columns: any Arrow layout in, the records and batches that were asked for out."""

import ctypes
import mmap
import struct

import pytest

import recordpress
from other_thread import another_thread

pa = pytest.importorskip("pyarrow")

T = 1_700_000_000_000
KEYS = [b"k", None, b"", b"k" * 40, b"k" * 300]
VALUES = [b"v" * 10, b"", None, b"v" * 700, b"v" * 13]
HEADERS = [[("h", b"x"), ("n", None)], None, [], [("", b"y" * 99)], [("h", b"x")]]
TIMES = [T, T + 5, None, T - 7, T + 1]
HEADER_TYPE = pa.struct([("key", pa.string()), ("value", pa.binary())])


def records(data):
    return [
        (r.offset, r.timestamp, r.key, r.value, list(r.headers))
        for batch in recordpress.read_batches(data)
        for r in batch
    ]


EXPECTED = [
    (i, -1 if t is None else t, k, v, h or [])
    for i, (t, k, v, h) in enumerate(zip(TIMES, KEYS, VALUES, HEADERS, strict=True))
]


def table(binary=None, lists=pa.list_, time=None):
    binary = binary or pa.binary()
    return pa.table(
        {
            "headers": pa.array([h and [{"key": k, "value": v} for k, v in h] for h in HEADERS], lists(HEADER_TYPE)),
            "value": pa.array(VALUES, pa.binary()).cast(binary),
            "key": pa.array(KEYS, pa.binary()).cast(binary),
            "timestamp": pa.array(TIMES, pa.timestamp("ms", "UTC")).cast(time or pa.timestamp("ms", "UTC")),
        }
    )


@pytest.mark.parametrize("binary", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("lists", [pa.list_, pa.large_list])
@pytest.mark.parametrize(
    "time", [pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC"), pa.int64()], ids=str
)
def test_layouts(binary, lists, time):
    assert records(recordpress.write_columns(table(binary, lists, time))) == EXPECTED


@pytest.mark.parametrize("name", ["binary_view", "string_view"])
def test_views(name):
    if not hasattr(pa, name):
        pytest.skip("this pyarrow has no views")
    view = getattr(pa, name)()
    source = table()
    for column in ("key", "value"):
        at = source.column_names.index(column)
        source = source.set_column(at, column, pa.array(source[column].to_pylist(), pa.binary()).cast(view))
    assert records(recordpress.write_columns(source)) == EXPECTED


def test_seconds_are_whole_and_map_is_a_header_list():
    source = pa.table(
        {
            "value": [b"v"],
            "timestamp": pa.array([1_700_000_000], pa.timestamp("s", "UTC")),
            "headers": pa.array([[("h", b"x")]], pa.map_(pa.string(), pa.binary())),
        }
    )
    assert records(recordpress.write_columns(source)) == [(0, T, None, b"v", [("h", b"x")])]


@pytest.mark.parametrize(
    ("unit", "time", "ms"), [("us", 1999, 1), ("ns", 1_999_999, 1), ("us", -1000, -1), ("ms", -1, -1), ("us", 0, 0)]
)
def test_timestamps_are_rounded_down_when_asked(unit, time, ms):
    source = pa.table({"value": [b""], "timestamp": pa.array([time], pa.timestamp(unit, "UTC"))})
    assert records(recordpress.write_columns(source, coerce_timestamps=True))[0][1] == ms
    naive = pa.table({"value": [b""], "timestamp": pa.array([time], pa.timestamp(unit))})
    assert records(recordpress.write_columns(naive, coerce_timestamps=True))[0][1] == ms


@pytest.mark.parametrize(("unit", "time"), [("us", 1999), ("us", 1), ("ns", 1_000_001), ("ns", 999_999), ("us", -1)])
def test_parts_of_a_millisecond_are_refused(unit, time):
    source = pa.table({"value": [b"", b""], "timestamp": pa.array([0, time], pa.timestamp(unit, "UTC"))})
    with pytest.raises(recordpress.InvalidArgumentError, match=r"record 1: .*coerce_timestamps=True") as caught:
        recordpress.write_columns(source)
    assert caught.value.field == "timestamp"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_without_a_zone_are_refused(unit):
    source = pa.table({"value": [b""], "timestamp": pa.array([0], pa.timestamp(unit))})
    with pytest.raises(recordpress.InvalidArgumentError, match="time zone") as caught:
        recordpress.write_columns(source)
    assert caught.value.field == "timestamp"
    other_zone = source.set_column(1, "timestamp", pa.array([0], pa.timestamp(unit, "Asia/Tokyo")))
    assert records(recordpress.write_columns(other_zone))[0][1] == 0


@pytest.mark.parametrize(("unit", "time"), [("ms", -2), ("us", -1), ("us", -999), ("ns", -1), ("us", -1001), ("s", -1)])
def test_negative_timestamps_are_refused(unit, time):
    source = pa.table({"value": [b"", b""], "timestamp": pa.array([0, time], pa.timestamp(unit, "UTC"))})
    with pytest.raises(recordpress.InvalidArgumentError, match=r"record 1: timestamp .*negative") as caught:
        recordpress.write_columns(source, coerce_timestamps=True)
    assert caught.value.field == "timestamp"


@pytest.mark.parametrize("start", range(5))
@pytest.mark.parametrize("stop", range(5))
def test_slices(start, stop):
    batch = table().combine_chunks().to_batches()[0]
    got = records(recordpress.write_columns(batch.slice(start, max(stop - start, 0)), base_offset=start))
    assert got == EXPECTED[start:stop]
    struct = pa.StructArray.from_arrays(batch.columns, batch.schema.names)[start:stop] if stop > start else None
    if struct is not None:
        assert records(recordpress.write_columns(struct, base_offset=start)) == EXPECTED[start:stop]


def test_chunked_and_empty():
    whole = table()
    parts = pa.concat_tables([whole.slice(0, 2), whole.slice(0, 0), whole.slice(2)])
    assert parts["key"].num_chunks > 1
    assert recordpress.write_columns(parts) == recordpress.write_columns(whole)
    assert recordpress.write_columns(whole.slice(0, 0)) == b""
    assert recordpress.write_columns(whole.slice(0, 0), compression_type="zstd") == b""


def test_many_rows_and_batches():
    n = 3000
    source = pa.table({"value": [b"%d" % i * 9 for i in range(n)]})
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        data = recordpress.write_columns(source, compression_type=codec, batch_bytes=4096)
        sizes = [sum(record.size for record in batch) for batch in recordpress.read_batches(data)]
        assert all(61 + size <= 4096 for size in sizes)
        assert all(61 + size + 64 > 4096 for size in sizes[:-1])
        assert [r[3] for r in records(data)] == source["value"].to_pylist()
    counts = [
        batch.records_count for batch in recordpress.read_batches(recordpress.write_columns(source, batch_records=1000))
    ]
    assert counts == [1000, 1000, 1000]
    one = recordpress.write_columns(source, batch_bytes=1)
    assert [batch.records_count for batch in recordpress.read_batches(one)] == [1] * n


def test_offsets_are_kept_and_cut_batches():
    offsets = [5, 6, 100, 100 + 2**31, 101 + 2**31]
    source = pa.table({"offset": offsets, "value": [b"v"] * 5})
    data = recordpress.write_columns(source, producer_id=1, producer_epoch=0, base_sequence=2**31 - 2)
    batches = list(recordpress.read_batches(data))
    assert [(b.base_offset, b.last_offset, b.base_sequence) for b in batches] == [
        (5, 100, 2**31 - 2),
        (100 + 2**31, 101 + 2**31, (2**31 - 2 + 95 + 2**31) % 2**31),
    ]
    assert [r[0] for r in records(data)] == offsets


@pytest.mark.parametrize("offsets", [[1, 1], [2, 1], [-1, 0], [0, None]])
def test_offsets_must_increase(offsets):
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        recordpress.write_columns(pa.table({"offset": pa.array(offsets, pa.int64()), "value": [b"", b""]}))
    assert caught.value.field == "offset"


def test_timestamp_types_make_batches():
    source = pa.table(
        {
            "timestamp": pa.array([T, T + 1, T + 9, T + 9, T + 10], pa.timestamp("ms", "UTC")),
            "timestampType": pa.array([0, 0, 1, 1, 1], pa.int32()),
            "value": [b"a", b"b", b"c", b"d", b"e"],
        }
    )
    data = recordpress.write_columns(source)
    assert [(int(b.timestamp_type), b.records_count, b.max_timestamp) for b in recordpress.read_batches(data)] == [
        (0, 2, T + 1),
        (1, 2, T + 9),
        (1, 1, T + 10),
    ]
    assert [r[1] for r in records(data)] == [T, T + 1, T + 9, T + 9, T + 10]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_columns_of_the_reader_are_written_again(magic, codec):
    if magic < 2 and codec == "zstd":
        pytest.skip("zstd needs magic 2")
    data = recordpress.write_records(
        VALUES, KEYS, T, HEADERS if magic == 2 else None, offsets=[3, 4, 9, 10, 11], magic=magic, compression_type=codec
    )
    for kind in ("binary", "large_binary", "binary_view"):
        again = recordpress.write_columns(
            recordpress.read_columns(data, binary_type=kind), magic=magic, compression_type=codec
        )
        assert again == data


def test_other_producers_of_arrow():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"key": [b"k", None], "value": ["a", None]})
    assert [r[2:4] for r in records(recordpress.write_columns(frame))] == [(b"k", b"a"), (None, None)]
    reader = pa.RecordBatchReader.from_batches(table().schema, table().to_batches())
    assert records(recordpress.write_columns(reader)) == EXPECTED


def test_null_columns():
    source = pa.table({"key": pa.nulls(2), "value": pa.nulls(2), "timestamp": pa.nulls(2), "headers": pa.nulls(2)})
    assert records(recordpress.write_columns(source)) == [(0, -1, None, None, []), (1, -1, None, None, [])]


@pytest.mark.parametrize(
    ("source", "error", "field"),
    [
        (b"bytes", recordpress.ArgumentTypeError, "data"),
        (pa.array([1]), recordpress.ArgumentTypeError, "data"),
        (pa.table({"value": [1]}), recordpress.ArgumentTypeError, "value"),
        (pa.table({"value": [b""], "other": [1]}), recordpress.InvalidArgumentError, "other"),
        (pa.table({"timestamp": [1]}), recordpress.InvalidArgumentError, "data"),
        (pa.table({"value": [b""], "offset": ["0"]}), recordpress.ArgumentTypeError, "offset"),
        (pa.table({"value": [b""], "headers": pa.array([["h"]])}), recordpress.ArgumentTypeError, "headers"),
        (pa.table({"value": pa.array([b"a"]).dictionary_encode()}), recordpress.ArgumentTypeError, "value"),
        (
            pa.table({"value": [b""], "headers": pa.array([[{"key": None, "value": b""}]], pa.list_(HEADER_TYPE))}),
            recordpress.InvalidArgumentError,
            "headers",
        ),
        (pa.array([{"value": b"a"}, None]), recordpress.InvalidArgumentError, "data"),
    ],
    ids=str,
)
def test_refused(source, error, field):
    with pytest.raises(error) as caught:
        recordpress.write_columns(source)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "options",
    [
        {"batch_bytes": 0},
        {"batch_bytes": 2**31},
        {"batch_records": 0},
        {"base_offset": -1},
        {"magic": 3},
        {"compression_type": "brotli"},
        {"magic": 1, "compression_type": "zstd"},
        {"is_transactional": True},
    ],
)
def test_options_out_of_range(options):
    with pytest.raises(recordpress.RecordpressError):
        recordpress.write_columns(pa.table({"value": [b""]}), **options)


class Capsules:
    """Gives the same capsules to everybody who asks, changed by `change` before."""

    def __init__(self, data, change=lambda schema, array: None):
        self.given = data.__arrow_c_array__()
        change(*(address(capsule, name) for capsule, name in zip(self.given, NAMES, strict=True)))

    def __arrow_c_array__(self, requested_schema=None):
        return self.given


class Stream:
    def __init__(self, data):
        self.given = data.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self.given


NAMES = (b"arrow_schema", b"arrow_array")
address = ctypes.pythonapi.PyCapsule_GetPointer
address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def word(at, number):
    """A 64-bit field of an ArrowSchema or ArrowArray."""
    return ctypes.c_int64.from_address(at + 8 * number)


@pytest.mark.parametrize("kind", [Capsules, Stream])
def test_capsules_that_another_consumer_emptied(kind):
    batch = pa.record_batch({"value": [b"v" * 100]})
    data = kind(batch if kind is Capsules else pa.table(batch))
    assert pa.table(data).num_rows == 1
    with pytest.raises(recordpress.InvalidArgumentError, match="already consumed"):
        recordpress.write_columns(data)


def test_null_rows_that_nobody_counted():
    def forget(schema, array):
        assert word(array, 1).value == 1
        word(array, 1).value = -1

    rows = pa.StructArray.from_arrays([pa.array([b"a", b"b", b"c"])], ["value"], mask=pa.array([False, True, False]))
    with pytest.raises(recordpress.InvalidArgumentError, match="a row of data is null"):
        recordpress.write_columns(Capsules(rows, forget))
    valid = pa.StructArray.from_arrays([pa.array([b"a", b"b"])], ["value"], mask=pa.array([False, False]))
    assert len(records(recordpress.write_columns(Capsules(valid, lambda schema, array: None)))) == 2


def test_a_column_without_a_name():
    def forget(schema, array):
        child = word(word(schema, 5).value, 0).value
        word(child, 1).value = 0

    with pytest.raises(recordpress.InvalidArgumentError, match="column ''"):
        recordpress.write_columns(Capsules(pa.record_batch({"value": [b"a"]}), forget))


def test_a_column_twice():
    with pytest.raises(recordpress.InvalidArgumentError, match="duplicate column"):
        recordpress.write_columns(pa.table([[b"a"], [b"b"]], names=["value", "value"]))


def test_a_null_timestamp_type_is_create_time():
    """Whatever number lies below the null."""
    ones = pa.array([1, 1, 1], pa.int32()).buffers()[1]
    types = pa.Array.from_buffers(pa.int32(), 3, [pa.array([True, None, True]).buffers()[0], ones])
    data = recordpress.write_columns(
        pa.table({"value": [b"a", b"b", b"c"], "timestamp": [T, T, T], "timestampType": types})
    )
    assert [batch.timestamp_type for batch in recordpress.read_batches(data)] == [1, 0, 1]


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_value_that_no_entry_can_hold(magic, codec):
    """Nothing is copied: the memory is reserved, not touched."""
    size = (1 << 31) + 100
    offsets = pa.py_buffer(struct.pack("<2q", 0, size))
    value = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, pa.py_buffer(mmap.mmap(-1, size))])
    with pytest.raises(recordpress.InvalidArgumentError, match="record 0: "):
        recordpress.write_columns(pa.table({"value": value}), magic=magic, compression_type=codec, batch_bytes=None)


class Counted:
    """A stream whose schema and arrays are counted when they are given, and when they are released."""

    NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    def __init__(self, reader):
        self.given = reader.__arrow_c_stream__()
        self.held, self.taken, self.callbacks = 0, 0, []
        at = address(self.given, b"arrow_array_stream")
        self.count(word(at, 0), 7)  # get_schema, and where ArrowSchema has its release
        self.count(word(at, 1), 8)  # get_next, ArrowArray

    def count(self, function, release_at):
        original = self.NEXT(function.value)

        def get(stream, struct_):
            code = original(stream, struct_)
            release = word(struct_, release_at)
            if code == 0 and release.value:
                self.held, self.taken = self.held + 1, self.taken + 1
                release.value = self.releasing(release.value)
            return code

        function.value = self.keep(self.NEXT(get))

    def releasing(self, original):
        def release(struct_):
            self.held -= 1
            self.RELEASE(original)(struct_)

        return self.keep(self.RELEASE(release))

    def keep(self, callback):
        self.callbacks.append(callback)
        return ctypes.cast(callback, ctypes.c_void_p).value

    def __arrow_c_stream__(self, requested_schema=None):
        return self.given


PART = pa.record_batch({"offset": [1, 2], "value": [b"a", b"b"]})


def test_every_array_of_a_stream_is_released():
    rising = [PART.set_column(0, "offset", pa.array([i, i + 1])) for i in (1, 5, 9)]
    stream = Counted(pa.RecordBatchReader.from_batches(PART.schema, rising))
    assert [r[0] for r in records(recordpress.write_columns(stream))] == [1, 2, 5, 6, 9, 10]
    assert (stream.taken, stream.held) == (4, 0)


@pytest.mark.parametrize(
    ("options", "taken"), [({}, 3), ({"magic": 7}, 0), ({"base_offset": 0}, 1)], ids=["row", "option", "base_offset"]
)
def test_what_was_taken_of_a_stream_is_released_after_an_error(options, taken):
    stream = Counted(pa.RecordBatchReader.from_batches(PART.schema, [PART, PART, PART]))
    with pytest.raises(recordpress.InvalidArgumentError):
        recordpress.write_columns(stream, **options)
    assert (stream.taken, stream.held) == (taken, 0)


def test_a_stream_that_fails_is_not_taken_for_one_that_ends():
    def parts():
        yield PART
        raise OSError("the disk is gone")

    with pytest.raises(recordpress.InvalidArgumentError, match=r"stream failed: .*the disk is gone"):
        recordpress.write_columns(pa.RecordBatchReader.from_batches(PART.schema, parts()))


def test_header_fields_go_by_their_names():
    swapped = pa.struct([("value", pa.binary()), ("key", pa.string())])
    headers = pa.array([[{"key": "k", "value": b"v"}]], pa.list_(swapped))
    assert records(recordpress.write_columns(pa.table({"value": [b""], "headers": headers})))[0][4] == [("k", b"v")]


@pytest.mark.parametrize("names", [("key", "value", "more"), ("key",), ("key", "key"), ("key", "other")])
def test_a_header_is_a_key_and_a_value(names):
    struct_ = pa.StructArray.from_arrays([pa.array(["k"])] * len(names), names)
    headers = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), struct_)
    with pytest.raises(recordpress.ArgumentTypeError) as caught:
        recordpress.write_columns(pa.table({"value": [b""], "headers": headers}))
    assert caught.value.field == "headers"


def test_a_header_that_is_null():
    """Whatever key lies below the null, and wherever the list's structs begin in their buffers."""
    keys = [pa.array(["a", "b", "c", "d"]), pa.array([b"1", b"2", b"3", b"4"])]
    mask = pa.array([True, False, False, True])
    structs = pa.StructArray.from_arrays(keys, fields=list(HEADER_TYPE), mask=mask)

    def written(items):
        headers = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), items)
        return records(recordpress.write_columns(pa.table({"value": [b""], "headers": headers})))

    with pytest.raises(recordpress.InvalidArgumentError, match="record 0: ") as caught:
        written(structs)
    assert caught.value.field == "headers"
    assert written(structs[1:])[0][4] == [("b", b"2"), ("c", b"3")]


def test_seconds_beyond_what_milliseconds_can_say():
    most = (2**63 - 1) // 1000

    def source(seconds):
        return pa.table({"value": [b"", b""], "timestamp": pa.array([0, seconds], pa.timestamp("s", "UTC"))})

    assert records(recordpress.write_columns(source(most)))[1][1] == most * 1000
    for seconds in (most + 1, 2**62, 2**63 - 1, -most - 1, -(2**63)):
        with pytest.raises(recordpress.InvalidArgumentError, match=r"^record 1: ") as caught:
            recordpress.write_columns(source(seconds))
        assert caught.value.field == "timestamp"


@pytest.mark.parametrize("name", ["binary", "binary_view"])
def test_every_size_of_a_value(name):
    """Views are inline up to 12 bytes; short copies are steps that overlap, other ones for each size up to 64."""
    if not hasattr(pa, name):
        pytest.skip("this pyarrow has no views")
    values = [bytes(range(100, 100 + size)) for size in range(140)]
    source = pa.table({"value": pa.array(values, pa.binary()).cast(getattr(pa, name)())})
    for magic in (1, 2):
        assert [r[3] for r in records(recordpress.write_columns(source, magic=magic))] == values


TYPED = pa.table({"value": [b"a", b"b", b"c"], "timestamp": [T, T, T + 1], "timestampType": pa.array([0, 1, 1])})
TYPED = TYPED.set_column(2, "timestampType", TYPED["timestampType"].cast(pa.int32()))


@pytest.mark.parametrize("timestamp_type", [0, 1])
def test_the_argument_is_stronger_than_the_timestamp_type_column(timestamp_type):
    options = {"timestamp_type": timestamp_type, "log_append_time": T + 9 if timestamp_type else -1}
    [batch] = recordpress.read_batches(recordpress.write_columns(TYPED, **options))
    assert (batch.timestamp_type, batch.max_timestamp) == (timestamp_type, T + 9 if timestamp_type else T + 1)


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_magic_0_knows_no_timestamp_type(codec):
    """Bit 3 of the attributes is v1's (LegacyRecord.TIMESTAMP_TYPE_MASK), and nothing of it makes another wrapper."""
    for typed in (TYPED, TYPED.slice(1)):
        plain = recordpress.write_columns(typed.select(["value"]), magic=0, compression_type=codec)
        assert recordpress.write_columns(typed, magic=0, compression_type=codec) == plain


def test_base_offset_beside_an_offset_column():
    with pytest.raises(recordpress.InvalidArgumentError) as caught:
        recordpress.write_columns(pa.table({"value": [b""], "offset": [1]}), base_offset=1)
    assert caught.value.field == "base_offset"


class OneArray:
    """Arrow data that gives its one array at once: asking a stream for it would give the GIL up, too."""

    def __init__(self, columns):
        self.columns = columns

    def __arrow_c_array__(self, requested_schema=None):
        return self.columns.__arrow_c_array__()


class ArrayOrStream(OneArray):
    """Arrow data with both methods, of which one array cannot give everything if `error` is set; it notes the calls."""

    def __init__(self, columns, error):
        super().__init__(columns)
        self.error, self.calls = error, []

    def __arrow_c_array__(self, requested_schema=None):
        self.calls.append("array")
        if self.error:
            raise self.error
        return super().__arrow_c_array__()

    def __arrow_c_stream__(self, requested_schema=None):
        self.calls.append("stream")
        return self.columns.__arrow_c_stream__()


@pytest.mark.parametrize(("error", "calls"), [(None, ["array"]), (ValueError("two chunks"), ["array", "stream"])])
def test_one_array_is_asked_for_before_a_stream(error, calls):
    """pyarrow makes a record batch a table for its stream; nanoarrow's arrays of several chunks have a stream only."""
    data = recordpress.write_records([b"a", None], keys=[None, b"k"])
    rows = ArrayOrStream(recordpress.read_columns(data, ["offset", "key", "value"]), error)
    assert recordpress.write_columns(rows) == data
    assert rows.calls == calls


def test_an_error_of_the_only_method_passes_through():
    class Broken:
        def __arrow_c_array__(self, requested_schema=None):
            raise ValueError("no array today")

    with pytest.raises(ValueError, match="no array today"):
        recordpress.write_columns(Broken())


@pytest.mark.parametrize("more", [[], ["baseOffset"]])
def test_another_thread_goes_on_while_columns_are_written(more):
    """While rows are, not only where the last batch is ended: the last row is refused, so that it is not."""
    last = recordpress.write_records([b""], base_offset=4999)
    data = recordpress.write_records([bytes(range(256)) * 40] * 5000) + last
    rows = OneArray(recordpress.read_columns(data, ["offset", "value", *more]))

    def write():
        with pytest.raises(recordpress.InvalidArgumentError, match=r"record 5000: .*offset"):
            recordpress.write_columns(rows, batch_bytes=None)

    with another_thread() as goes_on:
        assert goes_on(write)
