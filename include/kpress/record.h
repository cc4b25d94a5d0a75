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
    int32_t size;            /* bytes of the whole record, its length field included */
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

/* Read the v2 record at the cursor, every length checked, every header walked. On failure the cursor stays
 * failed and 0 comes back: ask kp_record_explain. */
static inline __attribute__((always_inline)) int kp_record_read(kp_cursor *c, kp_record *r) {
    const uint8_t *at = c->p;
    int64_t length = kp_read_varint(c);
    if (KP_UNLIKELY(length < 0)) goto fail;
    {
        const uint8_t *body = kp_read_bytes(c, (size_t)length);
        if (KP_UNLIKELY(!body)) goto fail;
        kp_cursor f = {body, body + length};
        r->attributes = (int8_t)kp_read_u8(&f);
        r->timestamp_delta = kp_read_varlong(&f);
        r->offset_delta = kp_read_varint(&f);
        if (KP_UNLIKELY(!kp_read_field(&f, &r->key, &r->key_size))) goto fail;
        if (KP_UNLIKELY(!kp_read_field(&f, &r->value, &r->value_size))) goto fail;
        int64_t headers = kp_read_varint(&f);
        if (KP_UNLIKELY(!kp_cursor_ok(&f) || headers < 0 || (uint64_t)headers > kp_cursor_left(&f))) goto fail;
        r->header_count = (int32_t)headers;
        r->headers = f.p;
        for (; KP_UNLIKELY(headers > 0); headers--) {
            kp_header h;
            if (kp_header_read(&f, &h)) goto fail;
        }
        if (KP_UNLIKELY(f.p != f.end)) goto fail;
        r->size = (int32_t)(c->p - at);
        return 1;
    }
fail:
    kp_cursor_fail(c);
    return 0;
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

#endif
