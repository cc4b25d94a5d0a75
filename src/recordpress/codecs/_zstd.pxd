from libc.stdint cimport int64_t, uint8_t, uint32_t

from recordpress._c.wire cimport rp_error
from recordpress._c.zstd cimport ZSTD_CCtx, ZSTD_DCtx, ZSTD_DDict, ZSTD_getCParams, ZSTD_inBuffer
from recordpress.codecs._zstd_frames cimport LONGEST_HEADER, frame_walk
from recordpress.codecs.codec cimport codec, codec_stream, codec_unit


# libzstd's contexts, each made when it is first needed.
ctypedef struct zstd_state:
    ZSTD_CCtx* compressor
    ZSTD_DCtx* decompressor
    bint grown                # one of the two may have become very large
    bint hinted               # the compressor knows a size
    bint tuned                # it has a window or a strategy other than the level's


ctypedef struct known_dictionary:
    uint32_t id
    const ZSTD_DDict* decoder


# What the row of a reader with dictionaries has as its object: see _zstd_dictionary. Kafka's row has NULL there.
ctypedef struct known_dictionaries:
    size_t count
    const known_dictionary* items


# A payload that is decompressed in chunks, with dictionaries or without.
ctypedef struct zstd_stream:
    uint8_t head[LONGEST_HEADER]   # of the frame that is being read
    size_t frame                   # bytes of it that were read
    size_t frames                  # that ended
    bint begun                     # with dictionaries alone: libzstd has the frame's header
    uint8_t* held                  # NULL, or the frame's bytes: see hold
    frame_walk walk                # over those


# A level with another window or strategy is one int (see ZstdParameters), as a row's calls take it: the
# level counts from the lowest, and the others are in the bits above it, so that it is larger than any level.
cdef enum:
    LEVEL_MIN = -131072
    LEVEL_MAX = 22
    LEVEL_BITS = 18
    WINDOW_BITS = 5


cdef inline int packed_level(int level, int window_log, int strategy) noexcept nogil:
    """Return the int; 0 stands for the level's own window or strategy."""
    cdef int others = strategy << WINDOW_BITS | window_log
    return others << LEVEL_BITS | (level - LEVEL_MIN) if others else level


cdef inline bint is_packed(int level) noexcept nogil:
    return level > LEVEL_MAX


cdef inline int plain_level(int level) noexcept nogil:
    return (level & ((1 << LEVEL_BITS) - 1)) + LEVEL_MIN if is_packed(level) else level


cdef inline int own_window_log(int level) noexcept nogil:
    """Return the window that was packed, 0 for the level's own."""
    return level >> LEVEL_BITS & ((1 << WINDOW_BITS) - 1) if is_packed(level) else 0


cdef inline int own_strategy(int level) noexcept nogil:
    """Return the strategy that was packed, 0 for the level's own."""
    return level >> (LEVEL_BITS + WINDOW_BITS) if is_packed(level) else 0


cdef inline int window_log_of(int level) noexcept nogil:
    """Return the window of a frame of unknown size."""
    return own_window_log(level) or <int>ZSTD_getCParams(plain_level(level), 0, 0).windowLog


cdef void zstd_row(codec* row) noexcept
cdef int ready_compressor(void** state, int level, rp_error* err) noexcept nogil
cdef int ready_decompressor(void** state, rp_error* err) noexcept nogil
cdef int decoder_failed(size_t code, int64_t position, rp_error* err) noexcept nogil
cdef int find_dictionary(const known_dictionaries* known, const uint8_t* frame,
                         const ZSTD_DDict** dictionary) noexcept nogil
cdef int refer_to_dictionary(codec_stream* s, const uint8_t* frame, rp_error* err) noexcept nogil
cdef int read_whole(codec_stream* s, const uint8_t* src, const codec_unit* frame, rp_error* err) noexcept nogil
cdef int read_piece(codec_stream* s, ZSTD_inBuffer* input, bint* more, rp_error* err) noexcept nogil
cdef bint is_wide(const zstd_stream* z) noexcept nogil
cdef int hold(codec_stream* s, rp_error* err) noexcept nogil
cdef int hold_piece(codec_stream* s, ZSTD_inBuffer* input, bint* more, rp_error* err) noexcept nogil
cdef int compress_failed(size_t code, rp_error* err) noexcept nogil
