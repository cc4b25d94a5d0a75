/* Header keys as Arrow strings: UTF-8 with every ill-formed sequence replaced by U+FFFD, as java.lang.String decodes them:
 * one replacement for each maximal subpart (Unicode 3.9, table 3-7 of well-formed byte sequences), and one for a
 * surrogate of three bytes, where that table requires three. */
#ifndef RECORDPRESS_UTF8_H
#define RECORDPRESS_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return the size of the well-formed sequence at p, or the negated size of the ill-formed part to replace. */
static inline int rp_utf8_sequence(const uint8_t *p, size_t left) {
    uint8_t b = p[0];
    if (b < 0x80) return 1;
    int more = b >= 0xc2 && b <= 0xdf ? 1 : (b & 0xf0) == 0xe0 ? 2 : b >= 0xf0 && b <= 0xf4 ? 3 : 0;
    if (!more) return -1;
    uint8_t low = b == 0xe0 ? 0xa0 : b == 0xf0 ? 0x90 : 0x80; /* no overlong forms */
    uint8_t high = b == 0xf4 ? 0x8f : 0xbf; /* nothing above U+10FFFF */
    for (int i = 1; i <= more; i++) {
        if ((size_t)i >= left || p[i] < low || p[i] > high) return -i;
        low = 0x80;
        high = 0xbf;
    }
    return b == 0xed && p[1] > 0x9f ? -3 : more + 1; /* a surrogate */
}

/* Copies `size` bytes to `to`, which has room for 3 * size; returns the bytes written. */
static inline size_t rp_utf8_copy(uint8_t *to, const uint8_t *from, size_t size) {
    static const uint8_t replacement[3] = {0xef, 0xbf, 0xbd};
    uint8_t *start = to;
    for (size_t i = 0; i < size;) {
        int n = rp_utf8_sequence(from + i, size - i);
        if (n > 0) {
            memcpy(to, from + i, (size_t)n);
            to += n;
            i += (size_t)n;
        } else {
            memcpy(to, replacement, sizeof replacement);
            to += sizeof replacement;
            i += (size_t)-n;
        }
    }
    return (size_t)(to - start);
}

#endif
