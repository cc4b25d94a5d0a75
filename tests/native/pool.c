/* The pool: sizes are kept, memory comes back, threads and forks do not disturb it, its books balance. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define RP_POOL_SMALLEST 16 /* under ASan the pool would leave all sizes to malloc */
#include "recordpress/pool.h"

static void sizes(void) {
    for (size_t asked = 1; asked < (size_t)64 << 20; asked += asked / 3 + 1) {
        size_t size = asked;
        uint8_t *p = rp_pool_take(&size);
        CHECK(p && size >= asked && (uintptr_t)p % RP_POOL_ALIGN == 0);
        p[0] = p[size - 1] = 1;
        rp_pool_give(p, size);
    }
    CHECK(rp_pool.in_use == 0);
}

/* Sizes that rounding takes over the border between malloc and the pool. */
static void sizes_at_the_border(void) {
    rp_pool_release();
    for (size_t asked = ((size_t)1 << RP_POOL_SMALLEST) - 200; asked < ((size_t)1 << RP_POOL_SMALLEST) + 200; asked++) {
        size_t size = asked;
        uint8_t *p = rp_pool_take(&size);
        CHECK(p && size >= asked);
        CHECK(rp_pool.in_use == (size < (size_t)1 << RP_POOL_SMALLEST ? 0 : size));
        rp_pool_give(p, size);
        CHECK(rp_pool.in_use == 0);
    }
    rp_pool_release();
}

static void last_given_first_taken(void) {
    size_t size = 1 << 20;
    void *first = rp_pool_take(&size);
    rp_pool_give(first, size);
    size_t again = 1 << 20;
    CHECK(rp_pool_take(&again) == first && again == size);
    rp_pool_give(first, size);
}

static void bounded(void) {
    rp_pool_release();
    rp_pool.keep = 4 << 20;
    void *blocks[8];
    size_t size;
    for (int i = 0; i < 8; i++) size = 1 << 20, blocks[i] = rp_pool_take(&size);
    for (int i = 0; i < 8; i++) rp_pool_give(blocks[i], size);
    CHECK(rp_pool.kept <= rp_pool.keep);
    CHECK(rp_pool_release() > 0 && rp_pool.kept == 0 && rp_pool.in_use == 0);
    rp_pool.keep = RP_POOL_DEFAULT_KEEP;
}

/* Pooled sizes only: ASan's own malloc does not survive a fork next to other threads. */
static void *churn(void *argument) {
    uint64_t state = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < 20000; i++) {
        size_t size = (1 << RP_POOL_SMALLEST) + next_random(&state) % (1 << 20);
        uint8_t *p = rp_pool_take(&size);
        CHECK(p);
        p[0] = p[size - 1] = (uint8_t)i;
        rp_pool_give(p, size);
    }
    return NULL;
}

static void threads_and_fork(void) {
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) CHECK(!pthread_create(&threads[i], NULL, churn, (void *)(i + 1)));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn((void *)9); /* would hang on a lock that another thread held */
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK(rp_pool.in_use == 0);
}

int main(void) {
    rp_pool_init();
    sizes();
    sizes_at_the_border();
    last_given_first_taken();
    bounded();
    threads_and_fork();
    rp_pool_release();
    return 0;
}
