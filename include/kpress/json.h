/* The parts of a text that a JSON string holds unescaped (RFC 8259, section 7): eight bytes at a time. */
#ifndef KPRESS_JSON_H
#define KPRESS_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kpress/endian.h"

/* A high bit for each byte that is escaped or not ASCII: control characters, quote, backslash, 0x80 and above. A borrow
 * may set bits of bytes after such a byte, but of none before it. */
static inline uint64_t kp_json_special(uint64_t x) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t control = x - 0x20 * ones, quote = (x ^ 0x22 * ones) - ones, backslash = (x ^ 0x5c * ones) - ones;
    return (x | control | quote | backslash) & 0x80 * ones;
}

/* Copies bytes up to the first that is special; returns how many. `to` has room for `size` bytes. */
static inline size_t kp_json_copy(uint8_t *to, const uint8_t *from, size_t size) {
    size_t i = 0;
    for (; size - i >= 8; i += 8) {
        uint64_t special = kp_json_special(kp_load_le64(from + i));
        memcpy(to + i, from + i, 8);
        if (special) return i + ((unsigned)__builtin_ctzll(special) >> 3);
    }
    for (; i < size; i++) {
        uint8_t c = from[i];
        if (c < 0x20 || c >= 0x80 || c == 0x22 || c == 0x5c) return i;
        to[i] = c;
    }
    return i;
}

#endif
