/* The snappy decoder against one that follows the format's description element by element, on drawn and damaged
 * blocks in buffers of exact size. */
#include "check.h"
#include "recordpress/snappy.h"
#include "snappy_reference.h"

enum { MOST_DECODED = 1 << 12, ROUNDS = 60000 };

/* A block with every kind of element; gives its size and what it decodes to. */
static size_t draw(uint64_t *random, uint8_t *block, size_t *decoded) {
    size_t at = 0, done = 0, elements = 1 + next_random(random) % 60;
    while (elements--) {
        uint64_t r = next_random(random);
        unsigned kind = done ? r & 3 : 0;
        r >>= 2;
        size_t length = kind == 1 ? 4 + r % 8 : kind == 0 ? 1 + r % (r & 64 ? 200 : 20) : 1 + r % 64;
        if (done + length > MOST_DECODED) break;
        uint64_t offset = next_random(random) & 1 ? 1 + (r >> 16) % 20 : 1 + (r >> 16) % (done ? done : 1);
        if (kind && offset > done) offset = done;
        if (kind == 1 && offset > 2047) offset = 2047;
        if (kind == 0 && length > 60) {
            unsigned bytes = 1 + (r >> 40) % 4;
            block[at++] = (uint8_t)((59 + bytes) << 2);
            for (unsigned i = 0; i < bytes; i++) block[at++] = (uint8_t)((length - 1) >> 8 * i);
        } else if (kind == 1) {
            block[at++] = (uint8_t)(1 | (length - 4) << 2 | (offset >> 8) << 5);
        } else {
            block[at++] = (uint8_t)(kind | (length - 1) << 2);
        }
        unsigned bytes = kind == 3 ? 4 : kind;
        for (unsigned i = 0; i < bytes; i++) block[at++] = (uint8_t)(offset >> 8 * i);
        if (kind == 0)
            for (size_t i = 0; i < length; i++) block[at++] = (uint8_t)next_random(random);
        done += length;
    }
    *decoded = done;
    return at;
}

static void decode_both(const uint8_t *block, size_t size, size_t decoded) {
    static uint8_t expected[2 * MOST_DECODED];
    uint8_t *in = exact_copy(block, size), *out = malloc(decoded ? decoded : 1);
    CHECK(out);
    long described = describe(in, size, expected, decoded);
    int fits = rp_snappy_decode(in, in + size, out, out + decoded);
    CHECK(fits == (described == (long)decoded));
    if (fits) CHECK(!memcmp(out, expected, decoded));
    free(in);
    free(out);
}

static void drawn_blocks(void) {
    static uint8_t block[8 * MOST_DECODED];
    uint64_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        size_t decoded, size = draw(&random, block, &decoded);
        decode_both(block, size, decoded);
        decode_both(block, size, decoded + 1);
        decode_both(block, size, decoded ? decoded - 1 : 0);
        decode_both(block, next_random(&random) % (size + 1), decoded); /* cut */
        for (int flips = 0; flips < 4; flips++) {
            size_t at = next_random(&random) % size;
            block[at] ^= (uint8_t)(1 << next_random(&random) % 8);
            decode_both(block, size, decoded);
        }
    }
}

/* The longest turn of the fast loop: a literal of 16 bytes whose length takes four, then a copy with a four byte
 * offset, 26 bytes in all. Every cut of it lies at the very end of its memory. */
static void longest_turn(void) {
    static const uint8_t lead[] = {60 << 2 | 3 << 2, 15, 0, 0, 0}, end[] = {15, 1, 0, 0};
    uint8_t block[2 * sizeof lead + 32 + sizeof end + 64];
    for (size_t more = 0; more <= 8; more++) {
        size_t at = 0;
        for (size_t i = 0; i < more; i++) block[at++] = 0, block[at++] = 'x'; /* literals of one byte before it */
        memcpy(block + at, lead, sizeof lead);
        memset(block + at + sizeof lead, 'a', 16);
        at += sizeof lead + 16;
        memcpy(block + at, end, sizeof end);
        for (size_t size = 1; size <= at + sizeof end; size++) decode_both(block, size, 200);
    }
}

static void preambles(void) {
    uint32_t decoded = 7;
    CHECK(rp_snappy_preamble((const uint8_t *)"", 0, &decoded) == 0);
    CHECK(rp_snappy_preamble((const uint8_t *)"\x80", 1, &decoded) == 0);
    CHECK(rp_snappy_preamble((const uint8_t *)"\x40", 1, &decoded) == 1 && decoded == 64);
    CHECK(rp_snappy_preamble((const uint8_t *)"\xfe\xff\x7f", 3, &decoded) == 3 && decoded == 2097150);
    CHECK(rp_snappy_preamble((const uint8_t *)"\xff\xff\xff\xff\x0f", 5, &decoded) == 5 && decoded == UINT32_MAX);
    CHECK(rp_snappy_preamble((const uint8_t *)"\xff\xff\xff\xff\x1f", 5, &decoded) == 0);
    CHECK(rp_snappy_preamble((const uint8_t *)"\x80\x80\x80\x80\x80\x00", 6, &decoded) == 0);
}

int main(void) {
    preambles();
    longest_turn();
    drawn_blocks();
    return 0;
}
