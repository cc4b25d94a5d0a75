from libc.stdint cimport uint8_t

from kpress._c.wire cimport kp_error
from kpress.codecs.context cimport codec_context, progress, size_range

cdef enum:
    LZ4_LEVEL_MIN = 1
    LZ4_LEVEL_MAX = 17
    LZ4_LEVEL_DEFAULT = 9   # the fast compressor; every other level is LZ4 HC
    LZ4_BLOCK = 65536       # uncompressed bytes of a block that Kafka writes

cdef void lz4_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil
cdef int lz4_decode(int magic, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                    progress* at, kp_error* err) noexcept nogil
cdef size_t lz4_bound(size_t size) noexcept nogil
cdef int lz4_encode(codec_context* context, int level, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                    size_t* produced, kp_error* err) noexcept nogil
cdef size_t lz4_begin(int magic, uint8_t* dst) noexcept nogil
cdef int lz4_encode_blocks(codec_context* context, int level, const uint8_t* src, size_t size, uint8_t* dst,
                           size_t* produced, kp_error* err) noexcept nogil
cdef size_t lz4_end(uint8_t* dst) noexcept nogil
