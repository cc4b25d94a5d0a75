"""Snappy: the xerial stream that Java writes, and single raw blocks.

::

    stream   header | chunk ...     another header may come between chunks
    header   82 "SNAPPY" 00 | int32 version | int32 lowest version that can read it
    chunk    int32 length | one raw block (snappy.h)

Reading follows snappy-java's SnappyInputStream, rule by rule.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport (
    RP_NO_MEMORY, RP_OK, RP_OUTPUT_FULL, RP_SNAPPY, RP_SNAPPY_CHUNK, RP_SNAPPY_DATA, RP_SNAPPY_EMPTY,
    RP_SNAPPY_HEADER, RP_SNAPPY_SHORT, RP_SNAPPY_TABLE, rp_error, rp_fail, rp_load_be32, rp_snappy_bound,
    rp_snappy_decode, rp_snappy_encode, rp_snappy_preamble, rp_store_be32,
)
from recordpress.codecs._blocks cimport compress_blocks, decode_blocks, decompress_blocks
from recordpress.codecs._output cimport give, output_room
from recordpress.codecs.codec cimport STEP, append, codec, codec_stream, progress, size_range

cdef enum:
    HEADER = 16               # bytes of a xerial header
    CHUNK = 32768             # uncompressed bytes of a chunk that Java writes
    MAGIC = 8                 # bytes of its magic
    MAGIC_HEAD = 0x82534e41   # the magic's first four bytes, where a chunk length could stand
    LENGTH = 4                # bytes of a chunk's length
    CHUNK_MAX = 512 << 20     # compressed bytes that snappy-java accepts
    READ = 2048               # SnappyCompression.decompressionOutputSize
    TABLE_BYTES = 2 * RP_SNAPPY_TABLE
    # The densest element copies 64 bytes and takes 3.
    EXPANSION = 22

cdef const uint8_t* XERIAL = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"


cdef bint is_xerial(const uint8_t* src, size_t size) noexcept nogil:
    return size >= HEADER and memcmp(src, XERIAL, MAGIC) == 0


cdef size_t block_size(const uint8_t* src, size_t size, size_t* elements) noexcept nogil:
    """Return the size in the preamble; set `elements` to where the elements begin (0 if this cannot be a block)."""
    cdef uint32_t decoded = 0
    elements[0] = rp_snappy_preamble(src, size, &decoded)
    if decoded > EXPANSION * size:
        elements[0] = 0
    return decoded


cdef int decode_block(const uint8_t* src, size_t start, size_t size, uint8_t* dst, size_t capacity,
                      progress* at, rp_error* err) noexcept nogil:
    """Decode the raw block of `size` bytes at src[start]."""
    cdef size_t elements
    cdef size_t decoded = block_size(src + start, size, &elements)
    cdef uint8_t* to = dst + at.produced
    if elements == 0:
        return rp_fail(err, RP_SNAPPY_DATA, <int64_t>start, 0, 0)
    if decoded > capacity - at.produced:
        return rp_fail(err, RP_OUTPUT_FULL, <int64_t>start, 0, <int64_t>capacity)
    if not rp_snappy_decode(src + start + elements, src + start + size, to, to + decoded):
        return rp_fail(err, RP_SNAPPY_DATA, <int64_t>start, 0, 0)
    at.consumed = start + size
    at.produced += decoded
    return RP_OK


cdef void snappy_expect(const codec* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """Expect the sum of the sizes in the preambles up to the first bad chunk."""
    cdef size_t at = HEADER, length, elements, decoded, total = 0
    expected.sure = True
    if not is_xerial(src, size):
        total = block_size(src, size, &elements)
        expected.least = expected.most = total if elements > 0 else 0
        return
    while size - at >= LENGTH:
        length = rp_load_be32(src + at)
        if length == MAGIC_HEAD:
            if size - at < HEADER:
                break
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
                       size_t capacity, progress* at, rp_error* err) noexcept nogil:
    cdef size_t next
    cdef int32_t length
    cdef int status
    if size == 0:
        return rp_fail(err, RP_SNAPPY_EMPTY, 0, 0, 0)
    if not is_xerial(src, size):
        return decode_block(src, 0, size, dst, capacity, at, err)
    if at.consumed == 0:
        at.consumed = HEADER  # the first header's versions are ignored: some writers swap their bytes
    while size - at.consumed >= LENGTH:  # one to three bytes after the last chunk are ignored
        next = at.consumed + LENGTH
        length = <int32_t>rp_load_be32(src + at.consumed)
        if <uint32_t>length == MAGIC_HEAD:  # another stream follows
            if size - at.consumed < HEADER:
                return rp_fail(err, RP_SNAPPY_SHORT, <int64_t>at.consumed, HEADER, <int64_t>(size - at.consumed))
            # with another magic, Java ends a read there without reading the versions, and continues in its next read
            if (memcmp(src + at.consumed, XERIAL, MAGIC) == 0
                    and <int32_t>rp_load_be32(src + at.consumed + MAGIC) < 1):
                return rp_fail(err, RP_SNAPPY_HEADER, <int64_t>at.consumed + MAGIC, 0, 0)
            at.consumed += HEADER
            continue
        if not 0 < length <= <int32_t>CHUNK_MAX:
            return rp_fail(err, RP_SNAPPY_CHUNK, <int64_t>at.consumed, length, CHUNK_MAX)
        if <size_t>length > size - next:
            return rp_fail(err, RP_SNAPPY_SHORT, <int64_t>at.consumed, length, <int64_t>(size - next))
        status = decode_block(src, next, length, dst, capacity, at, err)
        if status != RP_OK:
            return status
    return RP_OK


cdef bint snappy_prefix(void** state, const uint8_t* src, size_t size, pooled* out, size_t start,
                        size_t cap) noexcept nogil:
    """Keep the prefix that Kafka reads: it reads 2 KiB at a time, and discards a read with an error."""
    out.size = start + (out.size - start) // READ * READ
    return False


# --- compression -----------------------------------------------------------------------------------------------------

cdef size_t snappy_bound(size_t size) noexcept nogil:
    return (HEADER + size // CHUNK * (LENGTH + rp_snappy_bound(CHUNK))
            + LENGTH + rp_snappy_bound(size % CHUNK))


cdef uint16_t* table_of(void** state, rp_error* err) noexcept nogil:
    """Return the encoder's table, which is the row's state; NULL if out of memory."""
    if state[0] == NULL:
        state[0] = malloc(TABLE_BYTES)
        if state[0] == NULL:
            rp_fail(err, RP_NO_MEMORY, -1, 0, TABLE_BYTES)
    return <uint16_t*>state[0]


cdef size_t snappy_free(void* state) noexcept nogil:
    free(state)
    return TABLE_BYTES


cdef size_t write_header(uint8_t* dst) noexcept nogil:
    memcpy(dst, XERIAL, HEADER)
    return HEADER


cdef size_t write_chunks(uint16_t* table, const uint8_t* src, size_t size, uint8_t* dst) noexcept nogil:
    """Write `src` as chunks; empty input produces none."""
    cdef size_t done = 0, length, written
    cdef uint8_t* to = dst
    while done < size:
        length = min(size - done, <size_t>CHUNK)
        written = rp_snappy_encode(src + done, length, to + LENGTH, table)
        rp_store_be32(to, <uint32_t>written)
        to += LENGTH + written
        done += length
    return <size_t>(to - dst)


cdef int snappy_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src, size_t size,
                       uint8_t* dst, size_t capacity, size_t* produced, rp_error* err) noexcept nogil:
    cdef uint16_t* table = table_of(state, err)
    if table == NULL:
        return err.status
    if raw:
        produced[0] = rp_snappy_encode(src, size, dst, table)
        return RP_OK
    produced[0] = write_header(dst)
    produced[0] += write_chunks(table, src, size, dst + HEADER)
    return RP_OK


# --- in chunks -------------------------------------------------------------------------------------------------------

cdef int snappy_compress_open(codec_stream* s, rp_error* err) noexcept nogil:
    return give(s, XERIAL, HEADER, err)


cdef int write_blocks(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    cdef uint16_t* table = table_of(s.shared, err)
    if table == NULL or output_room(s, snappy_bound(size), err) != RP_OK:
        return err.status
    s.out.size += write_chunks(table, src, size, s.out.data + s.out.size)
    return RP_OK


cdef int snappy_compress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    return compress_blocks(s, CHUNK, write_blocks, src, size, err)


cdef int snappy_compress_end(codec_stream* s, rp_error* err) noexcept nogil:
    return write_blocks(s, s.pending.data, s.pending.size, err)


cdef int snappy_decompress_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    """Decompress chunks; a raw block waits until flush() ends the input."""
    if append(&s.pending, src, size, err) != RP_OK:
        return err.status
    if not is_xerial(s.pending.data, s.pending.size):
        return RP_OK
    return decompress_blocks(s, HEADER, RP_SNAPPY_SHORT, err)


cdef int snappy_decompress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef progress at
    return RP_OK if s.ended else decode_blocks(s, HEADER if is_xerial(s.pending.data, s.pending.size) else 0, &at, err)


cdef bint snappy_complete(const codec_stream* s) noexcept nogil:
    """Return whether the payload is complete; a raw block has no end mark, so only flush() decides it."""
    return s.ended or (is_xerial(s.pending.data, s.pending.size) and s.pending.size < HEADER + LENGTH)


cdef void snappy_row(codec* row) noexcept:
    row.id = RP_SNAPPY
    row.name = "snappy"
    row.gil_kept = 1 << 14
    row.expect = snappy_expect
    row.decode = snappy_decode
    row.prefix = snappy_prefix
    row.bound = snappy_bound
    row.encode = snappy_encode
    row.joins = True   # as consecutive chunks
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
