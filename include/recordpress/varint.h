/* Kafka's variable-length integers: base-128 groups, least significant first, signed ones zigzag.
 *
 *   varint   32 bits, at most 5 bytes      varlong   64 bits, at most 10 bytes
 *
 * Rules (org.apache.kafka.common.utils.ByteUtils): bit 7 set in the last permitted byte is an error;
 * excess bits of that byte are dropped; padded encodings decode; writers emit the minimum.
 * Readers are in cursor.h, whose cursor is bounded.
 */
#ifndef RECORDPRESS_VARINT_H
#define RECORDPRESS_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define RP_VARINT_MAX 5
#define RP_VARLONG_MAX 10

static inline uint64_t rp_zigzag(int64_t n) { return ((uint64_t)n << 1) ^ (uint64_t)(n >> 63); }
static inline int64_t rp_unzigzag(uint64_t n) { return (int64_t)(n >> 1) ^ -(int64_t)(n & 1); }

/* Bytes of an unsigned value, 1 to 10. */
static inline size_t rp_uvarlong_size(uint64_t n) {
    /* (bits + 6) / 7 without a division: 9 * bits / 64 rounds the same way for 1..64 bits */
    return (size_t)((9 * (64 - __builtin_clzll(n | 1)) + 64) >> 6);
}

/* Bytes of a signed value: ByteUtils.sizeOfVarint for int32 values, sizeOfVarlong for int64 values. */
static inline size_t rp_varlong_size(int64_t n) { return rp_uvarlong_size(rp_zigzag(n)); }

/* Write at p, which has room for RP_VARLONG_MAX bytes; returns the end. */
static inline uint8_t *rp_uvarlong_write(uint8_t *p, uint64_t n) {
    while (n >= 0x80) {
        *p++ = (uint8_t)n | 0x80;
        n >>= 7;
    }
    *p++ = (uint8_t)n;
    return p;
}

static inline uint8_t *rp_varlong_write(uint8_t *p, int64_t n) { return rp_uvarlong_write(p, rp_zigzag(n)); }

#endif
