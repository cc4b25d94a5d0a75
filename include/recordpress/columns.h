/* Records -> columns: one pass over the records of a batch into Arrow buffers, no allocation, no Python.
 *
 * The caller has reserved room: for `rows` more rows in every requested column, and for as many bytes as the records
 * take (plus a margin of RP_COPY_STEP) in every binary column. A column that is not requested is NULL.
 */
#ifndef RECORDPRESS_COLUMNS_H
#define RECORDPRESS_COLUMNS_H

#include "cpu.h"
#include "record.h"

/* Values are copied in fixed steps of up to this many bytes if source and target have room: a loop over the length
 * mispredicts once per record, which costs more than copying too many bytes. Keys and values of most topics are below
 * 256 bytes; longer values are worth a loop. It must not exceed PADDING (recordpress/_buffers.pxd), which is
 * the room after every pooled buffer. */
enum { RP_COPY_STEP = 256 };

/* How far ahead of the records the source is prefetched: the next of many small batches is loaded from memory while
 * this batch is gathered (400 batches of 25 kB take 10 % less time). A prefetch never faults, wherever it points. */
enum { RP_PREFETCH = 28 << 10 };

/* Layouts of a binary column: Arrow's binary, large_binary and binary_view. */
enum { RP_BINARY = 0, RP_LARGE_BINARY = 1, RP_BINARY_VIEW = 2 };

/* One row of a binary_view: up to RP_VIEW_INLINED bytes inline, else a prefix and a place in a buffer. */
enum { RP_VIEW_INLINED = 12 };
typedef struct rp_view {
    int32_t size;
    union {
        uint8_t inlined[RP_VIEW_INLINED];
        struct {
            uint8_t prefix[4];
            int32_t buffer;
            int32_t offset;
        } ref;
    } u;
} rp_view;

typedef struct rp_binary {
    void *rows;        /* int32_t or int64_t ends (rows + 1, the first is set), or rp_view; NULL: not requested */
    uint8_t *data;     /* RP_BINARY and RP_LARGE_BINARY */
    int64_t used;      /* bytes in data, or that views refer to */
    uint8_t *validity; /* all ones from the start: only nulls cost */
    int64_t nulls;
} rp_binary;

typedef struct rp_columns {
    int64_t rows;
    int64_t *offset;
    int64_t *timestamp;
    int64_t untimed; /* rows without a timestamp (-1) */
    int32_t *sequence;
    rp_binary key;
    rp_binary value;
    int64_t headers; /* of all records that were read, and their bytes: headers have no column here */
    int64_t header_bytes;
} rp_columns;

static inline __attribute__((always_inline)) void rp_copy32(uint8_t *to, const uint8_t *from, int blocks) {
    for (int i = 0; i < blocks; i++) ((rp_block32 *)to)[i] = ((const rp_block32 *)from)[i];
}

/* Copy `size` bytes with margins: both sides may be touched up to RP_COPY_STEP bytes if `readable` allows it. A
 * constant `is_short` states that it does, and that `size` is not larger. */
static inline __attribute__((always_inline)) void rp_copy_padded(uint8_t *to, const uint8_t *from, size_t size, int is_short,
                                                                 const uint8_t *readable) {
    if (!is_short && RP_UNLIKELY((size_t)(readable - from) < RP_COPY_STEP || size > RP_COPY_STEP)) {
        rp_copy(to, from, size);
    } else if (size <= 32) {
        rp_copy32(to, from, 1);
    } else if (size <= 128) {
        rp_copy32(to, from, 4);
    } else {
        rp_copy32(to, from, 8);
    }
}

/* Copy up to RP_VIEW_INLINED bytes into a view, followed by zeros. */
static inline __attribute__((always_inline)) void rp_copy_inlined(uint8_t *to, const uint8_t *from, unsigned size,
                                                                  const uint8_t *readable) {
    if (RP_UNLIKELY(readable - from < RP_VIEW_INLINED)) {
        memset(to, 0, RP_VIEW_INLINED);
        memcpy(to, from, size);
        return;
    }
    uint64_t low = rp_load_le64(from), high = rp_load_le32(from + 8);
    low &= size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
    high &= size < 8 ? 0 : (UINT64_C(1) << 8 * (size - 8)) - 1;
    rp_store_le64(to, low);
    rp_store_le32(to + 8, (uint32_t)high);
}

static inline __attribute__((always_inline)) void rp_emit_binary(rp_binary *b, int layout, int is_short, int64_t row,
                                                                 const rp_field *f, const rp_source *s) {
    const uint8_t *data = f->data;
    int64_t size = f->size;
    if (RP_UNLIKELY(size < 0)) {
        b->validity[row >> 3] &= (uint8_t) ~(1u << (row & 7));
        b->nulls++;
        size = 0;
        data = s->start;
    }
    if (layout == RP_BINARY_VIEW) {
        rp_view *v = (rp_view *)b->rows + row;
        v->size = (int32_t)size;
        if (size <= (int64_t)sizeof v->u.inlined) {
            rp_copy_inlined(v->u.inlined, data, (unsigned)size, s->readable);
        } else {
            memcpy(v->u.ref.prefix, data, sizeof v->u.ref.prefix);
            v->u.ref.buffer = s->view_buffer;
            v->u.ref.offset = (int32_t)(data - s->view_base);
            b->used += size;
        }
        return;
    }
    rp_copy_padded(b->data + b->used, data, (size_t)size, is_short, s->readable);
    b->used += size;
    if (layout == RP_BINARY) ((int32_t *)b->rows)[row + 1] = (int32_t)b->used;
    else ((int64_t *)b->rows)[row + 1] = b->used;
}

/* Write one record into every requested column, unless a bound of the source excludes it. */
static inline __attribute__((always_inline)) void rp_emit(rp_columns *c, int layout, int is_short, const rp_source *s,
                                                          const rp_record *r) {
    if (RP_UNLIKELY(s->filtered) && (r->offset < s->first_offset || r->offset > s->last_offset ||
                                     r->timestamp < s->first_timestamp || r->timestamp > s->last_timestamp))
        return;
    int64_t row = c->rows++;
    if (c->offset) c->offset[row] = r->offset;
    if (c->timestamp) c->timestamp[row] = r->timestamp;
    if (c->sequence) c->sequence[row] = r->sequence;
    if (c->key.rows) rp_emit_binary(&c->key, layout, is_short, row, &r->key, s);
    if (c->value.rows) rp_emit_binary(&c->value, layout, is_short, row, &r->value, s);
}

/* Count the rows from `first` without a timestamp, which are few or all. */
static inline void rp_count_untimed(rp_columns *c, int64_t first) {
    if (c->timestamp)
        for (int64_t row = first; row < c->rows; row++) c->untimed += c->timestamp[row] == -1;
}

/* Whether a call is usual: for all columns except sequences, all records, and the timestamps in the records. Only then
 * does one check find a record whose key and value are both short. */
static inline int rp_is_usual(const rp_columns *c, const rp_source *s) {
    return c->offset && c->timestamp && c->key.rows && c->value.rows && !c->sequence && !s->filtered && !s->log_append_time;
}

static inline __attribute__((always_inline)) int rp_gather_layout(rp_columns *columns, int layout, int is_usual,
                                                                  const rp_source *source, rp_error *err) {
    rp_columns c = *columns; /* locals: the compiler keeps them in registers, byte stores cannot alias them */
    rp_source s = *source;
    if (is_usual) { /* the compiler omits tests with a known result: small records take 6 % less time */
        c.sequence = NULL;
        s.filtered = s.log_append_time = 0;
        if (!c.offset || !c.timestamp || !c.key.rows || !c.value.rows) __builtin_unreachable();
    }
    rp_cursor cur = {s.start, s.end};
    rp_record r;
    int status = RP_OK;
    /* padding follows decompressed records, and the next batch follows others: an eighth of the distance distinguishes
     * them, because no padding is that long */
    const int more_follows = layout != RP_BINARY_VIEW && s.readable - s.end > RP_PREFETCH / 8;
    const int64_t first = c.rows;
    int64_t signs = 0; /* of all timestamps */
    for (int64_t i = 0; i < s.count; i++) {
        const uint8_t *at = cur.p;
        if (is_usual) c.rows = first + i; /* one counter for both */
        if (RP_UNLIKELY(!rp_record_read(&cur, &r))) { /* as rp_record_next, but the copy of the source stays local */
            status = rp_record_fail(source, at, (int32_t)i, err);
            break;
        }
        rp_record_place(&s, &r);
        signs |= r.timestamp;
        c.headers += r.header_count;
        c.header_bytes += r.headers.size;
        if (more_follows)
            for (const uint8_t *line = at; line < cur.p; line += 64)
                __builtin_prefetch((const void *)((uintptr_t)line + RP_PREFETCH));
        if (is_usual && cur.p - at <= RP_COPY_STEP && s.readable - cur.p >= RP_COPY_STEP) rp_emit(&c, layout, 1, &s, &r);
        else rp_emit(&c, layout, 0, &s, &r);
    }
    if (!status && cur.p != s.end && s.count) { /* a batch without records is not examined */
        rp_fail(err, RP_RECORDS_LEFT, 0, s.end - cur.p, s.count);
        status = rp_source_fail(source, cur.p, err);
    }
    if (signs < 0) rp_count_untimed(&c, first);
    *columns = c;
    return status;
}

static inline __attribute__((always_inline)) int rp_gather_any(rp_columns *c, int layout, const rp_source *s, rp_error *err) {
    switch (layout) {
    case RP_BINARY:
        return rp_is_usual(c, s) ? rp_gather_layout(c, RP_BINARY, 1, s, err) : rp_gather_layout(c, RP_BINARY, 0, s, err);
    case RP_LARGE_BINARY: return rp_gather_layout(c, RP_LARGE_BINARY, 0, s, err);
    default: return rp_gather_layout(c, RP_BINARY_VIEW, 0, s, err);
    }
}

static __attribute__((noinline, unused)) int rp_gather_baseline(rp_columns *c, int layout, const rp_source *s, rp_error *err) {
    return rp_gather_any(c, layout, s, err);
}

#ifdef __x86_64__
/* The same with 32-byte registers for the copies. */
static __attribute__((noinline, unused, target("avx2"))) int rp_gather_avx2(rp_columns *c, int layout, const rp_source *s,
                                                                            rp_error *err) {
    return rp_gather_any(c, layout, s, err);
}
#endif

/* Gather the records of a v2 batch into the requested columns. */
static inline int rp_gather(rp_columns *c, int layout, const rp_source *s, rp_error *err) {
#ifdef __x86_64__
    if (rp_cpu_has(RP_CPU_AVX2)) return rp_gather_avx2(c, layout, s, err);
#endif
    return rp_gather_baseline(c, layout, s, err);
}

/* Gather the entries of a v0/v1 wrapper, or the only entry of a plain message. */
static __attribute__((noinline, unused)) int rp_gather_messages(rp_columns *c, int layout, const rp_source *s, rp_error *err) {
    rp_cursor cur = {s->start, s->end};
    rp_record r;
    rp_batch b;
    const int64_t first = c->rows;
    int status = RP_OK;
    /* the room is for `count` rows and no more, even if another thread changes the bytes */
    for (int32_t i = 0; i < s->count; i++) {
        status = rp_message_next(s, &cur, &b, &r, err);
        if (status) break;
        rp_emit(c, layout, 0, s, &r);
    }
    rp_count_untimed(c, first);
    return status == RP_END ? RP_OK : status;
}

#endif
