/* Objects that threads share without the GIL and without a lock: a reference count, a slot for one object, a flag. */
#ifndef RECORDPRESS_ATOMICS_H
#define RECORDPRESS_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

static inline void rp_ref_take(int64_t *count) { __atomic_add_fetch(count, 1, __ATOMIC_RELAXED); }
/* Returns the remaining count; the caller that gets 0 frees the object. */
static inline int64_t rp_ref_drop(int64_t *count) { return __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL); }
static inline int64_t rp_ref_count(const int64_t *count) { return __atomic_load_n(count, __ATOMIC_ACQUIRE); }

/* Empty the slot; return its content, NULL if it was empty. */
static inline void *rp_slot_take(void **slot) { return __atomic_exchange_n(slot, NULL, __ATOMIC_ACQUIRE); }
/* Fill the slot; return 0 if it is full. */
static inline int rp_slot_give(void **slot, void *object) {
    void *empty = NULL;
    return __atomic_compare_exchange_n(slot, &empty, object, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
/* The content of a slot that is filled once and never emptied; NULL before it is filled. */
static inline void *rp_slot_content(void *const *slot) { return __atomic_load_n(slot, __ATOMIC_ACQUIRE); }

/* A flag that is set once. No other memory depends on it, so it orders nothing. */
static inline void rp_flag_set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }
static inline int rp_flag_is_set(const int *flag) { return __atomic_load_n(flag, __ATOMIC_RELAXED); }

#endif
