/* The pool: sizes are kept, memory comes back, threads and forks do not disturb it, its books balance. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define KP_POOL_SMALLEST 16 /* under ASan the pool would leave all sizes to malloc */
#include "kpress/pool.h"

static void sizes(void) {
    for (size_t asked = 1; asked < (size_t)64 << 20; asked += asked / 3 + 1) {
        size_t size = asked;
        uint8_t *p = kp_pool_take(&size);
        CHECK(p && size >= asked && (uintptr_t)p % KP_POOL_ALIGN == 0);
        p[0] = p[size - 1] = 1;
        kp_pool_give(p, size);
    }
    CHECK(kp_pool.in_use == 0);
}

/* Sizes that rounding takes over the border between malloc and the pool. */
static void sizes_at_the_border(void) {
    kp_pool_release();
    for (size_t asked = ((size_t)1 << KP_POOL_SMALLEST) - 200; asked < ((size_t)1 << KP_POOL_SMALLEST) + 200; asked++) {
        size_t size = asked;
        uint8_t *p = kp_pool_take(&size);
        CHECK(p && size >= asked);
        CHECK(kp_pool.in_use == (size < (size_t)1 << KP_POOL_SMALLEST ? 0 : size));
        kp_pool_give(p, size);
        CHECK(kp_pool.in_use == 0);
    }
    kp_pool_release();
}

static void last_given_first_taken(void) {
    size_t size = 1 << 20;
    void *first = kp_pool_take(&size);
    kp_pool_give(first, size);
    size_t again = 1 << 20;
    CHECK(kp_pool_take(&again) == first && again == size);
    kp_pool_give(first, size);
}

static void bounded(void) {
    kp_pool_release();
    kp_pool.keep = 4 << 20;
    void *blocks[8];
    size_t size;
    for (int i = 0; i < 8; i++) size = 1 << 20, blocks[i] = kp_pool_take(&size);
    for (int i = 0; i < 8; i++) kp_pool_give(blocks[i], size);
    CHECK(kp_pool.kept <= kp_pool.keep);
    CHECK(kp_pool_release() > 0 && kp_pool.kept == 0 && kp_pool.in_use == 0);
    kp_pool.keep = KP_POOL_DEFAULT_KEEP;
}

/* Pooled sizes only: ASan's own malloc does not survive a fork beside other threads. */
static void *churn(void *argument) {
    uint64_t state = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < 20000; i++) {
        size_t size = (1 << KP_POOL_SMALLEST) + next_random(&state) % (1 << 20);
        uint8_t *p = kp_pool_take(&size);
        CHECK(p);
        p[0] = p[size - 1] = (uint8_t)i;
        kp_pool_give(p, size);
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
    CHECK(kp_pool.in_use == 0);
}

int main(void) {
    kp_pool_init();
    sizes();
    sizes_at_the_border();
    last_given_first_taken();
    bounded();
    threads_and_fork();
    kp_pool_release();
    return 0;
}
