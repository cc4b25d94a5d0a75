/* CRC-32C with the CPU's instruction for it, x86_64 (SSE4.2) or aarch64 (ARMv8 CRC). See crc32c.h.
 *
 * The instruction takes 8 bytes a cycle, but has a latency of 3 cycles. Three lanes of the message in parallel
 * keep it busy; carry-less multiplications then move each lane's state to the end of the
 * last lane.
 */
#ifndef RECORDPRESS_CRC32C_LANES_H
#define RECORDPRESS_CRC32C_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "recordpress/cpu.h"
#include "recordpress/crc32c_table.h"
#include "recordpress/endian.h"

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#define RP_TARGET_LANES "sse4.2,crc32,pclmul"
#else
#define RP_TARGET_LANES "sse4.2,pclmul"   /* gcc before 11 does not know "crc32" */
#endif
#define RP_LANES __attribute__((target(RP_TARGET_LANES)))

static inline int rp_crc32c_lanes_supported(void) {
    return rp_cpu_has(RP_CPU_CRC32);
}

/* Input and output have 64 bits, as in the instruction: a cast to 32 would cost one more instruction for each word. */
RP_LANES static inline uint64_t rp_crc32c_8(uint64_t crc, uint64_t v) { return _mm_crc32_u64(crc, v); }
RP_LANES static inline uint32_t rp_crc32c_4(uint32_t crc, uint32_t v) { return _mm_crc32_u32(crc, v); }
RP_LANES static inline uint32_t rp_crc32c_2(uint32_t crc, uint16_t v) { return _mm_crc32_u16(crc, v); }
RP_LANES static inline uint32_t rp_crc32c_1(uint32_t crc, uint8_t v) { return _mm_crc32_u8(crc, v); }

RP_LANES static inline uint64_t rp_clmul(uint32_t a, uint32_t b) {
    return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0));
}

#else
#include <arm_acle.h>
#include <arm_neon.h>
#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#define RP_LANES __attribute__((target("+crc+crypto")))

static inline int rp_crc32c_lanes_supported(void) {
#if defined(__linux__)
    return (getauxval(AT_HWCAP) & (HWCAP_CRC32 | HWCAP_PMULL)) == (HWCAP_CRC32 | HWCAP_PMULL);
#else
    return 1;   /* every Apple CPU of this architecture has both */
#endif
}

RP_LANES static inline uint64_t rp_crc32c_8(uint64_t crc, uint64_t v) { return __crc32cd((uint32_t)crc, v); }
RP_LANES static inline uint32_t rp_crc32c_4(uint32_t crc, uint32_t v) { return __crc32cw(crc, v); }
RP_LANES static inline uint32_t rp_crc32c_2(uint32_t crc, uint16_t v) { return __crc32ch(crc, v); }
RP_LANES static inline uint32_t rp_crc32c_1(uint32_t crc, uint8_t v) { return __crc32cb(crc, v); }

RP_LANES static inline uint64_t rp_clmul(uint32_t a, uint32_t b) {
    return (uint64_t)vmull_p64((poly64_t)a, (poly64_t)b);
}

#endif

/* a * b * x^33, as in crc_shift.h */
RP_LANES static inline uint32_t rp_crc32c_multiply(uint32_t a, uint32_t b) {
    return (uint32_t)rp_crc32c_8(0, rp_clmul(a, b));
}

/* x^(8n - 33), n < 2^32 */
RP_LANES static inline uint32_t rp_crc32c_power(uint64_t n) {
    uint32_t power = rp_crc32c_shift.power[0][n & 255];
    for (int i = 1; n >>= 8; i++) power = rp_crc32c_multiply(power, rp_crc32c_shift.power[i][n & 255]);
    return power;
}

RP_LANES static inline uint32_t rp_crc32c_shifted_lanes(uint32_t crc, uint64_t n) {
    if (n >= RP_CRC32C_ORDER) n %= RP_CRC32C_ORDER;
    return rp_crc32c_multiply(crc, rp_crc32c_power(n));
}

RP_LANES static inline uint32_t rp_crc32c_serial(uint32_t crc, const uint8_t *p, size_t n) {
    uint64_t state = crc;
    for (; n >= 8; p += 8, n -= 8) state = rp_crc32c_8(state, rp_load_le64(p));
    crc = (uint32_t)state;
    if (n & 4) {
        crc = rp_crc32c_4(crc, rp_load_le32(p));
        p += 4;
    }
    if (n & 2) {
        crc = rp_crc32c_2(crc, rp_load_le16(p));
        p += 2;
    }
    return n & 1 ? rp_crc32c_1(crc, *p) : crc;
}

/* Three consecutive lanes of `size` bytes, starting at `p`. */
typedef struct rp_lanes {
    const uint8_t *p;
    size_t size;
    uint64_t a, b, c;
} rp_lanes;

/* Process the next word of each lane. */
RP_LANES static inline void rp_lanes_step(rp_lanes *lanes) {
    lanes->a = rp_crc32c_8(lanes->a, rp_load_le64(lanes->p));
    lanes->b = rp_crc32c_8(lanes->b, rp_load_le64(lanes->p + lanes->size));
    lanes->c = rp_crc32c_8(lanes->c, rp_load_le64(lanes->p + 2 * lanes->size));
    lanes->p += 8;
}

/* The state after the third lane; `crc` is the state before the first lane. */
RP_LANES static inline uint32_t rp_lanes_join(const rp_lanes *lanes, uint32_t crc) {
    uint64_t moved = rp_clmul(crc, rp_crc32c_power(3 * lanes->size))
                   ^ rp_clmul((uint32_t)lanes->a, rp_crc32c_power(2 * lanes->size))
                   ^ rp_clmul((uint32_t)lanes->b, rp_crc32c_power(lanes->size));
    return (uint32_t)(rp_crc32c_8(0, moved) ^ lanes->c);
}

enum {
    RP_LANES_FROM = 192,             /* below, the join costs more than the lanes gain */
    RP_LANES_SIZE_MAX = 1 << 20      /* three of them fit rp_crc32c_power */
};

RP_LANES static inline uint32_t rp_crc32c_lanes(uint32_t crc, const uint8_t *p, size_t n) {
    while (n >= RP_LANES_FROM) {
        rp_lanes lanes = {.p = p, .size = n / 24 * 8};
        if (lanes.size > RP_LANES_SIZE_MAX) lanes.size = RP_LANES_SIZE_MAX;
        for (const uint8_t *end = p + lanes.size; lanes.p < end;) rp_lanes_step(&lanes);
        crc = rp_lanes_join(&lanes, crc);
        p += 3 * lanes.size;
        n -= 3 * lanes.size;
    }
    return rp_crc32c_serial(crc, p, n);
}

#endif
#endif
