/* A v2 record as Kafka's brokers read it if they expect to keep a compressed batch: field by field, without its
 * key, value and headers, and without reading `length`.
 *
 * Source: org.apache.kafka.common.record.DefaultRecord.readPartiallyFrom (KAFKA-8106).
 */
#ifndef RECORDPRESS_SKIP_H
#define RECORDPRESS_SKIP_H

#include "cursor.h"
#include "record.h"

/* Why the reader of a stream cannot read a record. */
enum {
    RP_SKIP_OK,
    RP_SKIP_ENDED,    /* the bytes end inside of the record */
    RP_SKIP_TOO_LONG, /* `length` is not a varint */
    RP_SKIP_INVALID
};

static inline int rp_skip_varint(rp_cursor *c, int max, int64_t *value) {
    size_t left = rp_cursor_left(c);
    rp_varint_read r = rp_uvarint_slow(c->p, c->end, max);
    if (!r.p) return left < (size_t)max ? RP_SKIP_ENDED : RP_SKIP_INVALID;
    c->p = r.p;
    *value = rp_unzigzag(r.value);
    return RP_SKIP_OK;
}

/* Skip a nullable field, and set `size` to its size; any negative size means null. */
static inline int rp_skip_field(rp_cursor *c, int64_t *size) {
    int status = rp_skip_varint(c, RP_VARINT_MAX, size);
    if (status || *size < 0) return status;
    return rp_read_bytes(c, (size_t)*size) ? RP_SKIP_OK : RP_SKIP_ENDED;
}

static inline int rp_skip_headers(rp_cursor *c) {
    int64_t headers, size;
    int status = rp_skip_varint(c, RP_VARINT_MAX, &headers);
    if (status) return status;
    if (headers < 0) return RP_SKIP_INVALID;
    for (; headers > 0; headers--) {
        status = rp_skip_field(c, &size);
        if (status) return status;
        if (size < 0) return RP_SKIP_INVALID;
        status = rp_skip_field(c, &size);
        if (status) return status;
    }
    return RP_SKIP_OK;
}

/* Move past the record at the cursor; set the offset and timestamp (as deltas) and the sizes of key and value of `r`.
 * After an error, the cursor is unusable. */
static __attribute__((noinline, unused)) int rp_record_skip(rp_cursor *c, rp_record *r) {
    int64_t length;
    int status = rp_skip_varint(c, RP_VARINT_MAX, &length);
    if (status) return status;
    if (!rp_read_bytes(c, 1)) return RP_SKIP_ENDED; /* attributes */
    status = rp_skip_varint(c, RP_VARLONG_MAX, &r->timestamp);
    if (!status) status = rp_skip_varint(c, RP_VARINT_MAX, &r->offset);
    if (!status) status = rp_skip_field(c, &r->key.size);
    if (!status) status = rp_skip_field(c, &r->value.size);
    return status ? status : rp_skip_headers(c);
}

/* Return the fault of a record that rp_record_read refused, as a reader that takes `length` bytes notices it first. */
static inline int rp_record_fault(const uint8_t *p, const uint8_t *end) {
    rp_cursor c = {p, end};
    int64_t length;
    int status = rp_skip_varint(&c, RP_VARINT_MAX, &length);
    if (status) return status == RP_SKIP_INVALID ? RP_SKIP_TOO_LONG : status;
    return length > (int64_t)rp_cursor_left(&c) ? RP_SKIP_ENDED : RP_SKIP_INVALID;
}

#endif
