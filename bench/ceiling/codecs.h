/* The codec libraries as a careful C program calls them: contexts made once, output into a buffer of the caller's.
 *
 * Framing is Kafka's: xerial chunks of 32 KB for snappy, a frame of independent 64 KB blocks for lz4. Only what
 * the corpus holds is understood (one gzip member, one zstd frame, an lz4 frame without checksums): a ceiling
 * does the work of the good case and nothing else.
 */
#ifndef BENCH_CODECS_H
#define BENCH_CODECS_H

#include <libdeflate.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zstd.h>

#include "recordpress/endian.h"

enum { NONE, GZIP, SNAPPY, LZ4, ZSTD };
enum { XERIAL_HEADER = 16, XERIAL_CHUNK = 32 << 10, LZ4_HEADER = 7, LZ4_BLOCK = 64 << 10 };
enum { GZIP_LEVEL = 6, ZSTD_LEVEL = 3 }; /* the defaults of Kafka's Java client */
static const uint32_t LZ4_STORED = 0x80000000u;

typedef struct {
    struct libdeflate_decompressor *inflate;
    struct libdeflate_compressor *deflate;
    void *lz4_state;
    ZSTD_DCtx *zstd_in;
    ZSTD_CCtx *zstd_out;
} codecs;

static int codecs_open(codecs *c) {
    c->inflate = libdeflate_alloc_decompressor();
    c->deflate = libdeflate_alloc_compressor(GZIP_LEVEL);
    c->lz4_state = malloc(LZ4_sizeofState());
    c->zstd_in = ZSTD_createDCtx();
    c->zstd_out = ZSTD_createCCtx();
    return c->inflate && c->deflate && c->lz4_state && c->zstd_in && c->zstd_out;
}

static void codecs_close(codecs *c) {
    libdeflate_free_decompressor(c->inflate);
    libdeflate_free_compressor(c->deflate);
    free(c->lz4_state);
    ZSTD_freeDCtx(c->zstd_in);
    ZSTD_freeCCtx(c->zstd_out);
}

static int64_t snappy_read(const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    size_t done = 0;
    for (size_t at = XERIAL_HEADER; at + 4 <= size;) {
        size_t chunk = rp_load_be32(in + at), got = capacity - done;
        at += 4;
        if (chunk > size - at) return -1;
        if (snappy_uncompress((const char *)in + at, chunk, (char *)out + done, &got) != SNAPPY_OK) return -1;
        at += chunk;
        done += got;
    }
    return (int64_t)done;
}

static int64_t snappy_write(const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    static const uint8_t header[XERIAL_HEADER] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(out, header, XERIAL_HEADER);
    size_t done = XERIAL_HEADER;
    for (size_t at = 0; at < size; at += XERIAL_CHUNK) {
        size_t chunk = size - at < XERIAL_CHUNK ? size - at : XERIAL_CHUNK, got = capacity - done - 4;
        if (snappy_compress((const char *)in + at, chunk, (char *)out + done + 4, &got) != SNAPPY_OK) return -1;
        rp_store_be32(out + done, (uint32_t)got);
        done += 4 + got;
    }
    return (int64_t)done;
}

static int64_t lz4_read(const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    size_t done = 0;
    for (size_t at = LZ4_HEADER; at + 4 <= size;) {
        uint32_t word = rp_load_le32(in + at), block = word & ~LZ4_STORED;
        at += 4;
        if (!block) return (int64_t)done;
        size_t room = capacity - done < LZ4_BLOCK ? capacity - done : LZ4_BLOCK;
        if (block > size - at) return -1;
        if (word & LZ4_STORED) {
            if (block > room) return -1;
            memcpy(out + done, in + at, block);
            done += block;
        } else {
            int got = LZ4_decompress_safe((const char *)in + at, (char *)out + done, (int)block, (int)room);
            if (got < 0) return -1;
            done += (size_t)got;
        }
        at += block;
    }
    return -1;
}

static int64_t lz4_write(const codecs *c, const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    static const uint8_t header[LZ4_HEADER] = {0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82};
    memcpy(out, header, LZ4_HEADER);
    size_t done = LZ4_HEADER;
    for (size_t at = 0; at < size; at += LZ4_BLOCK) {
        size_t block = size - at < LZ4_BLOCK ? size - at : LZ4_BLOCK;
        if (capacity - done < block + 8) return -1;
        int got = LZ4_compress_fast_extState(c->lz4_state, (const char *)in + at, (char *)out + done + 4, (int)block,
                                             (int)(capacity - done - 8), 1);
        if (got <= 0 || (size_t)got >= block) {
            memcpy(out + done + 4, in + at, block);
            rp_store_le32(out + done, (uint32_t)block | LZ4_STORED);
            done += 4 + block;
        } else {
            rp_store_le32(out + done, (uint32_t)got);
            done += 4 + (size_t)got;
        }
    }
    rp_store_le32(out + done, 0);
    return (int64_t)done + 4;
}

static int64_t gzip_read(const codecs *c, const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    size_t got;
    return libdeflate_gzip_decompress(c->inflate, in, size, out, capacity, &got) ? -1 : (int64_t)got;
}

static int64_t gzip_write(const codecs *c, const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    size_t got = libdeflate_gzip_compress(c->deflate, in, size, out, capacity);
    return got ? (int64_t)got : -1;
}

static int64_t zstd_read(const codecs *c, const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    size_t got = ZSTD_decompressDCtx(c->zstd_in, out, capacity, in, size);
    return ZSTD_isError(got) ? -1 : (int64_t)got;
}

static int64_t zstd_write(const codecs *c, const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    size_t got = ZSTD_compressCCtx(c->zstd_out, out, capacity, in, size, ZSTD_LEVEL);
    return ZSTD_isError(got) ? -1 : (int64_t)got;
}

/* Size of the output, or -1. */
static int64_t codec_decompress(const codecs *c, int codec, const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    switch (codec) {
    case GZIP: return gzip_read(c, in, size, out, capacity);
    case SNAPPY: return snappy_read(in, size, out, capacity);
    case LZ4: return lz4_read(in, size, out, capacity);
    case ZSTD: return zstd_read(c, in, size, out, capacity);
    default: return -1;
    }
}

static int64_t codec_compress(const codecs *c, int codec, const uint8_t *in, size_t size, uint8_t *out, size_t capacity) {
    switch (codec) {
    case GZIP: return gzip_write(c, in, size, out, capacity);
    case SNAPPY: return snappy_write(in, size, out, capacity);
    case LZ4: return lz4_write(c, in, size, out, capacity);
    case ZSTD: return zstd_write(c, in, size, out, capacity);
    default: return -1;
    }
}

#endif
