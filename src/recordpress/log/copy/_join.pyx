"""Small batches that become one: codecs see more of the data at once, and there are fewer headers.

Only where nothing is lost: adjacent batches without a producer id (a broker finds duplicates by producer, epoch and
sequence, which belong to the batch), with the same leader epoch, with CreateTime, and without a gap left by compaction.
Only whole batches are joined, so an offset that began a batch may lie inside of one, but no batch is divided.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from recordpress._buffers cimport pooled_free, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_CODEC_MASK, RP_NO_MEMORY, RP_OK, rp_batch_last_offset, rp_cursor, rp_cursor_of,
    rp_record, rp_record_next,
)
from recordpress.codecs.codec cimport codec_at, row_of
from recordpress.record.change_magic cimport write_batch
from recordpress.record.encode cimport batch_begin, offset_delta_fits, record_check, record_room, record_write


cdef bint may_join(const rp_batch* b) noexcept nogil:
    """Whether a v2 batch's header says only what its records say: CreateTime, no transaction, no control records, no
    delete horizon, no producer, as many records as offsets."""
    return (b.magic == 2 and b.attributes & ~RP_CODEC_MASK == 0 and b.producer_id == -1 and b.producer_epoch == -1
            and b.base_sequence == -1 and b.records_count > 0
            and <int64_t>b.records_count == <int64_t>b.last_offset_delta + 1)


cdef bint follows(const pack* p, const rp_batch* b) noexcept nogil:
    return b.base_offset == p.next_offset and b.partition_leader_epoch == p.batch.partition_leader_epoch


cdef void pack_begin(pack* p, const recompressor* r, const rp_batch* batch) noexcept nogil:
    p.open = True
    p.entries = p.size = 0
    p.codecs = 0
    p.records.size = 0
    p.batch = batch[0]
    memset(&p.encoder, 0, sizeof(batch_encoder))
    p.encoder.options.magic = 2
    p.encoder.options.codecs = r.context.codecs
    p.encoder.options.codec = r.codec
    p.encoder.options.level = r.level
    p.encoder.options.attributes = row_of(r.context.codecs, r.codec).attributes
    p.encoder.options.producer_id = p.encoder.options.producer_epoch = p.encoder.options.base_sequence = -1
    p.encoder.options.partition_leader_epoch = batch.partition_leader_epoch
    p.encoder.options.log_append_time = p.encoder.options.delete_horizon_ms = -1
    batch_begin(&p.encoder, batch.base_offset)


cdef int pack_take(pack* p, const uint8_t* entry, const rp_batch* batch, const rp_source* source, int64_t batch_bytes,
                   bint* taken, rp_error* err) noexcept nogil:
    cdef batch_encoder before = p.encoder
    cdef size_t size = p.records.size
    taken[0] = False
    if take_records(p, source, batch_bytes, taken, err) == RP_NO_MEMORY:
        return err.status
    if not taken[0]:
        p.encoder = before
        p.records.size = size
        return RP_OK
    p.entries += 1
    p.size += batch.size
    p.codecs |= <uint64_t>1 << codec_at(p.encoder.options.codecs, entry, batch)
    p.next_offset = <int64_t>(<uint64_t>rp_batch_last_offset(batch) + 1)
    return RP_OK


cdef int take_records(pack* p, const rp_source* source, int64_t batch_bytes, bint* taken, rp_error* err) noexcept nogil:
    """`taken` is False where a record cannot be in the new batch: it breaks a rule of Kafka's builders (a negative
    timestamp), has attributes, which are written as 0, or is too much for the batch."""
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef rp_record r
    cdef int32_t i
    for i in range(source.count):
        if rp_record_next(source, &cursor, i, &r, err) != RP_OK:
            return err.status
        if r.attributes or not offset_delta_fits(&p.encoder, &r) or record_check(&p.encoder, &r, err) != RP_OK:
            return RP_OK
        if p.records.capacity - p.records.size < record_room(&r):
            if pooled_reserve_more(&p.records, record_room(&r), err) != RP_OK:
                return err.status
        p.records.size = record_write(&p.encoder, &r, p.records.data + p.records.size) - p.records.data
        if <int64_t>p.records.size + RP_BATCH_HEADER > batch_bytes:
            return RP_OK
    taken[0] = True
    return RP_OK


cdef int pack_write(pack* p, codec_context* context, pooled* out, rp_error* err) noexcept nogil:
    return write_batch(&p.encoder, &p.records, context, out, err)


cdef void pack_free(pack* p) noexcept nogil:
    pooled_free(&p.records)
    pooled_free(&p.scratch)
