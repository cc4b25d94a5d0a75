from libc.stdint cimport uint8_t, uint32_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_error
from kpress.codecs.context cimport codec_context, progress, size_range

cdef enum:
    GZIP_LEVEL_MIN = 1
    GZIP_LEVEL_MAX = 9
    GZIP_LEVEL_DEFAULT = -1   # the library's, which is 6
    GZIP_HEADER = 10          # as we write it
    GZIP_TRAILER = 8
    GZIP_MEMBER_MIN = 19      # Java does not look for a further member in fewer bytes

cdef size_t gzip_header(const uint8_t* src, size_t size) noexcept nogil
cdef bint gzip_trailer_fits(const uint8_t* trailer, uint32_t crc, size_t size) noexcept nogil
cdef void gzip_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil
cdef int gzip_decode(codec_context* context, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                     progress* at, kp_error* err) noexcept nogil
cdef void gzip_prefix(const uint8_t* src, size_t size, pooled* out, size_t cap) noexcept nogil

cdef size_t gzip_begin(uint8_t* dst) noexcept nogil
cdef size_t gzip_end(uint8_t* dst, uint32_t crc, size_t size) noexcept nogil
cdef size_t gzip_bound(size_t size) noexcept nogil
cdef int gzip_encode(codec_context* context, int level, const uint8_t* src, size_t size, uint8_t* dst,
                     size_t capacity, size_t* produced, kp_error* err) noexcept nogil
