"""Keys, values and headers of records that were read, as Python objects: for iteration here, and for other rooms."""

from cpython.bytes cimport PyBytes_FromStringAndSize

from recordpress._c.wire cimport rp_field, rp_record


cdef inline bytes bytes_of(const rp_field* f):
    return PyBytes_FromStringAndSize(<const char*>f.data, f.size)


# Decode UTF-8 as Java does: the same bytes become U+FFFD as in columns (utf8.h).
cdef str text_of(const rp_field* f)

# Return [(str, bytes or None), ...]. Only the record's headers and header_count are read.
cdef list headers_of(const rp_record* r)
