/* Numbers in decimal digits: eight digits at a time, all in one register. */
#ifndef RECORDPRESS_DECIMAL_H
#define RECORDPRESS_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "recordpress/endian.h"

enum { RP_DECIMAL_ROOM = 25 }; /* bytes that rp_decimal may write: a sign, and three times eight digits */

/* The eight digits of a number below 10^8, the first in the lowest byte. The number is halved into lanes of four, two
 * and one digits; lanes are divided by 100 and 10 at once, by multiplication. */
static inline uint64_t rp_eight_digits(uint32_t value) {
    uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t tops = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    x = tops | (x - 100 * tops) << 16;
    tops = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tops | (x - 10 * tops) << 8;
}

/* Writes a number below 10^8 without leading zeros; returns its number of digits. Eight bytes are written. */
static inline size_t rp_decimal_first(uint8_t *to, uint32_t value) {
    uint64_t digits = rp_eight_digits(value);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) >> 3; /* the last digit is never omitted */
    rp_store_le64(to, (digits | UINT64_C(0x3030303030303030)) >> 8 * zeros);
    return 8 - zeros;
}

static inline void rp_decimal_rest(uint8_t *to, uint32_t value) {
    rp_store_le64(to, rp_eight_digits(value) | UINT64_C(0x3030303030303030));
}

/* Writes the number, and up to RP_DECIMAL_ROOM bytes in all; returns the size of the number. */
static inline size_t rp_decimal(uint8_t *to, int64_t number) {
    const uint32_t unit = 100000000;
    uint64_t value = number < 0 ? ~(uint64_t)number + 1 : (uint64_t)number;
    size_t n = 0;
    if (value < 10 && number >= 0) { /* timestamp types, and many partition numbers */
        to[0] = (uint8_t)('0' + value);
        return 1;
    }
    if (number < 0) to[n++] = '-';
    if (value < unit) return n + rp_decimal_first(to + n, (uint32_t)value);
    uint64_t top = value / unit;
    if (top < unit) {
        n += rp_decimal_first(to + n, (uint32_t)top);
    } else {
        n += rp_decimal_first(to + n, (uint32_t)(top / unit));
        rp_decimal_rest(to + n, (uint32_t)(top % unit));
        n += 8;
    }
    rp_decimal_rest(to + n, (uint32_t)(value % unit));
    return n + 8;
}

#endif
