"""LZ4 frames (LZ4 Frame Format 1.6) around liblz4's blocks, as Kafka's Lz4BlockOutputStream and
Lz4BlockInputStream write and read them.

::

    frame   header (lz4_header.h) | block ... | end mark(4): zero | [content checksum(4)]
    block   size(4); its highest bit: stored | data | [block checksum(4)]

liblz4's own frame functions are not used: Kafka compresses each 64 KiB independently, numbers levels differently,
stores one of two kinds of checksum byte, and refuses some frames that liblz4 accepts.
"""

from cpython.buffer cimport Py_buffer, PyBuffer_Release
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from recordpress._buffers cimport acquire_writable
from recordpress._c.lz4 cimport (
    LZ4_compress_fast_extState, LZ4_compress_HC_extStateHC, LZ4_compressBound, LZ4_decompress_safe, LZ4_sizeofState,
    LZ4_sizeofStateHC,
)
from recordpress._c.wire cimport (
    RP_LZ4, RP_LZ4_BLOCK, RP_LZ4_BLOCK_CHECKSUM, RP_LZ4_BLOCK_SIZE, RP_LZ4_FLG_BLOCK_CHECKSUM,
    RP_LZ4_FLG_CONTENT_CHECKSUM, RP_LZ4_HC, RP_LZ4_HEADER_MIN, RP_LZ4_SHORT, RP_NO_MEMORY, RP_OK, RP_OUTPUT_FULL,
    rp_error, rp_fail, rp_load_le32, rp_lz4_frame, rp_lz4_header_read, rp_lz4_header_set_hc, rp_lz4_header_write,
    rp_store_le32, rp_xxh32,
)
from recordpress._status cimport check
from recordpress.codecs._blocks cimport compress_blocks, decode_blocks, decompress_blocks
from recordpress.codecs._output cimport give, output_room
from recordpress.codecs.codec cimport (
    STEP, append, codec, codec_stream, level_or_default, progress, size_range, state_made,
)

cdef enum:
    LEVEL_FAST = 9            # the fast compressor, which is the default; every other level is LZ4 HC
    BLOCK = 65536             # uncompressed bytes of a block that Kafka writes
    WORD = 4                  # a block's size, its checksum, the end mark
    STORED = 0x80000000       # the bit of the size word for a block that is not compressed
    EXPANSION = 255           # LZ4 block format: a length byte adds at most 255


cdef void lz4_expect(const codec* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """Expect sizes between the smallest and the largest that the available blocks can have."""
    cdef rp_lz4_frame frame
    cdef rp_error ignored
    cdef size_t at, word, length, skip
    expected.least = expected.most = 0
    expected.sure = True
    if rp_lz4_header_read(src, size, False, &frame, &ignored) != RP_OK:
        return
    at = frame.header_size
    skip = WORD if frame.flags & RP_LZ4_FLG_BLOCK_CHECKSUM else 0
    while size - at >= WORD:
        word = rp_load_le32(src + at)
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
                      uint8_t* dst, size_t capacity, progress* at, rp_error* err) noexcept nogil:
    """Decode the compressed block of `size` bytes at src[start]."""
    cdef size_t room = min(block_max, capacity - at.produced)
    cdef void* alone
    cdef int whole
    cdef int decoded = LZ4_decompress_safe(<const char*>src + start, <char*>dst + at.produced, <int>size, <int>room)
    if decoded < 0 and room < block_max:
        # Too little room, or damaged? Decode the block alone, in a buffer that is large enough.
        alone = malloc(block_max)
        if alone == NULL:
            return rp_fail(err, RP_NO_MEMORY, -1, 0, <int64_t>block_max)
        whole = LZ4_decompress_safe(<const char*>src + start, <char*>alone, <int>size, <int>block_max)
        free(alone)
        if whole >= 0:
            return rp_fail(err, RP_OUTPUT_FULL, <int64_t>start, 0, <int64_t>capacity)
    if decoded < 0:
        return rp_fail(err, RP_LZ4_BLOCK, <int64_t>start, 0, 0)
    at.produced += decoded
    return RP_OK


cdef int lz4_decode(const codec* row, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                    size_t capacity, progress* at, rp_error* err) noexcept nogil:
    """Read one frame; ignore bytes after its end, as Java does. err.found is 1 for RP_LZ4_SHORT if only the content
    checksum is missing."""
    cdef rp_lz4_frame frame
    cdef size_t word, length, start, skip
    cdef uint32_t sum
    cdef int status = rp_lz4_header_read(src, size, magic > 0, &frame, err)
    if status != RP_OK:
        return status
    if at.consumed == 0:
        at.consumed = frame.header_size
    skip = WORD if frame.flags & RP_LZ4_FLG_BLOCK_CHECKSUM else 0
    while True:
        start = at.consumed + WORD
        if size < start:
            return rp_fail(err, RP_LZ4_SHORT, <int64_t>at.consumed, 0, 0)
        word = rp_load_le32(src + at.consumed)
        length = word & ~<size_t>STORED
        if length == 0:
            break
        if length > frame.block_max:
            return rp_fail(err, RP_LZ4_BLOCK_SIZE, <int64_t>at.consumed, <int64_t>length, <int64_t>frame.block_max)
        if length + skip > size - start:
            return rp_fail(err, RP_LZ4_SHORT, <int64_t>at.consumed, 0, 0)
        if skip:
            sum = rp_xxh32(src + start, length)
            if sum != rp_load_le32(src + start + length):
                return rp_fail(err, RP_LZ4_BLOCK_CHECKSUM, <int64_t>(start + length),
                               rp_load_le32(src + start + length), sum)
        if word & STORED:
            if length > capacity - at.produced:
                return rp_fail(err, RP_OUTPUT_FULL, <int64_t>start, 0, <int64_t>capacity)
            memcpy(dst + at.produced, src + start, length)
            at.produced += length
        else:
            status = decode_block(src, start, length, frame.block_max, dst, capacity, at, err)
            if status != RP_OK:
                return status
        at.consumed = start + length + skip
    # Java reads the content checksum's 4 bytes but does not compare them.
    skip = WORD if frame.flags & RP_LZ4_FLG_CONTENT_CHECKSUM else 0
    if size - start < skip:
        return rp_fail(err, RP_LZ4_SHORT, <int64_t>start, 1, 0)
    at.consumed = start + skip
    at.ended = True
    return RP_OK


cdef int lz4_decode_any_header(const codec* row, void** state, int magic, const uint8_t* src, size_t size,
                               uint8_t* dst, size_t capacity, progress* at, rp_error* err) noexcept nogil:
    """Decode regardless of the header's checksum, as magic 0 does."""
    return lz4_decode(row, state, 0, src, size, dst, capacity, at, err)


# --- compression -----------------------------------------------------------------------------------------------------

# liblz4's states, each allocated when it is first needed.
ctypedef struct lz4_state:
    void* fast
    void* hc


cdef int make_state(void** state, int level, rp_error* err) noexcept nogil:
    cdef lz4_state* own = <lz4_state*>state_made(state, sizeof(lz4_state))
    cdef void** wanted
    cdef int size = LZ4_sizeofState() if level == LEVEL_FAST else LZ4_sizeofStateHC()
    if own == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, sizeof(lz4_state))
    wanted = &own.fast if level == LEVEL_FAST else &own.hc
    if wanted[0] == NULL:
        wanted[0] = malloc(size)
        if wanted[0] == NULL:
            return rp_fail(err, RP_NO_MEMORY, -1, 0, size)
    return RP_OK


cdef size_t lz4_free(void* state) noexcept nogil:
    cdef lz4_state* own = <lz4_state*>state
    cdef size_t released = sizeof(lz4_state)
    released += LZ4_sizeofState() if own.fast != NULL else 0
    released += LZ4_sizeofStateHC() if own.hc != NULL else 0
    free(own.fast)
    free(own.hc)
    free(own)
    return released


cdef size_t lz4_bound(size_t size) noexcept nogil:
    return (RP_LZ4_HEADER_MIN + size // BLOCK * (WORD + LZ4_compressBound(BLOCK))
            + WORD + LZ4_compressBound(<int>(size % BLOCK)) + WORD)


cdef int encode_block(const lz4_state* own, int level, const uint8_t* src, int size, uint8_t* dst) noexcept nogil:
    cdef int capacity = LZ4_compressBound(size)
    if level == LEVEL_FAST:
        return LZ4_compress_fast_extState(own.fast, <const char*>src, <char*>dst, size, capacity, 1)
    return LZ4_compress_HC_extStateHC(own.hc, <const char*>src, <char*>dst, size, capacity, level)


cdef int encode_blocks(void** state, int level, const uint8_t* src, size_t size, uint8_t* dst, size_t* produced,
                       rp_error* err) noexcept nogil:
    """Encode blocks; store a block that does not get smaller."""
    cdef size_t done = 0, length, written
    cdef uint8_t* to = dst
    if make_state(state, level, err) != RP_OK:
        return err.status
    while done < size:
        length = min(size - done, <size_t>BLOCK)
        written = encode_block(<lz4_state*>state[0], level, src + done, <int>length, to + WORD)
        if written == 0 or written >= length:
            memcpy(to + WORD, src + done, length)
            rp_store_le32(to, <uint32_t>(length | STORED))
            written = length
        else:
            rp_store_le32(to, <uint32_t>written)
        to += WORD + written
        done += length
    produced[0] = <size_t>(to - dst)
    return RP_OK


cdef int lz4_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src, size_t size,
                    uint8_t* dst, size_t capacity, size_t* produced, rp_error* err) noexcept nogil:
    rp_lz4_header_write(dst, magic)
    if encode_blocks(state, level_or_default(row, level), src, size, dst + RP_LZ4_HEADER_MIN, produced, err) != RP_OK:
        return err.status
    produced[0] += RP_LZ4_HEADER_MIN
    rp_store_le32(dst + produced[0], 0)
    produced[0] += WORD
    return RP_OK


# --- in chunks -------------------------------------------------------------------------------------------------------

cdef int lz4_compress_open(codec_stream* s, rp_error* err) noexcept nogil:
    cdef uint8_t header[RP_LZ4_HEADER_MIN]
    rp_lz4_header_write(header, s.magic)
    return give(s, header, RP_LZ4_HEADER_MIN, err)


cdef int write_blocks(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    cdef size_t written = 0
    if (output_room(s, lz4_bound(size), err) != RP_OK
            or encode_blocks(s.shared, level_or_default(s.row, s.level), src, size, s.out.data + s.out.size, &written,
                             err) != RP_OK):
        return err.status
    s.out.size += written
    return RP_OK


cdef int lz4_compress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    return compress_blocks(s, BLOCK, write_blocks, src, size, err)


cdef int lz4_compress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef uint8_t mark[WORD]
    rp_store_le32(mark, 0)
    if write_blocks(s, s.pending.data, s.pending.size, err) != RP_OK:
        return err.status
    return give(s, mark, WORD, err)


cdef int lz4_decompress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    cdef rp_lz4_frame frame
    cdef int status
    if append(&s.pending, src, size, err) != RP_OK:
        return err.status
    status = rp_lz4_header_read(s.pending.data, s.pending.size, s.magic > 0, &frame, err)
    if status != RP_OK:
        return RP_OK if status == RP_LZ4_SHORT else status
    return decompress_blocks(s, frame.header_size, RP_LZ4_SHORT, err)


cdef int lz4_decompress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef rp_lz4_frame frame
    cdef progress at
    if s.ended:
        return RP_OK
    if rp_lz4_header_read(s.pending.data, s.pending.size, s.magic > 0, &frame, err) != RP_OK:
        return err.status
    return decode_blocks(s, frame.header_size, &at, err)


cdef bint lz4_complete(const codec_stream* s) noexcept nogil:
    return s.ended


cdef int lz4_header_checksum_status(const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    """Return RP_LZ4_HC if the frame's header does not have the checksum that KIP-57 requires. The decoder reports
    other errors."""
    cdef rp_lz4_frame frame
    return RP_LZ4_HC if rp_lz4_header_read(src, size, True, &frame, err) == RP_LZ4_HC else RP_OK


cdef void lz4_row(codec* row) noexcept:
    row.id = RP_LZ4
    row.name = "lz4"
    row.has_levels = True
    row.level_min = 1                     # and level_max: Kafka's CompressionType
    row.level_max = 17
    row.level_default = LEVEL_FAST
    row.gil_kept = 1 << 14
    row.expect = lz4_expect
    row.decode = lz4_decode
    row.header_checksum_status = lz4_header_checksum_status
    row.bound = lz4_bound
    row.encode = lz4_encode
    row.joins = True                      # as consecutive blocks
    row.join_tail = WORD                  # the end mark
    row.join_head = RP_LZ4_HEADER_MIN
    row.join_unit = BLOCK
    row.free_state = lz4_free
    row.compressor.most = row.decompressor.most = STEP
    row.compressor.open = lz4_compress_open
    row.compressor.step = lz4_compress_step
    row.compressor.end = lz4_compress_end
    row.decompressor.step = lz4_decompress_step
    row.decompressor.end = lz4_decompress_end
    row.decompressor.complete = lz4_complete


cdef void lz4_row_of_any_header(codec* row) noexcept:
    lz4_row(row)
    row.decode = lz4_decode_any_header


# --- the header's checksum -------------------------------------------------------------------------------------------

cdef int set_header_checksum(object frame, bint broken) except -1:
    cdef Py_buffer view
    cdef rp_error err
    cdef int status
    acquire_writable(frame, &view, "frame")  # InputView reads only; nothing between here and the release raises
    status = rp_lz4_header_set_hc(<uint8_t*>view.buf, view.len, broken, &err)
    PyBuffer_Release(&view)
    check(status, &err)
    return 0


def fix_lz4_header(frame):
    """Give an LZ4 frame the header checksum that messages of magic 1 and 2 need, in place.

    Only the header's last byte changes (byte 6, or 14 if the frame has a content size). The checksum of
    the message around the frame changes with it: see :func:`recordpress.crc32_patch`.

    Parameters
    ----------
    frame : buffer
        Writable; begins with an LZ4 frame that has either checksum.

    Raises
    ------
    DecompressionError
        `frame` does not begin with the header of a frame that Kafka accepts.

    Notes
    -----
    KAFKA-3160, KIP-57.

    Examples
    --------
    >>> import recordpress
    >>> frame = bytearray(recordpress.compress(b"record", "lz4", magic=0))
    >>> recordpress.fix_lz4_header(frame)
    >>> frame == recordpress.compress(b"record", "lz4", magic=1)
    True
    """
    set_header_checksum(frame, False)


def break_lz4_header(frame):
    """Give an LZ4 frame the header checksum that messages of magic 0 need, in place.

    The opposite of :func:`fix_lz4_header`: clients and brokers before 0.10 included the frame's magic number
    in the checksum, and accepted no other checksum.

    Parameters
    ----------
    frame : buffer
        As in :func:`fix_lz4_header`, whose notes list the sources.

    Raises
    ------
    DecompressionError
        `frame` does not begin with the header of a frame that Kafka accepts.

    Examples
    --------
    >>> import recordpress
    >>> frame = bytearray(recordpress.compress(b"record", "lz4"))
    >>> recordpress.break_lz4_header(frame)
    >>> frame[:7].hex()
    '04224d1860401a'
    """
    set_header_checksum(frame, True)
