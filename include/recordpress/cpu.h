/* Features of an x86_64 processor for which functions are compiled here, and whose registers the system saves.
 *
 * __builtin_cpu_supports would call the compiler's runtime library, and zig's library denies every feature.
 * Sources: Intel's Software Developer's Manual, CPUID in volume 2 and XGETBV with XCR0 in volume 1, 13.3.
 */
#ifndef RECORDPRESS_CPU_H
#define RECORDPRESS_CPU_H

#if defined(__x86_64__)

#include <cpuid.h>

enum {
    RP_CPU_ASKED = 1,
    RP_CPU_CRC32 = 2,       /* SSE4.2 and PCLMULQDQ */
    RP_CPU_AVX2 = 4,
    RP_CPU_VPCLMULQDQ = 8,  /* in registers of 256 bits */
    RP_CPU_AVX512 = 16      /* F, BW, VL and VBMI */
};

static inline unsigned rp_cpu_ask(void) {
    enum { SSE42 = 1 << 20, PCLMULQDQ = 1 << 1, OSXSAVE = 1 << 27 };               /* leaf 1, ecx */
    enum { AVX2 = 1 << 5, F = 1 << 16, BW = 1 << 30 };                             /* leaf 7, ebx; VL is bit 31 */
    enum { VBMI = 1 << 1, VPCLMULQDQ = 1 << 10 };                                  /* leaf 7, ecx */
    enum { AVX_STATE = 0x6, AVX512_STATE = 0xe6 };                                 /* XCR0 */
    unsigned a, b, c, d, state, high, found = RP_CPU_ASKED;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return found;
    if ((c & SSE42) && (c & PCLMULQDQ)) found |= RP_CPU_CRC32;
    if (!(c & OSXSAVE)) return found;
    __asm__("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
    (void)high;
    if ((state & AVX_STATE) != AVX_STATE || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
    if (b & AVX2) found |= RP_CPU_AVX2;
    if (c & VPCLMULQDQ) found |= RP_CPU_VPCLMULQDQ;
    if ((state & AVX512_STATE) == AVX512_STATE && (b & F) && (b & BW) && (b >> 31) && (c & VBMI))
        found |= RP_CPU_AVX512;
    return found;
}

/* The features found: weak, so that all includers in a shared object share one variable, like a C++ inline variable. */
__attribute__((weak, visibility("hidden"))) unsigned rp_cpu_known;

/* Whether the CPU has all of `wanted`. CPUID runs once: under a hypervisor it takes a microsecond or more. */
static inline int rp_cpu_has(unsigned wanted) {
    unsigned found = __atomic_load_n(&rp_cpu_known, __ATOMIC_RELAXED);
    if (!found) __atomic_store_n(&rp_cpu_known, found = rp_cpu_ask(), __ATOMIC_RELAXED);
    return (found & wanted) == wanted;
}

#endif

#endif
