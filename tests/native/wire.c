/* Varints, records and entry framing: what is written is read, and no byte outside the buffer is touched. */
#include "check.h"
#include "recordpress/columns.h"
#include "recordpress/record.h"
#include "recordpress/run.h"

static void varints(void) {
    uint64_t state = 1;
    for (int i = 0; i < 200000; i++) {
        int64_t n = (int64_t)(next_random(&state) >> (i % 64)) * (i & 1 ? 1 : -1);
        uint8_t bytes[RP_VARLONG_MAX];
        size_t size = (size_t)(rp_varlong_write(bytes, n) - bytes);
        CHECK(size == rp_varlong_size(n));
        for (size_t cut = 0; cut <= size; cut++) {
            uint8_t *copy = exact_copy(bytes, cut);
            rp_cursor c = rp_cursor_of(copy, cut);
            int64_t read = rp_read_varlong(&c);
            CHECK(rp_cursor_ok(&c) == (cut == size));
            CHECK(cut < size || (read == n && rp_cursor_left(&c) == 0));
            free(copy);
        }
    }
}

static void varints_too_long(void) {
    uint8_t bytes[RP_VARLONG_MAX + 1];
    memset(bytes, 0x80, sizeof bytes);
    rp_cursor c = rp_cursor_of(bytes, sizeof bytes);
    rp_read_varint(&c);
    CHECK(!rp_cursor_ok(&c));
    CHECK(rp_read_varint(&c) == 0 && rp_read_be64(&c) == 0 && !rp_read_bytes(&c, 1)); /* stays failed */
    c = rp_cursor_of(bytes, sizeof bytes);
    rp_read_varlong(&c);
    CHECK(!rp_cursor_ok(&c));
}

/* A record with key "k", value "value" and one header h: null. */
static const uint8_t RECORD[] = {0x22, 0x00, 0x04, 0x02, 0x02, 'k', 0x0a, 'v', 'a', 'l', 'u', 'e', 0x02, 0x02, 'h', 0x01};

static int read_record(const uint8_t *data, size_t size, rp_record *r) {
    uint8_t *copy = exact_copy(data, size);
    rp_cursor c = rp_cursor_of(copy, size);
    int ok = rp_record_read(&c, r);
    rp_error err = {0};
    if (!ok) CHECK(rp_record_explain(copy, copy + size, copy, &err) != RP_OK && err.position >= 0);
    free(copy);
    return ok;
}

static void records(void) {
    uint8_t bytes[sizeof RECORD];
    rp_record r;
    memcpy(bytes, RECORD, sizeof RECORD);
    bytes[0] = (sizeof RECORD - 1) * 2;
    CHECK(read_record(bytes, sizeof bytes, &r));
    CHECK(r.timestamp == 2 && r.offset == 1 && r.key.size == 1 && r.value.size == 5 && r.header_count == 1);
    CHECK(rp_record_size(&r, 0, 0) == sizeof RECORD && r.size == sizeof RECORD);
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
            rp_store_be32(bytes + 8, (uint32_t)(next_random(&state) % 100));
            bytes[16] = (uint8_t)(next_random(&state) % 4);
        }
        uint8_t *copy = exact_copy(bytes, size);
        rp_batch batch;
        rp_record record;
        rp_error err = {0};
        int64_t position = 0;
        while (rp_batch_next(copy, (int64_t)size, position, INT32_MAX, &batch, &err) == RP_OK) {
            CHECK(batch.size > 0 && position + batch.size <= (int64_t)size);
            if (batch.magic < 2) rp_message_read(copy + position, batch.size, position, &batch, &record, &err);
            position += batch.size;
        }
        free(copy);
    }
}

static void header_round_trip(void) {
    uint8_t bytes[RP_BATCH_HEADER] = {0};
    rp_batch written = {.size = RP_BATCH_HEADER, .base_offset = -2, .base_timestamp = INT64_MIN, .max_timestamp = INT64_MAX,
                        .producer_id = 7, .partition_leader_epoch = -1, .last_offset_delta = INT32_MAX, .base_sequence = -1,
                        .records_count = 3, .attributes = RP_ZSTD | RP_CONTROL, .producer_epoch = -1, .magic = 2};
    rp_batch_write(bytes, &written);
    rp_batch read;
    rp_error err = {0};
    CHECK(rp_batch_next(bytes, sizeof bytes, 0, INT32_MAX, &read, &err) == RP_OK);
    CHECK(read.base_offset == -2 && read.base_timestamp == INT64_MIN && read.max_timestamp == INT64_MAX);
    CHECK(read.producer_id == 7 && read.partition_leader_epoch == -1 && read.last_offset_delta == INT32_MAX);
    CHECK(read.base_sequence == -1 && read.records_count == 3 && read.producer_epoch == -1);
    CHECK(rp_batch_codec(&read) == RP_ZSTD && read.size == RP_BATCH_HEADER);
    CHECK(rp_sequence_add(INT32_MAX, 1) == 0);
}

/* A plain message is one row, also where another thread has put two into its bytes. */
static void a_message_is_one_row(void) {
    enum { ONE = RP_LOG_OVERHEAD + RP_MESSAGE_V0_OVERHEAD };
    uint8_t bytes[2 * ONE];
    rp_record r = {.offset = 5, .key = {NULL, -1}, .value = {NULL, -1}};
    uint8_t *p = rp_message_write(bytes, &r, 0, 0, 0);
    r.offset = 6;
    CHECK(rp_message_write(p, &r, 0, 0, 0) == bytes + sizeof bytes);
    int64_t *offsets = malloc(sizeof *offsets);
    rp_columns c = {.offset = offsets};
    rp_source s = {.start = bytes, .end = bytes + sizeof bytes, .readable = bytes + sizeof bytes, .count = 1};
    rp_error err = {0};
    CHECK(rp_gather_messages(&c, RP_BINARY, &s, &err) == RP_OK);
    CHECK(c.rows == 1 && offsets[0] == 5);
    free(offsets);
}

/* The records area of a batch as Kafka's Java producer lays it out: nulls, empty fields, headers, a gap in the offsets,
 * a length field of two bytes. */
static size_t java_records(uint8_t *out) {
    static const uint8_t first[] = {0x22, 0x00, 0x00, 0x00, 0x02, 'k', 0x0a, 'v', 'a', 'l', 'u', 'e', 0x04, 0x02, 'h', 0x01, 0x00, 0x00};
    static const uint8_t null[] = {0x0c, 0x00, 0x03, 0x0a, 0x01, 0x01, 0x00}; /* two ms before the first, five offsets later */
    static const uint8_t empty[] = {0x0e, 0x00, 0xd0, 0x0f, 0x0c, 0x00, 0x00, 0x00};
    uint8_t *p = out;
    memcpy(p, first, sizeof first), p += sizeof first;
    memcpy(p, null, sizeof null), p += sizeof null;
    memcpy(p, empty, sizeof empty), p += sizeof empty;
    static const uint8_t large[] = {0x96, 0x03, 0x00, 0x00, 0x0e, 0x01, 0x88, 0x03}; /* 203 bytes, with a value of 196 */
    memcpy(p, large, sizeof large), p += sizeof large;
    memset(p, 'x', 196), p += 196;
    *p++ = 0;
    out[0] = (sizeof first - 1) * 2;
    return (size_t)(p - out);
}

/* A record that was read is written again without anything but its struct: the same bytes, with the bases of its batch. */
static void records_again(void) {
    uint8_t bytes[300], again[300 + RP_RECORD_OVERHEAD_MAX];
    size_t size = java_records(bytes);
    uint8_t *copy = exact_copy(bytes, size), *to = again;
    rp_source s = {.start = copy, .end = copy + size, .count = 4, .base_sequence = INT32_MAX, .base_offset = 1000,
                   .base_timestamp = 1700000000000, .frame = RP_IN_PAYLOAD, .payload = RP_BATCH_HEADER};
    static const int64_t offsets[] = {1000, 1005, 1006, 1007}, timestamps[] = {0, -2, 1000, 0};
    rp_cursor c = rp_cursor_of(copy, size);
    rp_record r;
    rp_error err = {0};
    for (int32_t i = 0; i < s.count; i++) {
        CHECK(rp_record_next(&s, &c, i, &r, &err) == RP_OK);
        CHECK(r.offset == offsets[i] && r.timestamp == s.base_timestamp + timestamps[i] && r.timestamp_type == 0);
        CHECK(r.sequence == (i ? (int32_t)(r.offset - 1001) : INT32_MAX));
        CHECK(rp_record_size(&r, s.base_offset, s.base_timestamp) == (size_t)r.size);
        to = rp_record_write(to, &r, s.base_offset, s.base_timestamp);
    }
    CHECK((size_t)(to - again) == size && !memcmp(again, bytes, size));
    CHECK(rp_record_next(&s, &c, 4, &r, &err) == RP_RECORDS_MISSING);
    CHECK(err.frame == RP_IN_PAYLOAD && err.start == RP_BATCH_HEADER && err.position == (int64_t)size && err.found == 4);
    free(copy);
}

static void messages_again(void) {
    static const uint8_t key[] = {'k'}, value[] = "value";
    for (int magic = 0; magic < 2; magic++) {
        uint8_t bytes[200] = {0}, again[200];
        rp_record written = {.offset = 7, .timestamp = magic ? 5 : -1, .key = {key, 1}, .value = {value, 5}};
        uint8_t *end = rp_message_write(bytes, &written, magic, 0, 0);
        written.offset = 9, written.key = (rp_field){NULL, -1}, written.value = (rp_field){value, 0};
        end = rp_message_write(end, &written, magic, 0, 0);
        rp_source s = {.start = bytes, .end = end, .count = 2, .base_offset = 100, .frame = RP_IN_RECORDS, .payload = 34};
        rp_cursor c = rp_cursor_of(bytes, (size_t)(end - bytes));
        rp_record r;
        rp_batch m;
        rp_error err = {0};
        uint8_t *to = again;
        for (int64_t offset = 107; offset < 110; offset += 2) {
            CHECK(rp_message_next(&s, &c, &m, &r, &err) == RP_OK);
            CHECK(r.offset == offset && r.timestamp == (magic ? 5 : -1) && r.timestamp_type == (magic ? 0 : -1));
            to = rp_message_write(to, &r, magic, r.attributes, s.base_offset);
            rp_store_be32(to - r.size + RP_MESSAGE_CRC_OFFSET, m.crc);
        }
        CHECK(to - again == end - bytes && !memcmp(bytes, again, (size_t)(end - bytes)));
        CHECK(rp_message_next(&s, &c, &m, &r, &err) == RP_END);
        rp_store_be32(end - 8, 99); /* the second message's key */
        c = (rp_cursor){end - r.size, end};
        CHECK(rp_message_next(&s, &c, &m, &r, &err) == RP_KEY_LENGTH);
        CHECK(err.frame == RP_IN_RECORDS && err.start == 0 && err.position == end - 8 - bytes);
    }
}

/* From and to memory of exactly the size, at every distance from an aligned address. */
static void copies(void) {
    uint8_t bytes[600];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i % 251 + 1);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        for (size_t ahead = 0; ahead < (size > 256 ? 32 : 1); ahead++) {
            uint8_t *from = exact_copy(bytes, size), *to = calloc(1, ahead + size ? ahead + size : 1);
            CHECK(to);
            rp_copy(to + ahead, from, size);
            CHECK(!memcmp(to + ahead, bytes, size));
            for (size_t i = 0; i < ahead; i++) CHECK(!to[i]);
            free(from);
            free(to);
        }
    }
}

enum { RUN_ROWS = 40, RUN_BYTES = 400 };

/* Rows, columns of 32 bits and columns of 64 bits, each in memory of exactly its size, make the same bytes in room of
 * exactly what a run asks for; it stops at the limit and at a row that breaks a rule. */
static void runs(void) {
    uint64_t state = 7;
    for (int round = 0; round < 300; round++) {
        rp_record rows[RUN_ROWS];
        int32_t ends[RUN_ROWS + 1] = {0};
        int64_t wide_ends[RUN_ROWS + 1] = {0}, timestamps[RUN_ROWS];
        uint8_t validity[RUN_ROWS / 8] = {0}, bytes[RUN_ROWS * RUN_BYTES], expected[RUN_ROWS * (2 * RUN_BYTES + 40)];
        for (int i = 0; i < RUN_ROWS; i++) {
            int size = (int)(next_random(&state) % (round % 2 ? RUN_BYTES : 70)), null = next_random(&state) % 4 == 0;
            wide_ends[i + 1] = ends[i + 1] = ends[i] + (null ? 0 : size);
            if (!null) validity[i >> 3] |= (uint8_t)(1 << (i & 7));
            timestamps[i] = (int64_t)(next_random(&state) % 100000) - 1;
        }
        for (int i = 0; i < ends[RUN_ROWS]; i++) bytes[i] = (uint8_t)next_random(&state);
        uint8_t *data = exact_copy(bytes, (size_t)ends[RUN_ROWS]), *nulls = exact_copy(validity, sizeof validity);
        uint8_t *narrow = exact_copy((uint8_t *)ends, sizeof ends), *wide = exact_copy((uint8_t *)wide_ends, sizeof wide_ends);
        uint8_t *times = exact_copy((uint8_t *)timestamps, sizeof timestamps), *end = expected;
        for (int i = 0; i < RUN_ROWS; i++) {
            int valid = validity[i >> 3] >> (i & 7) & 1;
            rp_field f = {valid ? data + ends[i] : NULL, valid ? ends[i + 1] - ends[i] : -1};
            rows[i] = (rp_record){.offset = 1000 + i, .timestamp = timestamps[i], .key = f, .value = f};
            end = rp_record_write(end, &rows[i], 1000, timestamps[0]);
        }
        size_t size = (size_t)(end - expected), room = size + RP_RECORD_OVERHEAD_MAX;
        for (int way = 0; way < 3; way++) {
            rp_bytes_column column = {.ends = way == 1 ? narrow : wide, .data = data, .validity = nulls, .wide = way == 2};
            rp_rows from = {.rows = way ? NULL : rows, .key = column, .value = column, .timestamps = times,
                            .first_offset = 1000};
            rp_run run = {.base_offset = 1000, .base_timestamp = timestamps[0], .last_offset = 999, .max_timestamp = -1};
            uint8_t *out = malloc(room), *to = out;
            CHECK(out && rp_run_write(&run, &from, 0, RUN_ROWS, &to, out + room) == RUN_ROWS);
            CHECK((size_t)(to - out) == size && !memcmp(out, expected, size));
            CHECK(run.last_offset == 1000 + RUN_ROWS - 1);
            for (int i = 0; i < RUN_ROWS; i++) CHECK(rows[i].timestamp <= run.max_timestamp);
            CHECK(run.max_timestamp < 0 || timestamps[run.offset_of_max_timestamp - 1000] == run.max_timestamp);
            to = out; /* the last offset is not below the first: no row is taken */
            CHECK(rp_run_write(&run, &from, 0, RUN_ROWS, &to, out + room) == 0 && to == out);
            free(out);
            size_t half = size / 2;
            out = to = malloc(half + 1);
            run.last_offset = 999;
            int64_t taken = rp_run_write(&run, &from, 0, RUN_ROWS, &to, out + half);
            CHECK(taken < RUN_ROWS && (size_t)(to - out) <= half && !memcmp(out, expected, (size_t)(to - out)));
            free(out);
        }
        free(data);
        free(nulls);
        free(narrow);
        free(wide);
        free(times);
    }
}

int main(void) {
    copies();
    runs();
    varints();
    varints_too_long();
    records();
    entries_of_noise();
    header_round_trip();
    a_message_is_one_row();
    records_again();
    messages_again();
    return 0;
}
