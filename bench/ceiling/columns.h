/* The columns of a record set, in memory that every call uses again: what Arrow's int64 and binary arrays hold. */
#ifndef BENCH_COLUMNS_H
#define BENCH_COLUMNS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Behind every byte column: copies go in steps of 32 bytes and write past the end of a value. */
#define MARGIN 64

typedef struct {
    int64_t capacity, byte_capacity; /* records, bytes of keys and of values */
    int64_t count;
    int64_t *offset, *timestamp;
    int32_t *key_offsets, *value_offsets; /* count + 1 of them */
    uint8_t *key_bytes, *value_bytes, *key_validity;
    const uint8_t **value_at; /* with views: where the value lies, instead of a copy of it */
} columns;

static void columns_free(columns *c) {
    free(c->offset);
    free(c->timestamp);
    free(c->key_offsets);
    free(c->value_offsets);
    free(c->key_bytes);
    free(c->value_bytes);
    free(c->key_validity);
    free(c->value_at);
}

static int columns_allocate(columns *c, int64_t capacity, int64_t byte_capacity) {
    c->capacity = capacity;
    c->byte_capacity = byte_capacity;
    c->count = 0;
    c->offset = malloc(sizeof(int64_t) * capacity);
    c->timestamp = malloc(sizeof(int64_t) * capacity);
    c->key_offsets = calloc(capacity + 1, sizeof(int32_t));
    c->value_offsets = calloc(capacity + 1, sizeof(int32_t));
    c->key_bytes = malloc(byte_capacity + MARGIN);
    c->value_bytes = malloc(byte_capacity + MARGIN);
    c->key_validity = malloc(capacity / 8 + 1);
    c->value_at = malloc(sizeof(uint8_t *) * capacity);
    return c->offset && c->timestamp && c->key_offsets && c->value_offsets && c->key_bytes && c->value_bytes &&
           c->key_validity && c->value_at;
}

static inline void columns_clear(columns *c) { c->count = 0; }

static inline int64_t columns_key_size(const columns *c, int64_t i) {
    if (!(c->key_validity[i >> 3] >> (i & 7) & 1)) return -1;
    return c->key_offsets[i + 1] - c->key_offsets[i];
}

/* Copy in whole vectors: most keys and log lines take one to eight of them, which beats a call of memcpy. */
static inline void copy_wide(uint8_t *to, const uint8_t *from, int64_t size) {
    if (size > 512) {
        memcpy(to, from, size);
        return;
    }
    int64_t i = 0;
    do {
        memcpy(to + i, from + i, 32);
        i += 32;
    } while (i < size);
}

#endif
