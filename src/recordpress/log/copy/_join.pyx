"""Small batches that become one: codecs see more of the data at once, and there are fewer headers.

No field of a record may change: adjacent batches of one producer are joined if their sequences and offsets are
consecutive (a record's sequence is the batch's first sequence plus the record's offset delta); batches without a
producer, also across offsets that compaction removed. Leader epoch, timestamp type and transactional bit must be equal.
Control batches and batches with a delete horizon are never joined. Only whole batches are joined, so an offset that
began a batch may lie inside a larger batch, but no batch is divided.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint64_t

from recordpress._buffers cimport pooled_free
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_CODEC_MASK, RP_LOG_APPEND_TIME, RP_NO_MEMORY, RP_OK, RP_TRANSACTIONAL, rp_batch_last_offset,
    rp_cursor, rp_cursor_of, rp_record, rp_record_next, rp_sequence_add,
)
from recordpress.codecs.codec cimport codec_at
from recordpress.record.encode cimport batch_begin, batch_encoder, keep_header, plain_options
from recordpress.record.open_batch cimport BATCH_FULL, batch_add, batch_limit


cdef bint may_join(const rp_batch* b) noexcept nogil:
    """Return whether a v2 batch has records, offsets in range, either all fields of a producer or none, and no
    attributes other than a codec, LogAppendTime and a transaction."""
    if b.magic != 2 or b.attributes & ~(RP_CODEC_MASK | RP_LOG_APPEND_TIME | RP_TRANSACTIONAL) or b.records_count <= 0:
        return False
    if b.last_offset_delta < 0 or not 0 <= b.base_offset <= INT64_MAX - b.last_offset_delta - 1:
        return False
    if b.producer_id < 0:
        return (b.producer_id == -1 and b.producer_epoch == -1 and b.base_sequence == -1
                and not b.attributes & RP_TRANSACTIONAL)
    return b.producer_epoch >= 0 and b.base_sequence >= 0


cdef bint follows(const joined_batch* p, const rp_batch* b) noexcept nogil:
    cdef const rp_batch* first = &p.first
    if b.partition_leader_epoch != first.partition_leader_epoch:
        return False
    if (b.attributes ^ first.attributes) & ~RP_CODEC_MASK:
        return False
    if b.attributes & RP_LOG_APPEND_TIME and b.max_timestamp != first.max_timestamp:
        return False
    if b.base_offset < p.next_offset or rp_batch_last_offset(b) - first.base_offset > INT32_MAX:
        return False
    if b.producer_id != first.producer_id or b.producer_epoch != first.producer_epoch:
        return False
    return b.producer_id < 0 or (
        b.base_offset == p.next_offset
        and b.base_sequence == rp_sequence_add(first.base_sequence, <int32_t>(b.base_offset - first.base_offset)))


cdef void join_begin(joined_batch* p, const recompressor* r, const rp_batch* batch,
                     const join_limits* limits) noexcept nogil:
    p.entries = p.size = 0
    p.codecs = 0
    p.first = batch[0]
    p.batch.records.size = 0
    plain_options(&p.batch.encoder.options, 2, r.context.codecs, r.codec, r.level)
    keep_header(&p.batch.encoder.options, batch)
    p.batch.encoder.options.attributes |= batch.attributes & ~RP_CODEC_MASK
    p.batch.encoder.options.log_append_time = batch.max_timestamp
    p.most_records = limits.records
    batch_begin(&p.batch.encoder, batch.base_offset)
    batch_limit(&p.batch, <size_t>max(limits.bytes - RP_BATCH_HEADER, 0))


cdef int join_take(joined_batch* p, const uint8_t* entry, const rp_batch* batch, const rp_source* source, bint* taken,
                   rp_error* err) noexcept nogil:
    cdef batch_encoder before = p.batch.encoder
    cdef size_t size = p.batch.records.size
    cdef int64_t last_offset = rp_batch_last_offset(batch)
    cdef int status = BATCH_FULL
    if before.records_count + batch.records_count <= p.most_records:
        status = take_records(p, source, err)
    taken[0] = status == RP_OK and p.batch.encoder.last_offset <= last_offset
    if not taken[0]:
        p.batch.encoder, p.batch.records.size = before, size
        return status if status == RP_NO_MEMORY else RP_OK
    p.batch.encoder.last_offset = last_offset  # compaction may have removed the last records
    p.entries += 1
    p.size += batch.size
    p.codecs |= <uint64_t>1 << codec_at(before.options.codecs, entry, batch)
    p.next_offset = last_offset + 1
    return RP_OK


cdef int take_records(joined_batch* p, const rp_source* source, rp_error* err) noexcept nogil:
    """Take the records; return RP_OK, or why a record cannot be in the new batch: it breaks a rule of Kafka's builders
    (a negative timestamp), has attributes, which builders write as 0, or does not fit. Under LogAppendTime the
    producer's timestamps are kept, although no reader shows them."""
    cdef rp_source given = source[0]
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef rp_record r
    cdef int32_t i
    cdef int status
    given.log_append_time = False
    for i in range(given.count):
        status = rp_record_next(&given, &cursor, i, &r, err)
        if status == RP_OK:
            status = BATCH_FULL if r.attributes else batch_add(&p.batch, &r, err)
        if status != RP_OK:
            return status
    return RP_OK


cdef void join_free(joined_batch* p) noexcept nogil:
    pooled_free(&p.batch.records)
    pooled_free(&p.scratch)
