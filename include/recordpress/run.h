/* Appends a run of records to the open v2 batch: one loop, until a record needs a decision.
 *
 * The records come from rows, or straight from the columns of an Arrow array, which takes a third less time.
 */
#ifndef RECORDPRESS_RUN_H
#define RECORDPRESS_RUN_H

#include "cpu.h"
#include "record.h"

/* The open batch: its bases, and what its records have changed so far. */
typedef struct rp_run {
    int64_t base_offset, base_timestamp;
    int64_t last_offset;
    int64_t max_timestamp, offset_of_max_timestamp;
} rp_run;

/* An Arrow column of bytes: binary or large_binary, or null in every row. */
typedef struct rp_bytes_column {
    const uint8_t *ends; /* from row 0: int32_t, or int64_t if `wide`, at any address; NULL: all rows are null */
    const uint8_t *data;
    const uint8_t *validity; /* NULL: no row is null */
    int64_t bit;             /* of row 0 in `validity` */
    int wide;
} rp_bytes_column;

/* The rows to write. */
typedef struct rp_rows {
    const rp_record *rows; /* NULL: the columns below, and no headers */
    rp_bytes_column key, value;
    const uint8_t *timestamps; /* int64_t of each row at any address; NULL: none */
    const uint8_t *offsets;    /* the same; NULL: counted from first_offset */
    int64_t first_offset;      /* of row 0 */
} rp_rows;

/* Find the bytes of a row; return 0 if the array's offsets contradict each other, or a field cannot hold the bytes. */
static inline __attribute__((always_inline)) int rp_bytes_of(const rp_bytes_column *c, int64_t row, rp_field *f) {
    f->data = NULL;
    f->size = -1;
    if (!c->ends) return 1;
    if (c->validity) {
        int64_t bit = c->bit + row;
        if (!(c->validity[bit >> 3] >> (bit & 7) & 1)) return 1;
    }
    uint64_t start, end;
    if (c->wide) {
        start = rp_load_le64(c->ends + 8 * row);
        end = rp_load_le64(c->ends + 8 * row + 8);
    } else {
        start = (uint64_t)(int64_t)(int32_t)rp_load_le32(c->ends + 4 * row);
        end = (uint64_t)(int64_t)(int32_t)rp_load_le32(c->ends + 4 * row + 4);
    }
    if (RP_UNLIKELY((int64_t)start < 0 || end - start > INT32_MAX)) return 0;
    f->data = c->data + start;
    f->size = (int64_t)(end - start);
    return 1;
}

static inline __attribute__((always_inline)) int rp_row_of(const rp_rows *rows, int64_t row, rp_record *r) {
    r->offset = rows->offsets ? (int64_t)rp_load_le64(rows->offsets + 8 * row)
                              : (int64_t)((uint64_t)rows->first_offset + (uint64_t)row);
    r->timestamp = rows->timestamps ? (int64_t)rp_load_le64(rows->timestamps + 8 * row) : -1;
    r->headers.size = 0;
    return rp_bytes_of(&rows->key, row, &r->key) && rp_bytes_of(&rows->value, row, &r->value);
}

/* `columns` and `wide` are constants, so that the compiler builds a loop for each combination. */
static inline __attribute__((always_inline)) int64_t rp_run_write_from(rp_run *run, const rp_rows *from, int columns,
                                                                       int wide, int64_t row, int64_t end, uint8_t **to,
                                                                       const uint8_t *limit) {
    rp_rows rows = *from; /* locals: the compiler keeps them in registers, byte stores cannot alias them */
    rp_run open = *run;
    uint8_t *p = *to;
    rows.key.wide = rows.value.wide = wide;
    for (; row < end; row++) {
        rp_record r;
        if (columns) {
            if (!rp_row_of(&rows, row, &r)) break;
        } else {
            r = rows.rows[row];
        }
        int64_t fields = (r.key.size > 0 ? r.key.size : 0) + (r.value.size > 0 ? r.value.size : 0) + r.headers.size;
        if (RP_UNLIKELY(fields + RP_RECORD_OVERHEAD_MAX > limit - p)) break;
        if (RP_UNLIKELY(r.offset <= open.last_offset || r.timestamp < -1)) break;
        if (RP_UNLIKELY((uint64_t)r.offset - (uint64_t)open.base_offset > INT32_MAX)) break;
        p = rp_record_write(p, &r, open.base_offset, open.base_timestamp);
        open.last_offset = r.offset;
        if (r.timestamp > open.max_timestamp) {
            open.max_timestamp = r.timestamp;
            open.offset_of_max_timestamp = r.offset;
        }
    }
    *run = open;
    *to = p;
    return row;
}

static inline __attribute__((always_inline)) int64_t rp_run_write_any(rp_run *run, const rp_rows *rows, int64_t row,
                                                                      int64_t end, uint8_t **to, const uint8_t *limit) {
    if (rows->rows) return rp_run_write_from(run, rows, 0, 0, row, end, to, limit);
    if (rows->key.wide) return rp_run_write_from(run, rows, 1, 1, row, end, to, limit);
    return rp_run_write_from(run, rows, 1, 0, row, end, to, limit);
}

static __attribute__((noinline, unused)) int64_t rp_run_write_baseline(rp_run *run, const rp_rows *rows, int64_t row,
                                                                       int64_t end, uint8_t **to,
                                                                       const uint8_t *limit) {
    return rp_run_write_any(run, rows, row, end, to, limit);
}

#ifdef __x86_64__
/* The same with 32-byte registers for the copies. */
static __attribute__((noinline, unused, target("avx2"))) int64_t rp_run_write_avx2(rp_run *run, const rp_rows *rows,
                                                                                   int64_t row, int64_t end,
                                                                                   uint8_t **to, const uint8_t *limit) {
    return rp_run_write_any(run, rows, row, end, to, limit);
}
#endif

/* Write the rows from `row` to `end` at *to, up to the first row that breaks a rule of appending or may not fit before
 * `limit`; set *to to the end of their bytes, and return the number of that row. */
static inline int64_t rp_run_write(rp_run *run, const rp_rows *rows, int64_t row, int64_t end, uint8_t **to,
                                   const uint8_t *limit) {
#ifdef __x86_64__
    if (rp_cpu_has(RP_CPU_AVX2)) return rp_run_write_avx2(run, rows, row, end, to, limit);
#endif
    return rp_run_write_baseline(run, rows, row, end, to, limit);
}

#endif
