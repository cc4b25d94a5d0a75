"""An entry in another magic, by the rules of Kafka's RecordsUtil.downConvert and LogValidator.

    v2 ─► v1, v0    offset, timestamp, key and value of each record; no control batch, none that compaction emptied
    v1 ─► v0        no timestamp
    v0 ─► v1, v2    the timestamp -1
    v0, v1 ─► v2    no producer, no leader epoch

LogAppendTime stays LogAppendTime. An entry becomes one entry, but a v2 batch without a codec as many messages as it has
records: only wrappers have a codec.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from kpress._buffers cimport pooled_reserve_more
from kpress._c.wire cimport (
    KP_CODEC_MAGIC, KP_CODEC_MASK, KP_DELETE_HORIZON, KP_LOG_APPEND_TIME, KP_OFFSET_DELTA, KP_OK, KP_TRANSACTIONAL,
    kp_batch, kp_batch_codec, kp_batch_timestamp_type, kp_cursor, kp_cursor_of, kp_fail, kp_message_next, kp_record,
    kp_record_next,
)
from kpress.codecs.codec cimport LEVEL_DEFAULT, row_of
from kpress.log._digest cimport canonical_record, is_control
from kpress.log._pack cimport write_batch
from kpress.record.encode cimport (
    LOG_APPEND_TIME, NO_TIMESTAMP, batch_begin, offset_delta_fits, record_check, record_room, record_write,
)


cdef int convert_entry(conversion* c, recoder* r, const kp_source* source, bint writing, pooled* form, int64_t* records,
                       kp_error* err) noexcept nogil:
    cdef kp_cursor cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef kp_batch said = without_lost(&r.batch, c.magic), message
    cdef kp_record row
    cdef int32_t i
    cdef int64_t before = records[0]
    if count_batch(c, &r.batch, source):
        return KP_OK
    for i in range(source.count):
        if r.batch.magic == 2:
            if kp_record_next(source, &cursor, i, &row, err) != KP_OK:
                return err.status
        elif kp_message_next(source, &cursor, &message, &row, err) != KP_OK:
            break  # the end: the entry was read before
        lose(c, &r.batch, &row)
        if canonical_record(form, &said, &row, err) != KP_OK:
            return err.status
        if writing and records[0] == before and begin(c, r, &row, err) != KP_OK:
            return err.status
        if writing and write(c, &row, err) != KP_OK:
            return err.status
        c.next_offset = row.offset + 1
        records[0] += 1
    if not writing or records[0] == before:
        return KP_OK
    return write_batch(&c.encoder, &c.records, r.context, &r.out, err)


# --- what is lost ---------------------------------------------------------------------------------------------------

cdef kp_batch without_lost(const kp_batch* batch, int magic) noexcept nogil:
    """What the header says in the other magic of its records."""
    cdef kp_batch said = batch[0]
    said.magic = magic
    said.attributes &= KP_CODEC_MASK | KP_LOG_APPEND_TIME
    said.producer_id = said.producer_epoch = said.base_sequence = said.partition_leader_epoch = -1
    return said


cdef bint count_batch(conversion* c, const kp_batch* batch, const kp_source* source) noexcept nogil:
    """Count what the header says that is lost; whether the entry is as a whole."""
    if batch.magic < 2:
        return False
    if is_control(batch):
        c.lost[LOST_MARKERS] += source.count
        return True
    if source.count == 0:
        c.lost[LOST_EMPTY_BATCHES] += 1
        return True
    if batch.producer_id != -1 or batch.producer_epoch != -1 or batch.base_sequence != -1:
        c.lost[LOST_PRODUCERS] += source.count
    if batch.attributes & KP_TRANSACTIONAL:
        c.lost[LOST_TRANSACTIONS] += source.count
    if batch.partition_leader_epoch != -1:
        c.lost[LOST_LEADER_EPOCHS] += source.count
    if batch.attributes & KP_DELETE_HORIZON:
        c.lost[LOST_DELETE_HORIZONS] += 1
    return False


cdef void lose(conversion* c, const kp_batch* batch, kp_record* row) noexcept nogil:
    """Leave what the other magic can say of a record, and count the rest."""
    if c.magic == 0:
        c.lost[LOST_TIMESTAMPS] += row.timestamp != NO_TIMESTAMP or row.timestamp_type == LOG_APPEND_TIME
        row.timestamp, row.timestamp_type = NO_TIMESTAMP, -1
    elif row.timestamp_type < 0:  # of magic 0, maybe in a v1 wrapper that has the type for all
        row.timestamp_type = max(kp_batch_timestamp_type(batch), 0)
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

cdef int begin(conversion* c, const recoder* r, const kp_record* first, kp_error* err) noexcept nogil:
    """An open batch in the other magic, with the codec that is wanted."""
    cdef int codec = kp_batch_codec(&r.batch) if c.keeps_codec else r.codec
    cdef int least = row_of(r.context.codecs, codec).least_magic
    if c.magic < least:
        return kp_fail(err, KP_CODEC_MAGIC, 16, c.magic, least)
    c.records.size = 0
    memset(&c.encoder, 0, sizeof(batch_encoder))
    c.encoder.options.magic = c.magic
    c.encoder.options.codecs = r.context.codecs
    c.encoder.options.codec = codec
    c.encoder.options.level = LEVEL_DEFAULT if c.keeps_codec else r.level
    c.encoder.options.attributes = codec
    c.encoder.options.producer_id = c.encoder.options.producer_epoch = c.encoder.options.base_sequence = -1
    c.encoder.options.partition_leader_epoch = -1
    c.encoder.options.log_append_time = c.encoder.options.delete_horizon_ms = NO_TIMESTAMP
    if first.timestamp_type == LOG_APPEND_TIME:
        c.encoder.options.attributes |= KP_LOG_APPEND_TIME
        c.encoder.options.log_append_time = first.timestamp
    # as RecordsUtil.downConvert: a v2 batch that compaction thinned out keeps its base offset
    batch_begin(&c.encoder, r.batch.base_offset if r.batch.magic == 2 else first.offset)
    return KP_OK


cdef int write(conversion* c, const kp_record* row, kp_error* err) noexcept nogil:
    if record_check(&c.encoder, row, err) != KP_OK:
        return err.status
    if c.magic == 2 and not offset_delta_fits(&c.encoder, row):
        return kp_fail(err, KP_OFFSET_DELTA, -1, row.offset, c.encoder.base_offset)
    if c.records.capacity - c.records.size < record_room(row):
        if pooled_reserve_more(&c.records, record_room(row), err) != KP_OK:
            return err.status
    c.records.size = record_write(&c.encoder, row, c.records.data + c.records.size) - c.records.data
    return KP_OK
