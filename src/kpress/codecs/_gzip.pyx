"""gzip members (RFC 1952) around libdeflate's raw deflate, read as Java's GZIPInputStream reads them."""

import zlib

from libc.stdint cimport SIZE_MAX, int64_t, uint8_t, uint32_t
from libc.string cimport memchr, memcmp, memcpy

from kpress._buffers cimport pooled, pooled_reserve
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
    KP_GZIP_SHORT,
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
from kpress.codecs.context cimport codec_context, progress, size_range

cdef enum:
    FHCRC = 0x02
    FEXTRA = 0x04
    FNAME = 0x08
    FCOMMENT = 0x10
    # A deflate symbol of 2 bits gives at most 258 bytes (RFC 1951 section 3.2.5).
    EXPANSION = 1032
    JAVA_INPUT = 8192    # GzipCompression.wrapForInput
    JAVA_OUTPUT = 16384
    LIBRARY_LEVEL = 6

cdef const uint8_t* WRITTEN_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


cdef size_t skip_text(const uint8_t* src, size_t size, size_t at) noexcept nogil:
    """Behind the zero byte that ends the text at `at`; SIZE_MAX where there is none."""
    cdef const uint8_t* end = NULL
    if at < size:
        end = <const uint8_t*>memchr(src + at, 0, size - at)
    return <size_t>(end - src) + 1 if end != NULL else SIZE_MAX


cdef size_t gzip_header(const uint8_t* src, size_t size) noexcept nogil:
    """Bytes of the member header at `src`, 0 if it is none, SIZE_MAX if it is cut short.

    Reserved FLG bits are ignored, as Java does.
    """
    cdef size_t at = GZIP_HEADER
    cdef int flags
    if size == 0 or memcmp(src, WRITTEN_HEADER, min(size, <size_t>3)) != 0:
        return 0
    if size < GZIP_HEADER:
        return SIZE_MAX
    flags = src[3]
    if flags & FEXTRA:
        if size - at < 2:
            return SIZE_MAX
        at += 2 + kp_load_le16(src + at)
    if flags & FNAME:
        at = skip_text(src, size, at)
    if flags & FCOMMENT:
        at = skip_text(src, size, at)
    if at > size or (flags & FHCRC and size - at < 2):
        return SIZE_MAX
    if flags & FHCRC:
        if kp_load_le16(src + at) != libdeflate_crc32(0, src, at) & 0xffff:
            return 0
        at += 2
    return at


cdef void gzip_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """The last member's size field, no more than deflate can expand to."""
    expected.least = 0
    expected.most = 0
    if size >= GZIP_MEMBER_MIN:
        expected.most = min(<size_t>kp_load_le32(src + size - 4), EXPANSION * size)


cdef bint gzip_trailer_fits(const uint8_t* trailer, uint32_t crc, size_t size) noexcept nogil:
    return kp_load_le32(trailer) == crc and kp_load_le32(trailer + 4) == <uint32_t>size


cdef int gzip_decode(codec_context* context, const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                     progress* at, kp_error* err) noexcept nogil:
    """Read members; what follows one and is none is ignored, as Java does."""
    cdef size_t body, read, written
    cdef libdeflate_result result
    if context.deflate_d == NULL:
        context.deflate_d = libdeflate_alloc_decompressor()
        if context.deflate_d == NULL:
            return kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
    while at.consumed == 0 or size - at.consumed >= GZIP_MEMBER_MIN:
        body = gzip_header(src + at.consumed, size - at.consumed)
        if body == 0 or body == SIZE_MAX:
            if at.consumed > 0:
                return KP_OK
            return kp_fail(err, KP_GZIP_SHORT if body else KP_GZIP_HEADER, 0, 0, 0)
        body += at.consumed
        result = libdeflate_deflate_decompress_ex(context.deflate_d, src + body, size - body,
                                                  dst + at.produced, capacity - at.produced, &read, &written)
        if result == LIBDEFLATE_INSUFFICIENT_SPACE:
            return kp_fail(err, KP_OUTPUT_FULL, <int64_t>at.consumed, 0, <int64_t>capacity)
        if result != LIBDEFLATE_SUCCESS:
            return kp_fail(err, KP_GZIP_DATA, <int64_t>body, 0, 0)
        body += read
        if size - body < GZIP_TRAILER:
            return kp_fail(err, KP_GZIP_SHORT, <int64_t>body, 0, 0)
        if not gzip_trailer_fits(src + body, libdeflate_crc32(0, dst + at.produced, written), written):
            return kp_fail(err, KP_GZIP_TRAILER, <int64_t>body, 0, 0)
        at.consumed = body + GZIP_TRAILER
        at.produced += written
    return KP_OK


cdef int inflate_as_java(bytes payload, pooled* out, size_t cap) except -1:
    """Append what GZIPInputStream hands out of a damaged payload before it fails.

    Kafka reads it through an input buffer of 8 KiB, 16 KiB of output at a time, and a call of zlib that
    fails gives nothing.
    """
    cdef size_t at = 0, taken, start = out.size, member
    cdef const uint8_t* src = payload
    cdef bytes piece
    cdef kp_error err
    while True:
        taken = gzip_header(src + at, len(payload) - at)
        if taken == 0 or taken == SIZE_MAX:
            return 0
        at += taken
        member = out.size
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        while not inflater.eof:
            data = inflater.unconsumed_tail
            if not data:
                data = payload[at:at + JAVA_INPUT]
                at += len(data)
                if not data:
                    return 0
            piece = inflater.decompress(data, JAVA_OUTPUT)
            if out.size - start + len(piece) > cap:
                return 0
            if pooled_reserve(out, out.size + len(piece), &err) != KP_OK:
                raise MemoryError
            memcpy(out.data + out.size, <const char*>piece, len(piece))
            out.size += len(piece)
        at -= len(inflater.unused_data)
        taken = out.size - member
        if (len(payload) - at < GZIP_TRAILER + GZIP_MEMBER_MIN
                or not gzip_trailer_fits(src + at, libdeflate_crc32(0, out.data + member, taken), taken)):
            return 0
        at += GZIP_TRAILER


cdef void gzip_prefix(const uint8_t* src, size_t size, pooled* out, size_t cap) noexcept nogil:
    with gil:
        try:
            inflate_as_java(src[:size], out, cap)
        except (zlib.error, MemoryError):
            pass  # the caller has an error of its own to report


cdef size_t gzip_begin(uint8_t* dst) noexcept nogil:
    memcpy(dst, WRITTEN_HEADER, GZIP_HEADER)
    return GZIP_HEADER


cdef size_t gzip_end(uint8_t* dst, uint32_t crc, size_t size) noexcept nogil:
    kp_store_le32(dst, crc)
    kp_store_le32(dst + 4, <uint32_t>size)
    return GZIP_TRAILER


cdef size_t gzip_bound(size_t size) noexcept nogil:
    return GZIP_HEADER + libdeflate_deflate_compress_bound(NULL, size) + GZIP_TRAILER


cdef int gzip_encode(codec_context* context, int level, const uint8_t* src, size_t size, uint8_t* dst,
                     size_t capacity, size_t* produced, kp_error* err) noexcept nogil:
    cdef size_t written
    if level == GZIP_LEVEL_DEFAULT:
        level = LIBRARY_LEVEL
    if context.deflate_c[level] == NULL:
        context.deflate_c[level] = libdeflate_alloc_compressor(level)
        if context.deflate_c[level] == NULL:
            return kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
    produced[0] = gzip_begin(dst)
    written = libdeflate_deflate_compress(context.deflate_c[level], src, size, dst + GZIP_HEADER,
                                          capacity - GZIP_HEADER - GZIP_TRAILER)
    if written == 0:
        return kp_fail(err, KP_COMPRESS_FAILED, -1, 0, 0)
    produced[0] += written
    produced[0] += gzip_end(dst + produced[0], libdeflate_crc32(0, src, size), size)
    return KP_OK
