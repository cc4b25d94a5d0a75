/* CRC-32C: every path that this CPU has gives what the polynomial gives, whole, in parts, shifted and patched. */
#include "fuzz.h"
#include "recordpress/crc32c.h"

static uint32_t define(uint32_t crc, const uint8_t *p, size_t n) {
    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    }
    return crc;
}

static void check_paths(uint32_t start, const uint8_t *p, size_t n, size_t cut) {
    uint32_t expected = n <= 256 ? define(start, p, n) : rp_crc32c_table(start, p, n);
    for (int i = 0; i < RP_CRC32C_PATHS; i++) {
        const rp_crc32c_path *path = &rp_crc32c_paths[i];
        if (!path->supported()) continue;
        CHECK(path->update(start, p, n) == expected);
        CHECK(path->update(path->update(start, p, cut), p + cut, n - cut) == expected);
    }
}

static void check_shift(uint32_t crc, uint64_t bytes) {
    uint32_t expected = rp_crc32c_shifted_table(crc, bytes);
    for (int i = 0; i < RP_CRC32C_PATHS; i++)
        if (rp_crc32c_paths[i].supported()) CHECK(rp_crc32c_paths[i].shifted(crc, bytes) == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    uint32_t start = (uint32_t)take(&in, 4);
    uint64_t bytes = take(&in, 8), cut = take(&in, 2), field = take(&in, 1) % 17;
    cut %= in.left + 1;
    check_paths(start, in.p, in.left, cut);
    check_shift(start, bytes);
    uint32_t whole = rp_crc32c(0, in.p, in.left);
    CHECK(rp_crc32c_combine(rp_crc32c(0, in.p, cut), rp_crc32c(0, in.p + cut, in.left - cut), in.left - cut) == whole);
    if (field > in.left - cut) return 0;
    uint8_t *changed = exact_copy(in.p, in.left);
    for (size_t i = 0; i < field; i++) changed[cut + i] ^= (uint8_t)(bytes >> 4 * i);
    CHECK(rp_crc32c_patch(whole, in.p + cut, changed + cut, field, in.left - cut - field) == rp_crc32c(0, changed, in.left));
    free(changed);
    return 0;
}
