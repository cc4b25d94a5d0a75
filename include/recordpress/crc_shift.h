/* The effect of bytes after a message on its checksum: multiplication by x^(8n) modulo the polynomial.
 *
 * A CRC is the remainder of the message as a polynomial over GF(2), so it is linear: n more bytes multiply the
 * earlier remainder by x^(8n). This allows combine (the checksum of A followed by B, from the checksums of A and B)
 * and patch (the checksum after a field changed) without reading the messages.
 *
 * Checksums are reflected: bit 31 is the coefficient of x^0. Products carry a factor of x^33, as after a
 * carry-less multiplication followed by the CPU's CRC instruction (one x because the product of two
 * reflected words is one bit short of 64, x^32 because the instruction appends 32 bits); the factors here
 * carry x^-33 to make up for it.
 */
#ifndef RECORDPRESS_CRC_SHIFT_H
#define RECORDPRESS_CRC_SHIFT_H

#include <stdint.h>

typedef struct rp_crc_shift {
    uint32_t poly;            /* without x^32 */
    uint32_t order;           /* the least n > 0 with x^n = 1, so also with x^(8n) = 1 */
    uint32_t power[4][256];   /* power[i][j] = x^(8 j 256^i - 33) */
} rp_crc_shift;

static inline uint32_t rp_crc_times_x(uint32_t poly, uint32_t a) { return a >> 1 ^ (poly & -(a & 1)); }

static inline uint32_t rp_crc_over_x(uint32_t poly, uint32_t a) {
    return a >> 31 ? (a ^ poly) << 1 | 1 : a << 1;
}

/* a * b * x^33 */
static inline uint32_t rp_crc_multiply(uint32_t poly, uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (int i = 0; i < 32; i++) product = rp_crc_times_x(poly, product) ^ (a & -(b >> i & 1));
    for (int i = 0; i < 33; i++) product = rp_crc_times_x(poly, product);
    return product;
}

/* a * step * x^33, where times[k] is the product for bit k: far faster than rp_crc_multiply for many a. */
static inline uint32_t rp_crc_step(const uint32_t times[32], uint32_t a) {
    uint32_t product = 0;
    for (int k = 0; k < 32; k++) product ^= times[k] & -(a >> k & 1);
    return product;
}

/* Importing the package calls this once for each of the two polynomials. */
static inline void rp_crc_shift_init(rp_crc_shift *shift, uint32_t poly, uint32_t order) {
    uint32_t times[32], one = UINT32_C(1) << 31;
    shift->poly = poly;
    shift->order = order;
    for (int i = 0; i < 33; i++) one = rp_crc_over_x(poly, one);
    uint32_t step = one;
    for (int i = 0; i < 8; i++) step = rp_crc_times_x(poly, step);
    for (int i = 0; i < 4; i++) {
        uint32_t product = step;
        for (int k = 0; k < 33; k++) product = rp_crc_times_x(poly, product);
        for (int k = 31; k >= 0; k--, product = rp_crc_times_x(poly, product)) times[k] = product;
        shift->power[i][0] = one;
        for (int j = 1; j < 256; j++) shift->power[i][j] = rp_crc_step(times, shift->power[i][j - 1]);
        step = rp_crc_step(times, shift->power[i][255]);
    }
}

/* crc * x^(8n): the checksum's state after n zero bytes. At most four multiplications. */
static inline uint32_t rp_crc_shifted(const rp_crc_shift *shift, uint32_t crc, uint64_t n) {
    n %= shift->order;
    for (int i = 0; n; i++, n >>= 8)
        if (n & 255) crc = rp_crc_multiply(shift->poly, crc, shift->power[i][n & 255]);
    return crc;
}

#endif
