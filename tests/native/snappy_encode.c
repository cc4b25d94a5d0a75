/* The snappy encoder on drawn inputs in buffers of exact size, with a table that is full of other things; read back by
 * the decoder. That its bytes are libsnappy's is asked in tests/codecs/test_snappy.py. */
#include "check.h"
#include "recordpress/snappy.h"

enum { ROUNDS = 3000, MOST = 3 * RP_SNAPPY_FRAGMENT };

static size_t draw_size(uint64_t *random) {
    uint64_t r = next_random(random);
    switch (r >> 8 & 7) {
    case 0: return (r >> 16) % MOST;
    case 1: return RP_SNAPPY_FRAGMENT - 30 + (r >> 16) % 60;
    case 2: return (r >> 16) % 20000;
    default: return (r >> 16) % 200;
    }
}

/* Literals and copies, or few symbols, or noise. */
static void draw(uint64_t *random, uint8_t *data, size_t size) {
    unsigned symbols = 1u << next_random(random) % 9, longest = 1 + next_random(random) % 300;
    for (size_t at = 0; at < size;) {
        uint64_t r = next_random(random);
        size_t length = 1 + (r >> 8) % longest;
        if (length > size - at) length = size - at;
        size_t offset = at && r & 1 ? 1 + (r >> 32) % at : 0;
        for (; length--; at++) data[at] = offset ? data[at - offset] : (uint8_t)(next_random(random) % symbols);
    }
}

static void round_trip(const uint8_t *data, size_t size, uint16_t *table, uint64_t *random) {
    uint8_t *in = exact_copy(data, size), *block = malloc(rp_snappy_bound(size)), *out = malloc(size ? size : 1);
    CHECK(block && out);
    memset(table, (int)next_random(random), RP_SNAPPY_TABLE * sizeof *table);
    size_t made = rp_snappy_encode(in, size, block, table);
    CHECK(made <= rp_snappy_bound(size));
    uint8_t *exact = exact_copy(block, made);
    uint32_t decoded = 0;
    size_t elements = rp_snappy_preamble(exact, made, &decoded);
    CHECK(elements && decoded == size);
    CHECK(rp_snappy_decode(exact + elements, exact + made, out, out + size));
    CHECK(!memcmp(in, out, size));
    free(in);
    free(block);
    free(out);
    free(exact);
}

int main(void) {
    static uint8_t data[MOST];
    uint16_t *table = malloc(RP_SNAPPY_TABLE * sizeof *table);
    uint64_t random = 1;
    CHECK(table);
    for (size_t size = 0; size < 100; size++) { /* zeros: matches reach every end */
        round_trip(data, size, table, &random);
        round_trip(data, RP_SNAPPY_FRAGMENT - 50 + size, table, &random);
    }
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = draw_size(&random);
        draw(&random, data, size);
        round_trip(data, size, table, &random);
    }
    free(table);
    return 0;
}
