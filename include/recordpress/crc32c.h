/* CRC-32C (Castagnoli, RFC 3720 appendix B.4): the checksum of Kafka's record batches v2.
 *
 * One implementation for each kind of CPU; the best implementation is chosen when the library is loaded:
 *
 *   table    any CPU         eight bytes a step through tables (crc32c_table.h)
 *   sse42    x86_64          three lanes of the crc32 instruction, joined by PCLMULQDQ (crc32c_lanes.h)
 *   avx2     + VPCLMULQDQ    256-bit folding next to the three lanes (crc32c_fold.h)
 *   avx512   + AVX-512       the same with 512-bit folding, and folding alone for short messages
 *   armv8    aarch64         three lanes of crc32cx, joined by PMULL (crc32c_lanes.h)
 *
 * Sources: V. Gopal and others, "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction" (Intel, 2011)
 * for the lanes; the same and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction"
 * (Intel, 2009) for folding.
 *
 * A function named rp_crc32c_<path> takes and returns the state between bytes, which is the checksum inverted.
 * None reads a byte outside of [p, p + n).
 *
 * The tables and the CPU's path are static, and filled when the library is loaded: include this header in one module
 * only (recordpress/checksum.pyx), which provides the functions to other modules. The tables never change after that: a
 * second includer would compute the same checksums, and only waste memory on its tables.
 */
#ifndef RECORDPRESS_CRC32C_H
#define RECORDPRESS_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#include "recordpress/crc32c_fold.h"
#include "recordpress/crc32c_lanes.h"
#include "recordpress/crc32c_table.h"

typedef struct rp_crc32c_path {
    const char *name;
    int (*supported)(void);
    uint32_t (*update)(uint32_t crc, const uint8_t *p, size_t n);
    uint32_t (*shifted)(uint32_t crc, uint64_t n);   /* the state after n zero bytes, in O(log n) */
} rp_crc32c_path;

/* Best first. */
static const rp_crc32c_path rp_crc32c_paths[] = {
#if defined(__x86_64__)
    {"avx512", rp_crc32c_avx512_supported, rp_crc32c_avx512, rp_crc32c_shifted_lanes},
    {"avx2", rp_crc32c_avx2_supported, rp_crc32c_avx2, rp_crc32c_shifted_lanes},
    {"sse42", rp_crc32c_lanes_supported, rp_crc32c_lanes, rp_crc32c_shifted_lanes},
#elif defined(__aarch64__)
    {"armv8", rp_crc32c_lanes_supported, rp_crc32c_lanes, rp_crc32c_shifted_lanes},
#endif
    {"table", rp_crc32c_table_supported, rp_crc32c_table, rp_crc32c_shifted_table},
};

enum { RP_CRC32C_PATHS = sizeof rp_crc32c_paths / sizeof *rp_crc32c_paths };

static const rp_crc32c_path *rp_crc32c_active = rp_crc32c_paths;

/* A constructor, so it has run once before any thread can call a function below. */
__attribute__((constructor)) static void rp_crc32c_load(void) {
    rp_crc32c_tables_init();
    while (!rp_crc32c_active->supported()) rp_crc32c_active++;
}

/* The checksum of the bytes so far (0 at the start) and n more. */
static inline uint32_t rp_crc32c(uint32_t crc, const uint8_t *p, size_t n) {
    return ~rp_crc32c_active->update(~crc, p, n);
}

/* The checksum of A followed by B, from the checksums of A and B; B has n bytes. */
static inline uint32_t rp_crc32c_combine(uint32_t a, uint32_t b, uint64_t n) {
    return rp_crc32c_active->shifted(a, n) ^ b;
}

/* The checksum of a message after a field of n bytes, `distance` bytes before its end, changed. */
static inline uint32_t rp_crc32c_patch(uint32_t crc, const uint8_t *old, const uint8_t *changed, size_t n,
                                       uint64_t distance) {
    return rp_crc32c_combine(rp_crc32c(0, old, n) ^ rp_crc32c(0, changed, n), crc, distance);
}

#endif
