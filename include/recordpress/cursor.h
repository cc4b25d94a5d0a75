/* The bounded read cursor: entries, their headers and their records are read through it. Codec framing is not: its
 * lengths come block by block, and each load (endian.h) follows a check of the bytes that are left.
 *
 * Once a read fails, the cursor stays failed (every later read returns 0), so that a decoder is
 * straight-line code with one check of rp_cursor_ok at its end.
 */
#ifndef RECORDPRESS_CURSOR_H
#define RECORDPRESS_CURSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "endian.h"
#include "varint.h"

#define RP_LIKELY(x) __builtin_expect(!!(x), 1)
#define RP_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Failed: p is NULL (and so is end, which leaves no bytes to read). */
typedef struct rp_cursor {
    const uint8_t *p;
    const uint8_t *end;
} rp_cursor;

static inline rp_cursor rp_cursor_of(const uint8_t *data, size_t size) {
    rp_cursor c = {data, size ? data + size : data}; /* no offset is added to NULL, which an empty buffer may be */
    return c;
}
static inline int rp_cursor_ok(const rp_cursor *c) { return c->p != NULL; }
static inline size_t rp_cursor_left(const rp_cursor *c) { return (size_t)(c->end - c->p); }
static inline void rp_cursor_fail(rp_cursor *c) { c->p = c->end = NULL; }

/* Return the next `size` bytes, or NULL. The sum is one of integers, because a failed cursor may read 0 bytes. */
static inline const uint8_t *rp_read_bytes(rp_cursor *c, size_t size) {
    const uint8_t *at = c->p;
    if (RP_UNLIKELY(size > rp_cursor_left(c))) {
        rp_cursor_fail(c);
        return NULL;
    }
    c->p = (const uint8_t *)((uintptr_t)at + size);
    return at;
}

static inline uint8_t rp_read_u8(rp_cursor *c) {
    if (RP_UNLIKELY(c->p == c->end)) {
        rp_cursor_fail(c);
        return 0;
    }
    return *c->p++;
}
static inline int32_t rp_read_be32(rp_cursor *c) {
    const uint8_t *p = rp_read_bytes(c, 4);
    return p ? (int32_t)rp_load_be32(p) : 0;
}
static inline int64_t rp_read_be64(rp_cursor *c) {
    const uint8_t *p = rp_read_bytes(c, 8);
    return p ? (int64_t)rp_load_be64(p) : 0;
}

/* The general varint reader, out of the hot path. `max` is RP_VARINT_MAX or RP_VARLONG_MAX. It takes
 * and returns pointers by value, so that the caller's cursor can live in registers. */
typedef struct rp_varint_read {
    uint64_t value;
    const uint8_t *p; /* after the varint, NULL if it is too long or truncated */
} rp_varint_read;

static __attribute__((noinline, unused)) rp_varint_read rp_uvarint_slow(const uint8_t *p, const uint8_t *end, int max) {
    rp_varint_read r = {0, NULL};
    for (int i = 0; i < max && p < end; i++) {
        uint64_t b = *p++;
        r.value |= (b & 0x7f) << (7 * i); /* i <= 9: bits above 63 fall off, as in Java */
        if (b < 0x80) {
            if (max == RP_VARINT_MAX) r.value = (uint32_t)r.value;
            r.p = p;
            return r;
        }
    }
    r.value = 0;
    return r;
}

static inline __attribute__((always_inline)) uint64_t rp_read_uvarint_max(rp_cursor *c, int max) {
    const uint8_t *p = c->p;
    size_t left = rp_cursor_left(c);
    /* one and two bytes: lengths below 8192, nearly all fields of real records */
    if (RP_LIKELY(left >= 1 && p[0] < 0x80)) {
        c->p = p + 1;
        return p[0];
    }
    if (RP_LIKELY(left >= 2 && p[1] < 0x80)) {
        c->p = p + 2;
        return (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
    }
    rp_varint_read r = rp_uvarint_slow(p, c->end, max);
    if (r.p) c->p = r.p;
    else rp_cursor_fail(c);
    return r.value;
}

static inline int64_t rp_read_varint(rp_cursor *c) { return rp_unzigzag(rp_read_uvarint_max(c, RP_VARINT_MAX)); }
static inline int64_t rp_read_varlong(rp_cursor *c) { return rp_unzigzag(rp_read_uvarint_max(c, RP_VARLONG_MAX)); }

#endif
