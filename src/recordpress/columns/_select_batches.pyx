"""Selection of a record set's entries by header alone: ranges, control batches, aborted transactions."""

from libc.stdint cimport INT64_MIN, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from recordpress._c.wire cimport (
    RP_BATCH_LENGTH, RP_CONTROL, RP_END, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, RP_MESSAGE_SIZE,
    RP_NO_MEMORY, RP_OK, RP_TRANSACTIONAL, rp_batch, rp_batch_codec, rp_batch_last_offset, rp_batch_next,
    rp_cursor, rp_cursor_of, rp_error, rp_fail, rp_load_be16, rp_load_be32, rp_load_be64, rp_record,
    rp_record_next, rp_source,
)
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.record cimport decode
from recordpress.record.decode cimport open_source
from recordpress.columns._plan cimport failure, plan


cdef inline bint wanted(const plan* p, const rp_batch* batch) noexcept nogil:
    """Return False if the header alone shows that no record of the entry is requested. A v2 base timestamp is not the
    smallest timestamp, so only LogAppendTime allows a comparison with last_timestamp."""
    cdef int64_t last = rp_batch_last_offset(batch)
    if batch.magic == 2 and batch.attributes & RP_CONTROL and not p.control:
        return False
    if batch.magic == 1 and batch.base_offset == 0 and rp_batch_codec(batch):
        return True  # as librdkafka sends it, with neither the last offset nor the largest timestamp
    if last < p.first_offset or (batch.max_timestamp < p.first_timestamp and batch.magic > 0):
        return False
    if (batch.magic == 2 or not rp_batch_codec(batch)) and batch.base_offset > p.last_offset:
        return False
    return not (batch.magic > 0 and batch.attributes & RP_LOG_APPEND_TIME and batch.max_timestamp > p.last_timestamp)


cdef int walk_copy(walk* to, const walk* w) noexcept nogil:
    cdef const isolation* state = &w.isolation
    to[0] = w[0]
    to.isolation.open = NULL
    if state.n_aborted:
        to.isolation.open = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>state.n_aborted)
        if to.isolation.open == NULL:
            return RP_NO_MEMORY
        memcpy(to.isolation.open, state.open, sizeof(aborted_transaction) * <size_t>state.n_open)
    return RP_OK


cdef void walk_free(walk* w) noexcept nogil:
    free(w.isolation.open)
    memset(w, 0, sizeof(walk))


cdef int scan(const plan* p, walk* w, int64_t stop_after, batch_list* list, failure* f) noexcept nogil:
    cdef codec_context* context = context_acquire(p.codecs)
    cdef int64_t start = w.position
    cdef int status = RP_OK
    w.state = MORE
    if context == NULL:
        return rp_fail(&f.error, RP_NO_MEMORY, -1, 0, 0)
    while status == RP_OK and w.state == MORE and (w.position == start or w.position - start < stop_after):
        status = scan_entry(p, w, start, stop_after, context, list, f)
    context_release(context)
    return RP_OK if status == RP_END else status


cdef int scan_entry(const plan* p, walk* w, int64_t start, int64_t stop_after, codec_context* context,
                    batch_list* list, failure* f) noexcept nogil:
    """Scan the entry at w.position; return RP_END if it is not the first and exceeds `stop_after` bytes."""
    cdef const rp_batch* batch = &f.batch
    cdef int status = rp_batch_next(p.data, p.size, w.position, p.max_message_bytes, &f.batch, &f.error)
    cdef int64_t last, reached
    if status != RP_OK:
        if status == RP_END:
            w.state = AT_END
        if status != RP_BATCH_LENGTH and status != RP_MESSAGE_SIZE:
            return status
        bad_header(p.data + w.position, w.position, &f.batch)
    if w.position != start and w.position - start + batch.size > stop_after:
        return RP_END
    if batch.magic == BAD_HEADER:
        w.position += batch.size
        return list_wanted(list, w.next_offset, f)
    last = rp_batch_last_offset(batch)
    # after the largest int64, no offset can follow
    if p.ascends and w.any and (w.next_offset == INT64_MIN or first_offset(batch, last) < w.next_offset):
        w.state = GOES_BACK
        return RP_OK
    reached = w.next_offset
    if p.ends and last > p.last_offset:
        return end_at_bound(p, w, context, list, f)
    w.position += batch.size
    w.next_offset = <int64_t>(<uint64_t>last + 1)
    w.any = True
    # every batch advances the state of transactions, requested or not
    if w.isolation.n_aborted and is_aborted(&w.isolation, context, p.data + batch.position, batch):
        return RP_OK
    return list_wanted(list, reached, f) if wanted(p, batch) else RP_OK


cdef inline int64_t first_offset(const rp_batch* batch, int64_t last) noexcept nogil:
    """Return the first offset; a v0/v1 wrapper's header has only the last offset, so the first is compared after
    decompression."""
    return last if batch.magic < 2 and rp_batch_codec(batch) else batch.base_offset


cdef int refuse_early(const plan* p, int64_t there, failure* f) noexcept nogil:
    cdef codec_context* context = context_acquire(p.codecs)
    cdef int status
    if context == NULL:
        return rp_fail(&f.error, RP_NO_MEMORY, -1, 0, 0)
    status = decode.refuse_early(context, p.data + f.batch.position, there, &f.batch, &f.error)
    context_release(context)
    return status


cdef void bad_header(const uint8_t* entry, int64_t position, rp_batch* batch) noexcept nogil:
    """Fill `batch` for a complete entry that is too small for its header; rp_batch_next checked its size and prefix, so
    the next entry can be read."""
    memset(batch, 0, sizeof(rp_batch))
    batch.magic = BAD_HEADER
    batch.position = position
    batch.size = <int64_t>rp_load_be32(entry + 8) + RP_LOG_OVERHEAD
    batch.base_offset = <int64_t>rp_load_be64(entry)


cdef int end_at_bound(const plan* p, walk* w, codec_context* context, batch_list* list, failure* f) noexcept nogil:
    """End at the entry that reaches beyond last_offset without passing it: a walk that resumes here finds the rest of
    its records, and the right state of transactions."""
    cdef walk ahead
    cdef bint aborted
    if walk_copy(&ahead, w) != RP_OK:
        return rp_fail(&f.error, RP_NO_MEMORY, -1, 0, 0)
    aborted = ahead.isolation.n_aborted and is_aborted(&ahead.isolation, context, p.data + f.batch.position, &f.batch)
    walk_free(&ahead)
    cdef int64_t reached = w.next_offset
    w.state = AT_BOUND
    w.next_offset = p.last_offset + 1
    w.any = True
    return list_wanted(list, reached, f) if wanted(p, &f.batch) and not aborted else RP_OK


cdef inline int list_wanted(batch_list* list, int64_t reached, failure* f) noexcept nogil:
    cdef rp_batch* batches
    cdef int64_t* offsets
    cdef size_t room
    if list.n == list.capacity:
        room = 2 * <size_t>list.capacity + 64
        batches = <rp_batch*>realloc(list.batches, sizeof(rp_batch) * room)
        if batches == NULL:
            return rp_fail(&f.error, RP_NO_MEMORY, -1, 0, 0)
        list.batches = batches
        offsets = <int64_t*>realloc(list.reached, sizeof(int64_t) * room)
        if offsets == NULL:
            return rp_fail(&f.error, RP_NO_MEMORY, -1, 0, 0)
        list.reached = offsets
        list.capacity = <int64_t>room
    list.batches[list.n] = f.batch
    list.reached[list.n] = reached
    list.n += 1
    return RP_OK


# --- READ_COMMITTED ---------------------------------------------------------------------------------------

cdef bint is_abort_marker(codec_context* context, const uint8_t* entry, const rp_batch* batch) noexcept nogil:
    """Return whether the first record of a control batch has an ABORT key: int16 version, int16 type 0."""
    cdef rp_source source
    cdef rp_error ignored
    cdef rp_cursor cursor
    cdef rp_record r
    context.scratch.size = 0
    # 64 KiB: a marker has some 20 bytes
    if open_source(context, entry, batch, entry + batch.size, &context.scratch, 1 << 16, False, &source,
                   &ignored) != RP_OK:
        return False
    cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    if rp_record_next(&source, &cursor, 0, &r, &ignored) != RP_OK:
        return False
    return r.key.size >= 4 and rp_load_be16(r.key.data + 2) == 0


cdef int64_t place_of(const isolation* state, int64_t producer_id) noexcept nogil:
    """Return the index of the producer's open aborted transaction; -1 if it has no such transaction."""
    cdef int64_t i
    for i in range(state.n_open):
        if state.open[i].producer_id == producer_id:
            return i
    return -1


cdef bint is_aborted(isolation* state, codec_context* context, const uint8_t* entry,
                     const rp_batch* batch) noexcept nogil:
    """Move the state past one batch; return whether its records belong to an aborted transaction."""
    cdef const aborted_transaction* reached
    cdef int64_t i
    if batch.magic < 2 or batch.producer_id < 0:
        return False
    while state.next < state.n_aborted and state.aborted[state.next].first_offset <= rp_batch_last_offset(batch):
        reached = &state.aborted[state.next]
        if place_of(state, reached.producer_id) < 0:  # once per producer: one marker ends all that began before it
            state.open[state.n_open] = reached[0]
            state.n_open += 1
        state.next += 1
    i = place_of(state, batch.producer_id)
    if i < 0:
        return False
    if not batch.attributes & RP_CONTROL:
        return (batch.attributes & RP_TRANSACTIONAL) != 0
    if is_abort_marker(context, entry, batch):
        state.n_open -= 1
        state.open[i] = state.open[state.n_open]
    return False
