/* A v2 record as Kafka's brokers read it where they expect to keep a compressed batch: field by field, without its
 * key, value and headers, and without a look at what `length` says.
 *
 * Source: org.apache.kafka.common.record.DefaultRecord.readPartiallyFrom (KAFKA-8106).
 */
#ifndef KPRESS_SKIP_H
#define KPRESS_SKIP_H

#include "cursor.h"
#include "record.h"

/* Why a record cannot be read, as far as the reader of a stream notices. */
enum {
    KP_SKIP_OK,
    KP_SKIP_ENDED,    /* the bytes end inside of the record */
    KP_SKIP_TOO_LONG, /* `length` is no varint */
    KP_SKIP_INVALID
};

static inline int kp_skip_varint(kp_cursor *c, int max, int64_t *value) {
    size_t left = kp_cursor_left(c);
    kp_varint_read r = kp_uvarint_slow(c->p, c->end, max);
    if (!r.p) return left < (size_t)max ? KP_SKIP_ENDED : KP_SKIP_INVALID;
    c->p = r.p;
    *value = kp_unzigzag(r.value);
    return KP_SKIP_OK;
}

/* A nullable field, its size alone: -1 or any other negative one for null. */
static inline int kp_skip_field(kp_cursor *c, int64_t *size) {
    int status = kp_skip_varint(c, KP_VARINT_MAX, size);
    if (status || *size < 0) return status;
    return kp_read_bytes(c, (size_t)*size) ? KP_SKIP_OK : KP_SKIP_ENDED;
}

static inline int kp_skip_headers(kp_cursor *c) {
    int64_t headers, size;
    int status = kp_skip_varint(c, KP_VARINT_MAX, &headers);
    if (status) return status;
    if (headers < 0) return KP_SKIP_INVALID;
    for (; headers > 0; headers--) {
        status = kp_skip_field(c, &size);
        if (status) return status;
        if (size < 0) return KP_SKIP_INVALID;
        status = kp_skip_field(c, &size);
        if (status) return status;
    }
    return KP_SKIP_OK;
}

/* Go on to after the record at the cursor. Of `r`, offset and timestamp (as deltas) and the sizes of key and value
 * are set. After an error the cursor is of no use. */
static __attribute__((noinline, unused)) int kp_record_skip(kp_cursor *c, kp_record *r) {
    int64_t length;
    int status = kp_skip_varint(c, KP_VARINT_MAX, &length);
    if (status) return status;
    if (!kp_read_bytes(c, 1)) return KP_SKIP_ENDED; /* attributes */
    status = kp_skip_varint(c, KP_VARLONG_MAX, &r->timestamp);
    if (!status) status = kp_skip_varint(c, KP_VARINT_MAX, &r->offset);
    if (!status) status = kp_skip_field(c, &r->key.size);
    if (!status) status = kp_skip_field(c, &r->value.size);
    return status ? status : kp_skip_headers(c);
}

/* Why kp_record_read refused the record at p, as a reader that takes `length` bytes from a stream first notices. */
static inline int kp_record_fault(const uint8_t *p, const uint8_t *end) {
    kp_cursor c = {p, end};
    int64_t length;
    int status = kp_skip_varint(&c, KP_VARINT_MAX, &length);
    if (status) return status == KP_SKIP_INVALID ? KP_SKIP_TOO_LONG : status;
    return length > (int64_t)kp_cursor_left(&c) ? KP_SKIP_ENDED : KP_SKIP_INVALID;
}

#endif
