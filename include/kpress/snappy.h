/* A bounded decoder of one raw snappy block (google/snappy, format_description.txt).
 *
 * libsnappy's own is compiled by gcc, as distributions build it, to two thirds of this one's speed
 * (bench/bench_codecs.py shows both); for compression there is nothing to gain and libsnappy is called.
 */
#ifndef KPRESS_SNAPPY_H
#define KPRESS_SNAPPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "endian.h"

/* The preamble: the decoded size as a varint of at most 32 bits. Returns its bytes, 0 if it is not one. */
static inline size_t kp_snappy_preamble(const uint8_t *p, size_t size, uint32_t *decoded) {
    uint64_t v = 0;
    for (size_t i = 0; i < 5 && i < size; i++) {
        v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (p[i] < 0x80) {
            *decoded = (uint32_t)v;
            return v <= UINT32_MAX ? i + 1 : 0;
        }
    }
    return 0;
}

/* Bytes that the fast loop may write behind an element's start before it looks at the room again. */
enum { KP_SNAPPY_ROOM = 64 + 16 };

/* Decode the elements in [ip, iend) to exactly [op, oend). Reads and writes nothing outside of the two.
 * Returns whether it fitted exactly. */
static inline int kp_snappy_elements(const uint8_t *ip, const uint8_t *iend, uint8_t *op, uint8_t *oend) {
    const uint8_t *start = op;
    while (ip < iend) {
        uint32_t tag = *ip++;
        size_t length, offset;
        size_t in_left = (size_t)(iend - ip), out_left = (size_t)(oend - op);
        if ((tag & 3) == 0) {
            length = (tag >> 2) + 1;
            if (length <= 16 && in_left >= 16 && out_left >= 16) { /* most literals */
                memcpy(op, ip, 16);
                ip += length;
                op += length;
                continue;
            }
            if (length > 60) {
                size_t bytes = length - 60;
                if (in_left < bytes) return 0;
                uint32_t n = 0;
                for (size_t i = 0; i < bytes; i++) n |= (uint32_t)ip[i] << (8 * i);
                length = (size_t)n + 1;
                ip += bytes;
                in_left -= bytes;
            }
            if (length > in_left || length > out_left) return 0;
            memcpy(op, ip, length);
            ip += length;
            op += length;
            continue;
        }
        switch (tag & 3) {
        case 1:
            if (in_left < 1) return 0;
            length = ((tag >> 2) & 7) + 4;
            offset = (tag >> 5) << 8 | ip[0];
            ip += 1;
            break;
        case 2:
            if (in_left < 2) return 0;
            length = (tag >> 2) + 1;
            offset = kp_load_le16(ip);
            ip += 2;
            break;
        default:
            if (in_left < 4) return 0;
            length = (tag >> 2) + 1;
            offset = kp_load_le32(ip);
            ip += 4;
        }
        if (offset == 0 || offset > (size_t)(op - start) || length > out_left) return 0;
        const uint8_t *from = op - offset;
        if (offset >= 16 && out_left >= KP_SNAPPY_ROOM) {
            for (size_t i = 0; i < length; i += 16) memcpy(op + i, from + i, 16);
        } else {
            for (size_t i = 0; i < length; i++) op[i] = from[i];
        }
        op += length;
    }
    return op == oend;
}

#endif
