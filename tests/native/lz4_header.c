/* xxh32 and the header checksum of LZ4 frames, correct and broken, and every header that Kafka refuses. */
#include "check.h"
#include "recordpress/lz4_header.h"

static void hashes(void) {
    /* published values of the reference implementation */
    CHECK(rp_xxh32((const uint8_t *)"", 0) == 0x02cc5d05);
    CHECK(rp_xxh32((const uint8_t *)"a", 1) == 0x550d7456);
    CHECK(rp_xxh32((const uint8_t *)"abc", 3) == 0x32d153ff);
    CHECK(rp_xxh32((const uint8_t *)"Nobody inspects the spammish repetition", 39) == 0xe2293b2f);
}

/* FLG, BD and content size -> both checksums: measured on Kafka and librdkafka (KIP-57). */
static void checksums(void) {
    static const struct { uint8_t flg, bd, hc, broken; uint64_t content; } rows[] = {
        {0x60, 0x40, 0x82, 0x1a, 0}, {0x60, 0x70, 0x73, 0x10, 0}, {0x64, 0x40, 0xa7, 0x0c, 0},
        {0x70, 0x40, 0xad, 0xec, 0}, {0x68, 0x40, 0xf1, 0x07, 1000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t size = rows[i].flg & RP_LZ4_FLG_CONTENT_SIZE ? 15 : 7;
        uint8_t *frame = malloc(size);
        rp_lz4_frame read;
        rp_error err;
        rp_store_le32(frame, RP_LZ4_FRAME_MAGIC);
        frame[4] = rows[i].flg;
        frame[5] = rows[i].bd;
        if (size == 15) rp_store_le64(frame + 6, rows[i].content);
        CHECK(rp_lz4_header_set_hc(frame, size, 0, &err) == RP_OK && frame[size - 1] == rows[i].hc);
        CHECK(rp_lz4_header_read(frame, size, 1, &read, &err) == RP_OK && read.header_size == size);
        CHECK(rp_lz4_header_set_hc(frame, size, 1, &err) == RP_OK && frame[size - 1] == rows[i].broken);
        CHECK(rp_lz4_header_read(frame, size, 0, &read, &err) == RP_OK);
        CHECK(rp_lz4_header_read(frame, size, 1, &read, &err) == RP_LZ4_HC && err.position == (int64_t)size - 1);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *part = exact_copy(frame, cut);
            CHECK(rp_lz4_header_read(part, cut, 0, &read, &err) == RP_LZ4_SHORT);
            free(part);
        }
        free(frame);
    }
}

static void refused(void) {
    static const struct { uint8_t at, value; int status; } rows[] = {
        {0, 0x05, RP_LZ4_MAGIC}, {4, 0x61, RP_LZ4_DICT}, {4, 0x62, RP_LZ4_FLG_RESERVED}, {4, 0x40, RP_LZ4_DEPENDENT},
        {4, 0x20, RP_LZ4_VERSION}, {4, 0xa0, RP_LZ4_VERSION}, {5, 0xc0, RP_LZ4_BD_RESERVED},
        {5, 0x41, RP_LZ4_BD_RESERVED}, {5, 0x30, RP_LZ4_BLOCK_MAX}, {5, 0x00, RP_LZ4_BLOCK_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t frame[RP_LZ4_HEADER_MIN];
        rp_lz4_frame read;
        rp_error err;
        rp_lz4_header_write(frame, 2);
        frame[rows[i].at] = rows[i].value;
        CHECK(rp_lz4_header_read(frame, sizeof frame, 0, &read, &err) == rows[i].status);
        CHECK(err.position == rows[i].at);
        CHECK(rp_lz4_header_set_hc(frame, sizeof frame, 0, &err) == rows[i].status);
    }
}

static void written(void) {
    uint8_t frame[RP_LZ4_HEADER_MIN];
    rp_lz4_header_write(frame, 2);
    CHECK(!memcmp(frame, "\x04\x22\x4d\x18\x60\x40\x82", 7));
    rp_lz4_header_write(frame, 0);
    CHECK(!memcmp(frame, "\x04\x22\x4d\x18\x60\x40\x1a", 7));
}

int main(void) {
    hashes();
    checksums();
    refused();
    written();
    return 0;
}
