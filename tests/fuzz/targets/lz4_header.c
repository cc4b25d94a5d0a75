/* LZ4 frame headers: what is accepted has the bits that Kafka writes, and either checksum byte can be given to it. */
#include "fuzz.h"
#include "recordpress/lz4_header.h"

static void check_accepted(const uint8_t *p, size_t size, const rp_lz4_frame *frame) {
    CHECK(size >= 7 && !memcmp(p, "\x04\x22\x4d\x18", 4));
    CHECK((p[4] & 0xe3) == 0x60 && (p[5] & 0x8f) == 0 && p[5] >> 4 >= 4 && p[5] >> 4 <= 7);
    CHECK(frame->flags == p[4] && frame->block_max == (size_t)1 << (2 * (p[5] >> 4) + 8));
    CHECK(frame->header_size == (p[4] & 8 ? 15 : 7) && frame->header_size <= size);
}

static void check_hc(uint8_t *p, size_t size, const rp_lz4_frame *frame) {
    rp_lz4_frame again;
    rp_error err = {0};
    uint8_t *copy = exact_copy(p, size), *hc = copy + frame->header_size - 1;
    CHECK(rp_lz4_header_set_hc(copy, size, 0, &err) == RP_OK);
    CHECK(rp_lz4_header_read(copy, size, 1, &again, &err) == RP_OK && again.header_size == frame->header_size);
    uint8_t right = *hc;
    CHECK(rp_lz4_header_set_hc(copy, size, 1, &err) == RP_OK);
    CHECK(rp_lz4_header_read(copy, size, 1, &again, &err) == (*hc == right ? RP_OK : RP_LZ4_HC));
    *hc = p[frame->header_size - 1];
    CHECK(!memcmp(copy, p, size)); /* nothing else was touched */
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rp_lz4_frame frame, checked;
    rp_error err = {0};
    int status = rp_lz4_header_read(data, size, 0, &frame, &err);
    if (status) {
        CHECK(err.status == status && err.position >= 0 && err.position <= (int64_t)size);
        CHECK(rp_lz4_header_read(data, size, 1, &checked, &err) == status);
        return 0;
    }
    check_accepted(data, size, &frame);
    uint8_t *copy = exact_copy(data, size);
    check_hc(copy, size, &frame);
    free(copy);
    int with_hc = rp_lz4_header_read(data, size, 1, &checked, &err);
    CHECK(with_hc == RP_OK || (with_hc == RP_LZ4_HC && err.position == (int64_t)frame.header_size - 1));
    rp_xxh32(data, size);
    return 0;
}
