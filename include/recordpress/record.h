/* One record: read, size, write; for v2 and for the messages of v0 and v1.
 *
 *   v2:  length | attributes(1) | timestampDelta | offsetDelta | keyLength key | valueLength value |
 *        headerCount { keyLength key | valueLength value }            every length a zigzag varint
 *
 * Source: org.apache.kafka.common.record: DefaultRecord, LegacyRecord.
 */
#ifndef RECORDPRESS_RECORD_H
#define RECORDPRESS_RECORD_H

#include "batch_header.h"
#include "cursor.h"
#include "status.h"

/* A nullable run of bytes. */
typedef struct rp_field {
    const uint8_t *data;
    int64_t size; /* -1: null */
} rp_field;

/* One record, read or to be written: a record that was read can be written as it is. It does not own its bytes. */
typedef struct rp_record {
    int64_t offset;
    int64_t timestamp;    /* ms, -1: none */
    rp_field key;
    rp_field value;
    rp_field headers;     /* headerCount and all headers, encoded; size 0: none */
    int32_t header_count; /* this and all below: set by reading; writing a record ignores them */
    int32_t size;         /* bytes of the whole record, including its length field (in minimal form) */
    int32_t sequence;     /* of an idempotent producer, -1: none */
    int8_t attributes;    /* writers write 0 in v2 (DefaultRecord.writeTo) */
    int8_t timestamp_type; /* -1 none, 0 CreateTime, 1 LogAppendTime; a set's writer may start a batch if it changes */
} rp_record;

/* The place of one entry's records, and how their deltas become offsets and timestamps. */
typedef struct rp_source {
    const uint8_t *start;      /* records, or v0/v1 entries */
    const uint8_t *end;
    const uint8_t *readable;   /* end of the memory that may be read: end, or more */
    const uint8_t *view_base;  /* binary_view: where buffer `view_buffer` starts */
    int32_t view_buffer;
    int32_t count;             /* v2: records that the header declares; v0/v1: entries */
    int32_t base_sequence;     /* -1: none */
    int32_t frame;             /* RP_IN_PAYLOAD or, decompressed, RP_IN_RECORDS: the frame of errors, at `start` */
    int64_t payload;           /* where the payload starts in the entry */
    int64_t base_offset;
    int64_t base_timestamp;
    int64_t append_time;       /* every record's timestamp if log_append_time */
    int log_append_time;
    int filtered;              /* the four bounds below apply; they are inclusive */
    int64_t first_offset, last_offset;
    int64_t first_timestamp, last_timestamp;
} rp_source;

/* One header at a checked position. */
typedef struct rp_header {
    rp_field key;
    rp_field value;
} rp_header;

/* Read a nullable field: its length (any negative length is null) and its bytes. Return 0 if it does not fit. */
static inline __attribute__((always_inline)) int rp_read_field(rp_cursor *c, rp_field *f) {
    int64_t n = rp_read_varint(c);
    if (n < 0) {
        f->data = NULL;
        f->size = -1;
        return rp_cursor_ok(c);
    }
    f->size = n;
    f->data = rp_read_bytes(c, (size_t)n);
    return f->data != NULL;
}

/* Read the header at the cursor; a status other than RP_OK names the bad field. */
static inline int rp_header_read(rp_cursor *c, rp_header *h) {
    int64_t n = rp_read_varint(c);
    if (!rp_cursor_ok(c)) return RP_VARINT;
    if (n < 0 || (uint64_t)n > rp_cursor_left(c)) return RP_HEADER_KEY_LENGTH;
    h->key.size = n;
    h->key.data = rp_read_bytes(c, (size_t)n);
    if (!rp_read_field(c, &h->value)) return RP_HEADER_VALUE_LENGTH;
    return RP_OK;
}

/* A cursor at the first of a record's header_count headers. */
static inline rp_cursor rp_headers_of(const rp_record *r) {
    rp_cursor c = rp_cursor_of(r->headers.data, (size_t)r->headers.size);
    rp_read_varint(&c);
    return c;
}

/* Explain why a record could not be read: repeat the checks of rp_record_read, slowly and with the numbers. Positions
 * count from `start`, the first byte of the record data. */
static __attribute__((noinline, cold, unused)) int rp_record_explain(const uint8_t *at, const uint8_t *end,
                                                                     const uint8_t *start, rp_error *err) {
    rp_cursor c = {at, end};
    int64_t length = rp_read_varint(&c);
    if (!rp_cursor_ok(&c)) return rp_fail(err, RP_VARINT, at - start, 0, 0);
    if (length < 0 || (uint64_t)length > rp_cursor_left(&c))
        return rp_fail(err, RP_RECORD_LENGTH, at - start, length, (int64_t)rp_cursor_left(&c));
    rp_cursor r = {c.p, c.p + length};
    const uint8_t *field = r.p;
    rp_read_u8(&r);
    rp_read_varlong(&r);
    rp_read_varint(&r);
    static const int statuses[2] = {RP_KEY_LENGTH, RP_VALUE_LENGTH};
    for (int i = 0; i < 2 && rp_cursor_ok(&r); i++) {
        field = r.p;
        int64_t n = rp_read_varint(&r);
        if (!rp_cursor_ok(&r)) break;
        if (n > 0 && (uint64_t)n > rp_cursor_left(&r))
            return rp_fail(err, statuses[i], field - start, n, (int64_t)rp_cursor_left(&r));
        if (n > 0) rp_read_bytes(&r, (size_t)n);
    }
    if (rp_cursor_ok(&r)) field = r.p;
    int64_t headers = rp_read_varint(&r);
    if (!rp_cursor_ok(&r)) return rp_fail(err, RP_VARINT, field - start, 0, 0);
    if (headers < 0 || (uint64_t)headers > rp_cursor_left(&r))
        return rp_fail(err, RP_HEADER_COUNT, field - start, headers, (int64_t)rp_cursor_left(&r));
    for (int64_t i = 0; i < headers; i++) {
        rp_header h;
        rp_cursor before = r;
        int status = rp_header_read(&r, &h);
        if (status == RP_OK) continue;
        int64_t n = rp_read_varint(&before);
        if (status == RP_HEADER_VALUE_LENGTH) {
            rp_read_bytes(&before, (size_t)n);
            n = rp_read_varint(&before);
        }
        if (!rp_cursor_ok(&before)) return rp_fail(err, RP_VARINT, field - start, 0, 0);
        return rp_fail(err, status, before.p - start, n, (int64_t)rp_cursor_left(&before));
    }
    return rp_fail(err, RP_RECORD_FIELDS, at - start, r.p - c.p, length);
}

/* Read a varint of one or two bytes at p, where two bytes can be read; return 0 if it is longer. */
static inline __attribute__((always_inline)) int rp_read_short(const uint8_t **p, uint64_t *value) {
    uint64_t b0 = (*p)[0], b1 = (*p)[1];
    if (RP_LIKELY(b0 < 0x80)) {
        *value = b0;
        *p += 1;
        return 1;
    }
    *value = (b0 & 0x7f) | b1 << 7;
    *p += 2;
    return b1 < 0x80;
}

/* Read a varint of up to `most` <= 8 bytes at p, where eight bytes can be read; return 0 if it is longer. Deltas of a
 * few seconds or thousands of records take three bytes: all lengths above two are decoded from one word. */
static inline __attribute__((always_inline)) int rp_read_word(const uint8_t **p, uint64_t *value, int most) {
    if (RP_LIKELY(rp_read_short(p, value))) return 1;
    *p -= 2;
    uint64_t word = rp_load_le64(*p), ends = ~word & UINT64_C(0x8080808080808080);
    if (RP_UNLIKELY(!ends)) return 0;
    int size = __builtin_ctzll(ends) / 8 + 1;
    word &= ends ^ (ends - 1);
    *value = (word & 0x7f) | (word >> 1 & UINT64_C(0x3f80)) | (word >> 2 & UINT64_C(0x1fc000)) |
             (word >> 3 & UINT64_C(0xfe00000)) | (word >> 4 & UINT64_C(0x7f0000000)) |
             (word >> 5 & UINT64_C(0x3f800000000)) | (word >> 6 & UINT64_C(0x1fc0000000000)) |
             (word >> 7 & UINT64_C(0xfe000000000000));
    *p += size;
    return size <= most;
}

/* Read any record at p, through cursors. Return the end of the record, NULL on failure. Not inlined, and with arguments
 * by value, so that the caller's cursor and record can live in registers. */
static __attribute__((noinline, unused)) const uint8_t *rp_record_read_any(const uint8_t *p, const uint8_t *end, rp_record *r) {
    rp_cursor c = {p, end};
    int64_t length = rp_read_varint(&c);
    const uint8_t *body = length < 0 ? NULL : rp_read_bytes(&c, (size_t)length);
    if (!body) return NULL;
    rp_cursor f = {body, body + length};
    r->attributes = (int8_t)rp_read_u8(&f);
    r->timestamp = rp_read_varlong(&f);
    r->offset = rp_read_varint(&f);
    if (!rp_read_field(&f, &r->key) || !rp_read_field(&f, &r->value)) return NULL;
    r->headers.data = f.p;
    r->headers.size = f.end - f.p;
    int64_t headers = rp_read_varint(&f);
    if (!rp_cursor_ok(&f) || headers < 0 || (uint64_t)headers > rp_cursor_left(&f)) return NULL;
    r->header_count = (int32_t)headers;
    if (!headers) r->headers.size = 0;
    for (; headers > 0; headers--) {
        rp_header h;
        if (rp_header_read(&f, &h)) return NULL;
    }
    r->size = (int32_t)((size_t)length + rp_varlong_size(length)); /* of a minimal length field: DefaultRecord.sizeInBytes */
    return f.p == f.end ? c.p : NULL;
}

/* Read the v2 record at the cursor, every length checked, every header walked; offset and timestamp are deltas.
 * On failure, the cursor stays failed and 0 is returned: call rp_record_explain.
 *
 * Nearly every record has lengths of one or two bytes and no headers: these are read with a single check of the bytes
 * left, which halves the time. All others go to rp_record_read_any. */
static inline __attribute__((always_inline)) int rp_record_read(rp_cursor *c, rp_record *r) {
    enum { FIELDS = 2 + 1 + 8 + 8 + 2 }; /* what is read before the first check: length, attributes, deltas, keyLength */
    const uint8_t *p = c->p;
    uint64_t length, timestamp, offset, size;
    if (RP_UNLIKELY(rp_cursor_left(c) < FIELDS)) goto any;
    if (RP_UNLIKELY(!rp_read_short(&p, &length) || length & 1)) goto any;
    length >>= 1;
    if (RP_UNLIKELY(length > (size_t)(c->end - p))) goto any;
    const uint8_t *end = p + length;
    r->attributes = (int8_t)*p++;
    if (RP_UNLIKELY(!rp_read_word(&p, &timestamp, 8) || !rp_read_word(&p, &offset, 4) || !rp_read_short(&p, &size)))
        goto any;
    r->timestamp = rp_unzigzag(timestamp);
    r->offset = rp_unzigzag(offset);
    r->key.size = size & 1 ? -1 : (int64_t)(size >> 1);
    r->key.data = size & 1 ? NULL : p;
    size = size & 1 ? 0 : size >> 1;
    /* p may have passed the end of a short record: the differences below are then negative */
    if (RP_UNLIKELY((int64_t)size + 2 > end - p)) goto any;
    p += size;
    if (RP_UNLIKELY(!rp_read_short(&p, &size))) goto any;
    r->value.size = size & 1 ? -1 : (int64_t)(size >> 1);
    r->value.data = size & 1 ? NULL : p;
    size = size & 1 ? 0 : size >> 1;
    if (RP_UNLIKELY((int64_t)size + 1 != end - p || p[size])) goto any;
    r->header_count = 0;
    r->headers.data = end;
    r->headers.size = 0;
    r->size = (int32_t)(length + 1 + (length > 63)); /* with a minimal length field, as above */
    c->p = end;
    return 1;
any: {
    rp_record read;
    const uint8_t *next = rp_record_read_any(c->p, c->end, &read);
    if (!next) {
        rp_cursor_fail(c);
        return 0;
    }
    *r = read;
    c->p = next;
    return 1;
}
}

/* Bytes of a nullable field: its length varint and its data. size -1: null. */
static inline size_t rp_field_size(int64_t size) { return rp_varlong_size(size) + (size > 0 ? (size_t)size : 0); }

/* Bytes of a v2 record in a batch with these bases. Differences wrap, as in Java: a reader's sums wrap back. */
static inline size_t rp_record_size(const rp_record *r, int64_t base_offset, int64_t base_timestamp) {
    size_t body = 1 + rp_varlong_size((int64_t)((uint64_t)r->timestamp - (uint64_t)base_timestamp)) +
                  rp_varlong_size((int64_t)((uint64_t)r->offset - (uint64_t)base_offset)) + rp_field_size(r->key.size) +
                  rp_field_size(r->value.size) + (r->headers.size ? (size_t)r->headers.size : 1);
    return body + rp_varlong_size((int64_t)body);
}

/* Read a nullable field of a v0/v1 message, after which `follows` further bytes must come. */
static inline int rp_message_field_read(rp_cursor *c, int64_t follows, int status, const uint8_t *data, rp_field *f,
                                        rp_error *err) {
    int64_t n = rp_read_be32(c), left = (int64_t)rp_cursor_left(c) - follows;
    if (n > left) return rp_fail(err, status, c->p - 4 - data, n, left);
    f->size = n < 0 ? -1 : n;
    f->data = n < 0 ? NULL : rp_read_bytes(c, (size_t)n);
    return RP_OK;
}

/* Read the v0/v1 message of a complete entry of `size` bytes (b has its magic, attributes and checksum). */
static inline int rp_message_read(const uint8_t *data, int64_t size, int64_t position, rp_batch *b, rp_record *r,
                                  rp_error *err) {
    if (size < RP_LOG_OVERHEAD + RP_MIN_ENTRY_SIZE)
        return rp_fail(err, RP_ENTRY_SIZE, 8, size - RP_LOG_OVERHEAD, RP_MIN_ENTRY_SIZE);
    int status = rp_message_header_read(data, size, position, b, err);
    if (status) return status;
    int64_t least = RP_LOG_OVERHEAD + (b->magic ? RP_MESSAGE_V1_OVERHEAD : RP_MESSAGE_V0_OVERHEAD);
    if (size < least) return rp_fail(err, RP_MESSAGE_SIZE, 8, size - RP_LOG_OVERHEAD, least - RP_LOG_OVERHEAD);
    rp_cursor c = rp_cursor_of(data, (size_t)size);
    rp_read_bytes(&c, (size_t)least - 8); /* up to keyLength, which exists, as does valueLength */
    status = rp_message_field_read(&c, 4, RP_KEY_LENGTH, data, &r->key, err);
    if (!status) status = rp_message_field_read(&c, 0, RP_VALUE_LENGTH, data, &r->value, err);
    if (status) return status;
    r->offset = b->base_offset;
    r->timestamp = b->base_timestamp;
    r->timestamp_type = (int8_t)rp_batch_timestamp_type(b);
    r->headers.data = NULL;
    r->headers.size = 0;
    r->header_count = 0;
    r->size = (int32_t)size;
    r->sequence = -1;
    r->attributes = (int8_t)b->attributes;
    return RP_OK;
}

/* --- the records of a source, one after the other --- */

/* Place an error, whose position counts from `at`, in the source. */
static inline int rp_source_fail(const rp_source *s, const uint8_t *at, rp_error *err) {
    err->position += at - s->start;
    return rp_in_frame(err, s->frame, s->payload);
}

/* Explain why record number `index` of `count` cannot be read at `at`. No rp_source is passed, so that its fields can
 * live in registers. */
static __attribute__((noinline, cold, unused)) int rp_record_wrong(const uint8_t *at, const uint8_t *end, int32_t index,
                                                                   int32_t count, rp_error *err) {
    return at == end ? rp_fail(err, RP_RECORDS_MISSING, 0, index, count) : rp_record_explain(at, end, at, err);
}

static __attribute__((noinline, cold, unused)) int rp_record_fail(const rp_source *s, const uint8_t *at, int32_t index,
                                                                  rp_error *err) {
    int status = rp_record_wrong(at, s->end, index, s->count, err);
    rp_source_fail(s, at, err);
    return status;
}

/* Give a record that was read the offset, timestamp and sequence from its deltas and the batch. The sums wrap, as in
 * Java: foreign deltas may have any value. */
static inline __attribute__((always_inline)) void rp_record_place(const rp_source *s, rp_record *r) {
    r->sequence = s->base_sequence < 0 ? -1 : rp_sequence_add(s->base_sequence, (int32_t)r->offset);
    r->offset = (int64_t)((uint64_t)s->base_offset + (uint64_t)r->offset);
    r->timestamp = s->log_append_time ? s->append_time : (int64_t)((uint64_t)s->base_timestamp + (uint64_t)r->timestamp);
    r->timestamp_type = (int8_t)s->log_append_time;
}

/* Read the v2 record number `index` at the cursor. */
static inline __attribute__((always_inline)) int rp_record_next(const rp_source *s, rp_cursor *c, int32_t index,
                                                                rp_record *r, rp_error *err) {
    const uint8_t *at = c->p;
    if (RP_UNLIKELY(!rp_record_read(c, r))) {
        int status = rp_record_fail(s, at, index, err);
        if (status == RP_OK) __builtin_unreachable(); /* else the compiler assumes that r may be unset */
        return status;
    }
    rp_record_place(s, r);
    return RP_OK;
}

/* The size of the entry at a cursor, which does not move, including its first 12 bytes; 0 if fewer than 12 are left. */
static inline int64_t rp_entry_size(rp_cursor c) {
    if (rp_cursor_left(&c) < RP_LOG_OVERHEAD) return 0;
    rp_read_be64(&c);
    return (int64_t)rp_read_be32(&c) + RP_LOG_OVERHEAD;
}

/* Read the next entry of a v0/v1 wrapper, or the only entry of a plain message; `m` is its header, with the offset as
 * stored. RP_END at the end and at a truncated entry, which is dropped (AbstractLegacyRecordBatch.DataLogInputStream).
 * Only inner messages of magic 1 get the timestamp type and append time of their wrapper (DeepRecordsIterator). */
static inline int rp_message_next(const rp_source *s, rp_cursor *c, rp_batch *m, rp_record *r, rp_error *err) {
    const uint8_t *at = c->p;
    int64_t size = rp_entry_size(*c);
    if (!size || size > (int64_t)rp_cursor_left(c)) return RP_END;
    if (rp_message_read(at, size, at - s->start, m, r, err)) return rp_source_fail(s, at, err);
    if (s->frame != RP_IN_RECORDS && (m->magic < 0 || m->magic > 1)) {
        rp_fail(err, RP_MAGIC, RP_ENTRY_PREFIX - 1, m->magic, 1);
        return rp_source_fail(s, at, err);
    }
    if (rp_batch_codec(m)) {
        rp_fail(err, RP_INNER_COMPRESSED, RP_MESSAGE_ATTRIBUTES_OFFSET, m->attributes, 0);
        return rp_source_fail(s, at, err);
    }
    rp_read_bytes(c, (size_t)size);
    r->offset = (int64_t)((uint64_t)s->base_offset + (uint64_t)r->offset);
    if (m->magic == 1) {
        r->timestamp_type = (int8_t)s->log_append_time;
        if (s->log_append_time) r->timestamp = s->append_time;
    }
    return RP_OK;
}

/* Bytes of a v0/v1 entry. */
static inline size_t rp_message_size(int magic, int64_t key_size, int64_t value_size) {
    return RP_LOG_OVERHEAD + (magic ? RP_MESSAGE_V1_OVERHEAD : RP_MESSAGE_V0_OVERHEAD) +
           (key_size > 0 ? (size_t)key_size : 0) + (value_size > 0 ? (size_t)value_size : 0);
}

typedef uint8_t rp_block32 __attribute__((vector_size(32), aligned(1), may_alias));

/* Copy the first and the last `half` bytes of a field of half to 2 * half bytes, and thus all of its bytes. */
static inline __attribute__((always_inline)) void rp_copy_ends(uint8_t *to, const uint8_t *from, size_t size,
                                                               size_t half) {
    if (half < sizeof(rp_block32)) {
        memcpy(to, from, half);
        memcpy(to + size - half, from + size - half, half);
        return;
    }
    uint8_t *to_end = to + size - half;
    const uint8_t *end = from + size - half;
    for (size_t i = 0; i < half; i += sizeof(rp_block32)) {
        *(rp_block32 *)(to + i) = *(const rp_block32 *)(from + i);
        *(rp_block32 *)(to_end + i) = *(const rp_block32 *)(end + i);
    }
}

/* Copy `size` bytes, more than 256: whole blocks at aligned addresses of `to`, and the first and the last block. Up to
 * the size of a cache this takes three quarters of the time of memcpy, which uses `rep movsb`. */
static inline __attribute__((always_inline)) void rp_copy_long(uint8_t *to, const uint8_t *from, size_t size) {
    const size_t block = sizeof(rp_block32);
    const rp_block32 last = *(const rp_block32 *)(from + size - block);
    uint8_t *end = to + size;
    *(rp_block32 *)to = *(const rp_block32 *)from;
    const size_t ahead = block - ((uintptr_t)to & (block - 1));
    to += ahead;
    from += ahead;
    for (; (size_t)(end - to) >= 4 * block; to += 4 * block, from += 4 * block) {
        const rp_block32 a = ((const rp_block32 *)from)[0], b = ((const rp_block32 *)from)[1];
        const rp_block32 c = ((const rp_block32 *)from)[2], d = ((const rp_block32 *)from)[3];
        ((rp_block32 *)to)[0] = a;
        ((rp_block32 *)to)[1] = b;
        ((rp_block32 *)to)[2] = c;
        ((rp_block32 *)to)[3] = d;
    }
    for (; (size_t)(end - to) > block; to += block, from += block) *(rp_block32 *)to = *(const rp_block32 *)from;
    *(rp_block32 *)(end - block) = last;
}

/* Copy exactly `size` bytes: no byte around them is read or written. Fields of up to 256 bytes take two steps that
 * overlap, without the loop over the length that mispredicts once per field. */
static inline __attribute__((always_inline)) void rp_copy(uint8_t *to, const uint8_t *from, size_t size) {
    if (size > 256) rp_copy_long(to, from, size);
    else if (size > 128) rp_copy_ends(to, from, size, 128);
    else if (size > 64) rp_copy_ends(to, from, size, 64);
    else if (size >= 32) rp_copy_ends(to, from, size, 32);
    else if (size >= 16) rp_copy_ends(to, from, size, 16);
    else if (size >= 8) rp_copy_ends(to, from, size, 8);
    else if (size >= 4) rp_copy_ends(to, from, size, 4);
    else if (size) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

/* Write a nullable field, size -1 being null; returns the end. */
static inline __attribute__((always_inline)) uint8_t *rp_field_write(uint8_t *p, const rp_field *f) {
    int64_t size = f->size; /* stores to p must not make the compiler read it again */
    p = rp_varlong_write(p, size);
    if (size <= 0) return p;
    rp_copy(p, f->data, (size_t)size);
    return p + size;
}

/* No record takes more than this beyond its key, value and headers. v2: length 5, attributes 1, timestampDelta 10,
 * offsetDelta 5, keyLength 5, valueLength 5, a headerCount of 0; v1: 34. */
enum { RP_RECORD_OVERHEAD_MAX = 40 };

/* Write a v2 record into a batch with these bases; returns the end. There must be room for key, value, headers and
 * RP_RECORD_OVERHEAD_MAX, even if less is needed.
 *
 * The length comes first and is known last: its size is guessed, and the record is moved by a byte if the guess was
 * wrong. Computing it beforehand would take as long as all the rest except the copies. */
static inline __attribute__((always_inline)) uint8_t *rp_record_write(uint8_t *p, const rp_record *r,
                                                                      int64_t base_offset, int64_t base_timestamp) {
    const rp_field key = r->key, value = r->value; /* a store to p does not make the compiler read them again */
    const uint8_t *headers = r->headers.data;
    int64_t headers_size = r->headers.size;
    int64_t offset_delta = (int64_t)((uint64_t)r->offset - (uint64_t)base_offset);
    size_t guess = rp_varlong_size(key.size + value.size + headers_size + 8);
    uint8_t *body = p + guess, *q = body;
    *q++ = 0; /* attributes */
    q = rp_varlong_write(q, (int64_t)((uint64_t)r->timestamp - (uint64_t)base_timestamp));
    q = rp_varlong_write(q, offset_delta);
    q = rp_field_write(q, &key);
    q = rp_field_write(q, &value);
    if (RP_LIKELY(!headers_size)) {
        *q++ = 0;
    } else {
        memcpy(q, headers, (size_t)headers_size);
        q += headers_size;
    }
    int64_t size = q - body;
    size_t length = rp_varlong_size(size);
    if (RP_UNLIKELY(length != guess)) {
        memmove(p + length, body, (size_t)size);
        q = p + length + size;
    }
    rp_varlong_write(p, size);
    return q;
}

static inline uint8_t *rp_message_field_write(uint8_t *p, const rp_field *f) {
    int64_t size = f->size;
    rp_store_be32(p, (uint32_t)(int32_t)size);
    p += 4;
    if (size <= 0) return p;
    rp_copy(p, f->data, (size_t)size);
    return p + size;
}

/* Write a v0/v1 entry except for its CRC; returns the end. In a v1 wrapper offsets count from base_offset. */
static inline uint8_t *rp_message_write(uint8_t *p, const rp_record *r, int magic, int attributes, int64_t base_offset) {
    rp_store_be64(p, (uint64_t)r->offset - (uint64_t)base_offset);
    rp_store_be32(p + 8, (uint32_t)(rp_message_size(magic, r->key.size, r->value.size) - RP_LOG_OVERHEAD));
    p[16] = (uint8_t)magic;
    p[RP_MESSAGE_ATTRIBUTES_OFFSET] = (uint8_t)attributes;
    p += RP_MESSAGE_TIMESTAMP_OFFSET;
    if (magic) {
        rp_store_be64(p, (uint64_t)r->timestamp);
        p += 8;
    }
    p = rp_message_field_write(p, &r->key);
    return rp_message_field_write(p, &r->value);
}

/* Bytes of a wrapper before its payload: an entry with a null key, and the length of the value. */
static inline size_t rp_wrapper_size(int magic) { return rp_message_size(magic, -1, -1); }

/* Write the wrapper of a compressed v0/v1 set, whose payload already follows it, except for the CRC. */
static inline void rp_wrapper_write(uint8_t *p, int magic, int attributes, int64_t offset, int64_t timestamp,
                                    size_t payload) {
    const rp_record nulls = {.offset = offset, .timestamp = timestamp, .key = {NULL, -1}, .value = {NULL, -1}};
    uint8_t *end = rp_message_write(p, &nulls, magic, attributes, 0);
    rp_store_be32(p + 8, (uint32_t)(rp_wrapper_size(magic) - RP_LOG_OVERHEAD + payload));
    rp_store_be32(end - 4, (uint32_t)payload);
}

#endif
