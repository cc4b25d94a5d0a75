"""Which entries of a record set a call wants, by header alone: ranges, control batches, aborted transactions."""

from libc.stdint cimport INT32_MAX, int64_t, uint8_t
from libc.stdlib cimport realloc

from kpress._c.wire cimport (
    KP_CONTROL, KP_END, KP_LOG_APPEND_TIME, KP_NO_MEMORY, KP_OK, KP_TRANSACTIONAL, kp_batch, kp_batch_codec,
    kp_batch_last_offset, kp_batch_next, kp_cursor, kp_cursor_of, kp_error, kp_fail, kp_load_be16, kp_record,
    kp_record_next, kp_source,
)
from kpress.codecs.context cimport codec_context, context_acquire, context_release
from kpress.record.decode cimport open_source
from kpress.columns._plan cimport failure, plan


cdef bint wanted(const plan* p, const kp_batch* batch) noexcept nogil:
    """False where the header alone says that no record of the entry is asked for. A v2 base timestamp is not
    the smallest one, so only LogAppendTime says anything about an upper bound."""
    cdef int64_t last = kp_batch_last_offset(batch)
    if batch.magic == 2 and batch.attributes & KP_CONTROL and not p.control:
        return False
    if batch.magic == 1 and batch.base_offset == 0 and kp_batch_codec(batch):
        return True  # as librdkafka sends it: neither the last offset nor the largest timestamp (record-formats 3)
    if last < p.first_offset or (batch.max_timestamp < p.first_timestamp and batch.magic > 0):
        return False
    if (batch.magic == 2 or not kp_batch_codec(batch)) and batch.base_offset > p.last_offset:
        return False
    return not (batch.magic > 0 and batch.attributes & KP_LOG_APPEND_TIME and batch.max_timestamp > p.last_timestamp)


cdef int scan(const plan* p, int64_t start, int64_t stop_after, isolation* state, batch_list* list,
              failure* f) noexcept nogil:
    """The headers of the asked entries from `start` on, until about `stop_after` bytes were passed."""
    cdef codec_context* context = context_acquire()
    cdef int status = KP_OK
    list.end = start
    if context == NULL:
        return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
    while status == KP_OK and (list.end == start or list.end - start < stop_after):
        status = scan_entry(p, start, stop_after, state, context, list, f)
    context_release(context)
    return KP_OK if status == KP_END else status


cdef int scan_entry(const plan* p, int64_t start, int64_t stop_after, isolation* state, codec_context* context,
                    batch_list* list, failure* f) noexcept nogil:
    cdef kp_batch* more
    cdef int status = kp_batch_next(p.data, p.size, list.end, INT32_MAX, &f.batch, &f.error)
    if status != KP_OK:
        return status
    if list.end != start and list.end - start + f.batch.size > stop_after:
        return KP_END
    list.end += f.batch.size
    # the state of transactions moves on over every batch, wanted or not
    if state.n_aborted and is_aborted(state, context, p.data + f.batch.position, &f.batch):
        return KP_OK
    if not wanted(p, &f.batch):
        return KP_OK
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
    """Where the producer is among those with an aborted transaction; -1: nowhere."""
    cdef int64_t i
    for i in range(state.n_producers):
        if state.producers[i] == producer_id:
            return i
    return -1


cdef bint is_aborted(isolation* state, codec_context* context, const uint8_t* entry,
                     const kp_batch* batch) noexcept nogil:
    """Moves the state over one batch; whether its records belong to an aborted transaction."""
    cdef int64_t i, producer_id
    if batch.magic < 2 or batch.producer_id < 0:
        return False
    while state.next < state.n_aborted and state.aborted[state.next].first_offset <= kp_batch_last_offset(batch):
        producer_id = state.aborted[state.next].producer_id
        if place_of(state, producer_id) < 0:  # a set: one marker ends all that began before it (CompletedFetch)
            state.producers[state.n_producers] = producer_id
            state.n_producers += 1
        state.next += 1
    i = place_of(state, batch.producer_id)
    if i < 0:
        return False
    if not batch.attributes & KP_CONTROL:
        return (batch.attributes & KP_TRANSACTIONAL) != 0
    if is_abort_marker(context, entry, batch):
        state.n_producers -= 1
        state.producers[i] = state.producers[state.n_producers]
    return False
