"""The pool of codec contexts: a list of free ones, last given first taken, but a thread's own before others.

A slot for one context comes first. It needs no lock, which saves 20 ns in a call on a small payload.
"""

from libc.stdlib cimport calloc, free

from recordpress._buffers cimport on_release_unused, pooled_free
from recordpress._c.threads cimport (
    pthread_atfork, pthread_equal, pthread_mutex_init, pthread_mutex_lock, pthread_mutex_t, pthread_mutex_unlock,
    pthread_self, pthread_t,
)
from recordpress._c.wire cimport rp_slot_give, rp_slot_take
from recordpress.codecs.codec cimport CODEC_ROWS
from recordpress.codecs.table cimport kafka_codecs

cdef enum:
    # Scratch kept with an idle context: the records of four batches of the default max.message.bytes. Larger ones go
    # back to the pool of memory.
    SCRATCH_KEPT = 4 << 20

cdef pthread_mutex_t mutex
cdef codec_context* idle = NULL
cdef void* slot = NULL
cdef const codec_table* kafka = kafka_codecs()  # only these rows have states: see codec.pxd
cdef int shrinking[CODEC_ROWS]   # the codecs that have shrink_state: a release calls only these
cdef int n_shrinking = 0


cdef void list_shrinking() noexcept:
    global n_shrinking
    cdef int id
    for id in range(CODEC_ROWS):
        if kafka.rows[id].shrink_state != NULL:
            shrinking[n_shrinking] = id
            n_shrinking += 1


list_shrinking()


cdef void lock() noexcept nogil:
    pthread_mutex_lock(&mutex)


cdef void unlock() noexcept nogil:
    pthread_mutex_unlock(&mutex)


pthread_mutex_init(&mutex, NULL)
pthread_atfork(lock, unlock, unlock)  # a child of fork gets the list unlocked


cdef codec_context* take_idle() noexcept nogil:
    global idle
    cdef codec_context* context = <codec_context*>rp_slot_take(&slot)
    if context != NULL:
        return context
    pthread_mutex_lock(&mutex)
    context = idle
    if context != NULL:
        idle = context.next
    pthread_mutex_unlock(&mutex)
    return context


cdef void add_idle(codec_context* context) noexcept nogil:
    global idle
    if rp_slot_give(&slot, context):
        return
    pthread_mutex_lock(&mutex)
    context.next = idle
    idle = context
    pthread_mutex_unlock(&mutex)


cdef codec_context* take_own(pthread_t thread) noexcept nogil:
    """Return the context that this thread had last, if it is in the list."""
    cdef codec_context** link = &idle
    cdef codec_context* context
    pthread_mutex_lock(&mutex)
    while link[0] != NULL and not pthread_equal(link[0].thread, thread):
        link = &link[0].next
    context = link[0]
    if context != NULL:
        link[0] = context.next
    pthread_mutex_unlock(&mutex)
    return context


cdef codec_context* context_acquire(const codec_table* codecs) noexcept nogil:
    """Take an idle context, this thread's if there is one: after use on another processor its scratch and states are
    not in this one's caches, and decompression takes twice as long."""
    cdef pthread_t thread = pthread_self()
    cdef codec_context* context = take_idle()
    cdef codec_context* own
    if context != NULL and not pthread_equal(context.thread, thread):
        own = take_own(thread)
        if own != NULL:
            add_idle(context)
            context = own
    if context == NULL:
        context = <codec_context*>calloc(1, sizeof(codec_context))
    if context != NULL:
        context.codecs = codecs
        context.thread = thread
    return context


cdef void context_release(codec_context* context) noexcept nogil:
    cdef int i, id
    if context == NULL:
        return
    context.scratch.size = 0
    if context.scratch.capacity > SCRATCH_KEPT:
        pooled_free(&context.scratch)
    for i in range(n_shrinking):
        id = shrinking[i]
        if context.states[id] != NULL:
            kafka.rows[id].shrink_state(&context.states[id])
    context.codecs = NULL  # the table may go away while the context waits
    add_idle(context)


cdef size_t free_idle() noexcept nogil:
    """Free the contexts that no call is using; returns about how many bytes their codecs held."""
    cdef codec_context* context
    cdef size_t released = 0
    cdef int id
    while True:
        context = take_idle()
        if context == NULL:
            return released
        for id in range(CODEC_ROWS):
            if context.states[id] != NULL:
                released += kafka.rows[id].free_state(context.states[id])
        pooled_free(&context.scratch)
        free(context)
        released += sizeof(codec_context)


on_release_unused(free_idle)
