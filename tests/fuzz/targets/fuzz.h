/* What the targets share. A target is one function of the bytes that libFuzzer gives it; CHECK ends the process, which
 * libFuzzer takes for a finding. The bytes lie in memory of exactly their size, so what is under test gets the end of
 * them, and a target takes its own choices from the front. */
#ifndef RECORDPRESS_TESTS_FUZZ_H
#define RECORDPRESS_TESTS_FUZZ_H

#include "../../native/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    const uint8_t *p;
    size_t left;
} input;

/* Zeros once nothing is left. */
static inline uint64_t take(input *in, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && in->left; i++, in->left--) value |= (uint64_t)*in->p++ << 8 * i;
    return value;
}

/* A number below `most`, of one byte where that is enough. */
static inline uint64_t take_below(input *in, uint64_t most) { return take(in, most <= 256 ? 1 : 4) % most; }

#endif
