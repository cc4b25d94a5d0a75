/* Shortening a deflate stream (RFC 1951) to fewer bytes of input, without compressing again.
 *
 * A stream is cut between two symbols: the bits before the cut do not change, the block's end-of-block code follows,
 * and the block becomes the last block. If a match extends over the cut, a shorter match, or literals, replace it if
 * the block has codes for them.
 *
 *   stream       block ...                                                 numbers below are sizes in bits
 *   block        last 1 | kind 2 | [code sizes] | symbol ... | end of block
 *   stored       last 1 | kind 2 | padding | length 16 | its complement 16 | bytes
 *   code sizes   three counts 5, 5, 4 | sizes of the code for sizes, 3 each | sizes of symbols, in that code
 *   symbol       literal; or length | extra bits | distance | extra bits
 *
 * The stream comes from this library, so it is valid; with other bytes, nothing is read or written out of bounds.
 */
#ifndef RECORDPRESS_DEFLATE_CUT_H
#define RECORDPRESS_DEFLATE_CUT_H

#include <stdbool.h>
#include <string.h>

#include "endian.h"

enum {
    RP_DEFLATE_SYMBOLS = 288, /* of literals and lengths */
    RP_DEFLATE_DISTANCES = 32,
    RP_DEFLATE_LONGEST = 15, /* bits of a code */
    RP_DEFLATE_END = 256,    /* of a block */
    RP_DEFLATE_FIRST_LENGTH = 257,
    RP_DEFLATE_LENGTHS = 29,
    RP_DEFLATE_LENGTH_CODES = 19,
    RP_DEFLATE_LEAST_MATCH = 3,
};

enum { RP_DEFLATE_STORED, RP_DEFLATE_FIXED, RP_DEFLATE_DYNAMIC };

/* A Huffman code, for reading and for writing. */
typedef struct {
    uint16_t table[1 << RP_DEFLATE_LONGEST]; /* by the next bits: symbol << 4 | bits of the code, or 0 */
    uint16_t codes[RP_DEFLATE_SYMBOLS];      /* first bit lowest, as they are written */
    uint8_t sizes[RP_DEFLATE_SYMBOLS];
    int bits; /* of the longest code */
} rp_huffman;

/* Memory for a cut. It is too large for the stack. */
typedef struct {
    rp_huffman symbols, distances;
} rp_deflate_cutter;

typedef struct {
    uint64_t value;
    int size;
} rp_deflate_bits;

/* How a stream may end. */
typedef struct {
    int64_t units;
    size_t at;    /* the bits before this bit are kept */
    size_t block; /* the bit that marks the block of the ending as the last */
    rp_deflate_bits tail;
} rp_deflate_ending;

/* A stream that is being read, and its input, of which `unit` units have been passed. */
typedef struct {
    rp_deflate_cutter *codes;
    const uint8_t *data;
    size_t size; /* in bits, as are the next three */
    size_t at;
    size_t limit;
    size_t block; /* where the block began */
    const uint8_t *input;
    size_t position; /* in the input */
    const size_t *ends;
    int64_t n;
    int64_t unit;
    rp_deflate_ending found;
} rp_deflate_reader;

/* Return the next bits, at least 57; zeros after the end. */
static inline uint64_t rp_deflate_peek(const rp_deflate_reader *c) {
    uint8_t last[8] = {0};
    size_t byte = c->at >> 3;
    if (c->at + 64 <= c->size) return rp_load_le64(c->data + byte) >> (c->at & 7);
    if (c->at < c->size) memcpy(last, c->data + byte, (c->size >> 3) - byte);
    return rp_load_le64(last) >> (c->at & 7);
}

static inline uint32_t rp_deflate_take(rp_deflate_reader *c, int count) {
    uint32_t value = (uint32_t)(rp_deflate_peek(c) & (((uint64_t)1 << count) - 1));
    c->at += (size_t)count;
    return value;
}

/* --- codes ------------------------------------------------------------------------------------------------------- */

static inline uint16_t rp_huffman_reversed(uint32_t code, int size) {
    uint32_t result = 0;
    for (; size; size--, code >>= 1) result = result << 1 | (code & 1);
    return (uint16_t)result;
}

/* Enter a symbol into the table, under all bits that may follow its code. */
static inline void rp_huffman_enter(rp_huffman *h, int symbol, uint32_t code) {
    int size = h->sizes[symbol];
    size_t at = h->codes[symbol] = rp_huffman_reversed(code, size);
    for (; at >> h->bits == 0; at += (size_t)1 << size) h->table[at] = (uint16_t)(symbol << 4 | size);
}

/* Build the codes of `sizes` (section 3.2.2); return false if there is no such code. */
static inline bool rp_huffman_make(rp_huffman *h, int symbols) {
    uint32_t following[RP_DEFLATE_LONGEST + 2] = {0}, code = 0;
    h->bits = 0;
    for (int i = 0; i < symbols; i++) {
        following[h->sizes[i] + 1] += h->sizes[i] != 0;
        if (h->sizes[i] > h->bits) h->bits = h->sizes[i];
    }
    for (int size = 1; size <= RP_DEFLATE_LONGEST; size++) following[size] = code = (code + following[size]) << 1;
    memset(h->table, 0, sizeof(uint16_t) << h->bits);
    for (int i = 0; i < symbols; i++) {
        int size = h->sizes[i];
        if (size == 0) continue;
        if (following[size] >> size) return false;
        rp_huffman_enter(h, i, following[size]++);
    }
    return true;
}

/* Return the symbol of the next code; -1 if no code begins with these bits. */
static inline int rp_huffman_symbol(const rp_huffman *h, uint64_t word, int *size) {
    uint16_t entry = h->table[word & (((uint64_t)1 << h->bits) - 1)];
    *size = entry & 15;
    return entry ? entry >> 4 : -1;
}

static inline bool rp_deflate_fixed(rp_deflate_cutter *c) {
    memset(c->symbols.sizes, 8, 144);
    memset(c->symbols.sizes + 144, 9, 112);
    memset(c->symbols.sizes + 256, 7, 24);
    memset(c->symbols.sizes + 280, 8, 8);
    memset(c->distances.sizes, 5, RP_DEFLATE_DISTANCES);
    return rp_huffman_make(&c->symbols, RP_DEFLATE_SYMBOLS) && rp_huffman_make(&c->distances, RP_DEFLATE_DISTANCES);
}

/* Read the sizes of `count` codes, in the code of sizes. */
static inline bool rp_deflate_sizes(rp_deflate_reader *c, uint8_t *sizes, int count) {
    int size;
    for (int i = 0; i < count;) {
        int symbol = rp_huffman_symbol(&c->codes->symbols, rp_deflate_peek(c), &size);
        uint8_t value = 0;
        int repeat = 1;
        c->at += (size_t)size;
        if (symbol < 0 || (symbol == 16 && i == 0)) return false;
        if (symbol < 16) {
            value = (uint8_t)symbol;
        } else if (symbol == 16) {
            value = sizes[i - 1];
            repeat = (int)rp_deflate_take(c, 2) + 3;
        } else {
            repeat = symbol == 17 ? (int)rp_deflate_take(c, 3) + 3 : (int)rp_deflate_take(c, 7) + 11;
        }
        if (repeat > count - i) return false;
        memset(sizes + i, value, (size_t)repeat);
        i += repeat;
    }
    return true;
}

/* Read the codes of a block (section 3.2.7). */
static inline bool rp_deflate_dynamic(rp_deflate_reader *c) {
    static const uint8_t order[RP_DEFLATE_LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    rp_huffman *symbols = &c->codes->symbols, *distances = &c->codes->distances;
    uint8_t sizes[RP_DEFLATE_SYMBOLS + RP_DEFLATE_DISTANCES];
    int literals = (int)rp_deflate_take(c, 5) + 257, offsets = (int)rp_deflate_take(c, 5) + 1;
    int count = (int)rp_deflate_take(c, 4) + 4;
    memset(symbols->sizes, 0, RP_DEFLATE_LENGTH_CODES);
    for (int i = 0; i < count; i++) symbols->sizes[order[i]] = (uint8_t)rp_deflate_take(c, 3);
    if (literals > RP_DEFLATE_SYMBOLS || !rp_huffman_make(symbols, RP_DEFLATE_LENGTH_CODES)) return false;
    if (!rp_deflate_sizes(c, sizes, literals + offsets)) return false;
    memset(symbols->sizes, 0, RP_DEFLATE_SYMBOLS);
    memset(distances->sizes, 0, RP_DEFLATE_DISTANCES);
    memcpy(symbols->sizes, sizes, (size_t)literals);
    memcpy(distances->sizes, sizes + literals, (size_t)offsets);
    return rp_huffman_make(symbols, RP_DEFLATE_SYMBOLS) && rp_huffman_make(distances, RP_DEFLATE_DISTANCES);
}

/* --- endings ----------------------------------------------------------------------------------------------------- */

/* Section 3.2.5; the last length has its own code. */
static const uint16_t rp_deflate_length[RP_DEFLATE_LENGTHS] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,
                                                               15, 17, 19, 23, 27, 31, 35, 43, 51,  59,
                                                               67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t rp_deflate_length_bits[RP_DEFLATE_LENGTHS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                                   2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

static inline void rp_deflate_add(rp_deflate_bits *to, uint64_t value, int size) {
    to->value |= value << to->size;
    to->size += size;
}

/* Append a symbol; return false if the block has no code for it. */
static inline bool rp_deflate_add_symbol(rp_deflate_bits *to, const rp_huffman *h, int symbol) {
    if (h->sizes[symbol] == 0) return false;
    rp_deflate_add(to, h->codes[symbol], h->sizes[symbol]);
    return true;
}

static inline bool rp_deflate_add_match(rp_deflate_bits *to, const rp_huffman *h, int length, uint64_t distance,
                                        int distance_bits) {
    int i = RP_DEFLATE_LENGTHS - 2;
    while (rp_deflate_length[i] > length) i--;
    if (!rp_deflate_add_symbol(to, h, RP_DEFLATE_FIRST_LENGTH + i)) return false;
    rp_deflate_add(to, (uint64_t)(length - rp_deflate_length[i]), rp_deflate_length_bits[i]);
    rp_deflate_add(to, distance & (((uint64_t)1 << distance_bits) - 1), distance_bits);
    return true;
}

/* Note that one more unit may end with `tail` after the bit `at`, if that is short enough. */
static inline void rp_deflate_note(rp_deflate_reader *c, size_t at, rp_deflate_bits tail) {
    c->unit++;
    if (rp_deflate_add_symbol(&tail, &c->codes->symbols, RP_DEFLATE_END) && at + (size_t)tail.size <= c->limit)
        c->found = (rp_deflate_ending){c->unit, at, c->block, tail};
}

/* Note the units that end in a match, whose code begins at the bit `at`. */
static inline void rp_deflate_end_within(rp_deflate_reader *c, size_t at, size_t length, uint64_t distance,
                                         int distance_bits) {
    const rp_huffman *h = &c->codes->symbols;
    while (c->unit < c->n && c->ends[c->unit] < c->position + length) {
        int size = (int)(c->ends[c->unit] - c->position);
        rp_deflate_bits tail = {0, 0};
        bool known = true;
        if (size >= RP_DEFLATE_LEAST_MATCH)
            known = rp_deflate_add_match(&tail, h, size, distance, distance_bits);
        else
            for (int i = 0; known && i < size; i++)
                known = rp_deflate_add_symbol(&tail, h, c->input[c->position + (size_t)i]);
        if (known)
            rp_deflate_note(c, at, tail);
        else
            c->unit++;
    }
}

/* Pass the match whose length symbol, at the bit `at`, was read; return false if the match is invalid. */
static inline bool rp_deflate_pass_match(rp_deflate_reader *c, size_t at, int symbol) {
    int i = symbol - RP_DEFLATE_FIRST_LENGTH, size;
    if (i >= RP_DEFLATE_LENGTHS) return false;
    size_t length = rp_deflate_length[i] + rp_deflate_take(c, rp_deflate_length_bits[i]);
    uint64_t word = rp_deflate_peek(c);
    symbol = rp_huffman_symbol(&c->codes->distances, word, &size);
    if (symbol < 0) return false;
    size += symbol > 3 ? (symbol >> 1) - 1 : 0;
    c->at += (size_t)size;
    rp_deflate_end_within(c, at, length, word, size);
    c->position += length;
    return true;
}

/* Pass the symbols of a block; return false at the end. */
static inline bool rp_deflate_pass_block(rp_deflate_reader *c) {
    int size;
    while (c->at < c->limit && c->unit < c->n) {
        size_t at = c->at;
        if (c->ends[c->unit] == c->position) rp_deflate_note(c, at, (rp_deflate_bits){0, 0});
        int symbol = rp_huffman_symbol(&c->codes->symbols, rp_deflate_peek(c), &size);
        c->at += (size_t)size;
        if (symbol == RP_DEFLATE_END) return true;
        if (symbol < 0) return false;
        if (symbol < RP_DEFLATE_END)
            c->position++;
        else if (!rp_deflate_pass_match(c, at, symbol))
            return false;
    }
    return false;
}

/* No stream ends in a stored block: such input does not shrink, and its size is known beforehand. */
static inline void rp_deflate_pass_stored(rp_deflate_reader *c) {
    c->at = (c->at + 7) & ~(size_t)7;
    size_t length = rp_deflate_take(c, 16);
    c->at += 16 + (length << 3);
    c->position += length;
    while (c->unit < c->n && c->ends[c->unit] < c->position) c->unit++;
}

/* Pass a block of any kind; return false at the end. */
static inline bool rp_deflate_pass_any(rp_deflate_reader *c) {
    c->block = c->at;
    bool last = rp_deflate_take(c, 1);
    switch (rp_deflate_take(c, 2)) {
    case RP_DEFLATE_STORED: rp_deflate_pass_stored(c); return !last;
    case RP_DEFLATE_FIXED: return rp_deflate_fixed(c->codes) && rp_deflate_pass_block(c) && !last;
    case RP_DEFLATE_DYNAMIC: return rp_deflate_dynamic(c) && rp_deflate_pass_block(c) && !last;
    }
    return false;
}

/* Write the shortened stream; return its size. */
static inline size_t rp_deflate_write(const uint8_t *stream, const rp_deflate_ending *end, uint8_t *dst) {
    size_t whole = end->at >> 3, size = (end->at + (size_t)end->tail.size + 7) >> 3;
    int odd = end->at & 7;
    uint64_t last = odd ? stream[whole] & ((1u << odd) - 1) : 0;
    memcpy(dst, stream, whole);
    dst[whole] = (uint8_t)(last | end->tail.value << odd);
    for (size_t i = 1; i < size - whole; i++) dst[whole + i] = (uint8_t)(end->tail.value >> (8 * i - (size_t)odd));
    dst[end->block >> 3] |= (uint8_t)(1 << (end->block & 7));
    return size;
}

/* Write to `dst` the start of a stream: as many of the input's n units, which end at `ends`, as fit in `limit` bytes.
 * Return their number, possibly 0; set `written` to the new size. `dst` has room for `limit`. */
static inline int64_t rp_deflate_cut(rp_deflate_cutter *codes, const uint8_t *stream, size_t size, size_t limit,
                                     const uint8_t *input, const size_t *ends, int64_t n, uint8_t *dst,
                                     size_t *written) {
    rp_deflate_reader c = {.codes = codes, .data = stream, .input = input, .ends = ends, .n = n};
    c.size = size << 3;
    c.limit = (limit < size ? limit : size) << 3;
    while (c.at < c.limit && c.unit < n && rp_deflate_pass_any(&c)) {}
    if (c.found.units) *written = rp_deflate_write(stream, &c.found, dst);
    return c.found.units;
}

#endif
