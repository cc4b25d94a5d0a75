/* Raw snappy blocks (google/snappy, format_description.txt): a bounded decoder, and an encoder.
 *
 *   block     varint uncompressed size | element ...
 *   literal   tag (00) | 0 to 4 bytes of length | bytes
 *   copy      tag (01, 10, 11 in the two low bits) | 1, 2 or 4 bytes of offset
 *
 * libsnappy's own decoder, built with gcc as in distributions, has two thirds of this one's speed. The encoder writes
 * the bytes of libsnappy 1.1.9 and 1.1.10, and so of snappy-java 1.1.10 and of Kafka's Java client since 3.6.
 * bench/bench_codecs.py shows the speed of both next to libsnappy's.
 */
#ifndef RECORDPRESS_SNAPPY_H
#define RECORDPRESS_SNAPPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cursor.h"
#include "endian.h"
#include "varint.h"

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
        } else { /* nothing predicts which of the other two comes, so the code does not branch */
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

/* The encoder. The format lets it choose its elements, and other versions of libsnappy choose others: 1.1.8 uses other
 * bits of the hash, which shows in fragments of up to 8 KB, and 1.2.0 searches for matches differently. To produce
 * Java's bytes on every machine, this encoder chooses as 1.1.10 does (CompressFragment in its snappy.cc):
 *
 *   - input is cut into fragments of 64 KB, which are independent
 *   - a table by the hash of four bytes holds the last position that was entered there; empty slots are the start
 *   - a literal has at least one byte; the 32 positions after that byte are looked up and entered, then every
 *     second position, after 32 steps every third, and so on
 *   - a match takes all equal bytes; the position of its last byte and the next position are entered, and if a
 *     match begins there at once, no literal comes between
 *   - a match starts before a fragment's last 15 bytes
 */
enum {
    RP_SNAPPY_FRAGMENT = 1 << 16, /* positions in a fragment fit in the table's uint16 */
    RP_SNAPPY_TABLE_BITS = 14,
    RP_SNAPPY_TABLE = 1 << RP_SNAPPY_TABLE_BITS, /* slots of the largest table */
    RP_SNAPPY_TABLE_MIN = 1 << 8,
    RP_SNAPPY_TAIL = 15, /* no match starts in these last bytes: whole vectors may be read before them */
    RP_SNAPPY_NEAR = 16, /* positions that are tried without checking for the end; their literals fit in a vector */
    RP_SNAPPY_SKIP = 32, /* positions until the step grows by one */
};

/* A fragment's state stays in registers only if all is one function. */
#define RP_SNAPPY_INLINE static inline __attribute__((always_inline))

/* Maximum bytes of a block, as in libsnappy. A literal takes at most 3 bytes more than its data, and a copy takes no
 * more bytes than it copies, so this leaves room for the excess bytes of vector steps. */
static inline size_t rp_snappy_bound(size_t size) { return 32 + size + size / 6; }

/* One fragment while it is encoded. */
typedef struct {
    const uint8_t *start, *end;
    const uint8_t *limit; /* end of the positions where a match may start */
    const uint8_t *ip;    /* encoded up to here */
    const uint8_t *match; /* equal to four bytes at ip */
    uint8_t *op;
    uint16_t *table;
    uint32_t mask; /* slots - 1 */
} rp_snappy_fragment;

/* Enter a position under its four bytes. Return the position that was entered there before, or the start. A small table
 * takes the lower bits of the hash (1.1.8: the upper bits). */
RP_SNAPPY_INLINE const uint8_t *rp_snappy_enter(const rp_snappy_fragment *f, const uint8_t *at, uint32_t bytes) {
    uint16_t *slot = f->table + ((bytes * 0x1e35a7bdu) >> (32 - RP_SNAPPY_TABLE_BITS) & f->mask);
    const uint8_t *before = f->start + *slot;
    *slot = (uint16_t)(at - f->start);
    return before;
}

static inline uint8_t *rp_snappy_put_literal(uint8_t *op, const uint8_t *data, size_t size) {
    size_t n = size - 1;
    if (n < 60) {
        *op++ = (uint8_t)(n << 2 | RP_SNAPPY_LITERAL);
    } else {
        size_t bytes = n < 256 ? 1 : 2; /* a fragment's longest literal needs no more */
        *op++ = (uint8_t)((59 + bytes) << 2 | RP_SNAPPY_LITERAL);
        *op++ = (uint8_t)n;
        if (bytes == 2) *op++ = (uint8_t)(n >> 8);
    }
    memcpy(op, data, size);
    return op + size;
}

static inline uint8_t *rp_snappy_put_copy2(uint8_t *op, size_t offset, size_t length) {
    rp_store_le32(op, (uint32_t)(offset << 8 | (length - 1) << 2 | RP_SNAPPY_COPY2));
    return op + 3;
}

/* Write a copy of 4 to 64 bytes; copies of up to 11 bytes from less than 2 KB back have a form of two bytes. The form
 * cannot be predicted, so the code does not branch. */
RP_SNAPPY_INLINE uint8_t *rp_snappy_put_copy(uint8_t *op, uint32_t offset, uint32_t length) {
    uint32_t two = ((11 - length) | (2047 - offset)) >> 31; /* of the offset's bytes */
    uint32_t copy1 = (offset >> 3 & 0xe0) + RP_SNAPPY_COPY1 - (4 << 2), copy2 = RP_SNAPPY_COPY2 - (1 << 2);
    rp_store_le32(op, (offset << 8) + (length << 2) + (copy1 ^ ((copy1 ^ copy2) & (0 - two))));
    return op + 2 + two;
}

/* Write a copy of any length: the last element must copy at least 4 bytes. */
static inline uint8_t *rp_snappy_put_copies(uint8_t *op, size_t offset, size_t length) {
    if (length >= 12 && length <= 64) return rp_snappy_put_copy2(op, offset, length); /* most copies that come here */
    for (; length >= 64 + 4; length -= 64) op = rp_snappy_put_copy2(op, offset, 64);
    if (length > 64) {
        op = rp_snappy_put_copy2(op, offset, 60);
        length -= 60;
    }
    return rp_snappy_put_copy(op, (uint32_t)offset, (uint32_t)length);
}

/* Return the number of bytes at b that equal the bytes at a, which is earlier. */
RP_SNAPPY_INLINE size_t rp_snappy_common(const uint8_t *a, const uint8_t *b, const uint8_t *end) {
    size_t n = 0, most = (size_t)(end - b);
    for (; n + 8 <= most; n += 8) {
        uint64_t differ = rp_load_le64(a + n) ^ rp_load_le64(b + n);
        if (differ) return n + ((unsigned)__builtin_ctzll(differ) >> 3);
    }
    while (n < most && a[n] == b[n]) n++;
    return n;
}

/* Look for a match at the positions next to f->ip, none of which are in the tail, and write the literal before it.
 * Return whether there is a match. */
RP_SNAPPY_INLINE int rp_snappy_search_near(rp_snappy_fragment *f) {
    const uint8_t *first = f->ip + 1;
    for (int i = 0; i < RP_SNAPPY_NEAR; i += 4) {
        uint64_t bytes = rp_load_le64(first + i);
        for (int j = i; j < i + 4; j++, bytes >>= 8) {
            f->match = rp_snappy_enter(f, first + j, (uint32_t)bytes);
            if (RP_UNLIKELY(rp_load_le32(f->match) == (uint32_t)bytes)) {
                *f->op = (uint8_t)(j << 2 | RP_SNAPPY_LITERAL);
                rp_copy16(f->op + 1, f->ip);
                f->op += j + 2;
                f->ip = first + j;
                return 1;
            }
        }
    }
    return 0;
}

/* The same, starting `passed` positions later, in growing steps. */
RP_SNAPPY_INLINE int rp_snappy_search_far(rp_snappy_fragment *f, uint32_t passed) {
    const uint8_t *at = f->ip + 1 + passed;
    for (uint32_t skip = RP_SNAPPY_SKIP + passed, step;; at += step, skip += step) {
        uint32_t bytes = rp_load_le32(at);
        step = skip / RP_SNAPPY_SKIP;
        if (RP_UNLIKELY(f->limit - at < (ptrdiff_t)step)) return 0;
        f->match = rp_snappy_enter(f, at, bytes);
        if (RP_UNLIKELY(rp_load_le32(f->match) == bytes)) break;
    }
    size_t size = (size_t)(at - f->ip);
    if (size <= 60) {
        *f->op++ = (uint8_t)((size - 1) << 2 | RP_SNAPPY_LITERAL);
        for (size_t i = 0; i < size; i += 16) rp_copy16(f->op + i, f->ip + i);
        f->op += size;
    } else {
        f->op = rp_snappy_put_literal(f->op, f->ip, size);
    }
    f->ip = at;
    return 1;
}

RP_SNAPPY_INLINE int rp_snappy_search(rp_snappy_fragment *f) {
    if (f->limit - f->ip <= RP_SNAPPY_NEAR) return rp_snappy_search_far(f, 0);
    return rp_snappy_search_near(f) || rp_snappy_search_far(f, RP_SNAPPY_NEAR);
}

/* Write the match at f->match as copies. Set `next` to the bytes at the new f->ip, at least five. Return 0 if f->ip is
 * in the tail. */
RP_SNAPPY_INLINE int rp_snappy_put_match(rp_snappy_fragment *f, uint64_t *next) {
    size_t offset = (size_t)(f->ip - f->match), length;
    if (f->limit - f->ip >= 12) {
        uint64_t low = rp_load_le64(f->ip + 4), high = rp_load_le64(f->ip + 8);
        uint64_t differ = low ^ rp_load_le64(f->match + 4);
        if (differ) { /* most matches */
            uint32_t bit = (uint32_t)__builtin_ctzll(differ);
            uint64_t upper = 0 - (uint64_t)((uint32_t)differ == 0);
            *next = ((low & ~upper) | (high & upper)) >> (bit & 24); /* a load would have to wait for the length */
            length = 4 + (bit >> 3);
            f->op = rp_snappy_put_copy(f->op, (uint32_t)offset, (uint32_t)length);
            f->ip += length;
            return 1;
        }
    }
    length = 4 + rp_snappy_common(f->match + 4, f->ip + 4, f->end);
    f->op = rp_snappy_put_copies(f->op, offset, length);
    f->ip += length;
    if (RP_UNLIKELY(f->ip >= f->limit)) return 0;
    *next = rp_load_le64(f->ip);
    return 1;
}

RP_SNAPPY_INLINE uint8_t *rp_snappy_encode_fragment(const uint8_t *src, size_t size, uint8_t *op, uint16_t *table,
                                                    uint32_t mask) {
    rp_snappy_fragment fragment = {src, src + size, src, src, src, op, table, mask}, *f = &fragment;
    uint64_t next;
    if (size >= RP_SNAPPY_TAIL) f->limit = f->end - RP_SNAPPY_TAIL;
    while (f->ip < f->limit && rp_snappy_search(f)) {
        while (rp_snappy_put_match(f, &next)) {
            rp_snappy_enter(f, f->ip - 1, rp_load_le32(f->ip - 1));
            f->match = rp_snappy_enter(f, f->ip, (uint32_t)next);
            if (rp_load_le32(f->match) != (uint32_t)next) break;
        }
    }
    return f->ip < f->end ? rp_snappy_put_literal(f->op, f->ip, (size_t)(f->end - f->ip)) : f->op;
}

/* Two functions: for the largest table, where most time is spent, the mask is a constant and the hash needs no mask. */
#define RP_SNAPPY_FUNCTION static __attribute__((noinline, unused))

RP_SNAPPY_FUNCTION uint8_t *rp_snappy_encode_large(const uint8_t *src, size_t size, uint8_t *op, uint16_t *table) {
    return rp_snappy_encode_fragment(src, size, op, table, RP_SNAPPY_TABLE - 1);
}

RP_SNAPPY_FUNCTION uint8_t *rp_snappy_encode_small(const uint8_t *src, size_t size, uint8_t *op, uint16_t *table,
                                                   uint32_t mask) {
    return rp_snappy_encode_fragment(src, size, op, table, mask);
}

/* Slots for a fragment: a power of two, at least as many as bytes, up to RP_SNAPPY_TABLE. */
static inline size_t rp_snappy_slots(size_t size) {
    size_t slots = RP_SNAPPY_TABLE_MIN;
    while (slots < size && slots < RP_SNAPPY_TABLE) slots *= 2;
    return slots;
}

/* Encode a block at dst, which has room for rp_snappy_bound(size). The table has RP_SNAPPY_TABLE slots; their content
 * does not matter. Return the number of bytes written. */
static inline size_t rp_snappy_encode(const uint8_t *src, size_t size, uint8_t *dst, uint16_t *table) {
    uint8_t *op = rp_uvarlong_write(dst, size);
    while (size > 0) {
        size_t length = size < RP_SNAPPY_FRAGMENT ? size : RP_SNAPPY_FRAGMENT, slots = rp_snappy_slots(length);
        memset(table, 0, slots * sizeof *table);
        if (slots == RP_SNAPPY_TABLE) op = rp_snappy_encode_large(src, length, op, table);
        else op = rp_snappy_encode_small(src, length, op, table, (uint32_t)slots - 1);
        src += length;
        size -= length;
    }
    return (size_t)(op - dst);
}

#endif
