/* One record, v2 or a message: a parser that looks at every byte agrees on what is one and what is in it, a refusal can
 * be explained, and what was read is written again. The first byte chooses: bit 0 a message, bit 1 exact writing. */
#include "fuzz.h"
#include "recordpress/record.h"

/* Where a careful reader is; at -1 it has failed. */
typedef struct walker {
    const uint8_t *p;
    int64_t at, end;
} walker;

static int64_t fail(walker *w) {
    w->at = -1;
    return -1;
}

static int64_t number(walker *w, int most) {
    uint64_t value = 0;
    for (int i = 0; i < most && w->at >= 0 && w->at < w->end; i++) {
        uint64_t b = w->p[w->at++];
        value |= (b & 0x7f) << 7 * i;
        if (b & 0x80) continue;
        if (most == 5) value = (uint32_t)value;
        return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
    }
    return fail(w);
}

static rp_field field(walker *w, int nullable) {
    int64_t size = number(w, 5);
    rp_field f = {NULL, -1};
    if (w->at < 0) return f;
    if (size < 0 && !nullable) fail(w);
    if (size < 0) return f;
    if (size > w->end - w->at) {
        fail(w);
        return f;
    }
    f.size = size;
    f.data = w->p + w->at;
    w->at += size;
    return f;
}

/* DefaultRecord.readFrom. Returns the bytes of the record with its length, -1 if it is none. */
static int64_t walk(const uint8_t *p, size_t size, rp_record *r) {
    walker w = {p, 0, (int64_t)size};
    int64_t length = number(&w, 5);
    if (w.at < 0 || length < 0 || length > w.end - w.at) return -1;
    w.end = w.at + length;
    if (w.at == w.end) return -1;
    r->attributes = (int8_t)p[w.at++];
    r->timestamp = number(&w, 10);
    r->offset = w.at < 0 ? 0 : number(&w, 5);
    if (w.at >= 0) r->key = field(&w, 1);
    if (w.at >= 0) r->value = field(&w, 1);
    if (w.at < 0) return -1;
    int64_t headers = number(&w, 5);
    if (w.at < 0 || headers < 0 || headers > w.end - w.at) return -1;
    r->header_count = (int32_t)headers;
    for (; headers > 0 && w.at >= 0; headers--) {
        field(&w, 0);
        if (w.at >= 0) field(&w, 1);
    }
    return w.at == w.end ? w.at : -1;
}

static int same_field(const rp_field *a, const rp_field *b) { return a->size == b->size && a->data == b->data; }

static int equal_field(const rp_field *a, const rp_field *b) {
    return a->size == b->size && (a->size <= 0 || !memcmp(a->data, b->data, (size_t)a->size));
}

static uint8_t *room_for(size_t size) {
    uint8_t *room = malloc(size);
    CHECK(room);
    return room;
}

static void write_again(const rp_record *r, int64_t base_offset, int64_t base_timestamp) {
    size_t data = (size_t)((r->key.size > 0) * r->key.size + (r->value.size > 0) * r->value.size + r->headers.size);
    uint8_t *room = room_for(data + RP_RECORD_OVERHEAD_MAX);
    size_t size = (size_t)(rp_record_write(room, r, base_offset, base_timestamp) - room);
    CHECK(size == rp_record_size(r, base_offset, base_timestamp) && size <= data + RP_RECORD_OVERHEAD_MAX);
    uint8_t *exact = exact_copy(room, size);
    rp_cursor c = rp_cursor_of(exact, size);
    rp_record again;
    CHECK(rp_record_read(&c, &again) && rp_cursor_left(&c) == 0);
    /* offset deltas are of 32 bits: the sums of others come out cut, and callers refuse them */
    if (r->offset - base_offset == (int32_t)(r->offset - base_offset)) CHECK(again.offset == r->offset - base_offset);
    CHECK((int64_t)((uint64_t)again.timestamp + (uint64_t)base_timestamp) == r->timestamp);
    CHECK(equal_field(&again.key, &r->key) && equal_field(&again.value, &r->value));
    CHECK(again.header_count == r->header_count && again.attributes == 0 && again.size == (int32_t)size);
    free(exact);
    free(room);
}

static void check_record(const uint8_t *p, size_t size, int64_t base_timestamp) {
    rp_record read, walked;
    rp_cursor c = rp_cursor_of(p, size);
    rp_error err = {0};
    int64_t end = walk(p, size, &walked);
    if (!rp_record_read(&c, &read)) {
        CHECK(end < 0 && !rp_cursor_ok(&c));
        CHECK(rp_record_explain(p, p + size, p, &err) == err.status && err.status != RP_OK);
        CHECK(err.position >= 0 && err.position <= (int64_t)size);
        return;
    }
    CHECK(end >= 0 && c.p == p + end);
    CHECK(read.offset == walked.offset && read.timestamp == walked.timestamp && read.attributes == walked.attributes);
    CHECK(same_field(&read.key, &walked.key) && same_field(&read.value, &walked.value));
    CHECK(read.header_count == walked.header_count && (read.headers.size == 0) == (read.header_count == 0));
    write_again(&read, 0, base_timestamp);
}

static void check_message(const uint8_t *p, size_t size) {
    rp_batch b;
    rp_record r;
    rp_error err = {0};
    if (size < RP_ENTRY_PREFIX) return; /* the caller has seen the magic */
    int status = rp_message_read(p, (int64_t)size, 0, &b, &r, &err);
    if (status) {
        CHECK(err.status == status && err.position >= 0 && err.position < (int64_t)size);
        return;
    }
    size_t needed = rp_message_size(b.magic, r.key.size, r.value.size);
    CHECK(needed <= size && r.offset == b.base_offset && r.timestamp == b.base_timestamp);
    uint8_t *room = room_for(needed);
    CHECK(rp_message_write(room, &r, b.magic, b.attributes, 0) == room + needed);
    rp_store_be32(room + RP_MESSAGE_CRC_OFFSET, b.crc);
    if (needed == size) { /* what remains different: the length field, and other negative lengths than -1 */
        CHECK(!memcmp(room, p, 8) && !memcmp(room + 12, p + 12, RP_MESSAGE_TIMESTAMP_OFFSET - 12));
        rp_batch b2;
        rp_record r2;
        CHECK(rp_message_read(room, (int64_t)needed, 0, &b2, &r2, &err) == RP_OK);
        CHECK(equal_field(&r.key, &r2.key) && equal_field(&r.value, &r2.value) && r2.timestamp == r.timestamp);
    }
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    unsigned choice = (unsigned)take(&in, 1);
    int64_t base_timestamp = choice & 2 ? 0 : (int64_t)take(&in, 8);
    if (choice & 1) check_message(in.p, in.left);
    else check_record(in.p, in.left, base_timestamp);
    return 0;
}
