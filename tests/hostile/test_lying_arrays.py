"""Arrow arrays whose lengths and offsets contradict each other are refused: nothing outside of a buffer is read."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable

import pyarrow as pa
import pytest

import recordpress

HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
DATA = pa.py_buffer(b"0123456789" * 3)


def _buffer(layout: str, *numbers: int) -> pa.Buffer:
    return pa.py_buffer(struct.pack(f"<{layout}", *numbers))


def _view(size: int, buffer: int, start: int) -> pa.Array:
    return pa.Array.from_buffers(pa.binary_view(), 1, [None, _buffer("i4sii", size, b"0123", buffer, start), DATA])


def _headers(type_: pa.DataType, layout: str, *ends: int) -> pa.Array:
    child = pa.array([{"key": "a", "value": b"1"}, {"key": "b", "value": b"2"}], HEADER)
    return pa.Array.from_buffers(type_, len(ends) - 1, [None, _buffer(layout, *ends)], children=[child])


# pyarrow looks at the first and the last offset itself
LYING = {
    "binary offsets fall": pa.Array.from_buffers(pa.binary(), 2, [None, _buffer("3i", 0, 5, 3), DATA]),
    "a binary offset is negative": pa.Array.from_buffers(pa.binary(), 2, [None, _buffer("3i", 0, -1, 3), DATA]),
    "large offsets fall": pa.Array.from_buffers(pa.large_binary(), 2, [None, _buffer("3q", 0, 5, 3), DATA]),
    "a large offset is negative": pa.Array.from_buffers(pa.large_binary(), 2, [None, _buffer("3q", 0, -1, 3), DATA]),
}
if hasattr(pa, "binary_view"):
    LYING |= {
        "a view ends after its buffer": _view(20, 0, 11),
        "a view begins before its buffer": _view(20, 0, -1),
        "a view of a buffer that is not there": _view(20, 1, 0),
        "a view of a negative buffer": _view(20, -1, 0),
        "a view of a negative size": _view(-1, 0, 0),
    }


@pytest.mark.parametrize("array", LYING.values(), ids=LYING)
@pytest.mark.parametrize("column", ["key", "value"])
def test_fields(array: pa.Array, column: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other") as caught:
        recordpress.write_columns(pa.record_batch({column: array}))
    assert caught.value.field == "data"


@pytest.mark.parametrize("middle", [-1, 3])
@pytest.mark.parametrize(("type_", "layout"), [(pa.list_(HEADER), "3i"), (pa.large_list(HEADER), "3q")], ids=str)
def test_lists_of_headers(type_: pa.DataType, layout: str, middle: int) -> None:
    headers = _headers(type_, layout, 0, middle, 2)
    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other"):
        recordpress.write_columns(pa.record_batch({"value": [b"", b""], "headers": headers}))


def test_the_arrays_above_lie_in_one_number_only() -> None:
    honest = pa.record_batch({"key": _view(20, 0, 10), "headers": _headers(pa.list_(HEADER), "2i", 1, 2)})
    [batch] = recordpress.read_batches(recordpress.write_columns(honest))
    [record] = batch
    assert (record.key, record.headers) == (b"0123456789" * 2, [("b", b"2")])


address = ctypes.pythonapi.PyCapsule_GetPointer
address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
LENGTH, OFFSET, N_BUFFERS, N_CHILDREN, CHILDREN = 0, 2, 3, 4, 6


def _word(at: int, number: int) -> ctypes.c_int64:
    """A field of an ArrowArray."""
    return ctypes.c_int64.from_address(at + 8 * number)


def _set(*path_and_value: int) -> Callable[[int], None]:
    """Set a field of the array, or, after its number, of a child."""
    *path, field, value = path_and_value

    def change(at: int) -> None:
        for child in path:
            at = _word(_word(at, CHILDREN).value, child).value
        _word(at, field).value = value

    return change


class _Changed:
    def __init__(self, batch: pa.RecordBatch, change: Callable[[int], None]) -> None:
        self.given = batch.__arrow_c_array__()
        change(address(self.given[1], b"arrow_array"))

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.given


CHANGES = {
    "rows that the columns do not have": _set(LENGTH, 3),
    "an offset beyond the columns' rows": _set(OFFSET, 1),
    "a negative offset": _set(OFFSET, -1),
    "a column too few": _set(N_CHILDREN, 1),
    "a column with a buffer too few": _set(0, N_BUFFERS, 2),
    "a column of negative length": _set(0, LENGTH, -1),
    "a column of negative offset": _set(0, OFFSET, -1),
    "headers without their structs": _set(1, N_CHILDREN, 0),
    "fewer headers than the lists have": _set(1, 0, LENGTH, 1),
    "a header struct without its values": _set(1, 0, N_CHILDREN, 1),
    "fewer header keys than headers": _set(1, 0, 0, LENGTH, 1),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_lengths_of_arrays(change: Callable[[int], None]) -> None:
    headers = pa.array([[("a", b"1")], [("b", b"2")]], pa.list_(HEADER))
    batch = pa.record_batch({"value": [b"1", b"2"], "headers": headers})
    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other"):
        recordpress.write_columns(_Changed(batch, change))


def test_rows_that_lie_behind_a_column_but_not_behind_its_buffers() -> None:
    def change(at: int) -> None:
        for field, value in ((LENGTH, 2), (OFFSET, 1)):
            _set(field, value)(at)
        _set(0, LENGTH, 2)(at)

    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other"):
        recordpress.write_columns(_Changed(pa.record_batch({"value": [b"1", b"2", b"3", b"4"]}), change))


@pytest.mark.parametrize("array", LYING.values(), ids=LYING)
@pytest.mark.parametrize("call", [lambda data: recordpress.compress_values(data, "lz4"), recordpress.crc32c_values])
def test_values(array: pa.Array, call: Callable[[pa.Array], object]) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="contradict each other") as caught:
        call(array)
    assert caught.value.field == "data"
