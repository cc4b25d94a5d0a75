/* Starting and waiting, and what threads share: slots, reference counts and the pool. Run under ThreadSanitizer as well (test_native.py). */
#include <pthread.h>

#include "check.h"
#include "recordpress/atomics.h"
#include "recordpress/threads.h"

#define RP_POOL_SMALLEST 16 /* under ASan the pool would leave all sizes to malloc */
#include "recordpress/pool.h"

enum { THREADS = 4, ROUNDS = 20000 };

static void *slots[2];
static int64_t objects; /* that are alive */

typedef struct object {
    int64_t references;
    uint64_t content; /* of whoever holds it alone: a slot's order of memory is all that protects it */
} object;

static void drop(object *o) {
    if (rp_ref_drop(&o->references)) return;
    free(o);
    __atomic_sub_fetch(&objects, 1, __ATOMIC_RELAXED);
}

/* Take what is in a slot, or make one; change it; put it into a slot, or drop it. */
static void *pass_around(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t r = next_random(&random);
        object *o = rp_slot_take(&slots[r & 1]);
        if (!o) {
            o = calloc(1, sizeof *o);
            CHECK(o);
            o->references = 1;
            __atomic_add_fetch(&objects, 1, __ATOMIC_RELAXED);
        }
        o->content += r;
        rp_ref_take(&o->references);
        CHECK(rp_ref_drop(&o->references) == 1);
        if (!rp_slot_give(&slots[r >> 1 & 1], o)) drop(o);
    }
    return NULL;
}

/* Every thread has a reference to one object; the last one frees it, after all have read it. */
static void *read_and_drop(void *argument) {
    object *o = argument;
    CHECK(o->content == 7);
    drop(o);
    return NULL;
}

static void *use_pool(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS / 4; i++) {
        size_t size = (1 << RP_POOL_SMALLEST) + next_random(&random) % (1 << 18);
        uint64_t *p = rp_pool_take(&size);
        CHECK(p);
        *p = random;
        CHECK(*p == random);
        rp_pool_give(p, size);
        if (i % 500 == 0) rp_pool_release();
    }
    return NULL;
}

static void in_threads(void *(*work)(void *), void *shared) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(!rp_thread_start(&threads[i], work, shared ? shared : (void *)(i + 1)));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

typedef struct node {
    int number;
    void *next;
} node;

enum { NUMBERS = 60 };
static void *first_node;

/* A list that only grows: find each number, or append it. */
static void *find_or_append(void *argument) {
    (void)argument;
    for (int number = 0; number < NUMBERS; number++) {
        void **slot = &first_node;
        node *made = NULL, *found;
        for (;;) {
            found = rp_slot_content(slot);
            if (!found) {
                if (!made) made = calloc(1, sizeof *made);
                CHECK(made);
                made->number = number;
                if (rp_slot_give(slot, made)) break;
            } else if (found->number == number) {
                free(made);
                break;
            } else {
                slot = &found->next;
            }
        }
    }
    return NULL;
}

static void growing_list(void) {
    int seen[NUMBERS] = {0};
    in_threads(find_or_append, NULL);
    for (node *at = first_node, *next; at; at = next) {
        CHECK(!seen[at->number]++);
        next = at->next;
        free(at);
    }
    for (int number = 0; number < NUMBERS; number++) CHECK(seen[number]);
    first_node = NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turns;

static void *take_turns(void *argument) {
    (void)argument;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        turns++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void waiting(void) {
    pthread_t thread;
    CHECK(!rp_thread_start(&thread, take_turns, NULL));
    pthread_mutex_lock(&lock);
    while (turns < 100) rp_condition_wait(&changed, &lock, 1);
    rp_condition_wait(&changed, &lock, 1001); /* nobody signals: it ends all the same */
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

int main(void) {
    waiting();
    in_threads(pass_around, NULL);
    for (int i = 0; i < 2; i++) {
        object *o = rp_slot_take(&slots[i]);
        if (o) drop(o);
    }
    CHECK(objects == 0);
    for (int i = 0; i < 300; i++) {
        object *o = calloc(1, sizeof *o);
        CHECK(o);
        o->references = THREADS;
        o->content = 7;
        objects++;
        in_threads(read_and_drop, o);
        CHECK(objects == 0);
    }
    for (int i = 0; i < 20; i++) growing_list();
    rp_pool_init();
    in_threads(use_pool, NULL);
    CHECK(rp_pool.in_use == 0);
    rp_pool_release();
    return 0;
}
