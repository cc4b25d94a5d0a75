"""Records from a caller, as rows to write."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport InputView, pooled
from recordpress._c.wire cimport rp_field, rp_record

cdef inline bint bytes_field(object value, rp_field* f) noexcept:
    """Set the field to null or bytes, the types of nearly all keys and values; return False for other types."""
    if value is None:
        f.data = NULL
        f.size = -1
        return True
    if PyBytes_CheckExact(value):
        f.data = <const uint8_t*>PyBytes_AS_STRING(value)
        f.size = PyBytes_GET_SIZE(value)
        return True
    return False

cdef inline InputView field_view(object value, rp_field* f, str name):
    """Set the field to null, bytes or another buffer; return the view that must live as long as the field, or None."""
    if bytes_field(value, f):
        return None
    cdef InputView view = InputView(value, name)
    f.data, f.size = view.data, view.size
    return view

# Append headerCount and the headers to `out`, if there are any.
cdef int encode_headers(object headers, pooled* out) except -1

cdef enum:
    RECORD_OVERHEAD = 16   # of most records, beyond key, value and headers
    ROWS = 256             # filled with the GIL, then written without it

cdef class RowSource:
    cdef int64_t taken   # number of rows that next() has returned

    # Fill at most `most` rows; return their number, 0 at the end. An error names the record.
    cdef int64_t next(self, rp_record* rows, int64_t most) except -1

cdef class RecordRows(RowSource):
    """The arguments of write_records: tuples, so that nothing changes them while they are read without the GIL, or the
    caller's lists, which are borrowed while the GIL is held."""

    cdef object values, keys, timestamps
    cdef tuple headers, offsets
    cdef bint is_borrowed       # the GIL must be held until all rows are written
    cdef int64_t timestamp      # of all records, if timestamps is None
    cdef int64_t base_offset
    cdef Py_ssize_t count
    cdef Py_ssize_t at          # the record that is being filled
    cdef list copies            # of keys and values that are not bytes
    cdef pooled header_bytes    # of the rows that are being filled

    cdef size_t size_of_fields  # of all keys and values that are bytes

    cdef size_t expected(self)
    cdef int settle(self, bint borrow) except -1
    cdef int fill(self, rp_record* rows, Py_ssize_t start, Py_ssize_t n) except -1
    cdef int fill_fields(self, rp_field* f, object column, Py_ssize_t start, Py_ssize_t n) except -1
    cdef int fill_copy(self, rp_field* f, object value, str name) except -1
    cdef int fill_headers(self, rp_record* rows, Py_ssize_t start, Py_ssize_t n) except -1
