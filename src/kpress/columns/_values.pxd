"""Python objects from arrays that kpress made, and the sizes of these arrays."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t

from kpress.columns._arrow_out cimport array_data


# How the values of an array are read. Those up to INT64 are numbers.
ctypedef enum value_kind:
    BOOL, INT8, INT16, INT32, UINT32, INT64, BINARY, LARGE_BINARY, BINARY_VIEW, STRING, TIMESTAMP_MS, TIMESTAMP_US
    HEADERS


# Bytes of a value where they lie.
ctypedef struct bytes_slice:
    const uint8_t* data
    int64_t size          # -1: null


cdef inline int64_t number_at(const array_data* a, value_kind kind, int64_t i) noexcept nogil:
    """The number of row i, or the time: its milliseconds or microseconds."""
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


cdef bytes_slice slice_at(const array_data* a, value_kind kind, int64_t i) noexcept nogil
cdef value_kind kind_of(str format) except *
cdef bint is_valid_at(const array_data* a, int64_t i) noexcept nogil
cdef object value_at(const array_data* a, value_kind kind, int64_t i)
cdef int64_t bytes_of(const array_data* a, value_kind kind, int64_t start, int64_t rows) noexcept nogil
