/* Loops over include/recordpress/crc32c.h and ISA-L, for lines that compare them without Python between the calls. */
#include "recordpress/crc32c.h"

typedef unsigned iscsi(unsigned char *, int, unsigned);

static volatile uint32_t result;

uint32_t crc32c(const uint8_t *data, size_t n) { return rp_crc32c(0, data, n); }

void loop_crc32c(const uint8_t *data, size_t n, size_t calls) {
    while (calls--) result = rp_crc32c(0, data, n);
}

uint32_t crc32c_table(const uint8_t *data, size_t n) { return ~rp_crc32c_table(~0u, data, n); }

void loop_crc32c_table(const uint8_t *data, size_t n, size_t calls) {
    while (calls--) result = rp_crc32c_table(~0u, data, n);
}

void loop_isal(iscsi *crc32_iscsi, const uint8_t *data, size_t n, size_t calls) {
    while (calls--) result = crc32_iscsi((unsigned char *)(uintptr_t)data, (int)n, ~0u);
}

uint32_t patch(uint32_t crc, const uint8_t *old, const uint8_t *changed, size_t n, uint64_t distance) {
    return rp_crc32c_patch(crc, old, changed, n, distance);
}

/* Each call goes on from the result of the one before, so that none overlaps the next. */
void loop_patch(uint32_t crc, const uint8_t *old, const uint8_t *changed, size_t n, uint64_t distance, size_t calls) {
    while (calls--) crc = rp_crc32c_patch(crc, old, changed, n, distance);
    result = crc;
}
