/* The cursor and the varints: a drawn sequence of reads next to a model that counts and follows ByteUtils bit by bit. */
#include "fuzz.h"
#include "recordpress/cursor.h"

typedef struct model {
    const uint8_t *data;
    size_t size, at;
    int failed;
} model;

static uint64_t fail(model *m) {
    m->failed = 1;
    return 0;
}

static uint64_t be(model *m, size_t bytes) {
    uint64_t value = 0;
    if (m->failed || bytes > m->size - m->at) return fail(m);
    while (bytes--) value = value << 8 | m->data[m->at++];
    return value;
}

/* ByteUtils.readUnsignedVarint and readUnsignedVarlong */
static uint64_t uvar(model *m, int most, int bits) {
    uint64_t value = 0;
    for (int i = 0; i < most; i++) {
        if (m->failed || m->at == m->size) return fail(m);
        uint64_t b = m->data[m->at++];
        value |= (b & 0x7f) << 7 * i;
        if (!(b & 0x80)) return bits == 32 ? (uint32_t)value : value;
    }
    return fail(m);
}

static int64_t signed_of(uint64_t n) { return n & 1 ? -1 - (int64_t)(n >> 1) : (int64_t)(n >> 1); }

static void read_one(rp_cursor *c, model *m, unsigned op, unsigned size) {
    switch (op) {
    case 0: CHECK(rp_read_u8(c) == be(m, 1)); break;
    case 1: CHECK(rp_read_uvarint_max(c, RP_VARLONG_MAX) == uvar(m, RP_VARLONG_MAX, 64)); break;
    case 2: CHECK(rp_read_be32(c) == (int32_t)be(m, 4)); break;
    case 3: CHECK(rp_read_be64(c) == (int64_t)be(m, 8)); break;
    case 4: CHECK(rp_read_uvarint_max(c, RP_VARINT_MAX) == uvar(m, RP_VARINT_MAX, 32)); break;
    case 5: CHECK(rp_read_varint(c) == signed_of(uvar(m, RP_VARINT_MAX, 32))); break;
    case 6: CHECK(rp_read_varlong(c) == signed_of(uvar(m, RP_VARLONG_MAX, 64))); break;
    default: {
        size_t before = m->at;
        const uint8_t *p = rp_read_bytes(c, size);
        if (m->failed || size > m->size - m->at) fail(m);
        else m->at += size;
        CHECK(m->failed ? !p : p == m->data + before);
    }
    }
    CHECK(rp_cursor_ok(c) == !m->failed);
    CHECK(rp_cursor_left(c) == (m->failed ? 0 : m->size - m->at));
}

static void write_and_read(uint64_t bits) {
    int64_t n = (int64_t)bits;
    uint8_t bytes[RP_VARLONG_MAX];
    size_t size = (size_t)(rp_varlong_write(bytes, n) - bytes);
    CHECK(size == rp_varlong_size(n) && size <= sizeof bytes && rp_unzigzag(rp_zigzag(n)) == n);
    CHECK(size == 1 || bytes[size - 1]); /* of minimal length */
    model m = {bytes, size, 0, 0};
    CHECK(signed_of(uvar(&m, RP_VARLONG_MAX, 64)) == n && m.at == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    uint8_t ops[16];
    size_t count = take_below(&in, sizeof ops + 1);
    for (size_t i = 0; i < count; i++) ops[i] = (uint8_t)take(&in, 1);
    rp_cursor c = rp_cursor_of(in.left ? in.p : NULL, in.left);
    model m = {in.p, in.left, 0, in.left == 0}; /* a cursor over no memory at all is failed from the start */
    for (size_t i = 0; i < count; i++) read_one(&c, &m, ops[i] & 7, ops[i] >> 3);
    write_and_read(take(&in, 8));
    return 0;
}
