/* Gathering: what arrives in the columns of every layout is what reading record by record gives, in buffers of exactly
 * the room that a caller has to make. */
#include "fuzz.h"
#include "recordpress/columns.h"

enum { MOST_ROWS = 256 };

typedef struct row {
    int64_t offset, timestamp;
    int32_t sequence;
    rp_field key, value;
} row;

typedef struct expectation {
    row rows[MOST_ROWS];
    int64_t count;
    int status;
} expectation;

static int is_kept(const rp_source *s, const rp_record *r) {
    return !s->filtered || (r->offset >= s->first_offset && r->offset <= s->last_offset &&
                            r->timestamp >= s->first_timestamp && r->timestamp <= s->last_timestamp);
}

static void expect(expectation *e, const rp_source *s, const rp_record *r) {
    if (!is_kept(s, r)) return;
    e->rows[e->count++] = (row){r->offset, r->timestamp, r->sequence, r->key, r->value};
}

static void expect_records(expectation *e, const rp_source *s) {
    rp_cursor c = rp_cursor_of(s->start, (size_t)(s->end - s->start));
    for (int32_t i = 0; i < s->count; i++) {
        rp_record r;
        const uint8_t *at = c.p;
        if (!rp_record_read(&c, &r)) {
            e->status = at == s->end ? RP_RECORDS_MISSING : -1;
            return;
        }
        r.sequence = s->base_sequence < 0 ? -1 : rp_sequence_add(s->base_sequence, (int32_t)r.offset);
        r.offset = (int64_t)((uint64_t)r.offset + (uint64_t)s->base_offset);
        r.timestamp = s->log_append_time ? s->append_time : (int64_t)((uint64_t)r.timestamp + (uint64_t)s->base_timestamp);
        expect(e, s, &r);
    }
    if (s->count && c.p != s->end) e->status = RP_RECORDS_LEFT;
}

static void expect_messages(expectation *e, const rp_source *s) {
    const uint8_t *p = s->start;
    for (int32_t i = 0; i < s->count; i++) {
        rp_batch b;
        rp_record r;
        rp_error err;
        if (s->end - p < 12) return;
        int64_t size = 12 + (int64_t)(int32_t)rp_load_be32(p + 8);
        if (!size || size > s->end - p) return; /* a size field of -12 ends the set, as too few bytes do */
        e->status = rp_message_read(p, size, 0, &b, &r, &err);
        /* only what was compressed may hold messages of a magic that no entry can have (LegacyRecord reads any) */
        if (!e->status && s->frame != RP_IN_RECORDS && (b.magic < 0 || b.magic > 1)) e->status = RP_MAGIC;
        if (!e->status && rp_batch_codec(&b)) e->status = RP_INNER_COMPRESSED;
        if (e->status) return;
        r.offset = (int64_t)((uint64_t)r.offset + (uint64_t)s->base_offset);
        if (s->log_append_time && b.magic == 1) r.timestamp = s->append_time;
        expect(e, s, &r);
        p += size;
    }
}

/* --- columns with room for what the source can give, and not a byte more */

static void *filled(size_t size) {
    void *room = malloc(size ? size : 1);
    CHECK(room);
    memset(room, 0xff, size);
    return room;
}

static void make_binary(rp_binary *b, int layout, size_t rows, size_t bytes) {
    size_t width = layout == RP_BINARY ? 4 : layout == RP_LARGE_BINARY ? 8 : sizeof(rp_view);
    b->rows = filled((rows + (layout != RP_BINARY_VIEW)) * width);
    if (layout != RP_BINARY_VIEW) memset(b->rows, 0, width);
    b->data = layout == RP_BINARY_VIEW ? NULL : filled(bytes + RP_COPY_STEP);
    b->validity = filled((rows + 7) / 8);
}

static void free_binary(rp_binary *b) {
    free(b->rows);
    free(b->data);
    free(b->validity);
}

static void check_field(const rp_binary *b, int layout, const rp_source *s, int64_t i, const rp_field *expected) {
    const uint8_t *data;
    int64_t size;
    if (layout == RP_BINARY_VIEW) {
        const rp_view *v = (const rp_view *)b->rows + i;
        size = v->size;
        data = size <= 12 ? v->u.inlined : s->view_base + v->u.ref.offset;
        if (size > 12) CHECK(v->u.ref.buffer == s->view_buffer && !memcmp(v->u.ref.prefix, data, 4));
        for (int64_t k = size; k < 12; k++) CHECK(v->u.inlined[k] == 0);
    } else {
        int64_t from = layout == RP_BINARY ? ((int32_t *)b->rows)[i] : ((int64_t *)b->rows)[i];
        int64_t end = layout == RP_BINARY ? ((int32_t *)b->rows)[i + 1] : ((int64_t *)b->rows)[i + 1];
        size = end - from;
        data = b->data + from;
    }
    CHECK((b->validity[i >> 3] >> (i & 7) & 1) == (expected->size >= 0));
    CHECK(size == (expected->size > 0 ? expected->size : 0) && (!size || !memcmp(data, expected->data, (size_t)size)));
}

static void check_rows(const rp_columns *c, int layout, const rp_source *s, const expectation *e) {
    CHECK(c->rows == e->count);
    int64_t key_nulls = 0, value_nulls = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        const row *expected = &e->rows[i];
        if (c->offset) CHECK(c->offset[i] == expected->offset);
        if (c->timestamp) CHECK(c->timestamp[i] == expected->timestamp);
        if (c->sequence) CHECK(c->sequence[i] == expected->sequence);
        if (c->key.rows) check_field(&c->key, layout, s, i, &expected->key);
        if (c->value.rows) check_field(&c->value, layout, s, i, &expected->value);
        key_nulls += expected->key.size < 0;
        value_nulls += expected->value.size < 0;
    }
    if (c->key.rows) CHECK(c->key.nulls == key_nulls);
    if (c->value.rows) CHECK(c->value.nulls == value_nulls);
}

typedef int gather(rp_columns *, int, const rp_source *, rp_error *);

static void check_gather(gather *function, int layout, unsigned asked, const rp_source *s, const expectation *e) {
    size_t rows = (size_t)s->count, bytes = (size_t)(s->end - s->start);
    rp_columns c = {0};
    if (asked & 1) c.offset = filled(rows * sizeof *c.offset);
    if (asked & 2) c.timestamp = filled(rows * sizeof *c.timestamp);
    if (asked & 4) c.sequence = filled(rows * sizeof *c.sequence);
    if (asked & 8) make_binary(&c.key, layout, rows, bytes);
    if (asked & 16) make_binary(&c.value, layout, rows, bytes);
    rp_error err = {0};
    int status = function(&c, layout, s, &err);
    CHECK(e->status < 0 ? status != RP_OK : status == e->status);
    if (status) CHECK(err.status == status && err.position >= 0 && err.position <= s->end - s->start);
    check_rows(&c, layout, s, e);
    free(c.offset);
    free(c.timestamp);
    free(c.sequence);
    free_binary(&c.key);
    free_binary(&c.value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static expectation e;
    input in = {data, size};
    unsigned choice = (unsigned)take(&in, 1), asked = (unsigned)take(&in, 1), magic = (unsigned)take(&in, 1) % 3;
    rp_source s = {.count = (int32_t)take(&in, 1), .base_offset = 1000, .base_timestamp = 1, .append_time = 77, .view_buffer = 3};
    size_t beyond = take(&in, 1), bounds = take(&in, 1);
    s.log_append_time = choice >> 2 & 1;
    s.base_sequence = choice & 8 ? INT32_MAX - 2 : -1;
    if (choice & 16) s.base_offset = INT64_MAX, s.base_timestamp = INT64_MIN;
    s.filtered = choice >> 5 & 1;
    s.frame = choice & 64 ? RP_IN_RECORDS : RP_IN_PAYLOAD;
    s.first_offset = 1000 + (int64_t)(bounds & 3);
    s.last_offset = s.first_offset + (int64_t)(bounds >> 2 & 31);
    s.first_timestamp = bounds & 128 ? 2 : INT64_MIN;
    s.last_timestamp = INT64_MAX;
    s.start = s.view_base = in.p;
    s.readable = in.p + in.left;
    s.end = s.readable - (beyond < in.left ? beyond : in.left);
    e.count = 0;
    e.status = RP_OK;
    if (magic == 2) expect_records(&e, &s);
    else expect_messages(&e, &s);
    int layout = (int)(choice & 3) % 3;
    if (magic < 2) {
        check_gather(rp_gather_messages, layout, asked, &s, &e);
        return 0;
    }
    check_gather(rp_gather_baseline, layout, asked, &s, &e);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) check_gather(rp_gather_avx2, layout, asked, &s, &e);
#endif
    return 0;
}
