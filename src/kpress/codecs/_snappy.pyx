"""Snappy: the xerial stream that Java writes, and single raw blocks.

::

    stream   header | chunk ...     another header may stand between chunks
    header   82 "SNAPPY" 00 | int32 version | int32 least version that can read it
    chunk    int32 length | one raw block (snappy.h)

Reading follows snappy-java's SnappyInputStream, rule by rule.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from kpress._buffers cimport pooled
from kpress._c.wire cimport (
    KP_NO_MEMORY,
    KP_OK,
    KP_OUTPUT_FULL,
    KP_SNAPPY,
    KP_SNAPPY_CHUNK,
    KP_SNAPPY_DATA,
    KP_SNAPPY_EMPTY,
    KP_SNAPPY_HEADER,
    KP_SNAPPY_SHORT,
    KP_SNAPPY_TABLE,
    kp_error,
    kp_fail,
    kp_load_be32,
    kp_snappy_bound,
    kp_snappy_elements,
    kp_snappy_encode,
    kp_snappy_preamble,
    kp_store_be32,
)
from kpress.codecs._blocks cimport compress_blocks, decode_blocks, decompress_blocks
from kpress.codecs._output cimport give, output_room
from kpress.codecs.codec cimport STEP, append, codec, codec_stream, progress, size_range

cdef enum:
    HEADER = 16               # bytes of a xerial header
    CHUNK = 32768             # uncompressed bytes of a chunk that Java writes
    MAGIC = 8                 # bytes of it
    MAGIC_HEAD = 0x82534e41   # the magic's first four bytes, where a chunk length could stand
    LENGTH = 4                # bytes of a chunk's length
    CHUNK_MAX = 512 << 20     # compressed bytes that snappy-java accepts
    READ = 2048               # SnappyCompression.decompressionOutputSize
    TABLE_BYTES = 2 * KP_SNAPPY_TABLE
    # The densest element copies 64 bytes and takes 3.
    EXPANSION = 22

cdef const uint8_t* XERIAL = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"


cdef bint is_xerial(const uint8_t* src, size_t size) noexcept nogil:
    return size >= HEADER and memcmp(src, XERIAL, MAGIC) == 0


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


cdef void snappy_expect(const codec* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """The sum of the preambles, as far as the chunks are sound."""
    cdef size_t at = HEADER, length, elements, decoded, total = 0
    expected.sure = True
    if not is_xerial(src, size):
        total = block_size(src, size, &elements)
        expected.least = expected.most = total if elements > 0 else 0
        return
    while size - at >= LENGTH:
        length = kp_load_be32(src + at)
        if length == MAGIC_HEAD:
            if not is_xerial(src + at, size - at):
                break  # Java stops reading here, or it is an error
            at += HEADER
            continue
        at += LENGTH
        if length > size - at:
            break
        decoded = block_size(src + at, length, &elements)
        if elements == 0:
            break
        total += decoded
        at += length
    expected.least = expected.most = total


cdef int snappy_decode(const codec* row, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                       size_t capacity, progress* at, kp_error* err) noexcept nogil:
    cdef size_t next
    cdef int32_t length
    cdef int status
    if size == 0:
        return kp_fail(err, KP_SNAPPY_EMPTY, 0, 0, 0)
    if not is_xerial(src, size):
        return decode_block(src, 0, size, dst, capacity, at, err)
    if at.consumed == 0:
        at.consumed = HEADER  # the first header's versions are ignored: some writers swap their bytes
    while size - at.consumed >= LENGTH:  # one to three bytes after the last chunk are ignored
        next = at.consumed + LENGTH
        length = <int32_t>kp_load_be32(src + at.consumed)
        if <uint32_t>length == MAGIC_HEAD:  # another stream follows
            if size - at.consumed < HEADER:
                return kp_fail(err, KP_SNAPPY_SHORT, <int64_t>at.consumed, HEADER, <int64_t>(size - at.consumed))
            if memcmp(src + at.consumed, XERIAL, MAGIC) != 0:
                at.ended = True  # Java stops reading here
                return KP_OK
            if <int32_t>kp_load_be32(src + at.consumed + MAGIC) < 1:
                return kp_fail(err, KP_SNAPPY_HEADER, <int64_t>at.consumed + MAGIC, 0, 0)
            at.consumed += HEADER
            continue
        if not 0 < length <= <int32_t>CHUNK_MAX:
            return kp_fail(err, KP_SNAPPY_CHUNK, <int64_t>at.consumed, length, CHUNK_MAX)
        if <size_t>length > size - next:
            return kp_fail(err, KP_SNAPPY_SHORT, <int64_t>at.consumed, length, <int64_t>(size - next))
        status = decode_block(src, next, length, dst, capacity, at, err)
        if status != KP_OK:
            return status
    return KP_OK


cdef bint snappy_prefix(void** state, const uint8_t* src, size_t size, pooled* out, size_t start,
                        size_t cap) noexcept nogil:
    """Kafka reads 2 KiB at a time, and a read that meets an error gives nothing."""
    out.size = start + (out.size - start) // READ * READ
    return False


# --- compression -----------------------------------------------------------------------------------------------------

cdef size_t snappy_bound(size_t size) noexcept nogil:
    return (HEADER + size // CHUNK * (LENGTH + kp_snappy_bound(CHUNK))
            + LENGTH + kp_snappy_bound(size % CHUNK))


cdef uint16_t* table_of(void** state, kp_error* err) noexcept nogil:
    """The encoder's table, which is the row's state; NULL: out of memory."""
    if state[0] == NULL:
        state[0] = malloc(TABLE_BYTES)
        if state[0] == NULL:
            kp_fail(err, KP_NO_MEMORY, -1, 0, TABLE_BYTES)
    return <uint16_t*>state[0]


cdef size_t snappy_free(void* state) noexcept nogil:
    free(state)
    return TABLE_BYTES


cdef size_t write_header(uint8_t* dst) noexcept nogil:
    memcpy(dst, XERIAL, HEADER)
    return HEADER


cdef size_t write_chunks(uint16_t* table, const uint8_t* src, size_t size, uint8_t* dst) noexcept nogil:
    """Empty input has no chunk."""
    cdef size_t done = 0, length, written
    cdef uint8_t* to = dst
    while done < size:
        length = min(size - done, <size_t>CHUNK)
        written = kp_snappy_encode(src + done, length, to + LENGTH, table)
        kp_store_be32(to, <uint32_t>written)
        to += LENGTH + written
        done += length
    return <size_t>(to - dst)


cdef int snappy_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src, size_t size,
                       uint8_t* dst, size_t capacity, size_t* produced, kp_error* err) noexcept nogil:
    cdef uint16_t* table = table_of(state, err)
    if table == NULL:
        return err.status
    if raw:
        produced[0] = kp_snappy_encode(src, size, dst, table)
        return KP_OK
    produced[0] = write_header(dst)
    produced[0] += write_chunks(table, src, size, dst + HEADER)
    return KP_OK


# --- in pieces -------------------------------------------------------------------------------------------------------

cdef int snappy_compress_open(codec_stream* s, kp_error* err) noexcept nogil:
    return give(s, XERIAL, HEADER, err)


cdef int write_blocks(codec_stream* s, const uint8_t* src, size_t size, kp_error* err) noexcept nogil:
    cdef uint16_t* table = table_of(s.shared, err)
    if table == NULL or output_room(s, snappy_bound(size), err) != KP_OK:
        return err.status
    s.out.size += write_chunks(table, src, size, s.out.data + s.out.size)
    return KP_OK


cdef int snappy_compress_step(codec_stream* s, const uint8_t* src, size_t size, kp_error* err) noexcept nogil:
    return compress_blocks(s, CHUNK, write_blocks, src, size, err)


cdef int snappy_compress_end(codec_stream* s, kp_error* err) noexcept nogil:
    return write_blocks(s, s.pending.data, s.pending.size, err)


cdef int snappy_decompress_step(codec_stream* s, const uint8_t* src, size_t size, kp_error* err) noexcept nogil:
    """A raw block waits until flush() says that nothing follows it."""
    if append(&s.pending, src, size, err) != KP_OK:
        return err.status
    if not is_xerial(s.pending.data, s.pending.size):
        return KP_OK
    return decompress_blocks(s, HEADER, KP_SNAPPY_SHORT, err)


cdef int snappy_decompress_end(codec_stream* s, kp_error* err) noexcept nogil:
    cdef progress at
    return KP_OK if s.ended else decode_blocks(s, HEADER if is_xerial(s.pending.data, s.pending.size) else 0, &at, err)


cdef bint snappy_complete(const codec_stream* s) noexcept nogil:
    """A raw block has no end mark: only flush() says that it is complete."""
    return s.ended or (is_xerial(s.pending.data, s.pending.size) and s.pending.size < HEADER + LENGTH)


cdef void snappy_row(codec* row) noexcept:
    row.id = KP_SNAPPY
    row.name = "snappy"
    row.gil_kept = 1 << 14
    row.expect = snappy_expect
    row.decode = snappy_decode
    row.prefix = snappy_prefix
    row.bound = snappy_bound
    row.encode = snappy_encode
    row.joins = True   # chunks, one after the other
    row.join_head = HEADER
    row.join_unit = CHUNK
    row.free_state = snappy_free
    row.compressor.most = row.decompressor.most = STEP
    row.compressor.open = snappy_compress_open
    row.compressor.step = snappy_compress_step
    row.compressor.end = snappy_compress_end
    row.decompressor.step = snappy_decompress_step
    row.decompressor.end = snappy_decompress_end
    row.decompressor.complete = snappy_complete
