/* The bytes that a JSON string holds as they are, next to a look at each of them. */
#include "fuzz.h"
#include "recordpress/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t plain = 0;
    while (plain < size && data[plain] >= 0x20 && data[plain] < 0x80 && data[plain] != '"' && data[plain] != '\\') plain++;
    uint8_t *copied = malloc(size ? size : 1);
    CHECK(copied);
    CHECK(rp_json_copy(copied, data, size) == plain && !memcmp(copied, data, plain));
    free(copied);
    return 0;
}
