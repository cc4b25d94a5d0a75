/* Memory for results and scratch that keeps its pages.
 *
 * Fresh pages cost more than decoding: with malloc, which maps large blocks again and returns the heap's top,
 * an lz4 batch of 1.2 MB decodes at 40 % of the speed that it has in memory touched before. So blocks of 64 KiB
 * and more come from a free list, last in first out, which keeps a bounded number of bytes. Smaller blocks
 * come from malloc, which keeps them itself.
 *
 * The state is static, so that each includer has its own pool: include this header in one module only
 * (recordpress/_buffers.pyx), which provides the functions to other modules. A pool passed in would have the same one
 * owner and cost each call an argument; an extern pool would need an object file. The functions are safe from any
 * thread, without the GIL, and across fork.
 */
#ifndef RECORDPRESS_POOL_H
#define RECORDPRESS_POOL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Smallest pooled block, as a power of two: 64 KiB. Under ASan, malloc provides all blocks, and guards their ends. */
#ifndef RP_POOL_SMALLEST
#ifdef __SANITIZE_ADDRESS__
#define RP_POOL_SMALLEST 31
#else
#define RP_POOL_SMALLEST 16
#endif
#endif

enum {
    RP_POOL_ALIGN = 64,         /* Arrow's recommended alignment */
    RP_POOL_MIN_SHIFT = RP_POOL_SMALLEST,
    RP_POOL_MAX_SHIFT = 32,
    RP_POOL_STEPS = 4,          /* per doubling: at most 25 % of a block is slack, and untouched slack costs no page */
    RP_POOL_CLASSES = (RP_POOL_MAX_SHIFT - RP_POOL_MIN_SHIFT) * RP_POOL_STEPS + 1
};

/* Bytes kept for reuse; above this, blocks return to the system. 256 MiB holds the results of several
 * fetches of the default 50 MB. */
#define RP_POOL_DEFAULT_KEEP ((size_t)256 << 20)

typedef struct rp_pool_block {
    struct rp_pool_block *next;
} rp_pool_block;

static struct {
    pthread_mutex_t lock;
    rp_pool_block *free_list[RP_POOL_CLASSES];
    size_t kept;      /* bytes in the free lists */
    size_t keep;      /* limit of `kept` */
    size_t in_use;    /* pooled bytes in use */
} rp_pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .keep = RP_POOL_DEFAULT_KEEP};

static void rp_pool_lock(void) { pthread_mutex_lock(&rp_pool.lock); }
static void rp_pool_unlock(void) { pthread_mutex_unlock(&rp_pool.lock); }

/* A child of fork gets the pool unlocked even if another thread held it. Call once. */
static void rp_pool_init(void) { pthread_atfork(rp_pool_lock, rp_pool_unlock, rp_pool_unlock); }

static size_t rp_pool_class_size(int cls) {
    size_t base = (size_t)1 << (RP_POOL_MIN_SHIFT + cls / RP_POOL_STEPS);
    return base + base / RP_POOL_STEPS * (size_t)(cls % RP_POOL_STEPS);
}

/* The class whose blocks hold `size` bytes; -1 below or above the pooled sizes. */
static int rp_pool_class(size_t size) {
    if (size < ((size_t)1 << RP_POOL_MIN_SHIFT) || size > ((size_t)1 << RP_POOL_MAX_SHIFT)) return -1;
    int shift = 63 - __builtin_clzll(size);
    size_t step = ((size_t)1 << shift) / RP_POOL_STEPS;
    int steps = (int)((size - ((size_t)1 << shift) + step - 1) / step);
    return (shift - RP_POOL_MIN_SHIFT) * RP_POOL_STEPS + steps;
}

/* Take at least *size bytes, aligned to 64; set *size to the size of the block, which rp_pool_give needs. Return NULL
 * if out of memory. */
static void *rp_pool_take(size_t *size) {
    if (*size < (size_t)1 << RP_POOL_MIN_SHIFT) {
        *size = (*size + RP_POOL_ALIGN) & ~(size_t)(RP_POOL_ALIGN - 1);
        /* a block rounded up to a pooled size is pooled: rp_pool_give knows a block's owner by its size alone */
        if (*size < (size_t)1 << RP_POOL_MIN_SHIFT) return aligned_alloc(RP_POOL_ALIGN, *size);
    }
    int cls = rp_pool_class(*size);
    if (cls >= 0) {
        *size = rp_pool_class_size(cls);
        rp_pool_lock();
        rp_pool_block *block = rp_pool.free_list[cls];
        if (block) {
            rp_pool.free_list[cls] = block->next;
            rp_pool.kept -= *size;
        }
        rp_pool.in_use += *size;
        rp_pool_unlock();
        if (block) return block;
    } else if (*size > SIZE_MAX / 2) {
        return NULL;
    }
    void *fresh = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh != MAP_FAILED) return fresh;
    if (cls >= 0) {
        rp_pool_lock();
        rp_pool.in_use -= *size;
        rp_pool_unlock();
    }
    return NULL;
}

/* Return a block to the pool, with the size that rp_pool_take set. NULL is ignored. */
static void rp_pool_give(void *p, size_t size) {
    if (!p) return;
    int cls = rp_pool_class(size);
    if (cls < 0) {
        if (size < ((size_t)1 << RP_POOL_MIN_SHIFT)) free(p);
        else munmap(p, size);
        return;
    }
    rp_pool_lock();
    rp_pool.in_use -= size;
    int keep = rp_pool.kept + size <= rp_pool.keep;
    if (keep) {
        rp_pool_block *block = (rp_pool_block *)p;
        block->next = rp_pool.free_list[cls];
        rp_pool.free_list[cls] = block;
        rp_pool.kept += size;
    }
    rp_pool_unlock();
    if (!keep) munmap(p, size);
}

/* The bytes in use and the bytes kept, at one moment. */
static void rp_pool_bytes(size_t *in_use, size_t *kept) {
    rp_pool_lock();
    *in_use = rp_pool.in_use;
    *kept = rp_pool.kept;
    rp_pool_unlock();
}

/* Return every kept block to the system; return the number of bytes. */
static size_t rp_pool_release(void) {
    rp_pool_block *all[RP_POOL_CLASSES];
    rp_pool_lock();
    for (int i = 0; i < RP_POOL_CLASSES; i++) {
        all[i] = rp_pool.free_list[i];
        rp_pool.free_list[i] = NULL;
    }
    size_t released = rp_pool.kept;
    rp_pool.kept = 0;
    rp_pool_unlock();
    for (int i = 0; i < RP_POOL_CLASSES; i++)
        for (rp_pool_block *b = all[i], *next; b; b = next) {
            next = b->next;
            munmap(b, rp_pool_class_size(i));
        }
    return released;
}

#endif
