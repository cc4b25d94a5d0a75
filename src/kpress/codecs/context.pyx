"""The pool of codec contexts: a list of free ones, last given first taken.

In front of it lies a slot for one, which needs no lock: a call on a small payload takes 20 ns less by it.
"""

from libc.stdlib cimport calloc

from kpress._buffers cimport pooled_free
from kpress._c.threads cimport (
    pthread_atfork,
    pthread_mutex_init,
    pthread_mutex_lock,
    pthread_mutex_t,
    pthread_mutex_unlock,
)
from kpress._c.wire cimport kp_slot_give, kp_slot_take
from kpress._c.zstd cimport ZSTD_freeCCtx, ZSTD_freeDCtx, ZSTD_sizeof_CCtx, ZSTD_sizeof_DCtx

cdef enum:
    # Scratch kept with an idle context; larger ones go back to the pool of memory.
    SCRATCH_KEPT = 4 << 20
    # zstd's high levels and large windows make contexts of hundreds of MB; these are not kept.
    ZSTD_KEPT = 32 << 20

cdef pthread_mutex_t mutex
cdef codec_context* idle = NULL
cdef void* slot = NULL


cdef void lock() noexcept nogil:
    pthread_mutex_lock(&mutex)


cdef void unlock() noexcept nogil:
    pthread_mutex_unlock(&mutex)


pthread_mutex_init(&mutex, NULL)
pthread_atfork(lock, unlock, unlock)  # a child of fork gets the list unlocked


cdef codec_context* context_acquire() noexcept nogil:
    global idle
    cdef codec_context* context = <codec_context*>kp_slot_take(&slot)
    if context != NULL:
        return context
    pthread_mutex_lock(&mutex)
    context = idle
    if context != NULL:
        idle = context.next
    pthread_mutex_unlock(&mutex)
    if context == NULL:
        context = <codec_context*>calloc(1, sizeof(codec_context))
    return context


cdef void shrink_zstd(codec_context* context) noexcept nogil:
    context.zstd_grown = False
    if ZSTD_sizeof_CCtx(context.zstd_c) > ZSTD_KEPT:
        ZSTD_freeCCtx(context.zstd_c)
        context.zstd_c = NULL
    if ZSTD_sizeof_DCtx(context.zstd_d) > ZSTD_KEPT:
        ZSTD_freeDCtx(context.zstd_d)
        context.zstd_d = NULL


cdef void context_release(codec_context* context) noexcept nogil:
    global idle
    if context == NULL:
        return
    context.scratch.size = 0
    if context.scratch.capacity > SCRATCH_KEPT:
        pooled_free(&context.scratch)
    if context.zstd_grown:
        shrink_zstd(context)
    if kp_slot_give(&slot, context):
        return
    pthread_mutex_lock(&mutex)
    context.next = idle
    idle = context
    pthread_mutex_unlock(&mutex)
