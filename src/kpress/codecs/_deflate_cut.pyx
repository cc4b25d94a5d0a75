"""Shortening a deflate stream (RFC 1951) to fewer bytes of input, without compressing again.

A stream is cut between two symbols: the bits before stay as they are, the end-of-block code of the block follows, and
the block becomes the last one. If a match goes over the place of the cut, a shorter one, or literals, replace it where
the block has codes for them.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from kpress._c.wire cimport kp_load_le64

cdef enum:
    STORED, FIXED, DYNAMIC
    END_OF_BLOCK = 256
    FIRST_LENGTH = 257
    LENGTHS = 29
    LENGTH_CODES = 19
    LEAST_MATCH = 3

# RFC 1951 section 3.2.5; the last length has a code of its own
cdef uint16_t[LENGTHS] LENGTH_BASE = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258]
cdef uint8_t[LENGTHS] LENGTH_EXTRA = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
cdef uint8_t[LENGTH_CODES] ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]


ctypedef struct bits:
    uint64_t value
    int size


# How a stream may end.
ctypedef struct ending:
    int64_t units
    size_t at          # the bits before this one stay
    size_t block       # the bit that says whether the last block is the last
    bits tail


# A stream that is read, and its input, of which `unit` units have been passed.
ctypedef struct cut:
    deflate_cutter* codes
    const uint8_t* data
    size_t size        # in bits, as are the next three
    size_t at
    size_t limit
    size_t block       # where the block began
    const uint8_t* input
    size_t position    # in the input
    const size_t* ends
    int64_t n
    int64_t unit
    ending found


cdef inline uint64_t peek(const cut* c) noexcept nogil:
    """The next bits, at least 57 of them; zeros after the end."""
    cdef uint8_t[8] last
    cdef size_t byte = c.at >> 3
    if c.at + 64 <= c.size:
        return kp_load_le64(c.data + byte) >> (c.at & 7)
    memset(last, 0, 8)
    if c.at < c.size:
        memcpy(last, c.data + byte, (c.size >> 3) - byte)
    return kp_load_le64(last) >> (c.at & 7)


cdef inline uint32_t take(cut* c, int count) noexcept nogil:
    cdef uint32_t value = <uint32_t>(peek(c) & ((<uint64_t>1 << count) - 1))
    c.at += count
    return value


# --- codes -----------------------------------------------------------------------------------------------------------

cdef uint16_t reversed_bits(uint32_t code, int size) noexcept nogil:
    cdef uint32_t result = 0
    for _ in range(size):
        result = result << 1 | (code & 1)
        code >>= 1
    return <uint16_t>result


cdef bint make_codes(huffman* h, int symbols) noexcept nogil:
    """The codes of `sizes` (RFC 1951 section 3.2.2). False: there is no such code."""
    cdef uint32_t[LONGEST + 2] following
    cdef uint32_t code = 0, at
    cdef int i, size
    memset(following, 0, sizeof(following))
    h.bits = 0
    for i in range(symbols):
        following[h.sizes[i] + 1] += h.sizes[i] != 0
        h.bits = max(h.bits, <int>h.sizes[i])
    for size in range(1, LONGEST + 1):
        code = (code + following[size]) << 1
        following[size] = code
    memset(h.table, 0, sizeof(uint16_t) << h.bits)
    for i in range(symbols):
        size = h.sizes[i]
        if size == 0:
            continue
        if following[size] >> size:
            return False
        at = h.codes[i] = reversed_bits(following[size], size)
        following[size] += 1
        while at >> h.bits == 0:
            h.table[at] = <uint16_t>(i << 4 | size)
            at += <uint32_t>1 << size
    return True


cdef inline int symbol_of(const huffman* h, uint64_t word, int* size) noexcept nogil:
    """-1: no code begins so."""
    cdef uint16_t entry = h.table[word & ((<uint64_t>1 << h.bits) - 1)]
    size[0] = entry & 15
    return entry >> 4 if entry else -1


cdef bint read_fixed(deflate_cutter* c) noexcept nogil:
    memset(c.symbols.sizes, 8, 144)
    memset(c.symbols.sizes + 144, 9, 112)
    memset(c.symbols.sizes + 256, 7, 24)
    memset(c.symbols.sizes + 280, 8, 8)
    memset(c.distances.sizes, 5, DISTANCES)
    return make_codes(&c.symbols, SYMBOLS) and make_codes(&c.distances, DISTANCES)


cdef bint read_dynamic(cut* c) noexcept nogil:
    """The codes of a block (RFC 1951 section 3.2.7)."""
    cdef huffman* symbols = &c.codes.symbols
    cdef int literals = take(c, 5) + 257, distances = take(c, 5) + 1, count = take(c, 4) + 4
    cdef int i, size, symbol, repeat
    cdef uint8_t value
    cdef uint8_t[SYMBOLS + DISTANCES] sizes
    memset(symbols.sizes, 0, LENGTH_CODES)
    for i in range(count):
        symbols.sizes[ORDER[i]] = <uint8_t>take(c, 3)
    if literals > SYMBOLS or not make_codes(symbols, LENGTH_CODES):
        return False
    i = 0
    while i < literals + distances:
        symbol = symbol_of(symbols, peek(c), &size)
        c.at += size
        value, repeat = 0, 1
        if symbol < 0:
            return False
        if symbol < 16:
            value = <uint8_t>symbol
        elif symbol == 16:
            if i == 0:
                return False
            value = sizes[i - 1]
            repeat = take(c, 2) + 3
        else:
            repeat = take(c, 3) + 3 if symbol == 17 else take(c, 7) + 11
        if repeat > literals + distances - i:
            return False
        memset(sizes + i, value, repeat)
        i += repeat
    memset(symbols.sizes, 0, SYMBOLS)
    memset(c.codes.distances.sizes, 0, DISTANCES)
    memcpy(symbols.sizes, sizes, literals)
    memcpy(c.codes.distances.sizes, sizes + literals, distances)
    return make_codes(symbols, SYMBOLS) and make_codes(&c.codes.distances, DISTANCES)


# --- endings ---------------------------------------------------------------------------------------------------------

cdef inline void add(bits* to, uint64_t value, int size) noexcept nogil:
    to.value |= value << to.size
    to.size += size


cdef bint add_symbol(bits* to, const huffman* h, int symbol) noexcept nogil:
    """False: the block has no code for it."""
    add(to, h.codes[symbol], h.sizes[symbol])
    return h.sizes[symbol] != 0


cdef bint add_match(bits* to, const huffman* h, int length, uint64_t distance, int distance_size) noexcept nogil:
    cdef int i = LENGTHS - 2
    while LENGTH_BASE[i] > length:
        i -= 1
    if not add_symbol(to, h, FIRST_LENGTH + i):
        return False
    add(to, length - LENGTH_BASE[i], LENGTH_EXTRA[i])
    add(to, distance & ((<uint64_t>1 << distance_size) - 1), distance_size)
    return True


cdef void note(cut* c, size_t at, bits tail) noexcept nogil:
    """One unit more may end with `tail` after the bit `at`, if that is short enough."""
    c.unit += 1
    if add_symbol(&tail, &c.codes.symbols, END_OF_BLOCK) and at + tail.size <= c.limit:
        c.found.units, c.found.at, c.found.block, c.found.tail = c.unit, at, c.block, tail


cdef void end_within(cut* c, size_t at, int length, uint64_t distance, int distance_size) noexcept nogil:
    """Units that end in a match, whose code begins at the bit `at`."""
    cdef const huffman* h = &c.codes.symbols
    cdef bits tail
    cdef int size
    cdef bint known
    while c.unit < c.n and c.ends[c.unit] < c.position + length:
        size = <int>(c.ends[c.unit] - c.position)
        tail.value = tail.size = 0
        if size >= LEAST_MATCH:
            known = add_match(&tail, h, size, distance, distance_size)
        else:
            known = (size == 0 or add_symbol(&tail, h, c.input[c.position])) and (
                size < 2 or add_symbol(&tail, h, c.input[c.position + 1]))
        if known:
            note(c, at, tail)
        else:
            c.unit += 1


cdef bint pass_match(cut* c, size_t at, int symbol) noexcept nogil:
    """The length's symbol at the bit `at` was read. False: it cannot be."""
    cdef int i = symbol - FIRST_LENGTH, length, size
    cdef uint64_t word
    if i >= LENGTHS:
        return False
    length = LENGTH_BASE[i] + take(c, LENGTH_EXTRA[i])
    word = peek(c)
    symbol = symbol_of(&c.codes.distances, word, &size)
    if symbol < 0:
        return False
    size += max((symbol >> 1) - 1, 0)
    c.at += size
    end_within(c, at, length, word, size)
    c.position += length
    return True


cdef bint pass_block(cut* c) noexcept nogil:
    """False: there is no more to find."""
    cdef bits nothing = [0, 0]
    cdef size_t at
    cdef int symbol, size
    while c.at < c.limit and c.unit < c.n:
        at = c.at
        if c.ends[c.unit] == c.position:
            note(c, at, nothing)
        symbol = symbol_of(&c.codes.symbols, peek(c), &size)
        c.at += size
        if symbol == END_OF_BLOCK:
            return True
        if symbol < 0:
            return False
        if symbol < END_OF_BLOCK:
            c.position += 1
        elif not pass_match(c, at, symbol):
            return False
    return False


cdef void pass_stored(cut* c) noexcept nogil:
    """No stream ends in a stored block: such input does not shrink, and its size is known beforehand."""
    cdef size_t length
    c.at = (c.at + 7) & ~<size_t>7
    length = take(c, 16)
    c.at += 16 + (length << 3)
    c.position += length
    while c.unit < c.n and c.ends[c.unit] < c.position:
        c.unit += 1


cdef bint pass_any_block(cut* c) noexcept nogil:
    """False: there is no more to find."""
    cdef bint last
    cdef int form
    c.block = c.at
    last = take(c, 1)
    form = take(c, 2)
    if form == STORED:
        pass_stored(c)
        return not last
    if not (read_fixed(c.codes) if form == FIXED else form == DYNAMIC and read_dynamic(c)):
        return False
    return pass_block(c) and not last


cdef size_t write_ending(const uint8_t* stream, const ending* end, uint8_t* dst) noexcept nogil:
    """Returns the stream's size."""
    cdef size_t whole = end.at >> 3
    cdef int odd = end.at & 7
    cdef uint64_t last = 0
    cdef size_t i, size = (end.at + end.tail.size + 7) >> 3
    if odd:
        last = stream[whole] & ((1 << odd) - 1)
    memcpy(dst, stream, whole)
    dst[whole] = <uint8_t>(last | end.tail.value << odd)
    for i in range(1, size - whole):
        dst[whole + i] = <uint8_t>(end.tail.value >> (8 * i - odd))
    dst[end.block >> 3] |= 1 << (end.block & 7)
    return size


cdef int64_t deflate_cut(deflate_cutter* codes, const uint8_t* stream, size_t size, size_t limit, const uint8_t* input,
                         const size_t* ends, int64_t n, uint8_t* dst, size_t* written) noexcept nogil:
    cdef cut c
    memset(&c, 0, sizeof(cut))
    c.codes, c.data, c.input, c.ends, c.n = codes, stream, input, ends, n
    c.size = size << 3
    c.limit = min(limit, size) << 3
    while c.at < c.limit and c.unit < n and pass_any_block(&c):
        pass
    if c.found.units:
        written[0] = write_ending(stream, &c.found, dst)
    return c.found.units
