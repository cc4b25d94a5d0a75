"""LZ4 frames (LZ4 Frame Format 1.6) around liblz4's blocks, as Kafka's Lz4BlockOutputStream and
Lz4BlockInputStream write and read them.

liblz4's own frame functions are not used: Kafka compresses each 64 KiB on its own, gives levels a meaning of
their own, stores a checksum byte of two kinds, and refuses frames which liblz4 takes.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from kpress._c.lz4 cimport (
    LZ4_compress_fast_extState,
    LZ4_compress_HC_extStateHC,
    LZ4_compressBound,
    LZ4_decompress_safe,
    LZ4_sizeofState,
    LZ4_sizeofStateHC,
)
from kpress._c.wire cimport (
    KP_LZ4_BLOCK,
    KP_LZ4_BLOCK_CHECKSUM,
    KP_LZ4_BLOCK_SIZE,
    KP_LZ4_FLG_BLOCK_CHECKSUM,
    KP_LZ4_FLG_CONTENT_CHECKSUM,
    KP_LZ4_HEADER_MIN,
    KP_LZ4_SHORT,
    KP_NO_MEMORY,
    KP_OK,
    KP_OUTPUT_FULL,
    kp_error,
    kp_fail,
    kp_load_le32,
    kp_lz4_frame,
    kp_lz4_header_read,
    kp_lz4_header_write,
    kp_store_le32,
    kp_xxh32,
)
from kpress.compress._context cimport codec_context, progress, size_range

cdef enum:
    WORD = 4                  # a block's size, its checksum, the end mark
    BLOCK = 65536             # bytes of a block that Kafka writes
    STORED = 0x80000000       # the bit of the size word that says the block is not compressed
    EXPANSION = 255           # LZ4 block format: a length byte adds at most 255


cdef void lz4_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """The blocks at their largest, as far as they are there."""
    cdef kp_lz4_frame frame
    cdef kp_error ignored
    cdef size_t at, word, length, skip
    expected.least = expected.most = 0
    if kp_lz4_header_read(src, size, False, &frame, &ignored) != KP_OK:
        return
    at = frame.header_size
    skip = WORD if frame.flags & KP_LZ4_FLG_BLOCK_CHECKSUM else 0
    while size - at >= WORD:
        word = kp_load_le32(src + at)
        length = word & ~<size_t>STORED
        at += WORD
        if length == 0 or length > frame.block_max or length + skip > size - at:
            return
        if word & STORED:
            expected.most += length
            expected.least += length
        else:
            expected.most += min(frame.block_max, EXPANSION * length)
        at += length + skip


cdef int decode_block(const uint8_t* src, size_t start, size_t size, size_t block_max,
                      uint8_t* dst, size_t capacity, progress* at, kp_error* err) noexcept nogil:
    """Decode the compressed block of `size` bytes at src[start]."""
    cdef size_t room = min(block_max, capacity - at.produced)
    cdef void* alone
    cdef int whole
    cdef int decoded = LZ4_decompress_safe(<const char*>src + start, <char*>dst + at.produced, <int>size, <int>room)
    if decoded < 0 and room < block_max:
        # Too little room, or damaged? The block alone in a buffer that is large enough tells.
        alone = malloc(block_max)
        if alone == NULL:
            return kp_fail(err, KP_NO_MEMORY, -1, 0, <int64_t>block_max)
        whole = LZ4_decompress_safe(<const char*>src + start, <char*>alone, <int>size, <int>block_max)
        free(alone)
        if whole >= 0:
            return kp_fail(err, KP_OUTPUT_FULL, <int64_t>start, 0, <int64_t>capacity)
    if decoded < 0:
        return kp_fail(err, KP_LZ4_BLOCK, <int64_t>start, 0, 0)
    at.produced += decoded
    return KP_OK


cdef int lz4_decode(int magic, const uint8_t* src, size_t size, uint8_t* dst,
                    size_t capacity, progress* at, kp_error* err) noexcept nogil:
    """Read one frame; what follows its end mark is ignored, as Java does."""
    cdef kp_lz4_frame frame
    cdef size_t word, length, start, skip
    cdef uint32_t sum
    cdef int status = kp_lz4_header_read(src, size, magic > 0, &frame, err)
    if status != KP_OK:
        return status
    if at.consumed == 0:
        at.consumed = frame.header_size
    skip = WORD if frame.flags & KP_LZ4_FLG_BLOCK_CHECKSUM else 0
    while True:
        start = at.consumed + WORD
        if size < start:
            return kp_fail(err, KP_LZ4_SHORT, <int64_t>at.consumed, 0, 0)
        word = kp_load_le32(src + at.consumed)
        length = word & ~<size_t>STORED
        if length == 0:
            break
        if length > frame.block_max:
            return kp_fail(err, KP_LZ4_BLOCK_SIZE, <int64_t>at.consumed, <int64_t>length, <int64_t>frame.block_max)
        if length + skip > size - start:
            return kp_fail(err, KP_LZ4_SHORT, <int64_t>at.consumed, 0, 0)
        if skip:
            sum = kp_xxh32(src + start, length)
            if sum != kp_load_le32(src + start + length):
                return kp_fail(err, KP_LZ4_BLOCK_CHECKSUM, <int64_t>(start + length),
                               kp_load_le32(src + start + length), sum)
        if word & STORED:
            if length > capacity - at.produced:
                return kp_fail(err, KP_OUTPUT_FULL, <int64_t>start, 0, <int64_t>capacity)
            memcpy(dst + at.produced, src + start, length)
            at.produced += length
        else:
            status = decode_block(src, start, length, frame.block_max, dst, capacity, at, err)
            if status != KP_OK:
                return status
        at.consumed = start + length + skip
    # Java takes the content checksum's 4 bytes and does not compare them.
    if frame.flags & KP_LZ4_FLG_CONTENT_CHECKSUM and size - start < WORD:
        return kp_fail(err, KP_LZ4_SHORT, <int64_t>start, 0, 0)
    return KP_OK


cdef size_t lz4_bound(size_t size) noexcept nogil:
    return KP_LZ4_HEADER_MIN + (size // BLOCK + 1) * (WORD + LZ4_compressBound(BLOCK)) + WORD


cdef int encode_block(codec_context* context, int level, const uint8_t* src, int size, uint8_t* dst,
                      int capacity) noexcept nogil:
    if level == LZ4_LEVEL_DEFAULT:
        return LZ4_compress_fast_extState(context.lz4_fast, <const char*>src, <char*>dst, size, capacity, 1)
    return LZ4_compress_HC_extStateHC(context.lz4_hc, <const char*>src, <char*>dst, size, capacity, level)


cdef int make_state(codec_context* context, int level, kp_error* err) noexcept nogil:
    cdef void** state = &context.lz4_fast if level == LZ4_LEVEL_DEFAULT else &context.lz4_hc
    cdef int size = LZ4_sizeofState() if level == LZ4_LEVEL_DEFAULT else LZ4_sizeofStateHC()
    if state[0] == NULL:
        state[0] = malloc(size)
        if state[0] == NULL:
            return kp_fail(err, KP_NO_MEMORY, -1, 0, size)
    return KP_OK


cdef int lz4_encode(codec_context* context, int level, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                    size_t* produced, kp_error* err) noexcept nogil:
    """`dst` has room for lz4_bound(size). A block that does not get smaller is stored."""
    cdef size_t done = 0, length, written
    cdef uint8_t* to = dst + KP_LZ4_HEADER_MIN
    if make_state(context, level, err) != KP_OK:
        return err.status
    kp_lz4_header_write(dst, magic)
    while done < size:
        length = min(size - done, <size_t>BLOCK)
        written = encode_block(context, level, src + done, <int>length, to + WORD, LZ4_compressBound(BLOCK))
        if written == 0 or written >= length:
            memcpy(to + WORD, src + done, length)
            kp_store_le32(to, <uint32_t>(length | STORED))
            written = length
        else:
            kp_store_le32(to, <uint32_t>written)
        to += WORD + written
        done += length
    kp_store_le32(to, 0)
    produced[0] = <size_t>(to - dst) + WORD
    return KP_OK
