from libc.stdint cimport int64_t, uint8_t, uint32_t

from recordpress._c.wire cimport rp_error
from recordpress._c.zstd cimport ZSTD_CCtx, ZSTD_DCtx, ZSTD_DDict, ZSTD_getCParams, ZSTD_inBuffer
from recordpress.codecs._zstd_frames cimport LONGEST_HEADER, frame_walk
from recordpress.codecs.codec cimport codec, codec_stream, codec_unit


# libzstd's contexts, each created when it is first needed.
ctypedef struct zstd_state:
    ZSTD_CCtx* compressor
    ZSTD_DCtx* decompressor
    bint grown                # one of the contexts may have become very large
    bint hinted               # the compressor has a size hint
    bint tuned                # the compressor has a window or a strategy other than the level's


ctypedef struct known_dictionary:
    uint32_t id
    const ZSTD_DDict* decoder


# The `object` of a row that reads with dictionaries: see _zstd_dictionary. In Kafka's row it is NULL.
ctypedef struct known_dictionaries:
    size_t count
    const known_dictionary* items


# A payload that is decompressed in chunks, with dictionaries or without.
ctypedef struct zstd_stream:
    uint8_t head[LONGEST_HEADER]   # first bytes of the frame that is being read
    size_t frame                   # number of its bytes that have been read
    size_t frames                  # number of frames that have ended
    bint begun                     # only with dictionaries: libzstd has the frame's header
    uint8_t* held                  # NULL, or the frame's bytes: see hold
    frame_walk walk                # over the held bytes


# A level with another window or strategy is packed into one int, which a row's calls accept (see ZstdParameters): the
# low bits count the level from LEVEL_MIN, and the others are in the bits above, so that the int exceeds any level.
cdef enum:
    LEVEL_MIN = -131072            # and LEVEL_MAX: Kafka's CompressionType
    LEVEL_MAX = 22
    LEVEL_BITS = 18
    WINDOW_BITS = 5


cdef inline int packed_level(int level, int window_log, int strategy) noexcept nogil:
    """Return the packed int; a window or strategy of 0 means the level's own."""
    cdef int others = strategy << WINDOW_BITS | window_log
    return others << LEVEL_BITS | (level - LEVEL_MIN) if others else level


cdef inline bint is_packed(int level) noexcept nogil:
    return level > LEVEL_MAX


cdef inline int plain_level(int level) noexcept nogil:
    return (level & ((1 << LEVEL_BITS) - 1)) + LEVEL_MIN if is_packed(level) else level


cdef inline int own_window_log(int level) noexcept nogil:
    """Return the packed log of the window; 0 means the level's own."""
    return level >> LEVEL_BITS & ((1 << WINDOW_BITS) - 1) if is_packed(level) else 0


cdef inline int own_strategy(int level) noexcept nogil:
    """Return the packed strategy; 0 means the level's own."""
    return level >> (LEVEL_BITS + WINDOW_BITS) if is_packed(level) else 0


cdef inline int window_log_of(int level) noexcept nogil:
    """Return the log of the window of a frame of unknown size."""
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
