from libc.stdint cimport uint8_t

from kpress._c.wire cimport kp_error
from kpress.compress._context cimport codec_context, progress, size_range

cdef enum:
    ZSTD_LEVEL_MIN = -131072
    ZSTD_LEVEL_MAX = 22
    ZSTD_LEVEL_DEFAULT = 3

cdef void zstd_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil
cdef int zstd_decode(codec_context* context, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                     progress* at, kp_error* err) noexcept nogil
cdef size_t zstd_bound(size_t size) noexcept nogil
cdef int zstd_encode(codec_context* context, int level, const uint8_t* src, size_t size, uint8_t* dst,
                     size_t capacity, size_t* produced, kp_error* err) noexcept nogil
