"""Python objects out of arrays that kpress made, and what these take."""

from libc.stdint cimport int64_t, uint8_t

from kpress.columns._arrow_out cimport array_data


# How the values of an array are read.
ctypedef enum value_kind:
    BOOL, INT8, INT16, INT32, UINT32, INT64, BINARY, LARGE_BINARY, BINARY_VIEW, STRING, TIMESTAMP_MS, TIMESTAMP_US
    HEADERS


# Bytes of a value where they lie.
ctypedef struct bytes_slice:
    const uint8_t* data
    int64_t size          # -1: null


cdef bytes_slice slice_at(const array_data* a, value_kind kind, int64_t i) noexcept nogil
cdef value_kind kind_of(str format) except *
cdef bint is_valid_at(const array_data* a, int64_t i) noexcept nogil
cdef object value_at(const array_data* a, value_kind kind, int64_t i)
cdef int64_t bytes_of(const array_data* a, value_kind kind, int64_t start, int64_t rows) noexcept nogil
