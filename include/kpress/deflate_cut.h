/* Shortening a deflate stream (RFC 1951) to fewer bytes of input, without compressing again.
 *
 * A stream is cut between two symbols: the bits before stay as they are, the end-of-block code of the block follows,
 * and the block becomes the last one. If a match goes over the place of the cut, a shorter one, or literals, replace
 * it where the block has codes for them.
 *
 * The stream is this library's own, so it is sound; of any other bytes nothing is read or written out of bounds.
 */
#ifndef KPRESS_DEFLATE_CUT_H
#define KPRESS_DEFLATE_CUT_H

#include <stdbool.h>
#include <string.h>

#include "endian.h"

enum {
    KP_DEFLATE_SYMBOLS = 288, /* of literals and lengths */
    KP_DEFLATE_DISTANCES = 32,
    KP_DEFLATE_LONGEST = 15, /* bits of a code */
    KP_DEFLATE_END = 256,    /* of a block */
    KP_DEFLATE_FIRST_LENGTH = 257,
    KP_DEFLATE_LENGTHS = 29,
    KP_DEFLATE_LENGTH_CODES = 19,
    KP_DEFLATE_LEAST_MATCH = 3,
};

enum { KP_DEFLATE_STORED, KP_DEFLATE_FIXED, KP_DEFLATE_DYNAMIC };

/* A Huffman code, for reading and for writing. */
typedef struct {
    uint16_t table[1 << KP_DEFLATE_LONGEST]; /* by the next bits: symbol << 4 | bits of the code, or 0 */
    uint16_t codes[KP_DEFLATE_SYMBOLS];      /* first bit lowest, as they are written */
    uint8_t sizes[KP_DEFLATE_SYMBOLS];
    int bits; /* of the longest */
} kp_huffman;

/* Memory for a cut. It is too large for the stack. */
typedef struct {
    kp_huffman symbols, distances;
} kp_deflate_cutter;

typedef struct {
    uint64_t value;
    int size;
} kp_deflate_bits;

/* How a stream may end. */
typedef struct {
    int64_t units;
    size_t at;    /* the bits before this one stay */
    size_t block; /* the bit that says whether the last block is the last */
    kp_deflate_bits tail;
} kp_deflate_ending;

/* A stream that is read, and its input, of which `unit` units have been passed. */
typedef struct {
    kp_deflate_cutter *codes;
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
    kp_deflate_ending found;
} kp_deflate_reader;

/* The next bits, at least 57 of them; zeros after the end. */
static inline uint64_t kp_deflate_peek(const kp_deflate_reader *c) {
    uint8_t last[8] = {0};
    size_t byte = c->at >> 3;
    if (c->at + 64 <= c->size) return kp_load_le64(c->data + byte) >> (c->at & 7);
    if (c->at < c->size) memcpy(last, c->data + byte, (c->size >> 3) - byte);
    return kp_load_le64(last) >> (c->at & 7);
}

static inline uint32_t kp_deflate_take(kp_deflate_reader *c, int count) {
    uint32_t value = (uint32_t)(kp_deflate_peek(c) & (((uint64_t)1 << count) - 1));
    c->at += (size_t)count;
    return value;
}

/* --- codes ------------------------------------------------------------------------------------------------------- */

static inline uint16_t kp_huffman_reversed(uint32_t code, int size) {
    uint32_t result = 0;
    for (; size; size--, code >>= 1) result = result << 1 | (code & 1);
    return (uint16_t)result;
}

/* Enter a symbol into the table, under all bits that may follow its code. */
static inline void kp_huffman_enter(kp_huffman *h, int symbol, uint32_t code) {
    int size = h->sizes[symbol];
    size_t at = h->codes[symbol] = kp_huffman_reversed(code, size);
    for (; at >> h->bits == 0; at += (size_t)1 << size) h->table[at] = (uint16_t)(symbol << 4 | size);
}

/* The codes of `sizes` (section 3.2.2). False: there is no such code. */
static inline bool kp_huffman_make(kp_huffman *h, int symbols) {
    uint32_t following[KP_DEFLATE_LONGEST + 2] = {0}, code = 0;
    h->bits = 0;
    for (int i = 0; i < symbols; i++) {
        following[h->sizes[i] + 1] += h->sizes[i] != 0;
        if (h->sizes[i] > h->bits) h->bits = h->sizes[i];
    }
    for (int size = 1; size <= KP_DEFLATE_LONGEST; size++) following[size] = code = (code + following[size]) << 1;
    memset(h->table, 0, sizeof(uint16_t) << h->bits);
    for (int i = 0; i < symbols; i++) {
        int size = h->sizes[i];
        if (size == 0) continue;
        if (following[size] >> size) return false;
        kp_huffman_enter(h, i, following[size]++);
    }
    return true;
}

/* -1: no code begins so. */
static inline int kp_huffman_symbol(const kp_huffman *h, uint64_t word, int *size) {
    uint16_t entry = h->table[word & (((uint64_t)1 << h->bits) - 1)];
    *size = entry & 15;
    return entry ? entry >> 4 : -1;
}

static inline bool kp_deflate_fixed(kp_deflate_cutter *c) {
    memset(c->symbols.sizes, 8, 144);
    memset(c->symbols.sizes + 144, 9, 112);
    memset(c->symbols.sizes + 256, 7, 24);
    memset(c->symbols.sizes + 280, 8, 8);
    memset(c->distances.sizes, 5, KP_DEFLATE_DISTANCES);
    return kp_huffman_make(&c->symbols, KP_DEFLATE_SYMBOLS) && kp_huffman_make(&c->distances, KP_DEFLATE_DISTANCES);
}

/* The sizes of `count` codes, in the code of sizes. */
static inline bool kp_deflate_sizes(kp_deflate_reader *c, uint8_t *sizes, int count) {
    int size;
    for (int i = 0; i < count;) {
        int symbol = kp_huffman_symbol(&c->codes->symbols, kp_deflate_peek(c), &size);
        uint8_t value = 0;
        int repeat = 1;
        c->at += (size_t)size;
        if (symbol < 0 || (symbol == 16 && i == 0)) return false;
        if (symbol < 16) {
            value = (uint8_t)symbol;
        } else if (symbol == 16) {
            value = sizes[i - 1];
            repeat = (int)kp_deflate_take(c, 2) + 3;
        } else {
            repeat = symbol == 17 ? (int)kp_deflate_take(c, 3) + 3 : (int)kp_deflate_take(c, 7) + 11;
        }
        if (repeat > count - i) return false;
        memset(sizes + i, value, (size_t)repeat);
        i += repeat;
    }
    return true;
}

/* The codes of a block (section 3.2.7). */
static inline bool kp_deflate_dynamic(kp_deflate_reader *c) {
    static const uint8_t order[KP_DEFLATE_LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    kp_huffman *symbols = &c->codes->symbols, *distances = &c->codes->distances;
    uint8_t sizes[KP_DEFLATE_SYMBOLS + KP_DEFLATE_DISTANCES];
    int literals = (int)kp_deflate_take(c, 5) + 257, offsets = (int)kp_deflate_take(c, 5) + 1;
    int count = (int)kp_deflate_take(c, 4) + 4;
    memset(symbols->sizes, 0, KP_DEFLATE_LENGTH_CODES);
    for (int i = 0; i < count; i++) symbols->sizes[order[i]] = (uint8_t)kp_deflate_take(c, 3);
    if (literals > KP_DEFLATE_SYMBOLS || !kp_huffman_make(symbols, KP_DEFLATE_LENGTH_CODES)) return false;
    if (!kp_deflate_sizes(c, sizes, literals + offsets)) return false;
    memset(symbols->sizes, 0, KP_DEFLATE_SYMBOLS);
    memset(distances->sizes, 0, KP_DEFLATE_DISTANCES);
    memcpy(symbols->sizes, sizes, (size_t)literals);
    memcpy(distances->sizes, sizes + literals, (size_t)offsets);
    return kp_huffman_make(symbols, KP_DEFLATE_SYMBOLS) && kp_huffman_make(distances, KP_DEFLATE_DISTANCES);
}

/* --- endings ----------------------------------------------------------------------------------------------------- */

/* Section 3.2.5; the last length has a code of its own. */
static const uint16_t kp_deflate_length[KP_DEFLATE_LENGTHS] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,
                                                               15, 17, 19, 23, 27, 31, 35, 43, 51,  59,
                                                               67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t kp_deflate_length_bits[KP_DEFLATE_LENGTHS] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                                   2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

static inline void kp_deflate_add(kp_deflate_bits *to, uint64_t value, int size) {
    to->value |= value << to->size;
    to->size += size;
}

/* False: the block has no code for it. */
static inline bool kp_deflate_add_symbol(kp_deflate_bits *to, const kp_huffman *h, int symbol) {
    if (h->sizes[symbol] == 0) return false;
    kp_deflate_add(to, h->codes[symbol], h->sizes[symbol]);
    return true;
}

static inline bool kp_deflate_add_match(kp_deflate_bits *to, const kp_huffman *h, int length, uint64_t distance,
                                        int distance_bits) {
    int i = KP_DEFLATE_LENGTHS - 2;
    while (kp_deflate_length[i] > length) i--;
    if (!kp_deflate_add_symbol(to, h, KP_DEFLATE_FIRST_LENGTH + i)) return false;
    kp_deflate_add(to, (uint64_t)(length - kp_deflate_length[i]), kp_deflate_length_bits[i]);
    kp_deflate_add(to, distance & (((uint64_t)1 << distance_bits) - 1), distance_bits);
    return true;
}

/* One unit more may end with `tail` after the bit `at`, if that is short enough. */
static inline void kp_deflate_note(kp_deflate_reader *c, size_t at, kp_deflate_bits tail) {
    c->unit++;
    if (kp_deflate_add_symbol(&tail, &c->codes->symbols, KP_DEFLATE_END) && at + (size_t)tail.size <= c->limit)
        c->found = (kp_deflate_ending){c->unit, at, c->block, tail};
}

/* Units that end in a match, whose code begins at the bit `at`. */
static inline void kp_deflate_end_within(kp_deflate_reader *c, size_t at, size_t length, uint64_t distance,
                                         int distance_bits) {
    const kp_huffman *h = &c->codes->symbols;
    while (c->unit < c->n && c->ends[c->unit] < c->position + length) {
        int size = (int)(c->ends[c->unit] - c->position);
        kp_deflate_bits tail = {0, 0};
        bool known = true;
        if (size >= KP_DEFLATE_LEAST_MATCH)
            known = kp_deflate_add_match(&tail, h, size, distance, distance_bits);
        else
            for (int i = 0; known && i < size; i++)
                known = kp_deflate_add_symbol(&tail, h, c->input[c->position + (size_t)i]);
        if (known)
            kp_deflate_note(c, at, tail);
        else
            c->unit++;
    }
}

/* The length's symbol at the bit `at` was read. False: it cannot be. */
static inline bool kp_deflate_pass_match(kp_deflate_reader *c, size_t at, int symbol) {
    int i = symbol - KP_DEFLATE_FIRST_LENGTH, size;
    if (i >= KP_DEFLATE_LENGTHS) return false;
    size_t length = kp_deflate_length[i] + kp_deflate_take(c, kp_deflate_length_bits[i]);
    uint64_t word = kp_deflate_peek(c);
    symbol = kp_huffman_symbol(&c->codes->distances, word, &size);
    if (symbol < 0) return false;
    size += symbol > 3 ? (symbol >> 1) - 1 : 0;
    c->at += (size_t)size;
    kp_deflate_end_within(c, at, length, word, size);
    c->position += length;
    return true;
}

/* False: there is no more to find. */
static inline bool kp_deflate_pass_block(kp_deflate_reader *c) {
    int size;
    while (c->at < c->limit && c->unit < c->n) {
        size_t at = c->at;
        if (c->ends[c->unit] == c->position) kp_deflate_note(c, at, (kp_deflate_bits){0, 0});
        int symbol = kp_huffman_symbol(&c->codes->symbols, kp_deflate_peek(c), &size);
        c->at += (size_t)size;
        if (symbol == KP_DEFLATE_END) return true;
        if (symbol < 0) return false;
        if (symbol < KP_DEFLATE_END)
            c->position++;
        else if (!kp_deflate_pass_match(c, at, symbol))
            return false;
    }
    return false;
}

/* No stream ends in a stored block: such input does not shrink, and its size is known beforehand. */
static inline void kp_deflate_pass_stored(kp_deflate_reader *c) {
    c->at = (c->at + 7) & ~(size_t)7;
    size_t length = kp_deflate_take(c, 16);
    c->at += 16 + (length << 3);
    c->position += length;
    while (c->unit < c->n && c->ends[c->unit] < c->position) c->unit++;
}

/* False: there is no more to find. */
static inline bool kp_deflate_pass_any(kp_deflate_reader *c) {
    c->block = c->at;
    bool last = kp_deflate_take(c, 1);
    switch (kp_deflate_take(c, 2)) {
    case KP_DEFLATE_STORED: kp_deflate_pass_stored(c); return !last;
    case KP_DEFLATE_FIXED: return kp_deflate_fixed(c->codes) && kp_deflate_pass_block(c) && !last;
    case KP_DEFLATE_DYNAMIC: return kp_deflate_dynamic(c) && kp_deflate_pass_block(c) && !last;
    }
    return false;
}

/* Returns the stream's size. */
static inline size_t kp_deflate_write(const uint8_t *stream, const kp_deflate_ending *end, uint8_t *dst) {
    size_t whole = end->at >> 3, size = (end->at + (size_t)end->tail.size + 7) >> 3;
    int odd = end->at & 7;
    uint64_t last = odd ? stream[whole] & ((1u << odd) - 1) : 0;
    memcpy(dst, stream, whole);
    dst[whole] = (uint8_t)(last | end->tail.value << odd);
    for (size_t i = 1; i < size - whole; i++) dst[whole + i] = (uint8_t)(end->tail.value >> (8 * i - (size_t)odd));
    dst[end->block >> 3] |= (uint8_t)(1 << (end->block & 7));
    return size;
}

/* Write to `dst` the start of a stream: as many of the n units of the input that end at `ends` as `limit` bytes hold.
 * Returns how many, 0 if none; `written` is the new size. `dst` has room for `limit`. */
static inline int64_t kp_deflate_cut(kp_deflate_cutter *codes, const uint8_t *stream, size_t size, size_t limit,
                                     const uint8_t *input, const size_t *ends, int64_t n, uint8_t *dst,
                                     size_t *written) {
    kp_deflate_reader c = {.codes = codes, .data = stream, .input = input, .ends = ends, .n = n};
    c.size = size << 3;
    c.limit = (limit < size ? limit : size) << 3;
    while (c.at < c.limit && c.unit < n && kp_deflate_pass_any(&c)) {}
    if (c.found.units) *written = kp_deflate_write(stream, &c.found, dst);
    return c.found.units;
}

#endif
