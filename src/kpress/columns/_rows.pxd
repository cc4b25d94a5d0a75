"""Rows of Arrow columns -> records to write."""

from libc.stdint cimport int64_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_error, kp_record
from kpress.columns._input cimport input_columns

cdef enum:
    ROWS = 256   # filled at a time: few enough for them to stay in the cache, enough to make the calls cheap


# n rows from `start` on; `base` is the offset of the first where there is no offset column. Headers go to `scratch`.
cdef int fill_rows(const input_columns* c, int64_t start, int64_t n, int64_t base, kp_record* rows, pooled* scratch,
                   kp_error* err) noexcept nogil
cdef int offset_at(const input_columns* c, int64_t row, int64_t otherwise, int64_t* offset,
                   kp_error* err) noexcept nogil
