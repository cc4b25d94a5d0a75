/* CRC-32C (Castagnoli, RFC 3720 appendix B.4): the checksum of Kafka's record batches v2.
 *
 * One implementation for each kind of CPU, chosen when the library is loaded:
 *
 *   table    any CPU         eight bytes a step through tables ("slicing-by-8")
 *   sse42    x86_64          three lanes of the crc32 instruction, joined by a carry-less multiplication
 *   avx2     + VPCLMULQDQ    256-bit folding beside the three lanes: the two units work at the same time
 *   avx512   + AVX-512       the same with 512-bit folding
 *   armv8    aarch64         three lanes of crc32cx, joined by PMULL
 *
 * Sources: V. Gopal and others, "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction" (Intel, 2011)
 * for the lanes; the same and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction"
 * (Intel, 2009) for folding.
 *
 * A function named kp_crc32c_<path> takes and returns the state between blocks, which is the checksum inverted.
 * None reads a byte outside of [p, p + n).
 *
 * The tables are static, and filled when the library is loaded: include this header in one module only
 * (kpress/checksum.pyx), which hands the functions to the others.
 */
#ifndef KPRESS_CRC32C_H
#define KPRESS_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kpress/crc_shift.h"
#include "kpress/endian.h"

#define KP_CRC32C_POLY UINT32_C(0x82F63B78)
#define KP_CRC32C_ORDER UINT32_C(0x7FFFFFFF)   /* x + 1 times a primitive polynomial of degree 31 */

static kp_crc_shift kp_crc32c_shift;
static uint32_t kp_crc32c_slices[8][256];   /* [k][b]: byte b with k zero bytes behind it */

static inline uint32_t kp_crc32c_table(uint32_t crc, const uint8_t *p, size_t n) {
    const uint32_t (*t)[256] = (const uint32_t (*)[256])kp_crc32c_slices;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t v = kp_load_le64(p) ^ crc;
        crc = t[7][v & 255] ^ t[6][v >> 8 & 255] ^ t[5][v >> 16 & 255] ^ t[4][v >> 24 & 255]
            ^ t[3][v >> 32 & 255] ^ t[2][v >> 40 & 255] ^ t[1][v >> 48 & 255] ^ t[0][v >> 56];
    }
    while (n--) crc = crc >> 8 ^ t[0][(crc ^ *p++) & 255];
    return crc;
}

static inline int kp_crc32c_always(void) { return 1; }

static inline uint32_t kp_crc32c_shifted_table(uint32_t crc, uint64_t n) {
    return kp_crc_shifted(&kp_crc32c_shift, crc, n);
}

typedef struct kp_crc32c_path {
    const char *name;
    int (*supported)(void);
    uint32_t (*update)(uint32_t crc, const uint8_t *p, size_t n);
    uint32_t (*shifted)(uint32_t crc, uint64_t n);
} kp_crc32c_path;

/* Best first. */
static const kp_crc32c_path kp_crc32c_paths[] = {
    {"table", kp_crc32c_always, kp_crc32c_table, kp_crc32c_shifted_table},
};

enum { KP_CRC32C_PATHS = sizeof kp_crc32c_paths / sizeof *kp_crc32c_paths };

static const kp_crc32c_path *kp_crc32c_active;

__attribute__((constructor)) static void kp_crc32c_load(void) {
    kp_crc_shift_init(&kp_crc32c_shift, KP_CRC32C_POLY, KP_CRC32C_ORDER);
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int i = 0; i < 8; i++) crc = kp_crc_times_x(KP_CRC32C_POLY, crc);
        kp_crc32c_slices[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++) {
            uint32_t crc = kp_crc32c_slices[k - 1][b];
            kp_crc32c_slices[k][b] = crc >> 8 ^ kp_crc32c_slices[0][crc & 255];
        }
    kp_crc32c_active = kp_crc32c_paths;
    while (!kp_crc32c_active->supported()) kp_crc32c_active++;
}

/* The checksum of the bytes so far (0 at the start) and n more. */
static inline uint32_t kp_crc32c(uint32_t crc, const uint8_t *p, size_t n) {
    return ~kp_crc32c_active->update(~crc, p, n);
}

/* The checksum of A then B from those of A and B; n bytes are in B. */
static inline uint32_t kp_crc32c_combine(uint32_t a, uint32_t b, uint64_t n) {
    return kp_crc32c_active->shifted(a, n) ^ b;
}

/* The checksum of a message after a field of n bytes, distance bytes before its end, changed. */
static inline uint32_t kp_crc32c_patch(uint32_t crc, const uint8_t *from, const uint8_t *to, size_t n,
                                       uint64_t distance) {
    return kp_crc32c_combine(kp_crc32c(0, from, n) ^ kp_crc32c(0, to, n), crc, distance);
}

#endif
