"""Python objects from arrays that recordpress made, and the sizes of these arrays.

For a look at the data, or for use without an Arrow library: a consumer of the Arrow protocol is far faster.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t

from recordpress.columns._arrow_out cimport array_data

from recordpress.errors import InvalidArgumentError

cdef dict KINDS = {
    "b": BOOL, "c": INT8, "s": INT16, "i": INT32, "I": UINT32, "l": INT64, "z": BINARY, "Z": LARGE_BINARY,
    "vz": BINARY_VIEW, "u": STRING, "tsm:UTC": TIMESTAMP_MS, "tsu:UTC": TIMESTAMP_US, "+l": HEADERS,
}
cdef int64_t[13] WIDTHS  # bytes of a row in the first buffer after the validity
WIDTHS[:] = [0, 1, 2, 4, 4, 8, 4, 8, 16, 4, 8, 8, 4]


cdef value_kind kind_of(str format) except *:
    return KINDS[format]


cdef object value_at(const array_data* a, value_kind kind, int64_t i):
    """Return the value of row i: None, bool, int, str, bytes, a datetime in UTC, or a list of headers as in
    `Record`."""
    if not is_valid_at(a, i):
        return None
    if kind == BOOL:
        return number_at(a, kind, i) == 1
    if kind <= INT64:
        return number_at(a, kind, i)
    if kind == TIMESTAMP_MS or kind == TIMESTAMP_US:
        return datetime_of(number_at(a, kind, i), 1000 if kind == TIMESTAMP_MS else 1)
    if kind == HEADERS:
        return headers_at(a, i)
    cdef bytes value = bytes_at(a, kind, i)
    return value.decode("utf-8", "replace") if kind == STRING else value


cdef bytes bytes_at(const array_data* a, value_kind kind, int64_t i):
    cdef bytes_slice found = slice_at(a, kind, i)
    return PyBytes_FromStringAndSize(<const char*>found.data, found.size)


cdef list headers_at(const array_data* a, int64_t i):
    cdef const int32_t* ends = <const int32_t*>a.buffers[1]
    cdef const array_data* pair = &a.children[0]
    cdef int64_t n
    return [(value_at(&pair.children[0], STRING, n), value_at(&pair.children[1], BINARY, n))
            for n in range(ends[i], ends[i + 1])]


cdef object datetime_of(int64_t time, int64_t micros):
    from datetime import UTC, datetime, timedelta

    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time * <object>micros)
    except OverflowError:
        unit = "ms" if micros == 1000 else "us"
        raise InvalidArgumentError(f"timestamp {time} {unit} is outside the years 1 to 9999 that a datetime can hold: "
                                   "take the column as Arrow", field="timestamp") from None


cdef int64_t bytes_of(const array_data* a, value_kind kind, int64_t start, int64_t rows) noexcept nogil:
    """Return the number of bytes that the rows take in the array's buffers, counted as pyarrow does."""
    cdef int64_t size = WIDTHS[<int>kind] * rows if kind != BOOL else (rows + 7) >> 3
    cdef int64_t i, first, last
    cdef const int32_t* views
    if a.buffers[0] != NULL:
        size += (rows + 7) >> 3
    if kind == BINARY_VIEW:
        views = <const int32_t*>a.buffers[1] + 4 * start
        for i in range(rows):
            size += views[4 * i] if views[4 * i] > VIEW_INLINED else 0
    elif kind == LARGE_BINARY:
        size += (<const int64_t*>a.buffers[1])[start + rows] - (<const int64_t*>a.buffers[1])[start]
    elif kind == BINARY or kind == STRING:
        size += (<const int32_t*>a.buffers[1])[start + rows] - (<const int32_t*>a.buffers[1])[start]
    elif kind == HEADERS:
        first, last = (<const int32_t*>a.buffers[1])[start], (<const int32_t*>a.buffers[1])[start + rows]
        size += bytes_of(&a.children[0].children[0], STRING, first, last - first)
        size += bytes_of(&a.children[0].children[1], BINARY, first, last - first)
    return size
