from libc.stdint cimport int64_t, uint8_t, uint32_t

from recordpress._c.wire cimport rp_error
from recordpress._c.zstd cimport ZSTD_CCtx, ZSTD_DCtx, ZSTD_DDict, ZSTD_inBuffer
from recordpress.codecs._zstd_frames cimport LONGEST_HEADER, frame_walk
from recordpress.codecs.codec cimport codec, codec_stream, codec_unit


# libzstd's contexts, each made when it is first needed.
ctypedef struct zstd_state:
    ZSTD_CCtx* compressor
    ZSTD_DCtx* decompressor
    bint grown                # one of the two may have become very large
    bint hinted               # the compressor knows a size


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
