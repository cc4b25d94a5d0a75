"""Shortening a deflate stream (RFC 1951) to fewer bytes of input, without compressing again."""

from libc.stdint cimport int64_t, uint8_t, uint16_t


cdef enum:
    SYMBOLS = 288          # of literals and lengths
    DISTANCES = 32
    LONGEST = 15           # bits of a code
    TABLE = 1 << 15


# A Huffman code, for reading and for writing.
ctypedef struct huffman:
    uint16_t table[TABLE]      # by the next bits: symbol << 4 | bits of the code, or 0
    uint16_t codes[SYMBOLS]    # first bit lowest, as they are written
    uint8_t sizes[SYMBOLS]
    int bits                   # of the longest


# Memory for a cut. It is too large for the stack.
ctypedef struct deflate_cutter:
    huffman symbols
    huffman distances


# Write to `dst` the start of a stream of this library's own: as many of the n units of the input that end at `ends` as
# `limit` bytes hold. Returns how many, 0 if none; `written` is the new size. `dst` has room for `limit`.
cdef int64_t deflate_cut(deflate_cutter* codes, const uint8_t* stream, size_t size, size_t limit, const uint8_t* input,
                         const size_t* ends, int64_t n, uint8_t* dst, size_t* written) noexcept nogil
