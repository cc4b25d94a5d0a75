"""Codec contexts, created once and used again.

A call takes a context, works without the GIL, and gives it back: as many exist as threads ever worked at
once. Creating one costs 10 us (zstd) and its memory is fresh, so this is worth more than any tuning.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t

from kpress._buffers cimport pooled
from kpress._c.libdeflate cimport libdeflate_compressor, libdeflate_decompressor
from kpress._c.wire cimport KP_SNAPPY_TABLE
from kpress._c.zstd cimport ZSTD_CCtx, ZSTD_DCtx


ctypedef struct codec_context:
    codec_context* next
    ZSTD_CCtx* zstd_c
    ZSTD_DCtx* zstd_d
    bint zstd_grown                        # one of the two may have become very large: see when it comes back
    libdeflate_decompressor* deflate_d
    libdeflate_compressor* deflate_c[13]   # by libdeflate level, made when first asked for
    void* lz4_fast                         # LZ4_sizeofState() bytes
    void* lz4_hc                           # LZ4_sizeofStateHC() bytes
    pooled scratch                         # decompressed records of one batch, or record bytes before compression
    uint16_t snappy_table[KP_SNAPPY_TABLE]


# A zstd frame as its headers describe it.
ctypedef struct zstd_frame:
    size_t size       # bytes of the whole frame
    uint64_t least    # of its output
    uint64_t most


# What a payload's own headers say of its decompressed size. Untrusted: `least` only serves to refuse early,
# and `most` as the room to begin with.
ctypedef struct size_range:
    size_t least
    size_t most
    zstd_frame first  # zstd: size 0 where there is no sound frame; the other codecs leave it alone


# How far a decoder got: whole members, chunks, blocks or frames. One that found the output full goes on from
# here when it is called again with more room.
ctypedef struct progress:
    size_t consumed
    size_t produced
    bint ended        # the payload's end was met: what follows is not part of it
    zstd_frame frame  # zstd: the one at `consumed`, whose headers are walked once; size 0 until they are


cdef codec_context* context_acquire() noexcept nogil    # NULL: out of memory
cdef void context_release(codec_context* context) noexcept nogil
