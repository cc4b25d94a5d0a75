"""The structure of zstd frames (RFC 8878), from the headers of frames and blocks, without decompression.

::

    frame             magic(4) | descriptor | [window] | [dictionary id] | [content size] | block ... | [checksum(4)]
    block             bit 0: last block; bits 1 and 2: raw, RLE, compressed; the rest: size (3 bytes) | content
    skippable frame   magic(4) | size(4) | content

A walk over these headers precedes decoding. It finds the ends of frames, truncated parts, and the maximum size of the
output, so that one call decodes a frame straight into its place.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from recordpress._c.wire cimport (
    RP_OK,
    RP_ZSTD_DATA,
    RP_ZSTD_DICT,
    RP_ZSTD_HEADER,
    RP_ZSTD_SHORT,
    RP_ZSTD_WINDOW,
    rp_error,
    rp_fail,
    rp_load_le16,
    rp_load_le32,
    rp_load_le64,
)
from recordpress.codecs.codec cimport codec_unit

cdef enum:
    MAGIC = 0xFD2FB528
    SKIPPABLE = 0x184D2A50        # to ...5F
    SKIPPABLE_HEADER = 8
    BLOCK_HEADER = 3
    BLOCK_MAX = 1 << 17
    RAW = 0
    RLE = 1
    COMPRESSED = 2
    WINDOW_MAX = (1 << 27) + 1    # libzstd's default for streams
    WINDOW_LOG_MIN = 10
    LONGEST_HEADER = 18
    WRITTEN_HEADER = 6            # of a frame that we write: magic, descriptor, window descriptor
    JAVA_INPUT = 131075           # ZSTD_DStreamInSize


# A walk over a frame's blocks. If the frame is truncated, the walk stops before the incomplete block, and can continue
# when more bytes arrive.
ctypedef struct frame_walk:
    size_t at          # the next block's header; the frame's end once `last` is set and the checksum is complete
    uint64_t window
    uint64_t content   # the content size; 0 if unknown
    uint64_t exact     # output of the raw and RLE blocks so far
    uint64_t most      # maximum output of the compressed blocks so far
    bint checksum
    bint last


cdef inline int read_frame_header(const uint8_t* src, size_t start, size_t size, bint any_dictionary,
                                  frame_walk* walk, rp_error* err) noexcept nogil:
    """Read a frame header (RFC 8878 section 3.1.1.1), and begin a walk at the first block."""
    cdef const uint8_t* at = src + start + 4
    cdef int descriptor, dictionary_bytes, content_bytes
    cdef bint single
    cdef uint64_t window = 0, dictionary = 0, content = 0
    if size - start < 5:
        return rp_fail(err, RP_ZSTD_SHORT, <int64_t>start, 0, 0)
    descriptor = at[0]
    single = descriptor >> 5 & 1
    dictionary_bytes = (1 << (descriptor & 3)) >> 1
    content_bytes = 1 << (descriptor >> 6) if descriptor >> 6 else single
    walk.at = start + <size_t>(5 + (not single) + dictionary_bytes + content_bytes)
    if descriptor & 0x08:
        return rp_fail(err, RP_ZSTD_HEADER, <int64_t>start + 4, 0, 0)
    if size < walk.at:
        return rp_fail(err, RP_ZSTD_SHORT, <int64_t>start, 0, 0)
    at += 1
    if not single:
        window = <uint64_t>1 << (WINDOW_LOG_MIN + (at[0] >> 3))
        window += (window >> 3) * (at[0] & 7)
        at += 1
    if dictionary_bytes:
        dictionary = at[0] if dictionary_bytes == 1 else rp_load_le16(at) if dictionary_bytes == 2 else rp_load_le32(at)
        at += dictionary_bytes
    if content_bytes == 1:
        content = at[0]
    elif content_bytes == 2:
        content = rp_load_le16(at) + 256
    elif content_bytes == 4:
        content = rp_load_le32(at)
    elif content_bytes == 8:
        content = rp_load_le64(at)
    if single:
        window = content
    if dictionary and not any_dictionary:
        return rp_fail(err, RP_ZSTD_DICT, <int64_t>start, <int64_t>dictionary, 0)
    if window > WINDOW_MAX:
        return rp_fail(err, RP_ZSTD_WINDOW, <int64_t>start, <int64_t>window, WINDOW_MAX - 1)
    err.status = RP_OK
    walk.window = window
    walk.content = content
    walk.exact = walk.most = 0
    walk.checksum = descriptor >> 2 & 1
    walk.last = False
    return RP_OK


cdef inline int walk_blocks(const uint8_t* src, size_t size, frame_walk* walk, rp_error* err) noexcept nogil:
    """Walk to the frame's end. If the frame is truncated, err.found is the maximum output of the available part."""
    cdef uint32_t header, length, type
    cdef uint64_t block_max = min(walk.window, <uint64_t>BLOCK_MAX)
    cdef size_t at, stored
    while not walk.last:
        at = walk.at
        if size - at < BLOCK_HEADER:
            return rp_fail(err, RP_ZSTD_SHORT, <int64_t>at, <int64_t>(walk.exact + walk.most), 0)
        header = rp_load_le16(src + at) | <uint32_t>src[at + 2] << 16
        type = header >> 1 & 3
        length = header >> 3
        stored = 1 if type == RLE else length
        if type > COMPRESSED or length > block_max:
            return rp_fail(err, RP_ZSTD_DATA, <int64_t>at, 0, 0)
        at += BLOCK_HEADER
        if stored > size - at:  # a stream returns the part of a raw block that is there
            return rp_fail(err, RP_ZSTD_SHORT, <int64_t>at,
                           <int64_t>(walk.exact + walk.most + (size - at if type == RAW else 0)), 0)
        if type == COMPRESSED:
            walk.most += block_max
        else:
            walk.exact += length
        walk.at = at + stored
        walk.last = header & 1
    if size - walk.at < <size_t>(4 * walk.checksum):
        return rp_fail(err, RP_ZSTD_SHORT, <int64_t>size, <int64_t>(walk.exact + walk.most), 0)
    walk.at += <size_t>(4 * walk.checksum)
    return RP_OK


cdef inline void walked_frame(const frame_walk* walk, size_t start, codec_unit* frame) noexcept nogil:
    """Set `frame` to the frame that began at `start`, after a walk to its end."""
    frame.size = walk.at - start
    frame.least = max(walk.content, walk.exact)
    frame.most = walk.exact + walk.most


cdef inline int read_frame(const uint8_t* src, size_t start, size_t size, bint any_dictionary, codec_unit* frame,
                           rp_error* err) noexcept nogil:
    """Walk the frame at src[start], which may be skippable, to its end."""
    cdef uint32_t magic
    cdef frame_walk walk
    if size - start < 4:
        return rp_fail(err, RP_ZSTD_HEADER, <int64_t>start, 0, 0)
    magic = rp_load_le32(src + start)
    if magic >> 4 == SKIPPABLE >> 4:
        frame.least = frame.most = 0
        if size - start < SKIPPABLE_HEADER or rp_load_le32(src + start + 4) > size - start - SKIPPABLE_HEADER:
            return rp_fail(err, RP_ZSTD_SHORT, <int64_t>start, 0, 0)
        frame.size = SKIPPABLE_HEADER + <size_t>rp_load_le32(src + start + 4)
        return RP_OK
    if magic != MAGIC:
        return rp_fail(err, RP_ZSTD_HEADER, <int64_t>start, 0, 0)
    if (read_frame_header(src, start, size, any_dictionary, &walk, err) != RP_OK
            or walk_blocks(src, size, &walk, err) != RP_OK):
        return err.status
    walked_frame(&walk, start, frame)
    return RP_OK


cdef inline int read_head(const uint8_t* head, size_t size, bint any_dictionary, frame_walk* walk,
                          rp_error* err) noexcept nogil:
    """Read the header of the frame whose first bytes are in `head`; RP_ZSTD_SHORT means that there are too few."""
    if size < 5 or rp_load_le32(head) != MAGIC:
        return rp_fail(err, RP_ZSTD_SHORT, 0, 0, 0)
    return read_frame_header(head, 0, size, any_dictionary, walk, err)


cdef inline uint32_t dictionary_of(const uint8_t* frame) noexcept nogil:
    """Return the id of the dictionary that a frame with a complete header needs; 0 if it needs no dictionary."""
    cdef int descriptor = frame[4], size = (1 << (descriptor & 3)) >> 1
    cdef const uint8_t* at = frame + 5 + (not descriptor >> 5 & 1)
    if rp_load_le32(frame) != MAGIC or size == 0:
        return 0
    return at[0] if size == 1 else rp_load_le16(at) if size == 2 else rp_load_le32(at)


cdef inline bint may_begin(uint8_t byte) noexcept nogil:
    """Return whether a frame can begin with `byte`."""
    return byte == MAGIC & 0xFF or byte >> 4 == SKIPPABLE >> 4 & 0xF


cdef inline bint ends_as_java_allows(const uint8_t* src, size_t at, size_t size) noexcept nogil:
    """Return whether the payload ends at `at`, or one byte later with a frame's possible start, as zstd-jni allows."""
    return at == size or (0 < at == size - 1 and may_begin(src[at]))


cdef inline bint begins_magic(const uint8_t* src, size_t size) noexcept nogil:
    """Return whether the bytes are the start of a frame's magic number; the first byte is known to be."""
    cdef uint32_t magic = MAGIC if src[0] == MAGIC & 0xFF else SKIPPABLE
    cdef size_t i
    for i in range(1, size):
        if src[i] != (magic >> 8 * i & 0xFF):
            return False
    return True


cdef inline bint is_ignored_prefix(const uint8_t* src, size_t at, size_t size) noexcept nogil:
    """Return whether the payload ends with the start of another frame that zstd-jni takes for the end.

    Its ZstdInputStream notices a truncated frame only when it requests more input. It requests none if the start is in
    the same buffer as the end of the frame before and has no output, which would be read as records.
    """
    cdef codec_unit frame
    cdef rp_error err
    cdef size_t left = size - at
    if at == 0 or (size - 1) // JAVA_INPUT != (at - 1) // JAVA_INPUT:
        return False
    if left < 4:
        return may_begin(src[at]) and begins_magic(src + at, left)
    if rp_load_le32(src + at) >> 4 == SKIPPABLE >> 4 or left < 9:
        return read_frame(src, at, size, False, &frame, &err) == RP_ZSTD_SHORT
    return read_frame(src, at, size, False, &frame, &err) == RP_ZSTD_SHORT and err.found == 0


cdef inline size_t end_with_empty_block(uint8_t* frame, size_t size) noexcept nogil:
    """End a frame that we wrote as Java's flush and close do, with an empty block; return the frame's size."""
    cdef size_t at = WRITTEN_HEADER, length
    cdef uint32_t header
    while True:
        header = rp_load_le16(frame + at) | <uint32_t>frame[at + 2] << 16
        if header & 1:
            break
        length = header >> 3
        at += BLOCK_HEADER + (1 if header >> 1 & 3 == RLE else length)
    if header >> 3 == 0:
        return size  # no data: the last block is empty already
    frame[at] &= 0xFE
    frame[size] = 1
    frame[size + 1] = frame[size + 2] = 0
    return size + BLOCK_HEADER
