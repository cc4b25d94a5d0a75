/* One record: read, size, write; for v2 and for the messages of v0 and v1.
 *
 *   v2:  length | attributes(1) | timestampDelta | offsetDelta | keyLength key | valueLength value |
 *        headerCount { keyLength key | valueLength value }            every length a zigzag varint
 *
 * Source: spec record-formats 2, 5 and 11; DefaultRecord, LegacyRecord.
 */
#ifndef KPRESS_RECORD_H
#define KPRESS_RECORD_H

#include "batch_header.h"
#include "cursor.h"
#include "status.h"

typedef struct kp_record {
    int64_t timestamp_delta; /* v0/v1: the timestamp itself */
    int64_t offset_delta;    /* v0/v1: the entry's offset */
    const uint8_t *key;      /* NULL: null */
    const uint8_t *value;
    const uint8_t *headers;  /* behind headerCount: header_count headers, checked to lie inside the record */
    int32_t key_size;        /* -1: null */
    int32_t value_size;
    int32_t header_count;
    int32_t size;            /* bytes of the whole record, its length field (of minimal form) included */
    int8_t attributes;
} kp_record;

/* One header at a checked position. */
typedef struct kp_header {
    const uint8_t *key;
    const uint8_t *value;
    int32_t key_size;
    int32_t value_size; /* -1: null */
} kp_header;

/* A nullable field: its length (any negative one is null) and its bytes. 0 where it does not fit. */
static inline __attribute__((always_inline)) int kp_read_field(kp_cursor *c, const uint8_t **data, int32_t *size) {
    int64_t n = kp_read_varint(c);
    if (n < 0) {
        *data = NULL;
        *size = -1;
        return kp_cursor_ok(c);
    }
    *size = (int32_t)n;
    *data = kp_read_bytes(c, (size_t)n);
    return *data != NULL;
}

/* Reads the header at the cursor; a status other than KP_OK names the field that lies. */
static inline int kp_header_read(kp_cursor *c, kp_header *h) {
    int64_t n = kp_read_varint(c);
    if (!kp_cursor_ok(c)) return KP_VARINT;
    if (n < 0 || (uint64_t)n > kp_cursor_left(c)) return KP_HEADER_KEY_LENGTH;
    h->key_size = (int32_t)n;
    h->key = kp_read_bytes(c, (size_t)n);
    if (!kp_read_field(c, &h->value, &h->value_size)) return KP_HEADER_VALUE_LENGTH;
    return KP_OK;
}

/* Why a record could not be read: the checks of kp_record_read again, slowly and with the numbers. Positions
 * count from `start`, the first byte of the record data. */
static __attribute__((noinline, cold, unused)) int kp_record_explain(const uint8_t *at, const uint8_t *end, const uint8_t *start,
                                                             kp_error *err) {
    kp_cursor c = {at, end};
    int64_t length = kp_read_varint(&c);
    if (!kp_cursor_ok(&c)) return kp_fail(err, KP_VARINT, at - start, 0, 0);
    if (length < 0 || (uint64_t)length > kp_cursor_left(&c))
        return kp_fail(err, KP_RECORD_LENGTH, at - start, length, (int64_t)kp_cursor_left(&c));
    kp_cursor r = {c.p, c.p + length};
    const uint8_t *field = r.p;
    kp_read_u8(&r);
    kp_read_varlong(&r);
    kp_read_varint(&r);
    static const int statuses[2] = {KP_KEY_LENGTH, KP_VALUE_LENGTH};
    for (int i = 0; i < 2 && kp_cursor_ok(&r); i++) {
        field = r.p;
        int64_t n = kp_read_varint(&r);
        if (!kp_cursor_ok(&r)) break;
        if (n > 0 && (uint64_t)n > kp_cursor_left(&r))
            return kp_fail(err, statuses[i], field - start, n, (int64_t)kp_cursor_left(&r));
        if (n > 0) kp_read_bytes(&r, (size_t)n);
    }
    if (kp_cursor_ok(&r)) field = r.p;
    int64_t headers = kp_read_varint(&r);
    if (!kp_cursor_ok(&r)) return kp_fail(err, KP_VARINT, field - start, 0, 0);
    if (headers < 0 || (uint64_t)headers > kp_cursor_left(&r))
        return kp_fail(err, KP_HEADER_COUNT, field - start, headers, (int64_t)kp_cursor_left(&r));
    for (int64_t i = 0; i < headers; i++) {
        kp_header h;
        kp_cursor before = r;
        int status = kp_header_read(&r, &h);
        if (status == KP_OK) continue;
        int64_t n = kp_read_varint(&before);
        if (status == KP_HEADER_VALUE_LENGTH) {
            kp_read_bytes(&before, (size_t)n);
            n = kp_read_varint(&before);
        }
        if (!kp_cursor_ok(&before)) return kp_fail(err, KP_VARINT, field - start, 0, 0);
        return kp_fail(err, status, before.p - start, n, (int64_t)kp_cursor_left(&before));
    }
    return kp_fail(err, KP_RECORD_FIELDS, at - start, r.p - c.p, length);
}

/* A varint of one or two bytes at p, which has two bytes to read; 0 for a longer one. */
static inline __attribute__((always_inline)) int kp_read_short(const uint8_t **p, uint64_t *value) {
    uint64_t b0 = (*p)[0], b1 = (*p)[1];
    if (KP_LIKELY(b0 < 0x80)) {
        *value = b0;
        *p += 1;
        return 1;
    }
    *value = (b0 & 0x7f) | b1 << 7;
    *p += 2;
    return b1 < 0x80;
}

/* A varint of up to `most` <= 8 bytes at p, which has eight bytes to read; 0 for a longer one. Deltas of a few
 * seconds or thousands of records take three bytes: all lengths above two are decoded from one word. */
static inline __attribute__((always_inline)) int kp_read_word(const uint8_t **p, uint64_t *value, int most) {
    if (KP_LIKELY(kp_read_short(p, value))) return 1;
    *p -= 2;
    uint64_t word = kp_load_le64(*p), ends = ~word & UINT64_C(0x8080808080808080);
    if (KP_UNLIKELY(!ends)) return 0;
    int size = __builtin_ctzll(ends) / 8 + 1;
    word &= ends ^ (ends - 1);
    *value = (word & 0x7f) | (word >> 1 & UINT64_C(0x3f80)) | (word >> 2 & UINT64_C(0x1fc000)) |
             (word >> 3 & UINT64_C(0xfe00000)) | (word >> 4 & UINT64_C(0x7f0000000)) |
             (word >> 5 & UINT64_C(0x3f800000000)) | (word >> 6 & UINT64_C(0x1fc0000000000)) |
             (word >> 7 & UINT64_C(0xfe000000000000));
    *p += size;
    return size <= most;
}

/* Any record at p: general, through cursors. Returns what is behind it, NULL on failure. Not inlined, and its
 * arguments by value, so that the caller's cursor and record can live in registers. */
static __attribute__((noinline, unused)) const uint8_t *kp_record_read_any(const uint8_t *p, const uint8_t *end, kp_record *r) {
    kp_cursor c = {p, end};
    int64_t length = kp_read_varint(&c);
    const uint8_t *body = length < 0 ? NULL : kp_read_bytes(&c, (size_t)length);
    if (!body) return NULL;
    kp_cursor f = {body, body + length};
    r->attributes = (int8_t)kp_read_u8(&f);
    r->timestamp_delta = kp_read_varlong(&f);
    r->offset_delta = kp_read_varint(&f);
    if (!kp_read_field(&f, &r->key, &r->key_size) || !kp_read_field(&f, &r->value, &r->value_size)) return NULL;
    int64_t headers = kp_read_varint(&f);
    if (!kp_cursor_ok(&f) || headers < 0 || (uint64_t)headers > kp_cursor_left(&f)) return NULL;
    r->header_count = (int32_t)headers;
    r->headers = f.p;
    for (; headers > 0; headers--) {
        kp_header h;
        if (kp_header_read(&f, &h)) return NULL;
    }
    r->size = (int32_t)((size_t)length + kp_varlong_size(length)); /* of a minimal length field: DefaultRecord.sizeInBytes */
    return f.p == f.end ? c.p : NULL;
}

/* Read the v2 record at the cursor, every length checked, every header walked. On failure the cursor stays
 * failed and 0 comes back: ask kp_record_explain.
 *
 * Nearly every record has lengths of one or two bytes and no headers: those are read with one check of what is
 * left for all of them, which halves the time. Whatever is different goes to kp_record_read_any. */
static inline __attribute__((always_inline)) int kp_record_read(kp_cursor *c, kp_record *r) {
    enum { FIELDS = 2 + 1 + 8 + 8 + 2 }; /* what is read before the first check: length, attributes, deltas, keyLength */
    const uint8_t *p = c->p;
    uint64_t length, timestamp, offset, size;
    if (KP_UNLIKELY(kp_cursor_left(c) < FIELDS)) goto any;
    if (KP_UNLIKELY(!kp_read_short(&p, &length) || length & 1)) goto any;
    length >>= 1;
    if (KP_UNLIKELY(length > (size_t)(c->end - p))) goto any;
    const uint8_t *end = p + length;
    r->attributes = (int8_t)*p++;
    if (KP_UNLIKELY(!kp_read_word(&p, &timestamp, 8) || !kp_read_word(&p, &offset, 4) || !kp_read_short(&p, &size)))
        goto any;
    r->timestamp_delta = kp_unzigzag(timestamp);
    r->offset_delta = kp_unzigzag(offset);
    r->key_size = size & 1 ? -1 : (int32_t)(size >> 1);
    r->key = size & 1 ? NULL : p;
    size = size & 1 ? 0 : size >> 1;
    /* p may have passed the end of a record of few bytes: the sums below are negative then */
    if (KP_UNLIKELY((int64_t)size + 2 > end - p)) goto any;
    p += size;
    if (KP_UNLIKELY(!kp_read_short(&p, &size))) goto any;
    r->value_size = size & 1 ? -1 : (int32_t)(size >> 1);
    r->value = size & 1 ? NULL : p;
    size = size & 1 ? 0 : size >> 1;
    if (KP_UNLIKELY((int64_t)size + 1 != end - p || p[size])) goto any;
    r->header_count = 0;
    r->headers = end;
    r->size = (int32_t)(length + 1 + (length > 63)); /* of a minimal length field, as below */
    c->p = end;
    return 1;
any: {
    kp_record read;
    const uint8_t *next = kp_record_read_any(c->p, c->end, &read);
    if (!next) {
        kp_cursor_fail(c);
        return 0;
    }
    *r = read;
    c->p = next;
    return 1;
}
}

/* Bytes of a nullable field: its length varint and its data. size -1: null. */
static inline size_t kp_field_size(int64_t size) { return kp_varlong_size(size) + (size > 0 ? (size_t)size : 0); }

/* Bytes of a v2 record behind its length field. headers_size: headerCount and all headers. */
static inline size_t kp_record_body_size(int64_t timestamp_delta, int64_t offset_delta, int64_t key_size,
                                         int64_t value_size, size_t headers_size) {
    return 1 + kp_varlong_size(timestamp_delta) + kp_varlong_size(offset_delta) + kp_field_size(key_size) +
           kp_field_size(value_size) + headers_size;
}

/* Read the v0/v1 message of a whole entry of `size` bytes (b has its offset, magic, attributes, timestamp). */
static inline int kp_message_read(const uint8_t *data, int64_t size, int64_t position, kp_batch *b, kp_record *r,
                                  kp_error *err) {
    if (size < KP_LOG_OVERHEAD + KP_MIN_ENTRY_SIZE)
        return kp_fail(err, KP_ENTRY_SIZE, position + 8, size - KP_LOG_OVERHEAD, KP_MIN_ENTRY_SIZE);
    if (data[16] > 1) return kp_fail(err, KP_MAGIC, position + 16, (int8_t)data[16], 1);
    int status = kp_batch_read(data, size, position, b, err);
    if (status) return status;
    const uint8_t *p = data + (b->magic ? KP_MESSAGE_TIMESTAMP_OFFSET + 8 : KP_MESSAGE_TIMESTAMP_OFFSET);
    const uint8_t *end = data + size;
    int64_t n = (int32_t)kp_load_be32(p), left = end - p - 8; /* both length fields are there: kp_batch_read */
    p += 4;
    if (n > left) return kp_fail(err, KP_KEY_LENGTH, position + (p - 4 - data), n, left);
    r->key_size = n < 0 ? -1 : (int32_t)n;
    r->key = n < 0 ? NULL : p;
    if (n > 0) p += n, left -= n;
    n = (int32_t)kp_load_be32(p);
    p += 4;
    if (n > left) return kp_fail(err, KP_VALUE_LENGTH, position + (p - 4 - data), n, left);
    r->value_size = n < 0 ? -1 : (int32_t)n;
    r->value = n < 0 ? NULL : p;
    r->timestamp_delta = b->base_timestamp;
    r->offset_delta = b->base_offset;
    r->headers = NULL;
    r->header_count = 0;
    r->size = (int32_t)size;
    r->attributes = (int8_t)b->attributes;
    return KP_OK;
}

/* Bytes of a v0/v1 entry. */
static inline size_t kp_message_size(int magic, int64_t key_size, int64_t value_size) {
    return KP_LOG_OVERHEAD + (magic ? KP_MESSAGE_V1_OVERHEAD : KP_MESSAGE_V0_OVERHEAD) +
           (key_size > 0 ? (size_t)key_size : 0) + (value_size > 0 ? (size_t)value_size : 0);
}

/* Copy exactly `size` bytes: no byte around them is read or written. Short fields, keys mostly, are two steps that
 * overlap; from 65 bytes on memcpy, which knows the CPU's widest registers, is faster than a loop of ours. */
static inline void kp_copy(uint8_t *to, const uint8_t *from, size_t size) {
    if (size > 64) {
        memcpy(to, from, size);
    } else if (size >= 32) {
        memcpy(to, from, 32);
        memcpy(to + size - 32, from + size - 32, 32);
    } else if (size >= 16) {
        memcpy(to, from, 16);
        memcpy(to + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
        memcpy(to, from, 8);
        memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        memcpy(to, from, 4);
        memcpy(to + size - 4, from + size - 4, 4);
    } else if (size) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

/* Write a nullable field, size -1 being null; returns the end. */
static inline uint8_t *kp_field_write(uint8_t *p, const uint8_t *data, int64_t size) {
    p = kp_varlong_write(p, size);
    if (size <= 0) return p;
    kp_copy(p, data, (size_t)size);
    return p + size;
}

/* No record takes more than this beyond its key, value and headers. v2: length 5, attributes 1, timestampDelta 10,
 * offsetDelta 5, keyLength 5, valueLength 5, a headerCount of 0; v1: 34. */
enum { KP_RECORD_OVERHEAD_MAX = 40 };

/* Write a v2 record; returns the end. There must be room for the sizes given and KP_RECORD_OVERHEAD_MAX, whatever
 * is needed of it. headers: headerCount and all headers, encoded; headers_size 0 means none.
 *
 * The length goes first and is known last: its place is guessed, and the record moved by a byte where the guess
 * was wrong. Knowing it beforehand would take as long as all the rest but the copies. */
static inline uint8_t *kp_record_write(uint8_t *p, int64_t timestamp_delta, int64_t offset_delta, const uint8_t *key,
                                       int64_t key_size, const uint8_t *value, int64_t value_size,
                                       const uint8_t *headers, int64_t headers_size) {
    size_t guess = kp_varlong_size(key_size + value_size + headers_size + 8);
    uint8_t *body = p + guess, *q = body;
    *q++ = 0; /* attributes */
    q = kp_varlong_write(q, timestamp_delta);
    q = kp_varlong_write(q, offset_delta);
    q = kp_field_write(q, key, key_size);
    q = kp_field_write(q, value, value_size);
    if (KP_LIKELY(!headers_size)) {
        *q++ = 0;
    } else {
        memcpy(q, headers, (size_t)headers_size);
        q += headers_size;
    }
    int64_t size = q - body;
    size_t length = kp_varlong_size(size);
    if (KP_UNLIKELY(length != guess)) {
        memmove(p + length, body, (size_t)size);
        q = p + length + size;
    }
    kp_varlong_write(p, size);
    return q;
}

static inline uint8_t *kp_message_field_write(uint8_t *p, const uint8_t *data, int64_t size) {
    kp_store_be32(p, (uint32_t)(int32_t)size);
    p += 4;
    if (size <= 0) return p;
    kp_copy(p, data, (size_t)size);
    return p + size;
}

/* Write a v0/v1 entry but for its CRC; returns the end. */
static inline uint8_t *kp_message_write(uint8_t *p, int magic, int attributes, int64_t offset, int64_t timestamp,
                                        const uint8_t *key, int64_t key_size, const uint8_t *value, int64_t value_size) {
    kp_store_be64(p, (uint64_t)offset);
    kp_store_be32(p + 8, (uint32_t)(kp_message_size(magic, key_size, value_size) - KP_LOG_OVERHEAD));
    p[16] = (uint8_t)magic;
    p[KP_MESSAGE_ATTRIBUTES_OFFSET] = (uint8_t)attributes;
    p += KP_MESSAGE_TIMESTAMP_OFFSET;
    if (magic) {
        kp_store_be64(p, (uint64_t)timestamp);
        p += 8;
    }
    p = kp_message_field_write(p, key, key_size);
    return kp_message_field_write(p, value, value_size);
}

/* Bytes of a wrapper before its payload: an entry with a null key, and the length of the value. */
static inline size_t kp_wrapper_size(int magic) { return kp_message_size(magic, -1, -1); }

/* Write the wrapper of a compressed v0/v1 set, whose payload lies behind it already, but for the CRC. */
static inline void kp_wrapper_write(uint8_t *p, int magic, int attributes, int64_t offset, int64_t timestamp,
                                    size_t payload) {
    uint8_t *end = kp_message_write(p, magic, attributes, offset, timestamp, NULL, -1, NULL, -1);
    kp_store_be32(p + 8, (uint32_t)(kp_wrapper_size(magic) - KP_LOG_OVERHEAD + payload));
    kp_store_be32(end - 4, (uint32_t)payload);
}

#endif
