/* CRC-32C in C: each path of include/kpress/crc32c.h beside ISA-L's crc32_iscsi (if libisal.so.2 is there), and patch
 * beside recomputing. GB/s, the best of several rounds in which everything takes its turn.
 *
 *   cc -std=gnu11 -O3 -Iinclude bench/native/crc32c.c -o crc32c -ldl && ./crc32c [size ...]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kpress/crc32c.h"

enum { ROUNDS = 15, WORK = 1 << 20, COLUMNS = KP_CRC32C_PATHS + 1 };

static unsigned (*isal_iscsi)(unsigned char *, int, unsigned);

static uint32_t isal(uint32_t crc, const uint8_t *p, size_t n) { return isal_iscsi((unsigned char *)p, (int)n, crc); }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void bench_size(const uint8_t *data, size_t n) {
    double best[COLUMNS] = {0};
    size_t calls = WORK / n ? WORK / n : 1;
    uint32_t expected = kp_crc32c_table(~0u, data, n);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COLUMNS; i++) {
            uint32_t (*volatile update)(uint32_t, const uint8_t *, size_t) = isal;
            if (i < KP_CRC32C_PATHS) update = kp_crc32c_paths[i].update;
            if (i < KP_CRC32C_PATHS ? !kp_crc32c_paths[i].supported() : !isal_iscsi) continue;
            if (update(~0u, data, n) != expected) abort();
            double start = now();
            for (size_t k = 0; k < calls; k++) update(~0u, data, n);
            double rate = (double)(n * calls) / (now() - start);
            if (rate > best[i]) best[i] = rate;
        }
    printf("%9zu", n);
    for (int i = 0; i < COLUMNS; i++) printf("%9.2f", best[i]);
    if (isal_iscsi) printf("   %.2f x isal", best[kp_crc32c_active - kp_crc32c_paths] / best[COLUMNS - 1]);
    putchar('\n');
}

static void bench_patch(uint8_t *data, size_t n, size_t distance) {
    double recompute = 1e9, patch = 1e9;
    uint8_t old = data[n - distance - 1], changed = (uint8_t)(old ^ 0x5A);
    uint32_t crc = kp_crc32c(0, data, n), patched = kp_crc32c_patch(crc, &old, &changed, 1, distance);
    data[n - distance - 1] = changed;
    if (kp_crc32c(0, data, n) != patched) abort();
    enum { CALLS = 10000 };
    for (int round = 0; round < ROUNDS; round++) {
        volatile uint32_t sink = crc;
        double start = now();
        for (int k = 0; k < 10; k++) sink = kp_crc32c(0, data, n);
        double each = (now() - start) / 10;
        if (each < recompute) recompute = each;
        sink = crc;
        start = now();
        for (int k = 0; k < CALLS; k++) sink = kp_crc32c_patch(sink, &old, &changed, 1, distance);   /* one after another */
        each = (now() - start) / CALLS;
        if (each < patch) patch = each;
    }
    printf("patch 1 of %zu bytes, %zu before the end: %.1f ns, recompute %.0f ns, %.0f x\n", n, distance, patch, recompute,
           recompute / patch);
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {16, 64, 100, 128, 200, 300, 500, 512, 1000, 1024, 1500, 2000, 3000, 4096, 6144, 8192, 16384, 65536, 1 << 20};
    void *library = dlopen("libisal.so.2", RTLD_NOW);
    if (library) *(void **)&isal_iscsi = dlsym(library, "crc32_iscsi");
    size_t most = 1 << 20;
    for (int i = 1; i < argc; i++)
        if (strtoull(argv[i], NULL, 10) > most) most = strtoull(argv[i], NULL, 10);
    uint8_t *data = malloc(most);
    if (!data) return 1;
    for (size_t i = 0; i < most; i++) data[i] = (uint8_t)(rand() >> 7);
    printf("    bytes");
    for (int i = 0; i < KP_CRC32C_PATHS; i++) printf("%9s", kp_crc32c_paths[i].name);
    printf("    isa-l\n");
    for (int i = 1; i < argc; i++) bench_size(data, strtoull(argv[i], NULL, 10));
    for (size_t i = 0; argc == 1 && i < sizeof sizes / sizeof *sizes; i++) bench_size(data, sizes[i]);
    bench_patch(data, 1 << 20, 0);
    bench_patch(data, 1 << 20, 500000);
    bench_patch(data, 1 << 20, (1 << 20) - 1);
    free(data);
    return 0;
}
