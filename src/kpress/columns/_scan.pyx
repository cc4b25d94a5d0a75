"""Which entries of a record set a call wants, by header alone: ranges, control batches, aborted transactions."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from kpress._c.wire cimport (
    KP_BATCH_LENGTH, KP_CONTROL, KP_END, KP_LOG_APPEND_TIME, KP_LOG_OVERHEAD, KP_MESSAGE_SIZE,
    KP_NO_MEMORY, KP_OK, KP_TRANSACTIONAL, kp_batch, kp_batch_codec, kp_batch_last_offset, kp_batch_next,
    kp_cursor, kp_cursor_of, kp_error, kp_fail, kp_load_be16, kp_load_be32, kp_load_be64, kp_record,
    kp_record_next, kp_source,
)
from kpress.codecs.context cimport codec_context, context_acquire, context_release
from kpress.record cimport decode
from kpress.record.decode cimport open_source
from kpress.columns._plan cimport failure, plan


cdef inline bint wanted(const plan* p, const kp_batch* batch) noexcept nogil:
    """False if the header alone says that no record of the entry is wanted. A v2 base timestamp is not the smallest
    one, so only LogAppendTime says anything about an upper bound."""
    cdef int64_t last = kp_batch_last_offset(batch)
    if batch.magic == 2 and batch.attributes & KP_CONTROL and not p.control:
        return False
    if batch.magic == 1 and batch.base_offset == 0 and kp_batch_codec(batch):
        return True  # as librdkafka sends it: neither the last offset nor the largest timestamp
    if last < p.first_offset or (batch.max_timestamp < p.first_timestamp and batch.magic > 0):
        return False
    if (batch.magic == 2 or not kp_batch_codec(batch)) and batch.base_offset > p.last_offset:
        return False
    return not (batch.magic > 0 and batch.attributes & KP_LOG_APPEND_TIME and batch.max_timestamp > p.last_timestamp)


cdef int walk_copy(walk* to, const walk* w) noexcept nogil:
    cdef const isolation* state = &w.isolation
    to[0] = w[0]
    to.isolation.open = NULL
    if state.n_aborted:
        to.isolation.open = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>state.n_aborted)
        if to.isolation.open == NULL:
            return KP_NO_MEMORY
        memcpy(to.isolation.open, state.open, sizeof(aborted_transaction) * <size_t>state.n_open)
    return KP_OK


cdef void walk_free(walk* w) noexcept nogil:
    free(w.isolation.open)
    memset(w, 0, sizeof(walk))


cdef int scan(const plan* p, walk* w, int64_t stop_after, batch_list* list, failure* f) noexcept nogil:
    cdef codec_context* context = context_acquire(p.codecs)
    cdef int64_t start = w.position
    cdef int status = KP_OK
    w.state = MORE
    if context == NULL:
        return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
    while status == KP_OK and w.state == MORE and (w.position == start or w.position - start < stop_after):
        status = scan_entry(p, w, start, stop_after, context, list, f)
    context_release(context)
    return KP_OK if status == KP_END else status


cdef int scan_entry(const plan* p, walk* w, int64_t start, int64_t stop_after, codec_context* context,
                    batch_list* list, failure* f) noexcept nogil:
    """The entry at w.position. KP_END: with it there would be more than `stop_after` bytes, and it is not the first."""
    cdef const kp_batch* batch = &f.batch
    cdef int status = kp_batch_next(p.data, p.size, w.position, p.max_message_bytes, &f.batch, &f.error)
    cdef int64_t last
    if status != KP_OK:
        if status == KP_END:
            w.state = AT_END
        if status != KP_BATCH_LENGTH and status != KP_MESSAGE_SIZE:
            return status
        bad_header(p.data + w.position, w.position, &f.batch)
    if w.position != start and w.position - start + batch.size > stop_after:
        return KP_END
    if batch.magic == BAD_HEADER:
        w.position += batch.size
        return list_wanted(p, list, f)
    last = kp_batch_last_offset(batch)
    if p.ends and last > p.last_offset:
        return end_at_bound(p, w, context, list, f)
    w.position += batch.size
    w.next_offset = <int64_t>(<uint64_t>last + 1)
    w.any = True
    # the state of transactions moves on over every batch, wanted or not
    if w.isolation.n_aborted and is_aborted(&w.isolation, context, p.data + batch.position, batch):
        return KP_OK
    return list_wanted(p, list, f) if wanted(p, batch) else KP_OK


cdef int refuse_early(const plan* p, int64_t there, failure* f) noexcept nogil:
    cdef codec_context* context = context_acquire(p.codecs)
    cdef int status
    if context == NULL:
        return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
    status = decode.refuse_early(context, p.data + f.batch.position, there, &f.batch, &f.error)
    context_release(context)
    return status


cdef void bad_header(const uint8_t* entry, int64_t position, kp_batch* batch) noexcept nogil:
    """A whole entry that is too small for its header: its size, which kp_batch_next has checked, leads to the next one,
    so only this one is wrong."""
    memset(batch, 0, sizeof(kp_batch))
    batch.magic = BAD_HEADER
    batch.position = position
    batch.size = <int64_t>kp_load_be32(entry + 8) + KP_LOG_OVERHEAD
    batch.base_offset = <int64_t>kp_load_be64(entry)


cdef int end_at_bound(const plan* p, walk* w, codec_context* context, batch_list* list, failure* f) noexcept nogil:
    """The entry that reaches over last_offset is the last one, and is not passed: a walk that resumes here finds the
    rest of its records, and the right state of transactions."""
    cdef walk ahead
    cdef bint aborted
    if walk_copy(&ahead, w) != KP_OK:
        return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
    aborted = ahead.isolation.n_aborted and is_aborted(&ahead.isolation, context, p.data + f.batch.position, &f.batch)
    walk_free(&ahead)
    w.state = AT_BOUND
    w.next_offset = p.last_offset + 1
    w.any = True
    return list_wanted(p, list, f) if wanted(p, &f.batch) and not aborted else KP_OK


cdef inline int list_wanted(const plan* p, batch_list* list, failure* f) noexcept nogil:
    cdef kp_batch* more
    if list.n == list.capacity:
        more = <kp_batch*>realloc(list.batches, sizeof(kp_batch) * <size_t>(2 * list.capacity + 64))
        if more == NULL:
            return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
        list.batches = more
        list.capacity = 2 * list.capacity + 64
    list.batches[list.n] = f.batch
    list.n += 1
    return KP_OK


# --- READ_COMMITTED ---------------------------------------------------------------------------------------

cdef bint is_abort_marker(codec_context* context, const uint8_t* entry, const kp_batch* batch) noexcept nogil:
    """Whether the first record of a control batch has an ABORT key: int16 version, int16 type 0."""
    cdef kp_source source
    cdef kp_error ignored
    cdef kp_cursor cursor
    cdef kp_record r
    context.scratch.size = 0
    if open_source(context, entry, batch, entry + batch.size, &context.scratch, 1 << 16, False, &source,
                   &ignored) != KP_OK:
        return False
    cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    if kp_record_next(&source, &cursor, 0, &r, &ignored) != KP_OK:
        return False
    return r.key.size >= 4 and kp_load_be16(r.key.data + 2) == 0


cdef int64_t place_of(const isolation* state, int64_t producer_id) noexcept nogil:
    """Where the producer is among those with an aborted transaction open; -1: nowhere."""
    cdef int64_t i
    for i in range(state.n_open):
        if state.open[i].producer_id == producer_id:
            return i
    return -1


cdef bint is_aborted(isolation* state, codec_context* context, const uint8_t* entry,
                     const kp_batch* batch) noexcept nogil:
    """Moves the state over one batch; whether its records belong to an aborted transaction."""
    cdef const aborted_transaction* reached
    cdef int64_t i
    if batch.magic < 2 or batch.producer_id < 0:
        return False
    while state.next < state.n_aborted and state.aborted[state.next].first_offset <= kp_batch_last_offset(batch):
        reached = &state.aborted[state.next]
        if place_of(state, reached.producer_id) < 0:  # a set: one marker ends all that began before it
            state.open[state.n_open] = reached[0]
            state.n_open += 1
        state.next += 1
    i = place_of(state, batch.producer_id)
    if i < 0:
        return False
    if not batch.attributes & KP_CONTROL:
        return (batch.attributes & KP_TRANSACTIONAL) != 0
    if is_abort_marker(context, entry, batch):
        state.n_open -= 1
        state.open[i] = state.open[state.n_open]
    return False
