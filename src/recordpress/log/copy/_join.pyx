"""Small batches that become one: codecs see more of the data at once, and there are fewer headers.

Only where nothing is lost: adjacent batches without a producer id (a broker finds duplicates by producer, epoch and
sequence, which belong to the batch), with the same leader epoch, with CreateTime, and without a gap left by compaction.
Only whole batches are joined, so an offset that began a batch may lie inside of one, but no batch is divided.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from recordpress._buffers cimport pooled_free
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_CODEC_MASK, RP_NO_MEMORY, RP_OK, rp_batch_last_offset, rp_cursor, rp_cursor_of,
    rp_record, rp_record_next,
)
from recordpress.codecs.codec cimport codec_at
from recordpress.record.encode cimport batch_begin, batch_encoder, plain_options
from recordpress.record.open_batch cimport BATCH_FULL, batch_add, batch_limit


cdef bint may_join(const rp_batch* b) noexcept nogil:
    """Whether a v2 batch's header says only what its records say: CreateTime, no transaction, no control records, no
    delete horizon, no producer, as many records as offsets."""
    return (b.magic == 2 and b.attributes & ~RP_CODEC_MASK == 0 and b.producer_id == -1 and b.producer_epoch == -1
            and b.base_sequence == -1 and b.records_count > 0
            and <int64_t>b.records_count == <int64_t>b.last_offset_delta + 1)


cdef bint follows(const pack* p, const rp_batch* b) noexcept nogil:
    return b.base_offset == p.next_offset and b.partition_leader_epoch == p.first.partition_leader_epoch


cdef void pack_begin(pack* p, const recompressor* r, const rp_batch* batch, int64_t batch_bytes) noexcept nogil:
    p.open = True
    p.entries = p.size = 0
    p.codecs = 0
    p.first = batch[0]
    p.batch.records.size = 0
    plain_options(&p.batch.encoder.options, 2, r.context.codecs, r.codec, r.level)
    p.batch.encoder.options.partition_leader_epoch = batch.partition_leader_epoch
    batch_begin(&p.batch.encoder, batch.base_offset)
    batch_limit(&p.batch, <size_t>max(batch_bytes - RP_BATCH_HEADER, 0))


cdef int pack_take(pack* p, const uint8_t* entry, const rp_batch* batch, const rp_source* source, bint* taken,
                   rp_error* err) noexcept nogil:
    cdef batch_encoder before = p.batch.encoder
    cdef size_t size = p.batch.records.size
    cdef int status = take_records(p, source, err)
    taken[0] = status == RP_OK
    if status != RP_OK:
        p.batch.encoder, p.batch.records.size = before, size
        return status if status == RP_NO_MEMORY else RP_OK
    p.entries += 1
    p.size += batch.size
    p.codecs |= <uint64_t>1 << codec_at(before.options.codecs, entry, batch)
    p.next_offset = <int64_t>(<uint64_t>rp_batch_last_offset(batch) + 1)
    return RP_OK


cdef int take_records(pack* p, const rp_source* source, rp_error* err) noexcept nogil:
    """RP_OK, or why a record cannot be in the new batch: it breaks a rule of Kafka's builders (a negative timestamp),
    has attributes, which are written as 0, or is too much for the batch."""
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef rp_record r
    cdef int32_t i
    cdef int status
    for i in range(source.count):
        status = rp_record_next(source, &cursor, i, &r, err)
        if status == RP_OK:
            status = BATCH_FULL if r.attributes else batch_add(&p.batch, &r, err)
        if status != RP_OK:
            return status
    return RP_OK


cdef void pack_free(pack* p) noexcept nogil:
    pooled_free(&p.batch.records)
    pooled_free(&p.scratch)
