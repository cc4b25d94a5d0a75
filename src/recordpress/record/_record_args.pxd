"""Key, value and headers of one record as Python gives them -> rp_record."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_field


cdef inline bint bytes_field(object value, rp_field* f) noexcept:
    """Take null or bytes, the types of nearly all keys and values; return False for other types."""
    if value is None:
        f.data = NULL
        f.size = -1
        return True
    if PyBytes_CheckExact(value):
        f.data = <const uint8_t*>PyBytes_AS_STRING(value)
        f.size = PyBytes_GET_SIZE(value)
        return True
    return False


# Append headerCount and the headers to `out`, if there are any.
cdef int encode_headers(object headers, pooled* out) except -1
