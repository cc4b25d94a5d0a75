/* The snappy encoder: a block is no larger than its bound, starts no match in a fragment's tail, and is read back. The
 * input is repeated with a few bytes changed, so that it has matches at every distance. */
#include "../../native/snappy_reference.h"
#include "fuzz.h"
#include "recordpress/snappy.h"

enum { MOST = RP_SNAPPY_FRAGMENT + (RP_SNAPPY_FRAGMENT >> 2) };

static size_t expand(input *in, uint8_t *out) {
    size_t copies = 1 + take_below(in, 8), step = 1 + take(in, 2) % 4096, done = 0;
    if (take(in, 1) < 4) copies = MOST; /* now and then more than a fragment */
    for (; copies-- && in->left && in->left <= MOST - done; done += in->left) {
        memcpy(out + done, in->p, in->left);
        for (size_t i = step; i < in->left && done; i += step) out[done + i] ^= (uint8_t)(copies + 1);
    }
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t expanded[MOST], out[MOST];
    static uint16_t table[RP_SNAPPY_TABLE]; /* dirty from one run to the next */
    input in = {data, size};
    size_t length = expand(&in, expanded);
    uint8_t *exact = exact_copy(expanded, length), *block = malloc(rp_snappy_bound(length));
    CHECK(block);
    size_t made = rp_snappy_encode(exact, length, block, table);
    CHECK(made <= rp_snappy_bound(length));
    uint32_t decoded;
    size_t preamble = rp_snappy_preamble(block, made, &decoded);
    CHECK(preamble && decoded == length);
    CHECK(describe(block + preamble, made - preamble, out, length) == (long)length);
    CHECK(!length || !memcmp(exact, out, length));
    CHECK(rp_snappy_decode(block + preamble, block + made, out, out + length));
    CHECK(!length || !memcmp(exact, out, length));
    free(exact);
    free(block);
    return 0;
}
