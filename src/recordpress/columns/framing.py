"""Confluent's framing of values, for Protobuf with message indexes.

::

    0 int8 | schema id int32 | message indexes, of varints | payload

A value without this framing has neither an id nor a payload. This module needs pyarrow and NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from recordpress.errors import ArgumentTypeError

_KINDS = (
    pa.types.is_binary,
    pa.types.is_string,
    pa.types.is_large_binary,
    pa.types.is_large_string,
    pa.types.is_null,
)
_MAGIC = 0
_HEADER = 5
_VARINT = 5  # bytes of the longest varint
_MOST_INDEXES = 63  # the largest count in one byte; no known message is nested as deep


def schema_ids(values: pa.Array) -> pa.Array:
    """Return the schema ids of a binary or string column, as int32."""
    starts, data, rows = _framed(values)
    found = np.zeros(len(values), np.int32)
    numbers = np.ndarray(max(data.size - 3, 0), ">i4", data, strides=(1,))  # at each byte
    found[rows] = numbers[starts[rows] + 1]
    return pa.array(found, mask=_others(len(values), rows))


def payloads(values: pa.Array, has_message_indexes: bool = False) -> pa.Array:
    """Return the payloads of a binary or string column, as binary; Protobuf has message indexes."""
    starts, data, rows = _framed(values)
    if not rows.size:
        return pa.nulls(len(values), pa.binary())
    at = starts[rows] + _HEADER
    if has_message_indexes:
        at, is_complete = _after_indexes(data, at, starts[rows + 1])
        rows, at = rows[is_complete], at[is_complete]
    bounds = np.repeat(starts, 2)[:-1]  # each value in two parts: its header, and its payload
    bounds[2 * rows + 1] = at
    halves = pa.Array.from_buffers(pa.binary(), 2 * len(values), [None, pa.py_buffer(bounds), pa.py_buffer(data)])
    return halves.take(pa.array(np.arange(1, 2 * len(values), 2), mask=_others(len(values), rows)))


def _framed(values: pa.Array) -> tuple[Any, Any, Any]:
    """Return the starts of values and the end of the last, their bytes, and the rows of framed values."""
    if not any(is_kind(values.type) for is_kind in _KINDS):
        raise ArgumentTypeError(f"values must be binary or string, not of Arrow type {values.type}", field="values")
    values = values.cast(pa.binary())
    _, ends, bytes_of = values.buffers()
    if not len(values) or bytes_of is None:
        return np.zeros(len(values) + 1, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.int64)
    starts = np.frombuffer(ends, np.int32)[values.offset : values.offset + len(values) + 1]
    data = np.frombuffer(bytes_of, np.uint8)
    is_long = values.is_valid().to_numpy(zero_copy_only=False) & (np.diff(starts) >= _HEADER)
    (rows,) = np.nonzero(is_long)
    return starts, data, rows[data[starts[rows]] == _MAGIC]


def _after_indexes(data: Any, at: Any, ends: Any) -> tuple[Any, Any]:
    """Return the ends of message indexes (a count, then as many zigzag varints), and whether they are complete."""
    at, left = at.copy(), np.full(at.size, -1)
    (rows,) = np.nonzero(at < ends)
    counts = data[at[rows]]
    is_count = (counts % 2 == 0) & (counts <= 2 * _MOST_INDEXES)
    left[rows[is_count]] = counts[is_count] // 2
    at[rows] += 1
    for _ in range(_VARINT * _MOST_INDEXES):
        (rows,) = np.nonzero((left > 0) & (at < ends))
        if not rows.size:
            break
        left[rows] -= data[at[rows]] < 0x80
        at[rows] += 1
    return at, left == 0


def _others(count: int, rows: Any) -> Any:
    """Return a mask of all rows except `rows`."""
    mask = np.ones(count, bool)
    mask[rows] = False
    return mask
