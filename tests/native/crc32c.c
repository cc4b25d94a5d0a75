/* CRC-32C: every path against the definition, bit by bit, at every short length between pages that cannot be read. */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "recordpress/crc32c.h"

/* The state after a byte, from the polynomial alone. */
static uint32_t define(uint32_t crc, const uint8_t *p, size_t n) {
    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    }
    return crc;
}

static uint32_t power_of_x(int n) {
    uint32_t power = UINT32_C(1) << 31;
    while (n--) power = power & 1 ? power >> 1 ^ 0x82F63B78 : power >> 1;
    return power;
}

static void check_value(void) {
    for (int i = 0; i < RP_CRC32C_PATHS; i++)
        if (rp_crc32c_paths[i].supported())
            CHECK(~rp_crc32c_paths[i].update(~0u, (const uint8_t *)"123456789", 9) == 0xe3069283);
    CHECK(rp_crc32c_active->supported());
    CHECK(rp_crc32c(0, NULL, 0) == 0 && rp_crc32c(5, NULL, 0) == 5);
}

/* `between` has `size` bytes and nothing readable on either side. */
static uint8_t *between_guards(size_t size, uint8_t **mapping) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(size % page == 0);
    *mapping = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(*mapping != MAP_FAILED && !mprotect(*mapping + page, size, PROT_READ | PROT_WRITE));
    return *mapping + page;
}

static void every_length_at_both_ends(void) {
    enum { SIZE = 65536, MOST = 1500 };
    static uint32_t front[MOST + 1], back[MOST + 1];
    uint64_t random = 1;
    uint8_t *mapping, *data = between_guards(SIZE, &mapping);
    for (int i = 0; i < SIZE; i++) data[i] = (uint8_t)next_random(&random);
    for (int n = 0; n <= MOST; n++) {
        front[n] = define(0x12345678, data, (size_t)n);
        back[n] = define(0x12345678, data + SIZE - n, (size_t)n);
    }
    for (int i = 0; i < RP_CRC32C_PATHS; i++) {
        if (!rp_crc32c_paths[i].supported()) continue;
        for (int n = 0; n <= MOST; n++) {
            CHECK(rp_crc32c_paths[i].update(0x12345678, data, (size_t)n) == front[n]);
            CHECK(rp_crc32c_paths[i].update(0x12345678, data + SIZE - n, (size_t)n) == back[n]);
        }
        for (size_t n = SIZE - 700; n <= SIZE; n += 7) {
            CHECK(rp_crc32c_paths[i].update(1, data, n) == rp_crc32c_table(1, data, n));
            CHECK(rp_crc32c_paths[i].update(1, data + SIZE - n, n) == rp_crc32c_table(1, data + SIZE - n, n));
        }
    }
    munmap(mapping, SIZE + 2 * (size_t)sysconf(_SC_PAGESIZE));
}

/* Longer than the largest block of any path. */
static void long_message(void) {
    enum { SIZE = (17 << 20) + 12345 };
    uint64_t random = 2;
    uint8_t *data = malloc(SIZE);
    CHECK(data);
    for (int i = 0; i < SIZE; i++) data[i] = (uint8_t)next_random(&random);
    uint32_t expected = rp_crc32c_table(7, data, SIZE);
    for (int i = 0; i < RP_CRC32C_PATHS; i++)
        if (rp_crc32c_paths[i].supported()) CHECK(rp_crc32c_paths[i].update(7, data, SIZE) == expected);
    free(data);
}

static void shifts(void) {
    static const uint64_t lengths[] = {0, 1, 255, 256, 257, 65536, 1 << 20, RP_CRC32C_ORDER - 1, RP_CRC32C_ORDER,
                                       RP_CRC32C_ORDER + UINT64_C(1), UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    static const uint8_t zeros[1 << 16];
    for (int i = 0; i < RP_CRC32C_PATHS; i++) {
        if (!rp_crc32c_paths[i].supported()) continue;
        for (size_t n = 0; n <= sizeof zeros; n += n / 7 + 1)
            CHECK(rp_crc32c_paths[i].shifted(0xCAFEBABE, n) == rp_crc32c_table(0xCAFEBABE, zeros, n));
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            CHECK(rp_crc32c_paths[i].shifted(7, lengths[k]) == rp_crc32c_shifted_table(7, lengths[k]));
        /* a large shift is many small ones */
        uint32_t crc = 0xCAFEBABE;
        for (int k = 0; k < 1024; k++) crc = rp_crc32c_paths[i].shifted(crc, UINT64_C(1) << 53);
        CHECK(crc == rp_crc32c_paths[i].shifted(0xCAFEBABE, UINT64_C(1) << 63));
    }
}

static void patches(void) {
    uint64_t random = 3;
    uint8_t data[4096], field[16];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)next_random(&random);
    for (int round = 0; round < 2000; round++) {
        size_t n = next_random(&random) % (sizeof field + 1), at = next_random(&random) % (sizeof data - n + 1);
        uint32_t before = rp_crc32c(0, data, sizeof data);
        for (size_t i = 0; i < n; i++) field[i] = (uint8_t)next_random(&random);
        uint32_t after = rp_crc32c_patch(before, data + at, field, n, sizeof data - at - n);
        memcpy(data + at, field, n);
        CHECK(after == rp_crc32c(0, data, sizeof data));
    }
}

static void constants(void) {
#if defined(__x86_64__)
    for (int i = 1; i <= 16; i++) {
        if (!rp_crc32c_ahead[i][0]) continue;
        CHECK(rp_crc32c_ahead[i][0] == (uint64_t)power_of_x(128 * i + 63) << 32);
        CHECK(rp_crc32c_ahead[i][1] == (uint64_t)power_of_x(128 * i - 1) << 32);
    }
    for (int i = 1; i <= 3; i++) CHECK(!memcmp(&rp_crc32c_ahead_parts[2 * (3 - i)], rp_crc32c_ahead[i], 16));
#endif
    CHECK(rp_crc32c_shift.power[0][5] == power_of_x(5 * 8 - 33) && rp_crc32c_shift.power[1][1] == power_of_x(2048 - 33));
}

int main(void) {
    check_value();
    constants();
    every_length_at_both_ends();
    long_message();
    shifts();
    patches();
    return 0;
}
