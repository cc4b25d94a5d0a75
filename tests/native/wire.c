/* Varints, records and entry framing: what is written is read, and no byte outside the buffer is touched. */
#include "check.h"
#include "kpress/columns.h"
#include "kpress/record.h"

static void varints(void) {
    uint64_t state = 1;
    for (int i = 0; i < 200000; i++) {
        int64_t n = (int64_t)(next_random(&state) >> (i % 64)) * (i & 1 ? 1 : -1);
        uint8_t bytes[KP_VARLONG_MAX];
        size_t size = (size_t)(kp_varlong_write(bytes, n) - bytes);
        CHECK(size == kp_varlong_size(n));
        for (size_t cut = 0; cut <= size; cut++) {
            uint8_t *copy = exact_copy(bytes, cut);
            kp_cursor c = kp_cursor_of(copy, cut);
            int64_t read = kp_read_varlong(&c);
            CHECK(kp_cursor_ok(&c) == (cut == size));
            CHECK(cut < size || (read == n && kp_cursor_left(&c) == 0));
            free(copy);
        }
    }
}

static void varints_too_long(void) {
    uint8_t bytes[KP_VARLONG_MAX + 1];
    memset(bytes, 0x80, sizeof bytes);
    kp_cursor c = kp_cursor_of(bytes, sizeof bytes);
    kp_read_varint(&c);
    CHECK(!kp_cursor_ok(&c));
    CHECK(kp_read_varint(&c) == 0 && kp_read_be64(&c) == 0 && !kp_read_bytes(&c, 1)); /* stays failed */
    c = kp_cursor_of(bytes, sizeof bytes);
    kp_read_varlong(&c);
    CHECK(!kp_cursor_ok(&c));
}

/* A record with key "k", value "value" and one header h: null. */
static const uint8_t RECORD[] = {0x22, 0x00, 0x04, 0x02, 0x02, 'k', 0x0a, 'v', 'a', 'l', 'u', 'e', 0x02, 0x02, 'h', 0x01};

static int read_record(const uint8_t *data, size_t size, kp_record *r) {
    uint8_t *copy = exact_copy(data, size);
    kp_cursor c = kp_cursor_of(copy, size);
    int ok = kp_record_read(&c, r);
    kp_error err = {0};
    if (!ok) CHECK(kp_record_explain(copy, copy + size, copy, &err) != KP_OK && err.position >= 0);
    free(copy);
    return ok;
}

static void records(void) {
    uint8_t bytes[sizeof RECORD];
    kp_record r;
    memcpy(bytes, RECORD, sizeof RECORD);
    bytes[0] = (sizeof RECORD - 1) * 2;
    CHECK(read_record(bytes, sizeof bytes, &r));
    CHECK(r.timestamp_delta == 2 && r.offset_delta == 1 && r.key_size == 1 && r.value_size == 5 && r.header_count == 1);
    CHECK(kp_record_body_size(2, 1, 1, 5, 4) == sizeof RECORD - 1);
    for (size_t cut = 0; cut < sizeof bytes; cut++) CHECK(!read_record(bytes, cut, &r));
    for (size_t at = 0; at < sizeof bytes; at++)
        for (int value = 0; value < 256; value++) { /* any one byte may lie */
            uint8_t was = bytes[at];
            bytes[at] = (uint8_t)value;
            read_record(bytes, sizeof bytes, &r);
            bytes[at] = was;
        }
}

static void entries_of_noise(void) {
    uint64_t state = 2;
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[96];
        size_t size = next_random(&state) % sizeof bytes;
        for (size_t k = 0; k < size; k++) bytes[k] = (uint8_t)next_random(&state);
        if (size > 16) { /* let most of them pass the first tests */
            kp_store_be32(bytes + 8, (uint32_t)(next_random(&state) % 100));
            bytes[16] = (uint8_t)(next_random(&state) % 4);
        }
        uint8_t *copy = exact_copy(bytes, size);
        kp_batch batch;
        kp_record record;
        kp_error err = {0};
        int64_t position = 0;
        while (kp_batch_next(copy, (int64_t)size, position, INT32_MAX, &batch, &err) == KP_OK) {
            CHECK(batch.size > 0 && position + batch.size <= (int64_t)size);
            if (batch.magic < 2) kp_message_read(copy + position, batch.size, position, &batch, &record, &err);
            position += batch.size;
        }
        free(copy);
    }
}

static void header_round_trip(void) {
    uint8_t bytes[KP_BATCH_HEADER] = {0};
    kp_batch written = {.size = KP_BATCH_HEADER, .base_offset = -2, .base_timestamp = INT64_MIN, .max_timestamp = INT64_MAX,
                        .producer_id = 7, .partition_leader_epoch = -1, .last_offset_delta = INT32_MAX, .base_sequence = -1,
                        .records_count = 3, .attributes = KP_ZSTD | KP_CONTROL, .producer_epoch = -1, .magic = 2};
    kp_batch_write(bytes, &written);
    kp_batch read;
    kp_error err = {0};
    CHECK(kp_batch_next(bytes, sizeof bytes, 0, INT32_MAX, &read, &err) == KP_OK);
    CHECK(read.base_offset == -2 && read.base_timestamp == INT64_MIN && read.max_timestamp == INT64_MAX);
    CHECK(read.producer_id == 7 && read.partition_leader_epoch == -1 && read.last_offset_delta == INT32_MAX);
    CHECK(read.base_sequence == -1 && read.records_count == 3 && read.producer_epoch == -1);
    CHECK(kp_batch_codec(&read) == KP_ZSTD && read.size == KP_BATCH_HEADER);
    CHECK(kp_sequence_add(INT32_MAX, 1) == 0);
}

/* A plain message is one row, also where another thread has put two into its bytes. */
static void a_message_is_one_row(void) {
    enum { ONE = KP_LOG_OVERHEAD + KP_MESSAGE_V0_OVERHEAD };
    uint8_t bytes[2 * ONE];
    uint8_t *p = kp_message_write(bytes, 0, 0, 5, -1, NULL, -1, NULL, -1);
    CHECK(kp_message_write(p, 0, 0, 6, -1, NULL, -1, NULL, -1) == bytes + sizeof bytes);
    int64_t *offsets = malloc(sizeof *offsets);
    kp_columns c = {.offset = offsets};
    kp_source s = {.start = bytes, .end = bytes + sizeof bytes, .readable = bytes + sizeof bytes, .count = 1};
    kp_error err = {0};
    CHECK(kp_gather_messages(&c, KP_BINARY, &s, &err) == KP_OK);
    CHECK(c.rows == 1 && offsets[0] == 5);
    free(offsets);
}

int main(void) {
    varints();
    varints_too_long();
    records();
    entries_of_noise();
    header_round_trip();
    a_message_is_one_row();
    return 0;
}
