"""Records that a caller hands in, as rows to write."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_field, rp_record

cdef enum:
    ROWS = 256   # filled with the GIL, then written without it


cdef class RowSource:
    cdef int64_t taken   # rows that were handed out

    # Fill at most `most` rows; returns how many they are, 0 at the end. An error names the record.
    cdef int64_t next(self, rp_record* rows, int64_t most) except -1


cdef class RecordRows(RowSource):
    """The arguments of write_records, held so that nothing changes them while they are read without the GIL."""

    cdef tuple values, keys, timestamps, headers, offsets
    cdef int64_t timestamp      # of all records, where timestamps is None
    cdef int64_t base_offset
    cdef Py_ssize_t count
    cdef Py_ssize_t at          # the record that is being filled
    cdef list copies            # of keys and values that are not bytes
    cdef pooled header_bytes    # of the rows that are being filled

    cdef size_t expected(self)
    cdef int fill(self, rp_record* rows, Py_ssize_t start, Py_ssize_t n) except -1
    cdef int fill_field(self, rp_field* f, tuple column, Py_ssize_t i) except -1
    cdef int fill_copy(self, rp_field* f, object value, str name) except -1
    cdef int fill_headers(self, rp_record* rows, Py_ssize_t start, Py_ssize_t n) except -1
