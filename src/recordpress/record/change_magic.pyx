"""Records of one magic in a batch of another, by the rules of Kafka's RecordsUtil.downConvert and LogValidator.

    v2 ─► v1, v0    offset, timestamp, key and value of each record
    v1 ─► v0        no timestamp
    v0 ─► v1, v2    the timestamp -1
    v0, v1 ─► v2    no producer, no leader epoch

LogAppendTime is kept. The new batch has the first record's offset as its base: inner offsets of a v1 wrapper
count from this offset, regardless of the v2 batch's first offset before compaction.
"""

from libc.stdint cimport SIZE_MAX

from recordpress._c.wire cimport (
    RP_CODEC_ID, RP_CODEC_MAGIC, RP_DELETE_HORIZON, RP_LOG_APPEND_TIME, RP_MAGIC_OFFSET, RP_OK, RP_TRANSACTIONAL,
    rp_batch_timestamp_type, rp_fail,
)
from recordpress.codecs.codec cimport codec as codec_row, row_of
from recordpress.record.encode cimport LOG_APPEND_TIME, NO_TIMESTAMP, batch_begin, batch_options, plain_options
from recordpress.record.open_batch cimport batch_limit


# Kinds of fields that an older magic lacks, and the counted unit of each; in the order of the enum.
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


# --- lost fields ----------------------------------------------------------------------------------------------------

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
    elif row.timestamp_type < 0:  # a record of magic 0, maybe in a v1 wrapper that has the type for all its records
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


# --- the new batch --------------------------------------------------------------------------------------------------

cdef int convert_begin(converter* c, const rp_record* first, codec_context* context, int codec, int level,
                       rp_error* err) noexcept nogil:
    cdef batch_options* o = &c.batch.encoder.options
    cdef const codec_row* row = row_of(context.codecs, codec)
    if row == NULL:
        return rp_fail(err, RP_CODEC_ID, -1, codec, 0)
    if c.magic < row.least_magic:
        return rp_fail(err, RP_CODEC_MAGIC, RP_MAGIC_OFFSET, c.magic, row.least_magic)
    plain_options(o, c.magic, context.codecs, codec, level)
    if first.timestamp_type == LOG_APPEND_TIME:
        o.attributes |= RP_LOG_APPEND_TIME
        o.log_append_time = first.timestamp
    c.batch.records.size = 0
    batch_begin(&c.batch.encoder, first.offset)
    batch_limit(&c.batch, SIZE_MAX)
    return RP_OK
