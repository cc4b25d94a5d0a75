from libc.stdint cimport uint8_t

from kpress._c.wire cimport kp_error
from kpress.codecs.context cimport codec_context, progress, size_range

cdef enum:
    SNAPPY_HEADER = 16     # bytes of a xerial header
    SNAPPY_CHUNK = 32768   # uncompressed bytes of a chunk that Java writes

cdef bint snappy_is_xerial(const uint8_t* src, size_t size) noexcept nogil
cdef void snappy_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil
cdef int snappy_decode(const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                       progress* at, kp_error* err) noexcept nogil
cdef size_t snappy_prefix(size_t produced) noexcept nogil

cdef size_t snappy_bound(size_t size) noexcept nogil
# Bytes written. `dst` has room for snappy_bound(size).
cdef size_t snappy_encode(codec_context* context, bint raw, const uint8_t* src, size_t size,
                          uint8_t* dst) noexcept nogil
cdef size_t snappy_begin(uint8_t* dst) noexcept nogil
cdef size_t snappy_encode_chunks(codec_context* context, const uint8_t* src, size_t size, uint8_t* dst) noexcept nogil
