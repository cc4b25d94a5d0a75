/* CRC-32C on x86_64 with VPCLMULQDQ: folding in wide registers, next to the lanes of crc32c_lanes.h. See crc32c.h.
 *
 * Folding moves a register's 128-bit parts ahead by a fixed number of bits, with two carry-less multiplications
 * per part, and adds the data at that place. It does not use the crc32 instruction's unit, so for long messages
 * both work at once: the first part of a block is folded, the rest goes through the lanes.
 *
 * The functions with wide registers are not inlined: in a function that also handles short messages, gcc moves
 * their constants above the test of the length and the return of the short case leaves the upper halves of the
 * registers in use, which slows all SSE code that follows.
 */
#ifndef RECORDPRESS_CRC32C_FOLD_H
#define RECORDPRESS_CRC32C_FOLD_H

#if defined(__x86_64__)

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "recordpress/crc32c_lanes.h"

#define RP_TARGET_AVX2 RP_TARGET_LANES ",avx2,vpclmulqdq"
#define RP_TARGET_AVX512 RP_TARGET_AVX2 ",avx512f,avx512bw,avx512vl,avx512vbmi"

/* [i] moves 128 i bits ahead: x^(128 i + 63) for the first 64 bits, x^(128 i - 1) for the others, modulo P. */
static const uint64_t rp_crc32c_ahead[17][2] = {
    [1] = {UINT64_C(0x3743f7bd) << 32, UINT64_C(0x3171d430) << 32},
    [2] = {UINT64_C(0x33ccbbbc) << 32, UINT64_C(0xa2158b34) << 32},
    [3] = {UINT64_C(0xa46ef4aa) << 32, UINT64_C(0x6051243f) << 32},
    [4] = {UINT64_C(0x1c19243b) << 32, UINT64_C(0x75bba45b) << 32},
    [6] = {UINT64_C(0xc92f998d) << 32, UINT64_C(0x3365346a) << 32},
    [8] = {UINT64_C(0x6577b245) << 32, UINT64_C(0x7417153f) << 32},
    [12] = {UINT64_C(0x7ccbbbf2) << 32, UINT64_C(0x31c94608) << 32},
    [16] = {UINT64_C(0xe9a5d8be) << 32, UINT64_C(0x1426a815) << 32},
};

/* [3], [2], [1] and nothing: moves the parts of a 512-bit register to the place of its last part. */
static const uint64_t rp_crc32c_ahead_parts[8] = {
    UINT64_C(0xa46ef4aa) << 32, UINT64_C(0x6051243f) << 32, UINT64_C(0x33ccbbbc) << 32, UINT64_C(0xa2158b34) << 32,
    UINT64_C(0x3743f7bd) << 32, UINT64_C(0x3171d430) << 32,
};

#define RP_AHEAD(i) _mm_set_epi64x((int64_t)rp_crc32c_ahead[i][1], (int64_t)rp_crc32c_ahead[i][0])

RP_LANES static inline uint32_t rp_crc32c_of_128(__m128i v) {
    uint64_t crc = rp_crc32c_8(0, (uint64_t)_mm_cvtsi128_si64(v));
    return (uint32_t)rp_crc32c_8(crc, (uint64_t)_mm_extract_epi64(v, 1));
}

/* --- 256 bits --- */

#define RP_LOAD_256(p) _mm256_loadu_si256((const __m256i *)(p))
#define RP_AHEAD_256(i) _mm256_broadcastsi128_si256(RP_AHEAD(i))
#define RP_FOLD_256(v, ahead, next) \
    _mm256_xor_si256(_mm256_xor_si256(_mm256_clmulepi64_epi128(v, ahead, 0x00), \
                                      _mm256_clmulepi64_epi128(v, ahead, 0x11)), next)

enum {
    RP_AVX2_FROM = 2048,  /* below, the join costs more than folding gains */
    RP_AVX2_WORDS = 5,    /* per step and lane: keeps both units busy if the multiplier needs two cycles */
    RP_AVX2_STEP = 128 + 24 * RP_AVX2_WORDS
};

static inline int rp_crc32c_avx2_supported(void) {
    return rp_crc32c_lanes_supported() && rp_cpu_has(RP_CPU_AVX2 | RP_CPU_VPCLMULQDQ);
}

__attribute__((noinline, target(RP_TARGET_AVX2)))
static uint32_t rp_crc32c_steps_avx2(uint32_t crc, const uint8_t *p, size_t steps) {
    rp_lanes lanes = {.p = p + 128 * steps, .size = 8 * RP_AVX2_WORDS * steps};
    const __m256i ahead = RP_AHEAD_256(8);
    __m256i a = RP_LOAD_256(p), b = RP_LOAD_256(p + 32), c = RP_LOAD_256(p + 64), d = RP_LOAD_256(p + 96);
    a = _mm256_xor_si256(a, _mm256_zextsi128_si256(_mm_cvtsi32_si128((int)crc)));
    for (;;) {
        for (int i = 0; i < RP_AVX2_WORDS; i++) rp_lanes_step(&lanes);
        if (--steps == 0) break;
        p += 128;
        a = RP_FOLD_256(a, ahead, RP_LOAD_256(p));
        b = RP_FOLD_256(b, ahead, RP_LOAD_256(p + 32));
        c = RP_FOLD_256(c, ahead, RP_LOAD_256(p + 64));
        d = RP_FOLD_256(d, ahead, RP_LOAD_256(p + 96));
    }
    d = RP_FOLD_256(a, RP_AHEAD_256(6), RP_FOLD_256(b, RP_AHEAD_256(4), RP_FOLD_256(c, RP_AHEAD_256(2), d)));
    __m128i first = _mm256_castsi256_si128(d), v = _mm256_extracti128_si256(d, 1);
    v = _mm_xor_si128(v, _mm_xor_si128(_mm_clmulepi64_si128(first, RP_AHEAD(1), 0x00),
                                       _mm_clmulepi64_si128(first, RP_AHEAD(1), 0x11)));
    return rp_lanes_join(&lanes, rp_crc32c_of_128(v));
}

RP_LANES static inline uint32_t rp_crc32c_avx2(uint32_t crc, const uint8_t *p, size_t n) {
    while (n >= RP_AVX2_FROM) {
        size_t steps = n / RP_AVX2_STEP;
        if (steps > RP_LANES_SIZE_MAX / (8 * RP_AVX2_WORDS)) steps = RP_LANES_SIZE_MAX / (8 * RP_AVX2_WORDS);
        crc = rp_crc32c_steps_avx2(crc, p, steps);
        p += RP_AVX2_STEP * steps;
        n -= RP_AVX2_STEP * steps;
    }
    return rp_crc32c_lanes(crc, p, n);
}

/* --- 512 bits --- */

#define RP_LOAD_512(p) _mm512_loadu_si512(p)
#define RP_AHEAD_512(i) _mm512_broadcast_i32x4(RP_AHEAD(i))
#define RP_XOR3_512(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define RP_FOLD_512(v, ahead, next) \
    RP_XOR3_512(_mm512_clmulepi64_epi128(v, ahead, 0x00), _mm512_clmulepi64_epi128(v, ahead, 0x11), next)

enum {
    RP_AVX512_FROM = 128,        /* below, the same */
    RP_AVX512_STEPS_FROM = 6144, /* below, folding alone is as fast */
    /* Per step and lane. If the multiplier takes a 512-bit word every second cycle (Zen 5), 5 words are 12 %
     * faster; if it takes a word every cycle (Intel), the lanes would then be slower than folding alone. */
    RP_AVX512_WORDS = 3,
    RP_AVX512_STEP = 256 + 24 * RP_AVX512_WORDS,
    RP_AVX512_PREFETCH = 4096 /* chosen, not measured */
};

static inline int rp_crc32c_avx512_supported(void) {
    return rp_crc32c_avx2_supported() && rp_cpu_has(RP_CPU_AVX512);
}

/* Four consecutive registers, moved to the place of the last register and added. */
#define RP_JOIN_512(a, b, c, d) \
    RP_FOLD_512(a, RP_AHEAD_512(12), RP_FOLD_512(b, RP_AHEAD_512(8), RP_FOLD_512(c, RP_AHEAD_512(4), d)))

/* The remainder of a register: its four parts are moved to the place of the last part and added. */
__attribute__((target(RP_TARGET_AVX512))) static inline uint32_t rp_crc32c_of_512(__m512i v) {
    v = RP_FOLD_512(v, RP_LOAD_512(rp_crc32c_ahead_parts), _mm512_maskz_mov_epi64(0xC0, v));
    __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    return rp_crc32c_of_128(_mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

static const uint8_t rp_byte_index[64] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

/* Folding alone, for n >= 64 bytes in whole groups of 4. */
__attribute__((noinline, target(RP_TARGET_AVX512)))
static uint32_t rp_crc32c_fold_avx512(uint32_t crc, const uint8_t *p, size_t n) {
    const __m512i ahead = RP_AHEAD_512(4), ahead4 = RP_AHEAD_512(16);
    /* The bytes beyond whole registers come first, at the end of a register that starts with zeros: zeros before a
     * message do not change its state. They are at least 4, so that all of the state before the message fits there. */
    size_t over = ((n - 4) & 63) + 4;
    __m512i v = _mm512_xor_si512(RP_LOAD_512(p), _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    if (over != 64) {
        const __m512i from = _mm512_add_epi8(RP_LOAD_512(rp_byte_index), _mm512_set1_epi8((char)over));
        v = _mm512_maskz_permutexvar_epi8(~UINT64_C(0) << (64 - over), from, v);
    }
    p += over;
    n -= over;
    for (; n & 192; p += 64, n -= 64) v = RP_FOLD_512(v, ahead, RP_LOAD_512(p));
    if (n) {   /* four at a time, because a multiplication's result takes longer than four multiplications */
        __m512i a = RP_FOLD_512(v, ahead, RP_LOAD_512(p));
        __m512i b = RP_LOAD_512(p + 64), c = RP_LOAD_512(p + 128), d = RP_LOAD_512(p + 192);
        while (n -= 256) {
            p += 256;
            a = RP_FOLD_512(a, ahead4, RP_LOAD_512(p));
            b = RP_FOLD_512(b, ahead4, RP_LOAD_512(p + 64));
            c = RP_FOLD_512(c, ahead4, RP_LOAD_512(p + 128));
            d = RP_FOLD_512(d, ahead4, RP_LOAD_512(p + 192));
        }
        v = RP_JOIN_512(a, b, c, d);
    }
    return rp_crc32c_of_512(v);
}

__attribute__((noinline, target(RP_TARGET_AVX512)))
static uint32_t rp_crc32c_steps_avx512(uint32_t crc, const uint8_t *p, size_t steps) {
    rp_lanes lanes = {.p = p + 256 * steps, .size = 8 * RP_AVX512_WORDS * steps};
    const __m512i ahead = RP_AHEAD_512(16);
    __m512i a = RP_LOAD_512(p), b = RP_LOAD_512(p + 64), c = RP_LOAD_512(p + 128), d = RP_LOAD_512(p + 192);
    a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    for (;;) {
        for (int i = 0; i < RP_AVX512_WORDS; i++) rp_lanes_step(&lanes);
        if (--steps == 0) break;
        p += 256;
        /* The CPU's prefetcher follows four streams less well than one. Uncached data is a quarter faster with this. */
        const char *later = (const char *)((uintptr_t)p + RP_AVX512_PREFETCH);
        for (int i = 0; i < 256; i += 64) _mm_prefetch(later + i, _MM_HINT_T0);
        a = RP_FOLD_512(a, ahead, RP_LOAD_512(p));
        b = RP_FOLD_512(b, ahead, RP_LOAD_512(p + 64));
        c = RP_FOLD_512(c, ahead, RP_LOAD_512(p + 128));
        d = RP_FOLD_512(d, ahead, RP_LOAD_512(p + 192));
    }
    return rp_lanes_join(&lanes, rp_crc32c_of_512(RP_JOIN_512(a, b, c, d)));
}

RP_LANES static inline uint32_t rp_crc32c_avx512(uint32_t crc, const uint8_t *p, size_t n) {
    while (n >= RP_AVX512_STEPS_FROM) {
        size_t steps = n / RP_AVX512_STEP;
        if (steps > RP_LANES_SIZE_MAX / (8 * RP_AVX512_WORDS)) steps = RP_LANES_SIZE_MAX / (8 * RP_AVX512_WORDS);
        crc = rp_crc32c_steps_avx512(crc, p, steps);
        p += RP_AVX512_STEP * steps;
        n -= RP_AVX512_STEP * steps;
    }
    if (n >= RP_AVX512_FROM) {
        size_t words = n & ~(size_t)3;
        crc = rp_crc32c_fold_avx512(crc, p, words);
        p += words;
        n -= words;
    }
    return rp_crc32c_serial(crc, p, n);
}

#endif
#endif
