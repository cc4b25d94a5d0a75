"""Snappy: the xerial stream that Java writes, and single raw blocks.

A xerial stream is a header of 16 bytes and chunks, each an int32 length and one raw block. Reading goes by
snappy-java's SnappyInputStream, rule by rule.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcmp, memcpy

from kpress._c.wire cimport (
    KP_OK,
    KP_OUTPUT_FULL,
    KP_SNAPPY_CHUNK,
    KP_SNAPPY_DATA,
    KP_SNAPPY_EMPTY,
    KP_SNAPPY_HEADER,
    KP_SNAPPY_SHORT,
    kp_error,
    kp_fail,
    kp_load_be32,
    kp_snappy_bound,
    kp_snappy_elements,
    kp_snappy_encode,
    kp_snappy_preamble,
    kp_store_be32,
)
from kpress.codecs.context cimport codec_context, progress, size_range

cdef enum:
    MAGIC = 8
    MAGIC_HEAD = 0x82534e41   # the magic's first four bytes, where a chunk length could stand
    LENGTH = 4
    CHUNK_MAX = 512 << 20     # compressed bytes that snappy-java accepts
    READ = 2048               # SnappyCompression.decompressionOutputSize
    # The densest element copies 64 bytes and takes 3.
    EXPANSION = 22

cdef const uint8_t* XERIAL = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"


cdef bint snappy_is_xerial(const uint8_t* src, size_t size) noexcept nogil:
    return size >= SNAPPY_HEADER and memcmp(src, XERIAL, MAGIC) == 0


cdef size_t block_size(const uint8_t* src, size_t size, size_t* elements) noexcept nogil:
    """What the preamble says, and where the elements begin (0: this cannot be a block)."""
    cdef uint32_t decoded = 0
    elements[0] = kp_snappy_preamble(src, size, &decoded)
    if decoded > EXPANSION * size:
        elements[0] = 0
    return decoded


cdef int decode_block(const uint8_t* src, size_t start, size_t size, uint8_t* dst, size_t capacity,
                      progress* at, kp_error* err) noexcept nogil:
    """Decode the raw block of `size` bytes at src[start]."""
    cdef size_t elements
    cdef size_t decoded = block_size(src + start, size, &elements)
    cdef uint8_t* to = dst + at.produced
    if elements == 0:
        return kp_fail(err, KP_SNAPPY_DATA, <int64_t>start, 0, 0)
    if decoded > capacity - at.produced:
        return kp_fail(err, KP_OUTPUT_FULL, <int64_t>start, 0, <int64_t>capacity)
    if not kp_snappy_elements(src + start + elements, src + start + size, to, to + decoded):
        return kp_fail(err, KP_SNAPPY_DATA, <int64_t>start, 0, 0)
    at.consumed = start + size
    at.produced += decoded
    return KP_OK


cdef void snappy_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """The sum of the preambles, as far as the chunks are sound."""
    cdef size_t at = SNAPPY_HEADER, length, elements, total = 0
    if not snappy_is_xerial(src, size):
        total = block_size(src, size, &elements)
        expected.least = expected.most = total if elements > 0 else 0
        return
    while size - at >= LENGTH:
        length = kp_load_be32(src + at)
        if length == MAGIC_HEAD:
            if not snappy_is_xerial(src + at, size - at):
                break  # Java stops reading here, or it is an error
            at += SNAPPY_HEADER
            continue
        at += LENGTH
        if length > size - at:
            break
        total += block_size(src + at, length, &elements)
        if elements == 0:
            break
        at += length
    expected.least = expected.most = total


cdef int snappy_decode(const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                       progress* at, kp_error* err) noexcept nogil:
    cdef size_t next
    cdef int32_t length
    cdef int status
    if size == 0:
        return kp_fail(err, KP_SNAPPY_EMPTY, 0, 0, 0)
    if not snappy_is_xerial(src, size):
        return decode_block(src, 0, size, dst, capacity, at, err)
    if at.consumed == 0:
        at.consumed = SNAPPY_HEADER  # the first header's versions are not looked at: some writers swap their bytes
    while size - at.consumed >= LENGTH:  # one to three bytes behind the last chunk are ignored
        next = at.consumed + LENGTH
        length = <int32_t>kp_load_be32(src + at.consumed)
        if <uint32_t>length == MAGIC_HEAD:  # another stream follows
            if size - at.consumed < SNAPPY_HEADER:
                return kp_fail(err, KP_SNAPPY_SHORT, <int64_t>at.consumed, SNAPPY_HEADER, <int64_t>(size - at.consumed))
            if memcmp(src + at.consumed, XERIAL, MAGIC) != 0:
                at.ended = True  # Java stops reading here
                return KP_OK
            if <int32_t>kp_load_be32(src + at.consumed + MAGIC) < 1:
                return kp_fail(err, KP_SNAPPY_HEADER, <int64_t>at.consumed + MAGIC, 0, 0)
            at.consumed += SNAPPY_HEADER
            continue
        if not 0 < length <= <int32_t>CHUNK_MAX:
            return kp_fail(err, KP_SNAPPY_CHUNK, <int64_t>at.consumed, length, CHUNK_MAX)
        if <size_t>length > size - next:
            return kp_fail(err, KP_SNAPPY_SHORT, <int64_t>at.consumed, length, <int64_t>(size - next))
        status = decode_block(src, next, length, dst, capacity, at, err)
        if status != KP_OK:
            return status
    return KP_OK


cdef size_t snappy_prefix(size_t produced) noexcept nogil:
    """Kafka reads 2 KiB at a time, and a read that meets an error gives nothing."""
    return produced // READ * READ


cdef size_t snappy_bound(size_t size) noexcept nogil:
    return (SNAPPY_HEADER + size // SNAPPY_CHUNK * (LENGTH + kp_snappy_bound(SNAPPY_CHUNK))
            + LENGTH + kp_snappy_bound(size % SNAPPY_CHUNK))


cdef size_t snappy_begin(uint8_t* dst) noexcept nogil:
    memcpy(dst, XERIAL, SNAPPY_HEADER)
    return SNAPPY_HEADER


cdef size_t snappy_encode_chunks(codec_context* context, const uint8_t* src, size_t size, uint8_t* dst) noexcept nogil:
    """No chunk is written for no data."""
    cdef size_t done = 0, length, written
    cdef uint8_t* to = dst
    while done < size:
        length = min(size - done, <size_t>SNAPPY_CHUNK)
        written = kp_snappy_encode(src + done, length, to + LENGTH, context.snappy_table)
        kp_store_be32(to, <uint32_t>written)
        to += LENGTH + written
        done += length
    return <size_t>(to - dst)


cdef size_t snappy_encode(codec_context* context, bint raw, const uint8_t* src, size_t size,
                          uint8_t* dst) noexcept nogil:
    cdef size_t start
    if raw:
        return kp_snappy_encode(src, size, dst, context.snappy_table)
    start = snappy_begin(dst)
    return start + snappy_encode_chunks(context, src, size, dst + start)
