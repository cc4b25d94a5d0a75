/* A record batch v2 to columns and back, with no more checks than a correct batch needs to be read safely. */
#ifndef BENCH_BATCH_H
#define BENCH_BATCH_H

#include "codecs.h"
#include "columns.h"
#include "recordpress/batch_header.h"
#include "recordpress/crc32c.h"
#include "recordpress/varint.h"

typedef struct {
    codecs codecs;
    columns columns;
    uint8_t *scratch; /* the record bytes of one batch */
    size_t scratch_size;
} workspace;

typedef struct {
    const uint8_t *p, *end;
    int64_t base_offset, base_timestamp, count;
} record_bytes;

/* NULL at the end of the bytes or of what 64 bits hold. */
static inline const uint8_t *uvarint(const uint8_t *p, const uint8_t *end, uint64_t *value) {
    if (__builtin_expect(p < end && *p < 0x80, 1)) {
        *value = *p;
        return p + 1;
    }
    *value = 0;
    for (int shift = 0; p < end && shift < 64; shift += 7) {
        uint64_t b = *p++;
        *value |= (b & 0x7f) << shift;
        if (b < 0x80) return p;
    }
    return NULL;
}

static inline const uint8_t *varint(const uint8_t *p, const uint8_t *end, int64_t *value) {
    uint64_t raw = 0;
    p = uvarint(p, end, &raw);
    *value = rp_unzigzag(raw);
    return p;
}

/* A length and that many bytes, which begin at *at; length -1 is null. Gives the end. */
static inline const uint8_t *field(const uint8_t *p, const uint8_t *end, int64_t *size, const uint8_t **at) {
    if (!(p = varint(p, end, size))) return NULL;
    *at = p;
    if (*size < 0) return p;
    return *size > end - p ? NULL : p + *size;
}

typedef struct {
    int64_t offset, timestamp, key_size, value_size;
    const uint8_t *key, *value;
} record;

/* The next record (without headers: the corpus has none), or -1. */
static inline int record_next(record_bytes *r, record *out) {
    int64_t length, delta;
    uint64_t headers;
    const uint8_t *p = varint(r->p, r->end, &length);
    if (!p || length < 6 || length > r->end - p) return -1;
    const uint8_t *end = p + length;
    if (!(p = varint(p + 1, end, &delta))) return -1; /* after the attributes, which mean nothing yet */
    out->timestamp = r->base_timestamp + delta;
    if (!(p = varint(p, end, &delta))) return -1;
    out->offset = r->base_offset + delta;
    if (!(p = field(p, end, &out->key_size, &out->key))) return -1;
    if (!(p = field(p, end, &out->value_size, &out->value))) return -1;
    if (!(p = uvarint(p, end, &headers)) || headers || p != end) return -1;
    r->p = end;
    return 0;
}

/* Gather records into the columns; with `views` values stay where they are and only their place is stored. */
static int gather(record_bytes r, columns *c, int views) {
    int64_t first = c->count, last = first + r.count;
    int32_t keys = c->key_offsets[first], values = c->value_offsets[first];
    record one;
    for (int64_t i = first; i < last; i++) {
        if (record_next(&r, &one)) return -1;
        c->offset[i] = one.offset;
        c->timestamp[i] = one.timestamp;
        uint8_t bit = (uint8_t)(1 << (i & 7));
        if (one.key_size >= 0) {
            if (keys + one.key_size > c->byte_capacity) return -1;
            copy_wide(c->key_bytes + keys, one.key, one.key_size);
            keys += (int32_t)one.key_size;
            c->key_validity[i >> 3] |= bit;
        } else {
            c->key_validity[i >> 3] &= (uint8_t)~bit;
        }
        c->key_offsets[i + 1] = keys;
        if (one.value_size > 0) {
            if (values + one.value_size > c->byte_capacity) return -1;
            if (views) c->value_at[i] = one.value;
            else copy_wide(c->value_bytes + values, one.value, one.value_size);
            values += (int32_t)one.value_size;
        }
        c->value_offsets[i + 1] = values;
    }
    c->count = last;
    return r.p == r.end ? 0 : -1;
}

/* Check a batch's CRC and find its record bytes, decompressed into the scratch where they have to be. */
static int open_batch(workspace *w, const uint8_t *batch, size_t size, record_bytes *out) {
    if (size < RP_BATCH_HEADER) return -1;
    if (rp_crc32c(0, batch + RP_ATTRIBUTES_OFFSET, size - RP_ATTRIBUTES_OFFSET) != rp_load_be32(batch + RP_CRC_OFFSET))
        return -1;
    int codec = batch[RP_ATTRIBUTES_OFFSET + 1] & RP_CODEC_MASK;
    int64_t body = (int64_t)size - RP_BATCH_HEADER;
    out->p = batch + RP_BATCH_HEADER;
    if (codec) {
        body = codec_decompress(&w->codecs, codec, out->p, (size_t)body, w->scratch, w->scratch_size);
        if (body < 0) return -1;
        out->p = w->scratch;
    }
    out->end = out->p + body;
    out->base_offset = (int64_t)rp_load_be64(batch);
    out->base_timestamp = (int64_t)rp_load_be64(batch + RP_BASE_TIMESTAMP_OFFSET);
    out->count = (int32_t)rp_load_be32(batch + RP_RECORDS_COUNT_OFFSET);
    return 0;
}

/* All batches of `data`, one after the other into the columns; full columns are begun again (a stream of batches
 * through columns that hold one). Gives the number of records, or -1. */
static int64_t decode(workspace *w, const uint8_t *data, size_t size, int views) {
    columns *c = &w->columns;
    int64_t records = 0;
    columns_clear(c);
    for (size_t at = 0; at + RP_BATCH_HEADER <= size;) {
        size_t batch = RP_LOG_OVERHEAD + (size_t)rp_load_be32(data + at + 8);
        record_bytes r;
        if (batch > size - at || open_batch(w, data + at, batch, &r) || r.count > c->capacity) return -1;
        if (c->count + r.count > c->capacity) columns_clear(c);
        if (gather(r, c, views)) return -1;
        records += r.count;
        at += batch;
    }
    return records;
}

static uint8_t *write_record(uint8_t *p, const columns *c, int64_t i, int64_t base_offset, int64_t base_timestamp) {
    int64_t key_size = columns_key_size(c, i), value_size = c->value_offsets[i + 1] - c->value_offsets[i];
    int64_t key_bytes = key_size < 0 ? 0 : key_size;
    uint64_t timestamp = rp_zigzag(c->timestamp[i] - base_timestamp), offset = rp_zigzag(c->offset[i] - base_offset);
    size_t length = 2 + rp_uvarlong_size(timestamp) + rp_uvarlong_size(offset) + rp_varlong_size(key_size) +
                    rp_varlong_size(value_size) + (size_t)(key_bytes + value_size);
    p = rp_varlong_write(p, (int64_t)length);
    *p++ = 0; /* attributes */
    p = rp_uvarlong_write(p, timestamp);
    p = rp_uvarlong_write(p, offset);
    p = rp_varlong_write(p, key_size);
    if (key_bytes) copy_wide(p, c->key_bytes + c->key_offsets[i], key_bytes);
    p = rp_varlong_write(p + key_bytes, value_size);
    if (value_size) copy_wide(p, c->value_bytes + c->value_offsets[i], value_size);
    p += value_size;
    *p++ = 0; /* headers */
    return p;
}

/* The columns as one batch; gives its size, or -1. `out` holds the record bytes twice over and MARGIN. */
static int64_t encode(workspace *w, int codec, uint8_t *out, size_t capacity) {
    const columns *c = &w->columns;
    if (!c->count) return -1;
    uint8_t *body = codec ? w->scratch : out + RP_BATCH_HEADER, *p = body;
    rp_batch header = {.base_offset = c->offset[0], .base_timestamp = c->timestamp[0], .max_timestamp = c->timestamp[0],
                       .producer_id = -1, .producer_epoch = -1, .base_sequence = -1, .partition_leader_epoch = -1,
                       .attributes = (int16_t)codec, .records_count = (int32_t)c->count};
    header.last_offset_delta = (int32_t)(c->offset[c->count - 1] - header.base_offset);
    for (int64_t i = 0; i < c->count; i++) {
        if (c->timestamp[i] > header.max_timestamp) header.max_timestamp = c->timestamp[i];
        p = write_record(p, c, i, header.base_offset, header.base_timestamp);
    }
    int64_t size = p - body;
    if (codec)
        size = codec_compress(&w->codecs, codec, body, (size_t)size, out + RP_BATCH_HEADER, capacity - RP_BATCH_HEADER);
    if (size < 0) return -1;
    header.size = RP_BATCH_HEADER + size;
    rp_batch_write(out, &header);
    rp_store_be32(out + RP_CRC_OFFSET, rp_crc32c(0, out + RP_ATTRIBUTES_OFFSET, (size_t)header.size - RP_ATTRIBUTES_OFFSET));
    return header.size;
}

#endif
