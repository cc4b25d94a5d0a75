"""gzip members (RFC 1952) around libdeflate's raw deflate, read as Java's GZIPInputStream reads them."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memchr, memcpy

from kpress._c.libdeflate cimport (
    LIBDEFLATE_INSUFFICIENT_SPACE,
    LIBDEFLATE_SUCCESS,
    libdeflate_alloc_compressor,
    libdeflate_alloc_decompressor,
    libdeflate_crc32,
    libdeflate_deflate_compress,
    libdeflate_deflate_compress_bound,
    libdeflate_deflate_decompress_ex,
    libdeflate_result,
)
from kpress._c.wire cimport (
    KP_COMPRESS_FAILED,
    KP_GZIP_DATA,
    KP_GZIP_HEADER,
    KP_GZIP_TRAILER,
    KP_NO_MEMORY,
    KP_OK,
    KP_OUTPUT_FULL,
    kp_error,
    kp_fail,
    kp_load_le16,
    kp_load_le32,
    kp_store_le32,
)
from kpress.compress._context cimport codec_context, progress, size_range

cdef enum:
    HEADER = 10
    TRAILER = 8
    FHCRC = 0x02
    FEXTRA = 0x04
    FNAME = 0x08
    FCOMMENT = 0x10
    # A deflate symbol of 2 bits gives at most 258 bytes (RFC 1951 section 3.2.5).
    EXPANSION = 1032
    # The shortest member; Java does not look for one in fewer bytes.
    MEMBER_MIN = HEADER + 1 + TRAILER
    LIBRARY_LEVEL = 6

cdef const uint8_t* WRITTEN_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


cdef size_t skip_text(const uint8_t* src, size_t size, size_t at) noexcept nogil:
    """Behind the zero byte that ends the text at `at`; 0 where there is none."""
    cdef const uint8_t* end
    if at >= size:
        return 0
    end = <const uint8_t*>memchr(src + at, 0, size - at)
    return <size_t>(end - src) + 1 if end != NULL else 0


cdef size_t header_size(const uint8_t* src, size_t size) noexcept nogil:
    """Bytes of the member header at `src`; 0 if it is none. Reserved FLG bits are ignored, as Java does."""
    cdef size_t at = HEADER
    cdef int flags
    if size < HEADER or src[0] != 0x1f or src[1] != 0x8b or src[2] != 8:
        return 0
    flags = src[3]
    if flags & FEXTRA:
        if size - at < 2:
            return 0
        at += 2 + kp_load_le16(src + at)
    if flags & FNAME:
        at = skip_text(src, size, at)
        if at == 0:
            return 0
    if flags & FCOMMENT:
        at = skip_text(src, size, at)
        if at == 0:
            return 0
    if at > size:
        return 0
    if flags & FHCRC:
        if size - at < 2 or kp_load_le16(src + at) != libdeflate_crc32(0, src, at) & 0xffff:
            return 0
        at += 2
    return at


cdef void gzip_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """The last member's size field, no more than deflate can expand to."""
    expected.least = 0
    expected.most = 0
    if size >= MEMBER_MIN:
        expected.most = min(<size_t>kp_load_le32(src + size - 4), EXPANSION * size)


cdef int gzip_decode(codec_context* context, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                     progress* at, kp_error* err) noexcept nogil:
    cdef size_t body, read, written
    cdef libdeflate_result result
    if context.deflate_d == NULL:
        context.deflate_d = libdeflate_alloc_decompressor()
        if context.deflate_d == NULL:
            return kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
    while True:
        body = header_size(src + at.consumed, size - at.consumed)
        if body == 0:
            if at.consumed > 0:
                return KP_OK  # what follows a member and is none is ignored, as Java does
            return kp_fail(err, KP_GZIP_HEADER, 0, 0, 0)
        body += at.consumed
        result = libdeflate_deflate_decompress_ex(context.deflate_d, src + body, size - body,
                                                  dst + at.produced, capacity - at.produced, &read, &written)
        if result == LIBDEFLATE_INSUFFICIENT_SPACE:
            return kp_fail(err, KP_OUTPUT_FULL, <int64_t>at.consumed, 0, <int64_t>capacity)
        if result != LIBDEFLATE_SUCCESS:
            return kp_fail(err, KP_GZIP_DATA, <int64_t>body, 0, 0)
        body += read
        at.produced += written  # a reader of the prefix sees a member's data before its trailer, as Java's does
        if (size - body < TRAILER
                or kp_load_le32(src + body) != libdeflate_crc32(0, dst + at.produced - written, written)
                or kp_load_le32(src + body + 4) != <uint32_t>written):
            return kp_fail(err, KP_GZIP_TRAILER, <int64_t>body, 0, 0)
        at.consumed = body + TRAILER
        if size - at.consumed < MEMBER_MIN:
            return KP_OK


cdef size_t gzip_bound(size_t size) noexcept nogil:
    return HEADER + libdeflate_deflate_compress_bound(NULL, size) + TRAILER


cdef int gzip_encode(codec_context* context, int level, const uint8_t* src, size_t size, uint8_t* dst,
                     size_t capacity, size_t* produced, kp_error* err) noexcept nogil:
    cdef size_t written
    if level == GZIP_LEVEL_DEFAULT:
        level = LIBRARY_LEVEL
    if context.deflate_c[level] == NULL:
        context.deflate_c[level] = libdeflate_alloc_compressor(level)
        if context.deflate_c[level] == NULL:
            return kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
    memcpy(dst, WRITTEN_HEADER, HEADER)
    written = libdeflate_deflate_compress(context.deflate_c[level], src, size, dst + HEADER,
                                          capacity - HEADER - TRAILER)
    if written == 0:
        return kp_fail(err, KP_COMPRESS_FAILED, -1, 0, 0)
    kp_store_le32(dst + HEADER + written, libdeflate_crc32(0, src, size))
    kp_store_le32(dst + HEADER + written + 4, <uint32_t>size)
    produced[0] = HEADER + written + TRAILER
    return KP_OK
