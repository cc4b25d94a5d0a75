/* A snappy decoder that follows the format's description element by element (google/snappy, format_description.txt). */
#ifndef RECORDPRESS_TESTS_SNAPPY_REFERENCE_H
#define RECORDPRESS_TESTS_SNAPPY_REFERENCE_H

#include <stdint.h>
#include <string.h>

/* Bytes written, or -1. */
static inline long describe(const uint8_t *in, size_t size, uint8_t *out, size_t room) {
    size_t at = 0, done = 0;
    while (at < size) {
        unsigned tag = in[at++], kind = tag & 3;
        unsigned extra = kind == 0 ? (tag >> 2 >= 60 ? (tag >> 2) - 59 : 0) : kind == 3 ? 4 : kind;
        if (extra > size - at) return -1;
        uint64_t number = 0;
        for (unsigned i = 0; i < extra; i++) number |= (uint64_t)in[at + i] << 8 * i;
        at += extra;
        uint64_t length = kind == 1 ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1;
        if (kind == 0) {
            if (extra) length = number + 1;
            if (length > size - at || length > room - done) return -1;
            memcpy(out + done, in + at, length);
            at += length;
            done += length;
            continue;
        }
        if (kind == 1) number |= (uint64_t)(tag >> 5) << 8;
        if (number == 0 || number > done || length > room - done) return -1;
        for (uint64_t i = 0; i < length; i++, done++) out[done] = out[done - number];
    }
    return (long)done;
}

#endif
