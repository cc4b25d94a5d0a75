/* The parts of a text that a JSON string holds unescaped (RFC 8259, section 7): sixteen or eight bytes at a time. */
#ifndef RECORDPRESS_JSON_H
#define RECORDPRESS_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "recordpress/endian.h"

/* A high bit for each byte that is escaped or not ASCII: control characters, quote, backslash, 0x80 and above. A borrow
 * may set bits of bytes after such a byte, but not of bytes before it. */
static inline uint64_t rp_json_special(uint64_t x) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t control = x - 0x20 * ones, quote = (x ^ 0x22 * ones) - ones, backslash = (x ^ 0x5c * ones) - ones;
    return (x | control | quote | backslash) & 0x80 * ones;
}

/* The index of the first special byte of eight; at least one byte is special. */
static inline size_t rp_json_first(uint64_t special) { return (unsigned)__builtin_ctzll(special) >> 3; }

/* Copy at most eight bytes, without a loop: the parts that are copied may overlap. */
static inline size_t rp_json_copy_few(uint8_t *to, const uint8_t *from, size_t size) {
    uint64_t special, x;
    if (size >= 4) {
        uint32_t low = rp_load_le32(from), high = rp_load_le32(from + size - 4);
        rp_store_le32(to, low);
        rp_store_le32(to + size - 4, high);
        x = low | (uint64_t)high << 8 * (size - 4);
    } else if (size) {
        /* the first, the middle and the last byte: two or all three may be the same */
        x = from[0] | (uint32_t)from[size >> 1] << 8 * (size >> 1) | (uint32_t)from[size - 1] << 8 * (size - 1);
        to[0] = from[0];
        to[size >> 1] = from[size >> 1];
        to[size - 1] = from[size - 1];
    } else {
        return 0;
    }
    special = rp_json_special(x) & (UINT64_MAX >> (64 - 8 * size));
    return special ? rp_json_first(special) : size;
}

/* Copies bytes up to the first special byte; returns their number. `to` has room for `size` bytes, which may all be
 * written. */
static inline size_t rp_json_copy(uint8_t *to, const uint8_t *from, size_t size) {
    size_t i = 0;
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(0x20), quote = _mm_set1_epi8(0x22), backslash = _mm_set1_epi8(0x5c);
    for (; size - i >= 16; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(from + i));
        _mm_storeu_si128((__m128i *)(to + i), x);
        __m128i found = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, backslash));
        found = _mm_or_si128(found, _mm_cmplt_epi8(x, space)); /* signed: 0x80 and above too */
        unsigned mask = (unsigned)_mm_movemask_epi8(found);
        if (mask) return i + (unsigned)__builtin_ctz(mask);
    }
#endif
    for (; size - i >= 8; i += 8) {
        uint64_t x = rp_load_le64(from + i), special = rp_json_special(x);
        rp_store_le64(to + i, x);
        if (special) return i + rp_json_first(special);
    }
    return i + rp_json_copy_few(to + i, from + i, size - i);
}

#endif
