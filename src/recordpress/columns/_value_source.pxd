"""A column of values that the caller gives, one array after another."""

from libc.stdint cimport int64_t

from recordpress.columns._arrow_in cimport column, column_kind
from recordpress.columns._arrow_source cimport ArrowSource


cdef class ValueSource(ArrowSource):
    cdef column_kind kind

    cdef int open(self, object data) except -1
    cdef int64_t next_values(self, column* values) except -2    # the number of rows; -1: there are no more
