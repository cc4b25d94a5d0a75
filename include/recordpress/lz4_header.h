/* The LZ4 frame header and its checksum byte HC: reading, writing, and exchange of Kafka's two variants.
 *
 *   header    magic(4) | FLG | BD | [content size(8)] | [dictionary id(4)] | HC
 *
 * HC is the second byte of xxh32 over the descriptor (FLG to the end of the header, without HC).
 * Kafka's first clients hashed from the frame's magic instead; magic 0 keeps that "broken" value
 * (KAFKA-3160, KIP-57), so the two writers differ in this one byte.
 */
#ifndef RECORDPRESS_LZ4_HEADER_H
#define RECORDPRESS_LZ4_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "endian.h"
#include "status.h"

enum {
    RP_LZ4_FRAME_MAGIC = 0x184D2204,
    RP_LZ4_HEADER_MIN = 7,     /* magic, FLG, BD, HC */
    RP_LZ4_HEADER_MAX = 15,    /* and 8 bytes of content size */
    RP_LZ4_FLG = 0x60,         /* what Kafka writes: version 1, independent blocks */
    RP_LZ4_BD = 0x40,          /* and blocks of at most 64 KiB */
    RP_LZ4_FLG_DICT = 0x01,
    RP_LZ4_FLG_BIT1 = 0x02,    /* reserved */
    RP_LZ4_FLG_CONTENT_CHECKSUM = 0x04,
    RP_LZ4_FLG_CONTENT_SIZE = 0x08,
    RP_LZ4_FLG_BLOCK_CHECKSUM = 0x10,
    RP_LZ4_FLG_INDEPENDENT = 0x20
};

/* xxHash, 32 bits, seed 0 (xxHash specification, "XXH32 algorithm description"). Not that of libxxhash: these headers
 * need no library. */
static inline uint32_t rp_rotl32(uint32_t v, int bits) { return (v << bits) | (v >> (32 - bits)); }

static inline uint32_t rp_xxh32(const uint8_t *p, size_t size) {
    const uint32_t p1 = 0x9E3779B1u, p2 = 0x85EBCA77u, p3 = 0xC2B2AE3Du, p4 = 0x27D4EB2Fu, p5 = 0x165667B1u;
    const uint8_t *end = p + size;
    uint32_t h = p5;
    if (size >= 16) {
        uint32_t lane[4] = {p1 + p2, p2, 0, 0u - p1};
        for (; end - p >= 16; p += 16)
            for (int i = 0; i < 4; i++) lane[i] = rp_rotl32(lane[i] + rp_load_le32(p + 4 * i) * p2, 13) * p1;
        h = rp_rotl32(lane[0], 1) + rp_rotl32(lane[1], 7) + rp_rotl32(lane[2], 12) + rp_rotl32(lane[3], 18);
    }
    h += (uint32_t)size;
    for (; end - p >= 4; p += 4) h = rp_rotl32(h + rp_load_le32(p) * p3, 17) * p4;
    for (; p < end; p++) h = rp_rotl32(h + *p * p5, 11) * p1;
    h = (h ^ (h >> 15)) * p2;
    h = (h ^ (h >> 13)) * p3;
    return h ^ (h >> 16);
}

/* header_size includes HC itself, the header's last byte. */
static inline uint8_t rp_lz4_hc(const uint8_t *frame, size_t header_size) {
    return (uint8_t)(rp_xxh32(frame + 4, header_size - 5) >> 8);
}
static inline uint8_t rp_lz4_broken_hc(const uint8_t *frame, size_t header_size) {
    return (uint8_t)(rp_xxh32(frame, header_size - 1) >> 8);
}

typedef struct rp_lz4_frame {
    size_t header_size;
    size_t block_max;       /* maximum decoded bytes of a block */
    uint8_t flags;          /* FLG */
} rp_lz4_frame;

/* Read a header as Kafka's Java reader does, with a separate error for each rule. If check_hc is set, HC must be
 * that of magic 1 and 2; magic 0 accepts any value. */
static inline int rp_lz4_header_read(const uint8_t *p, size_t size, int check_hc, rp_lz4_frame *frame, rp_error *err) {
    if (size < 4) return rp_fail(err, RP_LZ4_SHORT, 0, 0, 0);
    uint32_t magic = rp_load_le32(p);
    if (magic != RP_LZ4_FRAME_MAGIC) return rp_fail(err, RP_LZ4_MAGIC, 0, magic, 0);
    if (size < RP_LZ4_HEADER_MIN) return rp_fail(err, RP_LZ4_SHORT, (int64_t)size, 0, 0);
    int flg = p[4], bd = p[5], code = (bd >> 4) & 7;
    if (flg & RP_LZ4_FLG_DICT) return rp_fail(err, RP_LZ4_DICT, 4, 0, 0);
    if (flg & RP_LZ4_FLG_BIT1) return rp_fail(err, RP_LZ4_FLG_RESERVED, 4, 0, 0);
    if (!(flg & RP_LZ4_FLG_INDEPENDENT)) return rp_fail(err, RP_LZ4_DEPENDENT, 4, 0, 0);
    if (flg >> 6 != 1) return rp_fail(err, RP_LZ4_VERSION, 4, flg >> 6, 0);
    if (bd & 0x8f) return rp_fail(err, RP_LZ4_BD_RESERVED, 5, bd & 0x8f, 0);
    if (code < 4) return rp_fail(err, RP_LZ4_BLOCK_MAX, 5, code, 0);
    frame->flags = (uint8_t)flg;
    frame->block_max = (size_t)1 << (8 + 2 * code);
    frame->header_size = flg & RP_LZ4_FLG_CONTENT_SIZE ? RP_LZ4_HEADER_MAX : RP_LZ4_HEADER_MIN;
    if (size < frame->header_size) return rp_fail(err, RP_LZ4_SHORT, (int64_t)size, 0, 0);
    int64_t at = (int64_t)frame->header_size - 1;
    uint8_t hc = rp_lz4_hc(p, frame->header_size);
    if (check_hc && p[at] != hc) return rp_fail(err, RP_LZ4_HC, at, p[at], hc);
    return RP_OK;
}

/* Write Kafka's header, 7 bytes. */
static inline void rp_lz4_header_write(uint8_t *p, int magic) {
    rp_store_le32(p, RP_LZ4_FRAME_MAGIC);
    p[4] = RP_LZ4_FLG;
    p[5] = RP_LZ4_BD;
    p[6] = magic == 0 ? rp_lz4_broken_hc(p, RP_LZ4_HEADER_MIN) : rp_lz4_hc(p, RP_LZ4_HEADER_MIN);
}

/* Give the frame at p the HC of magic 1 and 2, or, if `broken`, the HC of magic 0, in place. */
static inline int rp_lz4_header_set_hc(uint8_t *p, size_t size, int broken, rp_error *err) {
    rp_lz4_frame frame;
    int status = rp_lz4_header_read(p, size, 0, &frame, err);
    if (status) return status;
    p[frame.header_size - 1] = broken ? rp_lz4_broken_hc(p, frame.header_size) : rp_lz4_hc(p, frame.header_size);
    return RP_OK;
}

#endif
