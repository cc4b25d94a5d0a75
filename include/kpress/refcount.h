/* A reference count that threads may share without the GIL. */
#ifndef KPRESS_REFCOUNT_H
#define KPRESS_REFCOUNT_H

#include <stdint.h>

static inline void kp_ref_take(int64_t *count) { __atomic_add_fetch(count, 1, __ATOMIC_RELAXED); }
/* What is left; the one who sees 0 frees. */
static inline int64_t kp_ref_drop(int64_t *count) { return __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL); }

#endif
