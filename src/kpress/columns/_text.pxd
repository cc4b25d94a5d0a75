"""Values as text, at the end of a growable buffer. Every function returns a status; the buffer is the caller's."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from kpress._buffers cimport pooled, pooled_reserve_more
from kpress._c.wire cimport KP_DECIMAL_ROOM, KP_OK, kp_decimal, kp_error


# How the bytes of keys and values are shown.
ctypedef enum shown_as:
    AS_UTF8, AS_HEX, AS_BASE64, AS_JSON, AS_SIZE


cdef inline int room(pooled* out, size_t more) noexcept nogil:
    cdef kp_error ignored
    if out.data != NULL and out.capacity - out.size >= more:
        return KP_OK
    return pooled_reserve_more(out, more, &ignored)


cdef inline int put(pooled* out, const void* data, size_t size) noexcept nogil:
    if room(out, size):
        return -1
    memcpy(out.data + out.size, data, size)
    out.size += size
    return KP_OK


cdef inline int put_number(pooled* out, int64_t value) noexcept nogil:
    if room(out, KP_DECIMAL_ROOM):
        return -1
    out.size += kp_decimal(out.data + out.size, value)
    return KP_OK


cdef int put_utf8(pooled* out, const uint8_t* p, size_t size) noexcept nogil       # as java.lang.String decodes it
cdef int put_json_text(pooled* out, const uint8_t* p, size_t size) noexcept nogil  # in quotes, escaped
cdef int put_json_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form) noexcept nogil
cdef int put_csv_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form, pooled* scratch) noexcept nogil
cdef int put_csv_quoted(pooled* out, const uint8_t* p, size_t size) noexcept nogil
