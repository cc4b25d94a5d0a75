"""Values as text, at the end of a growable buffer. Every function returns a status; the buffer is the caller's."""

from libc.stdint cimport int64_t, uint8_t

from kpress._buffers cimport pooled


# How the bytes of keys and values are shown.
ctypedef enum shown_as:
    AS_UTF8, AS_HEX, AS_BASE64, AS_JSON, AS_SIZE


cdef int put(pooled* out, const void* data, size_t size) noexcept nogil
cdef int put_number(pooled* out, int64_t value) noexcept nogil
cdef int put_utf8(pooled* out, const uint8_t* p, size_t size) noexcept nogil       # as java.lang.String decodes it
cdef int put_json_text(pooled* out, const uint8_t* p, size_t size) noexcept nogil  # in quotes, escaped
cdef int put_json_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form) noexcept nogil
cdef int put_csv_bytes(pooled* out, const uint8_t* p, size_t size, shown_as form, pooled* scratch) noexcept nogil
cdef int put_csv_quoted(pooled* out, const uint8_t* p, size_t size) noexcept nogil
