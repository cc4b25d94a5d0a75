/* A bounded decoder of one raw snappy block (google/snappy, format_description.txt); snappy_encode.h is the other way.
 *
 *   block     varint uncompressed size | element ...
 *   literal   tag (00) | 0 to 4 bytes of length | bytes
 *   copy      tag (01, 10, 11 in the two low bits) | 1, 2 or 4 bytes of offset
 *
 * libsnappy's own, built with gcc as in distributions, has two thirds of this one's speed (bench/bench_codecs.py shows
 * both).
 */
#ifndef RECORDPRESS_SNAPPY_DECODE_H
#define RECORDPRESS_SNAPPY_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "endian.h"

/* The preamble: the decoded size as a varint of at most 32 bits. Returns its bytes, 0 if it is not one. */
static inline size_t rp_snappy_preamble(const uint8_t *p, size_t size, uint32_t *decoded) {
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

/* An element's tag byte: 2 bits of kind, 6 of length and offset. */
enum { RP_SNAPPY_LITERAL, RP_SNAPPY_COPY1, RP_SNAPPY_COPY2, RP_SNAPPY_COPY4 };

/* The most that one turn of the fast loop reads: a tag, four bytes of length, a literal of 16, a second tag and its
 * four bytes of offset. And the most that it writes: a literal of 16, a copy of 64, one vector too much. Nearer to the
 * ends the careful loop takes over. */
enum { RP_SNAPPY_TURN_IN = 1 + 4 + 16 + 1 + 4, RP_SNAPPY_TURN_OUT = 16 + 64 + 16 };

/* By the tag of a copy with an offset of 1 or 2 bytes: its length, and in bits 8 to 10 the offset's high bits. */
#define RP_SNAPPY_ENTRY(tag) \
    (((tag) & 3) == RP_SNAPPY_COPY1 ? (((tag) >> 2 & 7) + 4) | ((tag) >> 5) << 8 : ((tag) >> 2) + 1)
#define RP_SNAPPY_4(tag) \
    RP_SNAPPY_ENTRY(tag), RP_SNAPPY_ENTRY((tag) + 1), RP_SNAPPY_ENTRY((tag) + 2), RP_SNAPPY_ENTRY((tag) + 3)
#define RP_SNAPPY_16(tag) RP_SNAPPY_4(tag), RP_SNAPPY_4((tag) + 4), RP_SNAPPY_4((tag) + 8), RP_SNAPPY_4((tag) + 12)
#define RP_SNAPPY_64(tag) RP_SNAPPY_16(tag), RP_SNAPPY_16((tag) + 16), RP_SNAPPY_16((tag) + 32), RP_SNAPPY_16((tag) + 48)
static const uint16_t rp_snappy_copies[256] = {RP_SNAPPY_64(0), RP_SNAPPY_64(64), RP_SNAPPY_64(128), RP_SNAPPY_64(192)};

static inline void rp_copy16(uint8_t *to, const uint8_t *from) { memcpy(to, from, 16); }

static inline void rp_copy64(uint8_t *to, const uint8_t *from) {
    for (int i = 0; i < 64; i += 16) rp_copy16(to + i, from + i);
}

/* A literal's length from its tag and the bytes after it, which *ip passes; 0 if they are not there. */
static inline size_t rp_snappy_literal(uint32_t tag, const uint8_t **ip, const uint8_t *iend) {
    size_t length = (tag >> 2) + 1;
    if (length <= 60) return length;
    size_t bytes = length - 60;
    if ((size_t)(iend - *ip) < bytes) return 0;
    length = 0;
    for (size_t i = 0; i < bytes; i++) length |= (size_t)(*ip)[i] << (8 * i);
    *ip += bytes;
    return length + 1;
}

/* A copy whose source is less than 16 bytes back: the pattern is doubled until whole vectors can be copied.
 * Writes less than 16 bytes past op + length. */
static inline void rp_snappy_pattern(uint8_t *op, size_t offset, size_t length) {
    uint8_t *end = op + length;
    const uint8_t *from = op - offset;
    for (; offset < 16 && op < end; op += offset, offset += offset) {
        uint8_t vector[16];
        rp_copy16(vector, from);
        rp_copy16(op, vector);
    }
    for (; op < end; op += 16) rp_copy16(op, op - offset);
}

/* Decode the elements in [ip, iend) to exactly [op, oend). Reads and writes nothing outside of the two.
 * Returns whether they filled it exactly. */
static inline int rp_snappy_decode(const uint8_t *ip, const uint8_t *iend, uint8_t *op, uint8_t *oend) {
    const uint8_t *start = op;
    size_t length, offset;
    while (iend - ip >= RP_SNAPPY_TURN_IN && oend - op >= RP_SNAPPY_TURN_OUT) {
        uint32_t tag = *ip++;
        if ((tag & 3) == RP_SNAPPY_LITERAL) {
            length = rp_snappy_literal(tag, &ip, iend);
            if (length > 16) {
                if (length > (size_t)(iend - ip) || length > (size_t)(oend - op)) return 0;
                if (length <= 64 && iend - ip >= 64) rp_copy64(op, ip);
                else memcpy(op, ip, length);
                ip += length;
                op += length;
                continue;
            }
            rp_copy16(op, ip);
            ip += length;
            op += length;
            tag = *ip; /* a copy, nearly always: go on without checking the margins */
            if ((tag & 3) == RP_SNAPPY_LITERAL) continue;
            ip++;
        }
        if (__builtin_expect((tag & 3) == RP_SNAPPY_COPY4, 0)) {
            length = (tag >> 2) + 1;
            offset = rp_load_le32(ip);
            ip += 4;
        } else { /* which of the other two comes next is unpredictable, so there is no branch */
            static const uint32_t offset_mask[3] = {0, 0xff, 0xffff};
            uint32_t entry = rp_snappy_copies[tag];
            length = entry & 0xff;
            offset = (entry & 0x700) | (rp_load_le16(ip) & offset_mask[tag & 3]);
            ip += tag & 3;
        }
        if (offset - 1 >= (size_t)(op - start)) return 0;
        if (offset < 16) {
            rp_snappy_pattern(op, offset, length);
        } else {
            rp_copy16(op, op - offset);
            rp_copy16(op + 16, op + 16 - offset);
            if (length > 32) {
                rp_copy16(op + 32, op + 32 - offset);
                rp_copy16(op + 48, op + 48 - offset);
            }
        }
        op += length;
    }
    while (ip < iend) { /* the same, with a check for each byte */
        uint32_t tag = *ip++;
        size_t bytes = (tag & 3) == RP_SNAPPY_COPY4 ? 4 : tag & 3;
        if ((tag & 3) == RP_SNAPPY_LITERAL) {
            length = rp_snappy_literal(tag, &ip, iend);
            if (length == 0 || length > (size_t)(iend - ip) || length > (size_t)(oend - op)) return 0;
            memcpy(op, ip, length);
            ip += length;
            op += length;
            continue;
        }
        if ((size_t)(iend - ip) < bytes) return 0;
        length = bytes == 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
        offset = bytes == 1 ? (tag >> 5) << 8 : 0;
        for (size_t i = 0; i < bytes; i++) offset |= (size_t)ip[i] << (8 * i);
        ip += bytes;
        if (offset - 1 >= (size_t)(op - start) || length > (size_t)(oend - op)) return 0;
        const uint8_t *from = op - offset; /* byte by byte: the copy may run into what it wrote itself */
        for (size_t i = 0; i < length; i++) *op++ = from[i];
    }
    return op == oend;
}

#endif
