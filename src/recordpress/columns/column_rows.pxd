"""The rows of Arrow columns, for rooms that cut batches themselves."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.arrow cimport ArrowArray
from recordpress._c.wire cimport rp_error, rp_record
from recordpress.columns._arrow_in cimport ArrowSource
from recordpress.columns._input cimport input_columns, input_types
from recordpress.record.rows cimport RowSource

cdef enum:
    ROWS = 256   # filled at a time: few enough for them to stay in the cache, enough to make the calls cheap

# Fill `n` rows from number `start` on; returns how many were filled. `base` is the offset of the first where there is
# no offset column; headers go to `scratch`. If a row is wrong, the first alone is filled, and `most`, the caller's
# bound of `n`, becomes 1: the number of the wrong row is then that of the rows before it. 0: the first row is wrong.
cdef int64_t fill_rows(const input_columns* c, int64_t start, int64_t n, int64_t base, rp_record* rows, int64_t* most,
                       pooled* scratch, rp_error* err) noexcept nogil

cdef int offset_at(const input_columns* c, int64_t row, int64_t otherwise, int64_t* offset,
                   rp_error* err) noexcept nogil

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
