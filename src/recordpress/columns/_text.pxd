"""Values as text, appended to a growable buffer of the caller. Every function returns a status."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from recordpress._buffers cimport pooled, pooled_reserve_more
from recordpress._c.wire cimport RP_DECIMAL_ROOM, RP_OK, rp_decimal, rp_error


# How the bytes of keys and values are shown.
ctypedef enum shown_as:
    AS_UTF8, AS_HEX, AS_BASE64, AS_JSON, AS_SIZE


cdef inline int room(pooled* out, size_t more) noexcept nogil:
    cdef rp_error ignored
    if out.data != NULL and out.capacity - out.size >= more:
        return RP_OK
    return pooled_reserve_more(out, more, &ignored)


cdef inline int put(pooled* out, const void* data, size_t size) noexcept nogil:
    if room(out, size):
        return -1
    memcpy(out.data + out.size, data, size)
    out.size += size
    return RP_OK


cdef inline int put_number(pooled* out, int64_t value) noexcept nogil:
    if room(out, RP_DECIMAL_ROOM):
        return -1
    out.size += rp_decimal(out.data + out.size, value)
    return RP_OK


cdef int put_utf8(pooled* out, const uint8_t* p, size_t size) noexcept nogil       # as java.lang.String decodes it
cdef int put_json_text(pooled* out, const uint8_t* p, size_t size) noexcept nogil  # in quotes, escaped
cdef int put_json_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form) noexcept nogil
cdef int put_csv_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form, pooled* scratch) noexcept nogil
cdef int put_csv_quoted(pooled* out, const uint8_t* p, size_t size) noexcept nogil
