/* Numbers in decimal digits, beside those of the C library. */
#include <inttypes.h>
#include <stdio.h>

#include "fuzz.h"
#include "recordpress/decimal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    while (in.left) {
        uint64_t bytes = 1 + take_below(&in, 8);
        int64_t number = (int64_t)take(&in, bytes);
        if (in.left & 1) number = (int64_t)(0 - (uint64_t)number);
        char expected[32];
        int length = snprintf(expected, sizeof expected, "%" PRId64, number);
        uint8_t *written = malloc(RP_DECIMAL_ROOM);
        CHECK(written);
        CHECK(rp_decimal(written, number) == (size_t)length && !memcmp(written, expected, (size_t)length));
        free(written);
    }
    return 0;
}
