/* The snappy decoder beside one that follows the format's description, with the output's size right and wrong. */
#include "../../native/snappy_reference.h"
#include "fuzz.h"
#include "recordpress/snappy.h"

enum { MOST = 1 << 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t expected[MOST];
    input in = {data, size};
    unsigned choice = (unsigned)take(&in, 1);
    size_t room = choice & 1 ? take(&in, 2) % MOST : MOST;
    uint32_t decoded;
    rp_snappy_preamble(in.p, in.left, &decoded);
    long described = describe(in.p, in.left, expected, room);
    if (!(choice & 1) && described >= 0) room = (size_t)described; /* let it fit, mostly */
    uint8_t *out = malloc(room ? room : 1);
    CHECK(out);
    int fits = rp_snappy_decode(in.p, in.p + in.left, out, out + room);
    CHECK(fits == (described == (long)room));
    if (fits) CHECK(!memcmp(out, expected, room));
    free(out);
    return 0;
}
