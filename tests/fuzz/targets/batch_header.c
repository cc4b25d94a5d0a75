/* Entries of a record set by their headers: the walk stays inside, a field is what its bytes say, what is read can be
 * written. */
#include "fuzz.h"
#include "recordpress/batch_header.h"

static uint64_t be(const uint8_t *p, int bytes) {
    uint64_t value = 0;
    while (bytes--) value = value << 8 | *p++;
    return value;
}

static void check_v2(const uint8_t *p, const rp_batch *b) {
    uint8_t written[RP_BATCH_HEADER];
    CHECK(b->size >= RP_BATCH_HEADER && b->crc == be(p + 17, 4));
    memcpy(written, p, sizeof written);
    memset(written, 0xa5, 17);
    memset(written + 21, 0xa5, sizeof written - 21);
    rp_batch_write(written, b);
    CHECK(!memcmp(written, p, sizeof written));
    CHECK(b->base_offset == (int64_t)be(p, 8) && b->records_count == (int32_t)be(p + 57, 4));
    CHECK(rp_batch_last_offset(b) == (int64_t)(be(p, 8) + (uint64_t)(int64_t)(int32_t)be(p + 23, 4)));
}

/* The name of a plug-in: whatever the batch's codec is, its bytes are read as one. */
static void check_name(const uint8_t *p, const rp_batch *b) {
    static const char possible[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$:/-";
    const uint8_t *name = NULL;
    int length = -1;
    rp_error err = {0};
    int status = rp_plugin_name(p, b->size, &name, &length, &err);
    int64_t after = b->size - 62;
    int expected = after < 0 ? 0 : (int8_t)p[61];
    int good = expected > 0 && expected <= after;
    for (int i = 0; good && i < expected; i++) good = p[62 + i] && strchr(possible, p[62 + i]) != NULL;
    CHECK(length == expected && (status == RP_OK) == good);
    if (good) CHECK(name == p + 62);
    else CHECK(err.status == status && err.position >= 61 && err.position <= b->size);
}

static void check_message(const uint8_t *p, const rp_batch *b) {
    CHECK(b->size >= 26 && b->crc == be(p + 12, 4));
    CHECK(b->attributes == (int8_t)p[17] && b->base_offset == (int64_t)be(p, 8));
    CHECK(b->base_timestamp == (b->magic ? (int64_t)be(p + 18, 8) : -1) && b->max_timestamp == b->base_timestamp);
    CHECK(b->producer_id == -1 && b->records_count == (rp_batch_codec(b) ? -1 : 1));
}

/* Why nothing comes next at p, where `left` bytes are. */
static void check_end(const uint8_t *p, int64_t left) {
    CHECK(left < 17 || left < (int64_t)(int32_t)be(p + 8, 4) + 12);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    static const int64_t caps[4] = {INT32_MAX, 1 << 20, 100, 14};
    int64_t max_size = caps[take_below(&in, 4)], position = 0, left = (int64_t)in.left;
    rp_batch b;
    for (;; position += b.size, left -= b.size) {
        const uint8_t *p = in.p + position;
        rp_error err = {0};
        int status = rp_batch_next(in.p, (int64_t)in.left, position, max_size, &b, &err);
        if (status == RP_END) {
            check_end(p, left);
            return 0;
        }
        if (status) {
            CHECK(err.status == status && err.position >= 0 && err.position < (int64_t)in.left);
            return 0;
        }
        CHECK(b.position == position && b.size > 12 && b.size <= left && b.size - 12 <= max_size);
        CHECK(b.size == (int64_t)be(p + 8, 4) + 12 && b.magic == p[16]);
        if (b.magic == 2) {
            check_v2(p, &b);
            check_name(p, &b);
        } else check_message(p, &b);
    }
}
