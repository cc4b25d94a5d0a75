"""Arguments that are not accepted: one clear error, a RecordpressError that is also Python's own, which says what
is."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import recordpress
from together import together

GOOD = recordpress.write_records([b"value"])
CODECS = ("gzip", "snappy", "lz4", "zstd")

try:
    import pandas as pd
except ImportError:  # under qemu, where installing it takes longer than the suite
    pd = None

WRONG_TYPE = recordpress.ArgumentTypeError
WRONG_VALUE = recordpress.InvalidArgumentError

TAKES_BYTES: dict[str, Callable[[Any], object]] = {
    "read_batches": recordpress.read_batches,
    "read_columns": recordpress.read_columns,
    "batch_table": recordpress.batch_table,
    "compress": lambda data: recordpress.compress(data, "zstd"),
    "compress_into": lambda data: recordpress.compress_into(data, bytearray(100), "zstd"),
    "decompress": lambda data: recordpress.decompress(data, "zstd"),
    "decompress_into": lambda data: recordpress.decompress_into(data, bytearray(100), "zstd"),
    "crc32c": recordpress.crc32c,
    "append": lambda data: recordpress.BatchBuilder().append(data),
    "crc32c_patch": lambda data: recordpress.crc32c_patch(0, data, data, 0),
    "fix_lz4_header": recordpress.fix_lz4_header,
    "compressor": lambda data: recordpress.compressor("gzip").compress(data),
    "decompressor": lambda data: recordpress.decompressor("gzip").decompress(data),
    "Dictionary": recordpress.dictionaries.Dictionary,
    "validate": recordpress.broker.validate,
    "validate of 1.0": lambda data: recordpress.broker.validate(data, broker_version="1.0"),
}
NOT_BYTES = ["text", 7, 1.5, object(), ["list"], memoryview]


@pytest.mark.parametrize("call", TAKES_BYTES)
@pytest.mark.parametrize("data", NOT_BYTES, ids=lambda value: type(value).__name__)
def test_what_is_not_bytes_is_refused(call: str, data: object) -> None:
    with pytest.raises(WRONG_TYPE, match="bytes"):
        TAKES_BYTES[call](data)


@pytest.mark.parametrize("call", TAKES_BYTES)
def test_a_buffer_with_holes_is_refused(call: str) -> None:
    holes = memoryview(bytes(100))[::2]
    with pytest.raises(WRONG_VALUE, match="contiguous"):
        TAKES_BYTES[call](holes)


def _holes() -> Any:
    return np.zeros(100, np.uint8)[::2]


def _released() -> memoryview:
    view = memoryview(bytearray(100))
    view.release()
    return view


def _closed() -> mmap.mmap:
    file = mmap.mmap(-1, 100)
    file.close()
    return file


@pytest.mark.parametrize("call", TAKES_BYTES)
@pytest.mark.parametrize("make", [_holes, _released, _closed])
def test_a_buffer_that_says_no_with_a_value_error_is_refused(call: str, make: Callable[[], Any]) -> None:
    with pytest.raises(WRONG_VALUE, match="contiguous"):
        TAKES_BYTES[call](make())


@pytest.mark.parametrize("call", TAKES_BYTES)
def test_a_bytearray_may_grow_after_the_call(call: str) -> None:
    """Nothing holds on to it, whether the call succeeds or not."""
    for data in (bytearray(GOOD), bytearray(recordpress.compress(b"", "lz4")), bytearray(3)):
        with suppress(recordpress.RecordpressError):
            TAKES_BYTES[call](data)
        data.append(0)


def test_a_read_only_array_is_refused() -> None:
    out = np.zeros(100, np.uint8)
    out.flags.writeable = False
    with pytest.raises(WRONG_VALUE, match="writable"):
        recordpress.compress_into(b"", out, "zstd")


ACCEPTED = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "read-only view": lambda data: memoryview(data).toreadonly(),
    "array": lambda data: np.frombuffer(data, np.uint8),
    "view of int32": lambda data: memoryview(data + bytes(-len(data) % 4)).cast("i"),
    "pyarrow buffer": pa.py_buffer,
}


@pytest.mark.parametrize("kind", ACCEPTED)
def test_any_contiguous_buffer_is_read(kind: str) -> None:
    data = ACCEPTED[kind](GOOD)
    assert [record.value for batch in recordpress.read_batches(data) for record in batch] == [b"value"]
    assert pa.table(recordpress.read_columns(data, ["value"])).to_pydict() == {"value": [b"value"]}


def test_nothing_is_an_empty_record_set() -> None:
    assert list(recordpress.read_batches(b"")) == []
    assert pa.table(recordpress.read_columns(b"")).num_rows == 0
    assert len(recordpress.batch_table(b"").to_numpy()) == 0
    assert recordpress.crc32c(b"") == 0


@pytest.mark.parametrize("codec", CODECS)
def test_nothing_is_no_stream(codec: str) -> None:
    """Only zstd has an empty stream: one without frames."""
    if codec == "zstd":
        assert recordpress.decompress(b"", codec) == b""
    else:
        with pytest.raises(recordpress.DecompressionError):
            recordpress.decompress(b"", codec)


ABORTED_1 = r"^aborted_transactions\[1\]: it must be a pair of \(producerId, firstOffset\), not \(3,\)"
UNKNOWN = r"^%s\(\) got an unexpected keyword argument 'batch_size'"  # as Python says it

REFUSED: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    # codecs and levels
    ("unknown codec", lambda: recordpress.compress(b"", "brotli"), WRONG_VALUE, "zstd"),
    ("unknown codec to read", lambda: recordpress.decompress(b"", "brotli"), WRONG_VALUE, "zstd"),
    ("codec of the wrong type", lambda: recordpress.compress(b"", 3.5), WRONG_TYPE, "str"),
    ("gzip 0", lambda: recordpress.compress(b"", "gzip", 0), WRONG_VALUE, "1.*9"),
    ("gzip 10", lambda: recordpress.compress(b"", "gzip", 10), WRONG_VALUE, "1.*9"),
    ("lz4 0", lambda: recordpress.compress(b"", "lz4", 0), WRONG_VALUE, "1.*17"),
    ("lz4 18", lambda: recordpress.compress(b"", "lz4", 18), WRONG_VALUE, "1.*17"),
    ("zstd 23", lambda: recordpress.compress(b"", "zstd", 23), WRONG_VALUE, "-131072.*22"),
    ("zstd -131073", lambda: recordpress.compress(b"", "zstd", -131073), WRONG_VALUE, "-131072.*22"),
    ("a level for snappy", lambda: recordpress.compress(b"", "snappy", 1), WRONG_VALUE, "level"),
    ("a level for none", lambda: recordpress.compress(b"", "none", 1), WRONG_VALUE, "level"),
    ("a level of the wrong type", lambda: recordpress.compress(b"", "zstd", "9"), WRONG_TYPE, "int"),
    ("a negative cap", lambda: recordpress.decompress(b"", "zstd", -1), WRONG_VALUE, "max_decompressed_bytes"),
    ("output that is read-only", lambda: recordpress.compress_into(b"", b"1234", "zstd"), WRONG_VALUE, "writable"),
    ("output of the wrong type", lambda: recordpress.compress_into(b"", "text", "zstd"), WRONG_TYPE, "writable"),
    # reading
    ("read_batches: cap", lambda: recordpress.read_batches(GOOD, max_decompressed_bytes=0), WRONG_VALUE, "max_dec"),
    ("read_batches: cap type", lambda: recordpress.read_batches(GOOD, max_decompressed_bytes="1"), WRONG_TYPE, "int"),
    ("unknown column", lambda: recordpress.read_columns(GOOD, ["offsets"]), WRONG_VALUE, "offset, timestamp"),
    ("a column twice", lambda: recordpress.read_columns(GOOD, ["key", "key"]), WRONG_VALUE, "twice"),
    ("columns as one str", lambda: recordpress.read_columns(GOOD, "offset"), WRONG_TYPE, "sequence"),
    ("columns that are no sequence", lambda: recordpress.read_columns(GOOD, 5), WRONG_TYPE, "sequence"),
    ("columns that are no names", lambda: recordpress.read_columns(GOOD, [1]), recordpress.RecordpressError, "column"),
    ("binary type", lambda: recordpress.read_columns(GOOD, binary_type="string"), WRONG_VALUE, "large_binary"),
    ("timestamp unit", lambda: recordpress.read_columns(GOOD, timestamp_unit="ns"), WRONG_VALUE, "us"),
    ("no threads", lambda: recordpress.read_columns(GOOD, threads=0), WRONG_VALUE, "threads"),
    ("threads of the wrong type", lambda: recordpress.read_columns(GOOD, threads="2"), WRONG_TYPE, "threads"),
    ("offset of the wrong type", lambda: recordpress.read_columns(GOOD, start_offset="0"), WRONG_TYPE, "start_offset"),
    ("offset out of range", lambda: recordpress.read_columns(GOOD, end_offset=2**63), WRONG_VALUE, "end_offset"),
    ("columns: cap", lambda: recordpress.read_columns(GOOD, max_decompressed_bytes=2**31), WRONG_VALUE, "max_dec"),
    ("chunk of nothing", lambda: recordpress.read_columns(GOOD, chunk_bytes=0), WRONG_VALUE, "chunk_bytes"),
    ("aborted: not pairs", lambda: recordpress.read_columns(GOOD, aborted_transactions=[1]), WRONG_TYPE, "aborted"),
    (
        "aborted: not ints",
        lambda: recordpress.read_columns(GOOD, aborted_transactions=[("a", 1)]),
        WRONG_TYPE,
        "aborted",
    ),
    (
        "aborted: which pair",
        lambda: recordpress.read_columns(GOOD, aborted_transactions=[(1, 2), (3,)]),
        WRONG_TYPE,
        ABORTED_1,
    ),
    (
        "aborted: which number",
        lambda: recordpress.read_columns(GOOD, aborted_transactions=[(1, 2), (3, "x")]),
        WRONG_TYPE,
        r"^aborted_transactions\[1\]: firstOffset must be an int",
    ),
    (
        "columns: which name",
        lambda: recordpress.read_columns(GOOD, ["key", 5]),
        WRONG_TYPE,
        r"^columns\[1\] must be a name",
    ),
    ("control_record of nothing", lambda: recordpress.control_record(None), WRONG_TYPE, "Record"),
    # writing
    ("magic 3", lambda: recordpress.BatchBuilder(magic=3), WRONG_VALUE, "magic"),
    ("magic of the wrong type", lambda: recordpress.BatchBuilder(magic="2"), WRONG_TYPE, "magic"),
    ("builder: codec", lambda: recordpress.BatchBuilder(compression_type="brotli"), WRONG_VALUE, "zstd"),
    ("builder: codec of the wrong type", lambda: recordpress.BatchBuilder(compression_type=3), WRONG_TYPE, "str"),
    ("builder: level", lambda: recordpress.BatchBuilder(compression_type="zstd", level=99), WRONG_VALUE, "-131072.*22"),
    ("zstd in v1", lambda: recordpress.BatchBuilder(magic=1, compression_type="zstd"), WRONG_VALUE, "zstd"),
    ("transaction in v1", lambda: recordpress.BatchBuilder(magic=1, is_transactional=True), WRONG_VALUE, "magic 1"),
    ("transaction, no producer", lambda: recordpress.BatchBuilder(is_transactional=True), WRONG_VALUE, "producer_id"),
    ("producer, no epoch", lambda: recordpress.BatchBuilder(producer_id=1), WRONG_VALUE, "producer_epoch"),
    (
        "producer, no sequence",
        lambda: recordpress.BatchBuilder(producer_id=1, producer_epoch=0),
        WRONG_VALUE,
        "base_sequence",
    ),
    ("epoch too large", lambda: recordpress.BatchBuilder(producer_epoch=2**15), WRONG_VALUE, "producer_epoch"),
    ("a negative limit", lambda: recordpress.BatchBuilder(limit=-1), WRONG_VALUE, "limit"),
    ("key of the wrong type", lambda: recordpress.BatchBuilder().append(b"", key="key"), WRONG_TYPE, "key"),
    ("value of the wrong type", lambda: recordpress.BatchBuilder().append("value"), WRONG_TYPE, "value"),
    ("timestamp -2", lambda: recordpress.BatchBuilder().append(b"", timestamp=-2), WRONG_VALUE, "timestamp"),
    ("timestamp type", lambda: recordpress.BatchBuilder().append(b"", timestamp=1.5), WRONG_TYPE, "timestamp"),
    ("a header: not a pair", lambda: recordpress.BatchBuilder().append(b"", headers=[b"x"]), WRONG_TYPE, "header"),
    (
        "a header without a key",
        lambda: recordpress.BatchBuilder().append(b"", headers=[(None, b"")]),
        WRONG_TYPE,
        "header",
    ),
    ("a header value", lambda: recordpress.BatchBuilder().append(b"", headers=[("h", 7)]), WRONG_TYPE, "header"),
    (
        "which header",
        lambda: recordpress.BatchBuilder().append(b"", headers=[("a", b""), 5]),
        WRONG_TYPE,
        "^header 1 must be",
    ),
    (
        "which header's key",
        lambda: recordpress.BatchBuilder().append(b"", headers=[("a", b""), (5, b"")]),
        WRONG_TYPE,
        "^the key of header 1 must be str",
    ),
    (
        "which header's value",
        lambda: recordpress.write_records([b"", b""], headers=[None, {"a": b"", "b": 5}]),
        WRONG_TYPE,
        "^record 1: the value of header 1 must be",
    ),
    (
        "headers in v1",
        lambda: recordpress.BatchBuilder(magic=1).append(b"", timestamp=0, headers=[("h", b"")]),
        WRONG_VALUE,
        "headers",
    ),
    ("values that are no list", lambda: recordpress.write_records(7), WRONG_TYPE, "values"),
    ("a value that is no bytes", lambda: recordpress.write_records(["text"]), WRONG_TYPE, "value"),
    ("fewer keys than values", lambda: recordpress.write_records([b"a", b"b"], keys=[b"k"]), WRONG_VALUE, "keys"),
    ("what is not Arrow", lambda: recordpress.write_columns([1, 2]), WRONG_TYPE, "__arrow_c_"),
    ("Arrow of another type", lambda: recordpress.write_columns(pa.table({"value": [1.5]})), WRONG_TYPE, "value"),
    ("an unknown column", lambda: recordpress.write_columns(pa.table({"values": [b""]})), WRONG_VALUE, "values"),
    (
        "offsets that fall",
        lambda: recordpress.write_columns(pa.table({"offset": [1, 0], "value": [b"", b""]})),
        WRONG_VALUE,
        "offset",
    ),
    (
        "an empty batch",
        lambda: recordpress.write_columns(pa.table({"value": [b""]}), batch_records=0),
        WRONG_VALUE,
        "batch_records",
    ),
    (
        "builder: an unknown option",
        lambda: recordpress.BatchBuilder(batch_size=1),
        WRONG_TYPE,
        UNKNOWN % "BatchBuilder",
    ),
    (
        "builder: magic twice",
        lambda: recordpress.BatchBuilder(2, magic=2),
        WRONG_TYPE,
        r"^BatchBuilder\(\) got multiple values for argument 'magic'",  # as Python says it
    ),
    (
        "records: an unknown option",
        lambda: recordpress.write_records([], batch_size=1),
        WRONG_TYPE,
        UNKNOWN % "write_records",
    ),
    (
        "columns: an unknown option",
        lambda: recordpress.write_columns([], batch_size=1),
        WRONG_TYPE,
        UNKNOWN % "write_columns",
    ),
    (
        "records: not control",
        lambda: recordpress.write_records([], is_control=True),
        WRONG_TYPE,
        "keyword.*'is_control'",
    ),
    ("nearly an option", lambda: recordpress.write_records([], producerid=1), WRONG_TYPE, "did you mean 'producer_id'"),
    (
        "nearly a parameter",
        lambda: recordpress.write_columns([], bases_offset=1),
        WRONG_TYPE,
        "did you mean 'base_offset'",
    ),
    (
        "too many arguments",
        lambda: recordpress.BatchBuilder(2, "none", None, 9, 9),
        WRONG_TYPE,
        r"^BatchBuilder\(\) takes",
    ),
]


@together("name, call, error, says", REFUSED, ids=itemgetter(0))
def test_refused(name: str, call: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        call()
    assert isinstance(caught.value, TypeError | ValueError)


# --- integers, flags and choices -------------------------------------------------------------------------------------

INTEGERS: dict[str, Callable[[Any], object]] = {
    "offset": lambda number: recordpress.BatchBuilder().append(b"", offset=number),
    "start_offset": lambda number: recordpress.read_columns(GOOD, start_offset=number),
    "value": lambda number: recordpress.crc32c(b"", number),
}


@pytest.mark.parametrize("field", INTEGERS)
@pytest.mark.parametrize("number", [np.int8(3), np.uint64(3), np.array(3), 3], ids=lambda number: type(number).__name__)
def test_numpy_integers_are_integers(field: str, number: Any) -> None:
    INTEGERS[field](number)


@pytest.mark.parametrize("field", INTEGERS)
@pytest.mark.parametrize("number", [True, np.True_, 3.0, "3", None.__class__, np.array([3, 4]), np.array([])], ids=repr)
def test_what_is_no_integer_is_refused(field: str, number: Any) -> None:
    with pytest.raises(WRONG_TYPE, match=f"{field} must be an int") as caught:
        INTEGERS[field](number)
    assert caught.value.field == field


@pytest.mark.parametrize("bits", [1, 15, 29, 30, 31, 45, 59, 60, 61, 62])
def test_an_integer_of_any_size_is_itself(bits: int) -> None:
    for number in (2**bits - 1, 2**bits):
        data = recordpress.write_records([b""], offsets=[number])
        assert recordpress.read_columns(data, ["offset"])["offset"].to_pylist() == [number]
        assert recordpress.read_columns(data, start_offset=-number).num_rows == 1
        assert recordpress.read_columns(data, end_offset=-number).num_rows == 0


@pytest.mark.parametrize("field", INTEGERS)
@pytest.mark.parametrize("number", [10**5000, -(10**5000), 2**64], ids=["5,001 digits", "negative", "65 bits"])
def test_a_long_integer_is_refused_in_a_short_sentence(field: str, number: int) -> None:
    with pytest.raises(WRONG_VALUE, match=f"{field} must be from .* not ") as caught:
        INTEGERS[field](number)
    assert caught.value.field == field
    assert len(str(caught.value)) < 200


class _Failing:
    """Says of itself that it is an integer, and fails to become one."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __index__(self) -> int:
        raise self.error


@pytest.mark.parametrize("field", INTEGERS)
def test_an_exception_of_the_callers_own_passes_through(field: str) -> None:
    error = RuntimeError("mine")
    with pytest.raises(RuntimeError) as caught:
        INTEGERS[field](_Failing(error))
    assert caught.value is error
    error = TypeError("mine")
    with pytest.raises(WRONG_TYPE, match="mine") as refused:
        INTEGERS[field](_Failing(error))
    assert refused.value.__cause__ is error


ITERATED: dict[str, Callable[[Any], object]] = {
    "values": lambda values: recordpress.write_records(values),
    "keys": lambda keys: recordpress.write_records([b""], keys),
    "timestamps": lambda timestamps: recordpress.write_records([b""], timestamps=timestamps),
    "headers": lambda headers: recordpress.write_records([b""], headers=headers),
    "headers of a record": lambda headers: recordpress.write_records([b""], headers=[headers]),
    "offsets": lambda offsets: recordpress.write_records([b""], offsets=offsets),
    "headers of append": lambda headers: recordpress.BatchBuilder().append(b"", headers=headers),
    "columns": lambda columns: recordpress.read_columns(GOOD, columns),
    "aborted_transactions": lambda pairs: recordpress.read_columns(GOOD, aborted_transactions=pairs),
}


def _generator(error: Exception) -> Any:
    yield from ()
    raise error


@pytest.mark.parametrize("argument", ITERATED)
@together("kind", [RuntimeError, TypeError, ValueError, KeyError, AttributeError])
def test_what_a_generator_raises_is_kept(argument: str, kind: type[Exception]) -> None:
    error = kind("mine")
    with pytest.raises(kind) as caught:
        ITERATED[argument](_generator(error))
    assert caught.value is error


@pytest.mark.parametrize("argument", ITERATED)
def test_what_cannot_be_iterated_over_is_refused_by_name(argument: str) -> None:
    for given in (1.5, object(), "text", b"bytes", memoryview(b"bytes")):
        with pytest.raises(recordpress.RecordpressError) as caught:
            ITERATED[argument](given)
        assert isinstance(caught.value, TypeError | ValueError)
        assert caught.value.field == argument.split()[0]


def test_arrays_are_sequences() -> None:
    data = recordpress.write_records(
        np.array([b"a", b"b"], object),
        np.array([b"k", None], object),
        np.array([5, 6]),
        offsets=np.array([1, 2], np.uint32),
    )
    columns = pa.table(
        recordpress.read_columns(data, np.array(["offset", "key"]), aborted_transactions=np.array([[1, 0]]))
    )
    assert columns.to_pydict() == {"offset": [1, 2], "key": [b"k", None]}


@pytest.mark.parametrize("flag", ["check_crcs", "control"])
def test_a_flag_is_true_or_false(flag: str) -> None:
    for value in (True, False, np.True_, np.False_):
        recordpress.read_columns(GOOD, **{flag: value})
    for value in (0, 1, None, "no", 10**5000, [10**5000]):
        with pytest.raises(WRONG_TYPE, match=f"{flag} must be True or False") as caught:
            recordpress.read_columns(GOOD, **{flag: value})
        assert caught.value.field == flag


@pytest.mark.parametrize(
    ("given", "meant"),
    [("Large_Binary", "large_binary"), (" binary ", "binary"), ("binary-view", "binary_view"), ("text", None)],
)
def test_a_name_nearly_right_is_told_the_right_one(given: str, meant: str | None) -> None:
    with pytest.raises(WRONG_VALUE) as caught:
        recordpress.read_columns(GOOD, binary_type=given)
    question = f": did you mean {meant!r}?" if meant else ""
    accepted = "'binary', 'large_binary' or 'binary_view'"
    assert caught.value.message == f"binary_type must be {accepted}, not {given!r}{question}"
    assert caught.value.field == "binary_type"


@pytest.mark.parametrize("given", [None, 1, b"binary", ["binary"], 10**5000], ids=lambda given: type(given).__name__)
def test_a_name_is_a_str(given: Any) -> None:
    with pytest.raises(WRONG_TYPE, match="binary_type must be a str, 'binary', 'large_binary' or") as caught:
        recordpress.read_columns(GOOD, binary_type=given)
    assert caught.value.field == "binary_type"


def test_a_long_name_is_shortened() -> None:
    with pytest.raises(WRONG_VALUE) as caught:
        recordpress.read_columns(GOOD, binary_type="b" * 1_000_000)
    assert len(str(caught.value)) < 300


# --- times -----------------------------------------------------------------------------------------------------------


def _written(time: Any) -> int:
    builder = recordpress.BatchBuilder()
    builder.append(b"", timestamp=time)
    return next(iter(next(recordpress.read_batches(builder.build())))).timestamp


IN_BERLIN = timezone(timedelta(hours=2))
TIMES: list[tuple[Any, int]] = [
    (0, 0),
    (np.int64(7), 7),
    (datetime(1970, 1, 1, tzinfo=UTC), 0),
    (datetime(2024, 5, 1, 12, 0, 0, 123_000, tzinfo=UTC), 1_714_564_800_123),
    (datetime(2024, 5, 1, 14, 0, 0, 123_000, tzinfo=IN_BERLIN), 1_714_564_800_123),
    (datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), 253_402_300_799_999),
    *([(pd.Timestamp("2024-05-01 12:00:00.123", tz="UTC"), 1_714_564_800_123)] if pd else []),
    ("2024-05-01T12:00:00.123Z", 1_714_564_800_123),
    ("2024-05-01 14:00:00,123+02:00", 1_714_564_800_123),
    ("2024-05-01T12:00:00.123000000Z", 1_714_564_800_123),
    ("20240501T120000Z", 1_714_564_800_000),
]


@pytest.mark.parametrize(("time", "milliseconds"), TIMES, ids=repr)
def test_a_time_is_milliseconds_a_datetime_or_text(time: Any, milliseconds: int) -> None:
    assert _written(time) == milliseconds


NOT_TIMES: list[tuple[Any, type[Exception], str]] = [
    (datetime(2024, 5, 1), WRONG_VALUE, "time zone"),
    ("2024-05-01T12:00:00", WRONG_VALUE, "time zone"),
    ("2024-05-01", WRONG_VALUE, "time zone"),
    ("yesterday", WRONG_VALUE, "ISO 8601"),
    ("2024-05-01T12:00:61Z", WRONG_VALUE, "ISO 8601"),
    ("0" * 1_000_000, WRONG_VALUE, "ISO 8601"),
    (datetime(2024, 5, 1, 12, 0, 0, 1, tzinfo=UTC), WRONG_VALUE, "whole milliseconds.*round"),
    *([(pd.Timestamp("2024-05-01 12:00:00.000000001", tz="UTC"), WRONG_VALUE, "whole milliseconds")] if pd else []),
    ("2024-05-01T12:00:00.1234Z", WRONG_VALUE, "whole milliseconds"),
    ("2024-05-01T12:00:00.1230001+02:00", WRONG_VALUE, "whole milliseconds"),
    (datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), WRONG_VALUE, "from 0 to"),
    ("0001-01-01T00:00:00+23:59", WRONG_VALUE, "from 0 to"),
    (-2, WRONG_VALUE, "from -1 to"),
    (10**5000, WRONG_VALUE, "bits"),
    (datetime(2024, 5, 1).date(), WRONG_TYPE, "time zone"),
    (np.datetime64("2024-05-01"), WRONG_TYPE, "time zone"),
    (1.5, WRONG_TYPE, "time zone"),
    (True, WRONG_TYPE, "time zone"),
    (None, WRONG_TYPE, "time zone"),
]


@pytest.mark.parametrize(("time", "error", "says"), NOT_TIMES, ids=map(str, range(len(NOT_TIMES))))
def test_a_time_that_is_not_clear_is_refused(time: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        recordpress.BatchBuilder().append(b"", timestamp=time)
    assert caught.value.field == "timestamp"
    assert len(str(caught.value)) < 400


def test_a_range_of_times_may_start_before_1970() -> None:
    data = recordpress.write_records([b""] * 3, timestamps=[10, 20, 30])
    for start, end in ((20, 30), ("1970-01-01T00:00:00.020Z", datetime(1970, 1, 1, 0, 0, 0, 30_000, tzinfo=UTC))):
        columns = pa.table(recordpress.read_columns(data, ["offset"], start_timestamp=start, end_timestamp=end))
        assert columns["offset"].to_pylist() == [1]
    assert recordpress.read_columns(data, start_timestamp="1969-12-31T23:59:59.999Z").num_rows == 3


def test_offsets_must_rise() -> None:
    builder = recordpress.BatchBuilder(base_offset=10)
    builder.append(b"", offset=12)
    for offset in (12, 11):
        with pytest.raises(WRONG_VALUE, match="offset"):
            builder.append(b"", offset=offset)
    assert builder.append(b"", offset=13)


def test_a_builder_is_used_once() -> None:
    builder = recordpress.BatchBuilder()
    builder.append(b"value")
    builder.build()
    with pytest.raises(recordpress.ClosedError):
        builder.append(b"more")
    with pytest.raises(recordpress.ClosedError):
        builder.build()


def test_no_records_make_no_batch() -> None:
    assert recordpress.BatchBuilder().build() == b""
    assert recordpress.write_records([]) == b""
