"""Key, value and headers of one record as Python gives them -> kp_record."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_field


cdef inline bint bytes_field(object value, kp_field* f) noexcept:
    """Null and bytes, which nearly all keys and values are; False: something else."""
    if value is None:
        f.data = NULL
        f.size = -1
        return True
    if PyBytes_CheckExact(value):
        f.data = <const uint8_t*>PyBytes_AS_STRING(value)
        f.size = PyBytes_GET_SIZE(value)
        return True
    return False


# Append headerCount and the headers to `out`; nothing where there are none.
cdef int encode_headers(object headers, pooled* out) except -1
