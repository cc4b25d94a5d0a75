/* CRC-32C on any CPU, eight bytes a step through tables ("slicing-by-8"). See crc32c.h. */
#ifndef RECORDPRESS_CRC32C_TABLE_H
#define RECORDPRESS_CRC32C_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "recordpress/crc_shift.h"
#include "recordpress/endian.h"

#define RP_CRC32C_POLY UINT32_C(0x82F63B78)
#define RP_CRC32C_ORDER UINT32_C(0x7FFFFFFF)   /* P is x + 1 times a primitive polynomial of degree 31 */

static rp_crc_shift rp_crc32c_shift;
static uint32_t rp_crc32c_slices[8][256];   /* [k][b]: byte b with k zero bytes after it */

static inline void rp_crc32c_tables_init(void) {
    rp_crc_shift_init(&rp_crc32c_shift, RP_CRC32C_POLY, RP_CRC32C_ORDER);
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int i = 0; i < 8; i++) crc = rp_crc_times_x(RP_CRC32C_POLY, crc);
        rp_crc32c_slices[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++) {
            uint32_t crc = rp_crc32c_slices[k - 1][b];
            rp_crc32c_slices[k][b] = crc >> 8 ^ rp_crc32c_slices[0][crc & 255];
        }
}

static inline int rp_crc32c_table_supported(void) { return 1; }

static inline uint32_t rp_crc32c_table(uint32_t crc, const uint8_t *p, size_t n) {
    const uint32_t (*t)[256] = (const uint32_t (*)[256])rp_crc32c_slices;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t v = rp_load_le64(p) ^ crc;
        crc = t[7][v & 255] ^ t[6][v >> 8 & 255] ^ t[5][v >> 16 & 255] ^ t[4][v >> 24 & 255]
            ^ t[3][v >> 32 & 255] ^ t[2][v >> 40 & 255] ^ t[1][v >> 48 & 255] ^ t[0][v >> 56];
    }
    while (n--) crc = crc >> 8 ^ t[0][(crc ^ *p++) & 255];
    return crc;
}

static inline uint32_t rp_crc32c_shifted_table(uint32_t crc, uint64_t n) {
    return rp_crc_shifted(&rp_crc32c_shift, crc, n);
}

#endif
