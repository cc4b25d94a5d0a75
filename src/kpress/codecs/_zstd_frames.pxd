"""The frames of zstd (RFC 8878) by the headers of frames and blocks, without decompressing them.

A walk over them goes before decoding. It finds where frames end, what is cut short, and how large the output can
become, so that one call decodes a frame straight into its place.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from kpress._c.wire cimport (
    KP_OK,
    KP_ZSTD_DATA,
    KP_ZSTD_DICT,
    KP_ZSTD_HEADER,
    KP_ZSTD_SHORT,
    KP_ZSTD_WINDOW,
    kp_error,
    kp_fail,
    kp_load_le16,
    kp_load_le32,
    kp_load_le64,
)
from kpress.codecs.codec cimport codec_unit

cdef enum:
    MAGIC = 0xFD2FB528
    SKIPPABLE = 0x184D2A50        # to ...5F
    SKIPPABLE_HEADER = 8
    BLOCK_HEADER = 3
    BLOCK_MAX = 1 << 17
    RAW = 0
    RLE = 1
    COMPRESSED = 2
    WINDOW_MAX = (1 << 27) + 1    # what libzstd's streaming reader takes when nobody tells it otherwise
    WINDOW_LOG_MIN = 10
    LONGEST_HEADER = 18
    JAVA_INPUT = 131075           # ZSTD_DStreamInSize


cdef inline int read_frame_header(const uint8_t* src, size_t start, size_t size, codec_unit* frame, size_t* block_max,
                                  bint* checksum, kp_error* err) noexcept nogil:
    """RFC 8878 section 3.1.1.1. frame.size becomes the header's; frame.least the content size, 0 if not told."""
    cdef const uint8_t* at = src + start + 4
    cdef int descriptor, dictionary_bytes, content_bytes
    cdef bint single
    cdef uint64_t window = 0, dictionary = 0, content = 0
    if size - start < 5:
        return kp_fail(err, KP_ZSTD_SHORT, <int64_t>start, 0, 0)
    descriptor = at[0]
    single = descriptor >> 5 & 1
    checksum[0] = descriptor >> 2 & 1
    dictionary_bytes = (1 << (descriptor & 3)) >> 1
    content_bytes = 1 << (descriptor >> 6) if descriptor >> 6 else single
    frame.size = <size_t>(5 + (not single) + dictionary_bytes + content_bytes)
    if descriptor & 0x08:
        return kp_fail(err, KP_ZSTD_HEADER, <int64_t>start + 4, 0, 0)
    if size - start < frame.size:
        return kp_fail(err, KP_ZSTD_SHORT, <int64_t>start, 0, 0)
    at += 1
    if not single:
        window = <uint64_t>1 << (WINDOW_LOG_MIN + (at[0] >> 3))
        window += (window >> 3) * (at[0] & 7)
        at += 1
    if dictionary_bytes:
        dictionary = at[0] if dictionary_bytes == 1 else kp_load_le16(at) if dictionary_bytes == 2 else kp_load_le32(at)
        at += dictionary_bytes
    if content_bytes == 1:
        content = at[0]
    elif content_bytes == 2:
        content = kp_load_le16(at) + 256
    elif content_bytes == 4:
        content = kp_load_le32(at)
    elif content_bytes == 8:
        content = kp_load_le64(at)
    if single:
        window = content
    if dictionary:
        return kp_fail(err, KP_ZSTD_DICT, <int64_t>start, <int64_t>dictionary, 0)
    if window > WINDOW_MAX:
        return kp_fail(err, KP_ZSTD_WINDOW, <int64_t>start, <int64_t>window, WINDOW_MAX - 1)
    err.status = KP_OK
    frame.least = content
    block_max[0] = <size_t>min(window, <uint64_t>BLOCK_MAX)
    return KP_OK


cdef inline int read_frame(const uint8_t* src, size_t start, size_t size, codec_unit* frame,
                           kp_error* err) noexcept nogil:
    """Walk the frame at src[start] to its end. Where it is cut, err.found is what its output could be so far."""
    cdef uint32_t magic, header, length, type
    cdef uint64_t content, exact = 0, most = 0
    cdef size_t at, block_max = 0, stored
    cdef bint checksum = False
    if size - start < 4:
        return kp_fail(err, KP_ZSTD_HEADER, <int64_t>start, 0, 0)
    magic = kp_load_le32(src + start)
    if magic >> 4 == SKIPPABLE >> 4:
        frame.least = frame.most = 0
        if size - start < SKIPPABLE_HEADER or kp_load_le32(src + start + 4) > size - start - SKIPPABLE_HEADER:
            return kp_fail(err, KP_ZSTD_SHORT, <int64_t>start, 0, 0)
        frame.size = SKIPPABLE_HEADER + <size_t>kp_load_le32(src + start + 4)
        return KP_OK
    if magic != MAGIC:
        return kp_fail(err, KP_ZSTD_HEADER, <int64_t>start, 0, 0)
    if read_frame_header(src, start, size, frame, &block_max, &checksum, err) != KP_OK:
        return err.status
    content = frame.least
    at = start + frame.size
    header = 0
    while not header & 1:
        if size - at < BLOCK_HEADER:
            return kp_fail(err, KP_ZSTD_SHORT, <int64_t>at, <int64_t>(exact + most), 0)
        header = kp_load_le16(src + at) | <uint32_t>src[at + 2] << 16
        type = header >> 1 & 3
        length = header >> 3
        stored = 1 if type == RLE else length
        if type > COMPRESSED or length > block_max:
            return kp_fail(err, KP_ZSTD_DATA, <int64_t>at, 0, 0)
        at += BLOCK_HEADER
        if stored > size - at:
            if type == RAW:
                exact += size - at  # a stream gives what is there of it
            return kp_fail(err, KP_ZSTD_SHORT, <int64_t>at, <int64_t>(exact + most), 0)
        if type == COMPRESSED:
            most += block_max
        else:
            exact += length
        at += stored
    at += 4 * checksum
    if at > size:
        return kp_fail(err, KP_ZSTD_SHORT, <int64_t>size, <int64_t>(exact + most), 0)
    frame.size = at - start
    frame.least = max(content, exact)
    frame.most = exact + most
    return KP_OK


cdef inline int head_fail(const uint8_t* head, size_t size, kp_error* err) noexcept nogil:
    """Find the error in a frame's first LONGEST_HEADER bytes (or fewer), if it lies there."""
    cdef codec_unit frame
    cdef size_t block_max
    cdef bint checksum
    if size < 5 or kp_load_le32(head) != MAGIC:
        return KP_OK
    if read_frame_header(head, 0, size, &frame, &block_max, &checksum, err) == KP_ZSTD_SHORT:
        return KP_OK
    return err.status


cdef inline bint may_begin(uint8_t byte) noexcept nogil:
    """Whether a frame can begin with `byte`."""
    return byte == MAGIC & 0xFF or byte >> 4 == SKIPPABLE >> 4 & 0xF


cdef inline bint ends_as_java_allows(const uint8_t* src, size_t at, size_t size) noexcept nogil:
    """Whether nothing is left, or what zstd-jni misses: one byte with which a frame could begin."""
    return at == size or (0 < at == size - 1 and may_begin(src[at]))


cdef inline bint begins_magic(const uint8_t* src, size_t size) noexcept nogil:
    """Whether the bytes, of which the first one fits, are the start of a frame's magic."""
    cdef uint32_t magic = MAGIC if src[0] == MAGIC & 0xFF else SKIPPABLE
    cdef size_t i
    for i in range(1, size):
        if src[i] != (magic >> 8 * i & 0xFF):
            return False
    return True


cdef inline bint is_ignored_prefix(const uint8_t* src, size_t at, size_t size) noexcept nogil:
    """Whether the payload ends with the start of another frame that zstd-jni takes for the end.

    Its ZstdInputStream notices a cut frame only when it asks for more input, so not where the start lies in the same
    buffer as the frame before; and not where it has no output, which would be read as records.
    """
    cdef codec_unit frame
    cdef kp_error err
    cdef size_t left = size - at
    if at == 0 or (size - 1) // JAVA_INPUT != (at - 1) // JAVA_INPUT:
        return False
    if left < 4:
        return may_begin(src[at]) and begins_magic(src + at, left)
    if kp_load_le32(src + at) >> 4 == SKIPPABLE >> 4 or left < 9:
        return read_frame(src, at, size, &frame, &err) == KP_ZSTD_SHORT
    return read_frame(src, at, size, &frame, &err) == KP_ZSTD_SHORT and err.found == 0
