"""Rows of Arrow columns -> records to write."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error, rp_record
from recordpress.columns._input cimport input_columns

cdef enum:
    ROWS = 256   # filled at a time: few enough for them to stay in the cache, enough to make the calls cheap


# Fill `n` rows from number `start` on; returns how many were filled. `base` is the offset of the first where there is
# no offset column; headers go to `scratch`. If a row is wrong, the first alone is filled, and `most`, the caller's
# bound of `n`, becomes 1: the number of the wrong row is then that of the rows before it. 0: the first row is wrong.
cdef int64_t fill_rows(const input_columns* c, int64_t start, int64_t n, int64_t base, rp_record* rows, int64_t* most,
                       pooled* scratch, rp_error* err) noexcept nogil
cdef int offset_at(const input_columns* c, int64_t row, int64_t otherwise, int64_t* offset,
                   rp_error* err) noexcept nogil
