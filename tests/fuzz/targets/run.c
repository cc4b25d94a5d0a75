/* A run of records from columns: up to the row at which a careful writer of single records stops, the same bytes and
 * the same numbers of the batch, in the room that was given. */
#include "fuzz.h"
#include "recordpress/run.h"

enum { ROWS = 12, ROOM = 1024 };

typedef struct column {
    int64_t ends[ROWS + 1];
    int32_t narrow[ROWS + 1];
    uint8_t validity[(ROWS + 7) / 8];
    int is_there;
    rp_bytes_column of;
} column;

/* Ends within the data, which may contradict each other. */
static void take_column(column *c, input *in, const uint8_t *data, size_t size, int wide) {
    int choices = (int)take(in, 1), in_order = choices & 1;
    c->is_there = (choices & 6) != 0;
    for (int i = 0; i <= ROWS; i++) {
        c->ends[i] = (int64_t)take_below(in, size + 1);
        if (in_order && i && c->ends[i] < c->ends[i - 1]) c->ends[i] = c->ends[i - 1];
        c->narrow[i] = (int32_t)c->ends[i];
    }
    for (size_t i = 0; i < sizeof c->validity; i++) c->validity[i] = (uint8_t)take(in, 1);
    c->of = (rp_bytes_column){.data = data, .wide = wide, .validity = choices & 8 ? c->validity : NULL};
    if (c->is_there) c->of.ends = wide ? (const uint8_t *)c->ends : (const uint8_t *)c->narrow;
}

/* Whether a row has such a field. */
static int field_of(const column *c, int row, rp_field *f) {
    *f = (rp_field){NULL, -1};
    if (!c->is_there || (c->of.validity && !(c->validity[row / 8] >> row % 8 & 1))) return 1;
    *f = (rp_field){c->of.data + c->ends[row], c->ends[row + 1] - c->ends[row]};
    return f->size >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    int64_t rows = (int64_t)take_below(&in, ROWS + 1), room = (int64_t)take_below(&in, ROOM);
    int choices = (int)take(&in, 1);
    int64_t offsets[ROWS], timestamps[ROWS];
    rp_run run = {.base_offset = (int64_t)(take(&in, 8) >> 1), .base_timestamp = (int64_t)(take(&in, 8) >> 1)};
    run.last_offset = run.base_offset - 1;
    run.max_timestamp = -1;
    for (int i = 0; i < ROWS; i++) {
        offsets[i] = (int64_t)((uint64_t)run.base_offset + take(&in, choices & 1 ? 8 : 1));
        timestamps[i] = (int64_t)take(&in, 8);
    }
    column key, value;
    take_column(&key, &in, data, size, choices & 2);
    take_column(&value, &in, data, size, choices & 2);
    rp_rows from = {.key = key.of, .value = value.of, .first_offset = run.base_offset};
    if (choices & 4) from.offsets = (const uint8_t *)offsets;
    if (choices & 8) from.timestamps = (const uint8_t *)timestamps;

    uint8_t expected[ROOM + RP_RECORD_OVERHEAD_MAX], *end = expected;
    rp_run model = run;
    int64_t stop = 0;
    for (; stop < rows; stop++) {
        rp_record r = {.offset = choices & 4 ? offsets[stop] : (int64_t)((uint64_t)run.base_offset + (uint64_t)stop)};
        r.timestamp = choices & 8 ? timestamps[stop] : -1;
        if (!field_of(&key, (int)stop, &r.key) || !field_of(&value, (int)stop, &r.value)) break;
        int64_t fields = (r.key.size < 0 ? 0 : r.key.size) + (r.value.size < 0 ? 0 : r.value.size);
        if (fields + RP_RECORD_OVERHEAD_MAX > room - (end - expected)) break;
        if (r.offset <= model.last_offset || r.timestamp < -1) break;
        if ((uint64_t)r.offset - (uint64_t)run.base_offset > INT32_MAX) break;
        end = rp_record_write(end, &r, run.base_offset, run.base_timestamp);
        model.last_offset = r.offset;
        if (r.timestamp <= model.max_timestamp) continue;
        model.max_timestamp = r.timestamp;
        model.offset_of_max_timestamp = r.offset;
    }

    uint8_t *out = malloc((size_t)room + 1), *to = out;
    CHECK(out != NULL);
    CHECK(rp_run_write(&run, &from, 0, rows, &to, out + room) == stop);
    CHECK(to - out == end - expected && !memcmp(out, expected, (size_t)(to - out)));
    CHECK(run.last_offset == model.last_offset && run.max_timestamp == model.max_timestamp);
    CHECK(run.offset_of_max_timestamp == model.offset_of_max_timestamp);
    free(out);
    return 0;
}
