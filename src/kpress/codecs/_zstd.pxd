from libc.stdint cimport int64_t, uint8_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_error
from kpress._c.zstd cimport ZSTD_inBuffer
from kpress.codecs.context cimport codec_context, progress, size_range

cdef enum:
    ZSTD_LEVEL_MIN = -131072
    ZSTD_LEVEL_MAX = 22
    ZSTD_LEVEL_DEFAULT = 3
    ZSTD_HEAD = 18   # bytes of the longest frame header

cdef void zstd_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil
cdef int zstd_decode(codec_context* context, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                     progress* at, kp_error* err) noexcept nogil
cdef void zstd_prefix(codec_context* context, const uint8_t* src, size_t size, pooled* out, size_t cap) noexcept nogil
cdef int zstd_decompressor(codec_context* context, kp_error* err) noexcept nogil
cdef int zstd_head_fail(const uint8_t* head, size_t size, kp_error* err) noexcept nogil
cdef bint zstd_may_begin(uint8_t byte) noexcept nogil
cdef int zstd_fail(size_t code, int64_t position, kp_error* err) noexcept nogil

cdef size_t zstd_bound(size_t size) noexcept nogil
cdef int zstd_encode(codec_context* context, int level, const uint8_t* src, size_t size, uint8_t* dst,
                     size_t capacity, size_t* produced, kp_error* err) noexcept nogil
cdef int zstd_compressor(codec_context* context, int level, kp_error* err) noexcept nogil
cdef int zstd_stream(codec_context* context, ZSTD_inBuffer* input, int directive, pooled* out,
                     kp_error* err) noexcept nogil
