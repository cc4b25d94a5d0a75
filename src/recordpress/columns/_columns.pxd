"""Columns: recordpress's own Arrow arrays, as Python objects."""

from libc.stdint cimport int16_t, int32_t, int64_t, int8_t, uint32_t, uint8_t

from recordpress._c.wire cimport RP_VIEW_INLINED
from recordpress.columns._arrow_out cimport array_data, chunk_data, part

# How the values of an array are read. Kinds up to INT64 are numbers.
ctypedef enum value_kind:
    BOOL, INT8, INT16, INT32, UINT32, INT64, BINARY, LARGE_BINARY, BINARY_VIEW, STRING, TIMESTAMP_MS, TIMESTAMP_US
    HEADERS

# The bytes of a value, in place.
ctypedef struct bytes_slice:
    const uint8_t* data
    int64_t size          # -1: null

cdef inline bint is_valid_at(const array_data* a, int64_t i) noexcept nogil:
    cdef const uint8_t* bits = <const uint8_t*>a.buffers[0]
    return bits == NULL or bits[i >> 3] >> (i & 7) & 1

cdef inline bytes_slice slice_at(const array_data* a, value_kind kind, int64_t i) noexcept nogil:
    cdef bytes_slice found
    cdef int64_t start, end
    cdef const int32_t* view  # size, then the bytes, or the first four, a buffer's number, and their place in it
    found.data, found.size = b"", -1
    if not is_valid_at(a, i):
        return found
    if kind == BINARY_VIEW:
        view = <const int32_t*>a.buffers[1] + 4 * i
        found.size = view[0]
        if view[0] <= RP_VIEW_INLINED:
            found.data = <const uint8_t*>(view + 1)
        else:
            found.data = <const uint8_t*>a.buffers[2 + view[2]] + view[3]
        return found
    if kind == LARGE_BINARY:
        start, end = (<const int64_t*>a.buffers[1])[i], (<const int64_t*>a.buffers[1])[i + 1]
    else:
        start, end = (<const int32_t*>a.buffers[1])[i], (<const int32_t*>a.buffers[1])[i + 1]
    found.size = end - start
    if found.size:  # there may be no data at all
        found.data = <const uint8_t*>a.buffers[2] + start
    return found

cdef inline int64_t number_at(const array_data* a, value_kind kind, int64_t i) noexcept nogil:
    """Return the number in row i; for a timestamp, its milliseconds or microseconds."""
    cdef const void* values = a.buffers[1]
    if kind == BOOL:
        return (<const uint8_t*>values)[i >> 3] >> (i & 7) & 1
    if kind == INT8:
        return (<const int8_t*>values)[i]
    if kind == INT16:
        return (<const int16_t*>values)[i]
    if kind == INT32:
        return (<const int32_t*>values)[i]
    if kind == UINT32:
        return (<const uint32_t*>values)[i]
    return (<const int64_t*>values)[i]

cdef value_kind kind_of(str format) except *

cdef class ArrowRows:
    cdef object consumed(self, consumer)

cdef class Columns(ArrowRows):
    cdef tuple _fields            # of Field
    cdef part* _parts
    cdef int64_t _n_parts
    cdef readonly int64_t num_rows
    cdef readonly int64_t valid_bytes      # see read_columns
    cdef readonly int64_t trailing_bytes
    cdef list ignored_header_errors           # errors that the caller ignores; None if there was no error

    cdef object _struct(self)
    cdef bytes _metadata(self)
    cdef Columns _sliced(self, int64_t start, int64_t rows)

    @staticmethod
    cdef Columns make(tuple fields, chunk_data** chunks, int64_t n_chunks)

    @staticmethod
    cdef Columns of_parts(tuple fields, part* parts, int64_t n_parts)

cdef class Column:
    cdef Columns _columns
    cdef int64_t _number
    cdef object _field
    cdef value_kind _kind

    cdef object _at(self, int64_t row)

    @staticmethod
    cdef Column make(Columns columns, int64_t number)

# (first row, number of rows) of a slice as pyarrow has it
cdef object bounds_of(object start, object length, int64_t rows)
cdef object rows_of(object key, int64_t rows)
