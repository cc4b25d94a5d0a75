"""Records of one magic in a batch of another, by the rules of Kafka's RecordsUtil.downConvert and LogValidator.

    v2 ─► v1, v0    offset, timestamp, key and value of each record
    v1 ─► v0        no timestamp
    v0 ─► v1, v2    the timestamp -1
    v0, v1 ─► v2    no producer, no leader epoch

LogAppendTime stays LogAppendTime. The new batch has the first record's offset as its base: inner offsets of a v1
wrapper count from there, regardless of the v2 batch's first offset before compaction.
"""

from libc.string cimport memset

from recordpress._buffers cimport pooled_reserve_more
from recordpress._c.wire cimport (
    RP_CODEC_ID, RP_CODEC_MAGIC, RP_DELETE_HORIZON, RP_ENTRY_SIZE_MAX, RP_LOG_APPEND_TIME, RP_OFFSET_DELTA, RP_OK,
    RP_TRANSACTIONAL, rp_batch_timestamp_type, rp_fail,
)
from recordpress.codecs.codec cimport codec as codec_row, row_of
from recordpress.codecs.payload cimport compress_payload
from recordpress.record.encode cimport (
    LOG_APPEND_TIME, MAX_SET_SIZE, NO_TIMESTAMP, batch_begin, batch_finish, header_size, offset_delta_fits,
    record_check, record_room, record_write,
)


# Kinds of what an older magic cannot say, and what of each is counted; in the order of the enum.
LOST = {
    "headers": "headers of records",
    "timestamps": "records with a timestamp",
    "producers": "records with a producer's id, epoch or sequence",
    "transactions": "records of transactions",
    "markers": "control records",
    "leader_epochs": "records with a leader epoch",
    "delete_horizons": "batches with a delete horizon",
    "empty_batches": "batches that compaction emptied",
    "record_attributes": "records with attributes",
}


# --- what is lost ---------------------------------------------------------------------------------------------------

cdef void count_lost_header(converter* c, const rp_batch* batch, int64_t records) noexcept nogil:
    if batch.magic < 2:
        return
    if batch.producer_id != -1 or batch.producer_epoch != -1 or batch.base_sequence != -1:
        c.lost[LOST_PRODUCERS] += records
    if batch.attributes & RP_TRANSACTIONAL:
        c.lost[LOST_TRANSACTIONS] += records
    if batch.partition_leader_epoch != -1:
        c.lost[LOST_LEADER_EPOCHS] += records
    if batch.attributes & RP_DELETE_HORIZON:
        c.lost[LOST_DELETE_HORIZONS] += 1


cdef void drop_fields(converter* c, const rp_batch* batch, rp_record* row) noexcept nogil:
    if c.magic == 0:
        c.lost[LOST_TIMESTAMPS] += row.timestamp != NO_TIMESTAMP or row.timestamp_type == LOG_APPEND_TIME
        row.timestamp, row.timestamp_type = NO_TIMESTAMP, -1
    elif row.timestamp_type < 0:  # of magic 0, maybe in a v1 wrapper that has the type for all
        row.timestamp_type = max(rp_batch_timestamp_type(batch), 0)
        if row.timestamp_type == LOG_APPEND_TIME:
            row.timestamp = batch.max_timestamp
    if batch.magic < 2:
        return
    c.lost[LOST_HEADERS] += row.header_count
    c.lost[LOST_RECORD_ATTRIBUTES] += row.attributes != 0
    row.header_count = 0
    row.headers.size = 0
    row.sequence = -1


# --- what is written ------------------------------------------------------------------------------------------------

cdef int convert_begin(converter* c, const rp_record* first, codec_context* context, int codec, int level,
                       rp_error* err) noexcept nogil:
    cdef const codec_row* row = row_of(context.codecs, codec)
    if row == NULL:
        return rp_fail(err, RP_CODEC_ID, -1, codec, 0)
    if c.magic < row.least_magic:
        return rp_fail(err, RP_CODEC_MAGIC, 16, c.magic, row.least_magic)
    c.records.size = 0
    memset(&c.encoder, 0, sizeof(batch_encoder))
    c.encoder.options.magic = c.magic
    c.encoder.options.codecs = context.codecs
    c.encoder.options.codec = codec
    c.encoder.options.level = level
    c.encoder.options.attributes = row.attributes
    c.encoder.options.producer_id = c.encoder.options.producer_epoch = c.encoder.options.base_sequence = -1
    c.encoder.options.partition_leader_epoch = -1
    c.encoder.options.log_append_time = c.encoder.options.delete_horizon_ms = NO_TIMESTAMP
    if first.timestamp_type == LOG_APPEND_TIME:
        c.encoder.options.attributes |= RP_LOG_APPEND_TIME
        c.encoder.options.log_append_time = first.timestamp
    batch_begin(&c.encoder, first.offset)
    return RP_OK


cdef int convert_record(converter* c, const rp_record* row, rp_error* err) noexcept nogil:
    if record_check(&c.encoder, row, err) != RP_OK:
        return err.status
    if not offset_delta_fits(&c.encoder, row):
        return rp_fail(err, RP_OFFSET_DELTA, -1, row.offset, c.encoder.base_offset)
    if c.records.capacity - c.records.size < record_room(row):
        if pooled_reserve_more(&c.records, record_room(row), err) != RP_OK:
            return err.status
    c.records.size = record_write(&c.encoder, row, c.records.data + c.records.size) - c.records.data
    return RP_OK


cdef int convert_end(converter* c, codec_context* context, pooled* out, rp_error* err) noexcept nogil:
    return write_batch(&c.encoder, &c.records, context, out, err)


cdef int write_batch(const batch_encoder* e, const pooled* records, codec_context* context, pooled* out,
                     rp_error* err) noexcept nogil:
    cdef size_t start = out.size, header = header_size(&e.options)
    if pooled_reserve_more(out, header, err) != RP_OK:
        return err.status
    out.size += header
    if compress_payload(context, e.options.codec, e.options.level, e.options.magic, records.data, records.size, out,
                        err) != RP_OK:
        return err.status
    if out.size - start > MAX_SET_SIZE:
        return rp_fail(err, RP_ENTRY_SIZE_MAX, 8, <int64_t>(out.size - start), MAX_SET_SIZE)
    batch_finish(e, out.data + start, out.size - start)
    return RP_OK
