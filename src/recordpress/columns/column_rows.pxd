"""The rows of Arrow columns, for rooms that cut batches themselves."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.arrow cimport ArrowArray
from recordpress._c.wire cimport rp_record
from recordpress.columns._arrow_source cimport ArrowSource
from recordpress.columns._input cimport input_columns, input_types
from recordpress.record.rows cimport RowSource


cdef class ColumnRows(RowSource):
    cdef ArrowSource source
    cdef input_types types
    cdef input_columns columns     # of the array that is being read
    cdef const ArrowArray* array   # NULL: none yet, or none is left
    cdef int64_t start             # the next row in it
    cdef int64_t base_offset
    cdef int64_t most              # 1 after a wrong row was met: it is named then
    cdef pooled scratch            # headers of the rows that were handed out
    cdef bint ended
    cdef bint numbered             # there is an offset column

    cdef int next_array(self) except -1
    cdef int refuse_append_time(self, const rp_record* rows, int64_t n) except -1
