/* The pool: a drawn sequence of calls next to a list of what is out. Blocks do not overlap, and the books balance. */
#include "fuzz.h"

#define RP_POOL_SMALLEST 16 /* under ASan the pool would leave all sizes to malloc */
#include "recordpress/pool.h"

enum { MOST = 8 };

typedef struct block {
    uint8_t *p;
    size_t size;
    uint8_t mark;
} block;

static block held[MOST];

static size_t pooled_bytes(void) {
    size_t sum = 0;
    for (int i = 0; i < MOST; i++)
        if (held[i].p && held[i].size >= (size_t)1 << RP_POOL_SMALLEST) sum += held[i].size;
    return sum;
}

static void take_block(block *b, size_t asked, uint8_t mark) {
    b->size = asked;
    b->mark = mark;
    b->p = rp_pool_take(&b->size);
    CHECK(b->p && b->size >= asked && (uintptr_t)b->p % RP_POOL_ALIGN == 0);
    b->p[0] = b->p[b->size - 1] = mark;
    for (int i = 0; i < MOST; i++)
        if (held[i].p && held + i != b) CHECK(b->p + b->size <= held[i].p || held[i].p + held[i].size <= b->p);
}

static void give_block(block *b) {
    if (b->p) CHECK(b->p[0] == b->mark && b->p[b->size - 1] == b->mark);
    rp_pool_give(b->p, b->size);
    b->p = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    rp_pool.keep = (size_t)take(&in, 1) << 16;
    while (in.left) {
        unsigned op = (unsigned)take(&in, 1);
        block *b = &held[op % MOST];
        if (op >= 0xf8) {
            size_t kept = rp_pool.kept;
            CHECK(rp_pool_release() == kept && rp_pool.kept == 0);
        } else if (b->p) {
            give_block(b);
        } else {
            size_t shift = op >> 3; /* 0 to 30: all classes but those of gigabytes */
            take_block(b, ((size_t)1 << shift % 24) + take(&in, 2) * (shift >= 16), (uint8_t)op);
        }
        CHECK(rp_pool.in_use == pooled_bytes() && rp_pool.kept <= rp_pool.keep);
    }
    for (int i = 0; i < MOST; i++) give_block(&held[i]);
    CHECK(rp_pool.in_use == 0);
    rp_pool_release();
    return 0;
}
