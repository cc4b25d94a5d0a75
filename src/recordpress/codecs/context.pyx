"""The pool of codec contexts: a list of idle contexts, last in, first out, but a thread's own before others.

A slot for one context precedes the list. It needs no lock, which saves 20 ns in a call on a small payload.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memmove, memset

from recordpress._buffers cimport on_release_unused, pooled, pooled_free, pooled_reserve
from recordpress._c.threads cimport (
    pthread_atfork, pthread_equal, pthread_mutex_init, pthread_mutex_lock, pthread_mutex_t, pthread_mutex_unlock,
    pthread_self, pthread_t,
)
from recordpress._c.wire cimport (
    RP_CODEC_ID, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_OUTPUT_FULL, rp_error, rp_fail, rp_slot_give, rp_slot_take,
)
from recordpress.codecs.codec cimport (
    CODEC_ROWS, append, codec, codec_table, more_room, progress, reader_of, row_of, size_range,
)
from recordpress.codecs.table cimport kafka_codecs

# --- payload <-> record bytes for the record layer -------------------------------------------------------------------

# These functions reserve memory, increase it and limit it, for all codecs.

cdef int decompress_units(const codec* row, codec_context* context, int codec_id, int magic, const uint8_t* src,
                          size_t size, pooled* out, size_t cap, rp_error* err) noexcept nogil:
    """Decompress a payload; after an error, keep the members, chunks, blocks or frames before it in `out`."""
    cdef int status
    if row == NULL or size < row.head_size:
        return rp_fail(err, RP_CODEC_ID, -1, codec_id, 0)
    status = decompress_with(row, context, True, magic, src + row.head_size, size - row.head_size, out, cap, err)
    if status != RP_OK and err.position >= 0:
        err.position += <int64_t>row.head_size
    return status


cdef int decompress_with(const codec* row, codec_context* context, bint counted, int magic, const uint8_t* src,
                         size_t size, pooled* out, size_t cap, rp_error* err) noexcept nogil:
    cdef size_t start = out.size, room
    cdef size_range expected
    cdef progress at
    cdef int status
    row.expect(row, src, size, &expected)
    if expected.least > cap:
        return rp_fail(err, RP_OUTPUT_CAP, 0, 0, <int64_t>cap)
    room = min(expected.most, cap)
    memset(&at, 0, sizeof(progress))
    at.unit = expected.first
    at.cap = cap
    at.counted = counted
    while True:
        if pooled_reserve(out, start + room, err) != RP_OK:
            return err.status
        room = min(out.capacity - start, cap)
        status = row.decode(row, &context.states[row.id], magic, src, size, out.data + start, room, &at, err)
        out.size = start + at.produced
        if status != RP_OUTPUT_FULL:
            context.ignored = size - at.consumed
            return status
        if room == cap:
            return rp_fail(err, RP_OUTPUT_CAP, <int64_t>at.consumed, 0, <int64_t>cap)
        room = more_room(room, at.wanted, cap)


cdef int decompress_payload(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                            pooled* out, size_t cap, rp_error* err) noexcept nogil:
    cdef size_t start = out.size
    cdef const codec* row = reader_of(context.codecs, codec_id, magic)
    if decompress_units(row, context, codec_id, magic, src, size, out, cap, err) == RP_OK:
        return RP_OK
    out.size = start
    return err.status


cdef int decompress_prefix(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                           pooled* out, size_t cap, rp_error* err) noexcept nogil:
    cdef const codec* reader = reader_of(context.codecs, codec_id, magic)
    cdef const codec* row = row_of(context.codecs, codec_id)
    cdef size_t start = out.size
    cdef rp_error ignored
    cdef int status = decompress_units(reader, context, codec_id, magic, src, size, out, cap, err)
    context.ends = False
    if status == RP_OK or status == RP_CODEC_ID or status == RP_NO_MEMORY or status == RP_OUTPUT_CAP:
        return status
    if reader != row:  # a provider decodes all or nothing
        decompress_units(row, context, codec_id, magic, src, size, out, cap, &ignored)
    if row.prefix != NULL:
        context.ends = row.prefix(&context.states[codec_id], src + row.head_size, size - row.head_size, out, start,
                                  cap)
    return status


cdef size_t payload_bound(const codec_table* codecs, int codec_id, size_t size) noexcept nogil:
    cdef const codec* row = row_of(codecs, codec_id)
    return row.head_size + row.bound(size) if row != NULL else 0


cdef int compress_payload(codec_context* context, int codec_id, int level, int magic, const uint8_t* src, size_t size,
                          pooled* out, rp_error* err) noexcept nogil:
    cdef const codec* row = row_of(context.codecs, codec_id)
    if row == NULL:
        return rp_fail(err, RP_CODEC_ID, -1, codec_id, 0)
    cdef size_t start = out.size
    if row.head_size > 0 and append(out, row.head, row.head_size, err) != RP_OK:
        return err.status
    if compress_with(row, context, level, magic, src, size, out, err) != RP_OK:
        out.size = start
        return err.status
    return RP_OK


cdef int compress_with(const codec* row, codec_context* context, int level, int magic, const uint8_t* src, size_t size,
                       pooled* out, rp_error* err) noexcept nogil:
    cdef size_t produced = 0
    if pooled_reserve(out, out.size + row.bound(size), err) != RP_OK:
        return err.status
    if row.encode(row, &context.states[row.id], level, magic, False, src, size, out.data + out.size,
                  out.capacity - out.size, &produced, err) != RP_OK:
        return err.status
    out.size += produced
    return RP_OK


# --- joining payloads --------------------------------------------------------------------------------------------

cdef bint joins(const codec_table* codecs, int codec_id) noexcept nogil:
    cdef const codec* row = row_of(codecs, codec_id)
    return row != NULL and row.joins


cdef bint join_begin(const codec_table* codecs, int codec_id, pooled* out, payload_join* join) noexcept nogil:
    """Begin to join payloads; return False if the codec's payloads cannot be joined."""
    cdef const codec* row = row_of(codecs, codec_id)
    if row == NULL or not row.joins:
        return False
    join.tail_size = row.join_tail
    out.size -= row.join_tail
    join.at = out.size
    memcpy(join.tail, out.data + join.at, row.join_tail)
    return True


cdef void join_end(const codec_table* codecs, int codec_id, pooled* out, const payload_join* join) noexcept nogil:
    cdef size_t head = row_of(codecs, codec_id).join_head
    if head > 0:
        out.size -= head
        memmove(out.data + join.at, out.data + join.at + head, out.size - join.at)


cdef void join_undo(pooled* out, const payload_join* join) noexcept nogil:
    memcpy(out.data + join.at, join.tail, join.tail_size)
    out.size = join.at + join.tail_size


# --- the pool --------------------------------------------------------------------------------------------------------

cdef enum:
    # Scratch memory kept with an idle context: the records of four batches of the default max.message.bytes. Larger
    # scratch memory returns to the memory pool.
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
    """Return the context that this thread used last, if it is in the list."""
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
    """Take an idle context, if possible this thread's: after use on another processor, scratch and states are not in
    this processor's caches, and decompression takes twice as long."""
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
    context.codecs = NULL  # the table may be freed while the context is idle
    add_idle(context)


cdef size_t free_idle() noexcept nogil:
    """Free the contexts that no call is using; return about how many bytes were freed."""
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
