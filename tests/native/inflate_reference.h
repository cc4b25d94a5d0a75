/* Inflate (RFC 1951) a bit at a time, as the RFC says it: the judge of what a cut stream holds. */
#ifndef RECORDPRESS_TESTS_INFLATE_REFERENCE_H
#define RECORDPRESS_TESTS_INFLATE_REFERENCE_H

#include "check.h"

typedef struct {
    const uint8_t *data;
    size_t bits, at;
    uint8_t *out;
    size_t room, size;
    int failed;
} inflating;

static unsigned bits_of(inflating *s, int count) {
    unsigned value = 0;
    for (int i = 0; i < count; i++, s->at++) {
        if (s->at >= s->bits) {
            s->failed = 1;
            return 0;
        }
        value |= (unsigned)(s->data[s->at >> 3] >> (s->at & 7) & 1) << i;
    }
    return value;
}

/* A code: how many symbols have a size, and the symbols by size and number (section 3.2.2). */
typedef struct {
    unsigned counts[16];
    uint16_t symbols[288];
} huffman_code;

/* 0: there are more codes than bits for them. */
static int make_code(huffman_code *h, const uint8_t *sizes, int symbols) {
    long left = 1;
    unsigned at = 0;
    memset(h, 0, sizeof *h);
    for (int size = 1; size <= 15 && left >= 0; size++) {
        for (int i = 0; i < symbols; i++)
            if (sizes[i] == size) h->symbols[at++] = (uint16_t)i, h->counts[size]++;
        left = 2 * left - (long)h->counts[size];
    }
    return left >= 0;
}

static int symbol_of(inflating *s, const huffman_code *h) {
    unsigned code = 0, first = 0, at = 0;
    for (int size = 1; size <= 15 && !s->failed; size++) {
        code |= bits_of(s, 1);
        if (code - first < h->counts[size]) return h->symbols[at + code - first];
        at += h->counts[size];
        first = (first + h->counts[size]) << 1;
        code <<= 1;
    }
    s->failed = 1;
    return 0;
}

static void give(inflating *s, uint8_t byte) {
    if (s->size == s->room) s->failed = 1;
    if (!s->failed) s->out[s->size++] = byte;
}

static void inflate_symbols(inflating *s, const uint8_t *literal_sizes, const uint8_t *distance_sizes) {
    huffman_code literals, distances;
    int symbol;
    if (!make_code(&literals, literal_sizes, 288) || !make_code(&distances, distance_sizes, 32)) s->failed = 1;
    while (!s->failed && (symbol = symbol_of(s, &literals)) != 256) {
        if (symbol < 256) {
            give(s, (uint8_t)symbol);
            continue;
        }
        int i = symbol - 257, extra = i < 8 || i == 28 ? 0 : (i - 4) >> 2;
        unsigned length = i == 28 ? 258 : i < 8 ? 3 + (unsigned)i : ((4 + (i & 3u)) << extra) + 3;
        length += bits_of(s, extra);
        int d = symbol_of(s, &distances), more = d < 4 ? 0 : (d >> 1) - 1;
        size_t offset = (d < 4 ? 1 + (unsigned)d : ((2 + (d & 1u)) << more) + 1) + bits_of(s, more);
        if (i > 28 || d > 29 || offset > s->size) s->failed = 1;
        while (length-- && !s->failed) give(s, s->out[s->size - offset]);
    }
}

static void inflate_dynamic(inflating *s) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    huffman_code code;
    uint8_t sizes[19] = {0}, all[288 + 32 + 138] = {0}, literals[288] = {0}, distances[32] = {0};
    int n = (int)bits_of(s, 5) + 257, m = (int)bits_of(s, 5) + 1, codes = (int)bits_of(s, 4) + 4, at = 0;
    for (int i = 0; i < codes; i++) sizes[order[i]] = (uint8_t)bits_of(s, 3);
    if (n > 288 || !make_code(&code, sizes, 19)) s->failed = 1;
    while (at < n + m && !s->failed) {
        int symbol = symbol_of(s, &code), repeat = 1;
        if (symbol == 16 && at == 0) s->failed = 1;
        uint8_t value = (uint8_t)(symbol < 16 ? symbol : symbol == 16 && at ? all[at - 1] : 0);
        if (symbol == 16) repeat = (int)bits_of(s, 2) + 3;
        if (symbol == 17) repeat = (int)bits_of(s, 3) + 3;
        if (symbol == 18) repeat = (int)bits_of(s, 7) + 11;
        while (repeat--) all[at++] = value;
    }
    if (s->failed || at != n + m) {
        s->failed = 1;
        return;
    }
    memcpy(literals, all, (size_t)n);
    memcpy(distances, all + n, (size_t)m);
    inflate_symbols(s, literals, distances);
}

static void inflate_fixed(inflating *s) {
    uint8_t literals[288], distances[32];
    for (int i = 0; i < 288; i++) literals[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(distances, 5, sizeof distances);
    inflate_symbols(s, literals, distances);
}

static void inflate_stored(inflating *s) {
    s->at = (s->at + 7) & ~(size_t)7;
    unsigned length = bits_of(s, 16);
    if (bits_of(s, 16) != (length ^ 0xFFFF)) s->failed = 1;
    while (length-- && !s->failed) give(s, (uint8_t)bits_of(s, 8));
}

/* Bytes of output, -1 if the stream is not sound; `used` is how many bytes it takes. */
static long inflate_stream(const uint8_t *data, size_t size, uint8_t *out, size_t room, size_t *used) {
    inflating s = {.data = data, .bits = size << 3, .out = out, .room = room};
    int last = 0;
    while (!last && !s.failed) {
        last = (int)bits_of(&s, 1);
        unsigned form = bits_of(&s, 2);
        if (form == 0) inflate_stored(&s);
        if (form == 1) inflate_fixed(&s);
        if (form == 2) inflate_dynamic(&s);
        if (form == 3) s.failed = 1;
    }
    *used = (s.at + 7) >> 3;
    return s.failed ? -1 : (long)s.size;
}

#endif
