"""Conversion of an entry to another magic, for a copy of a log, as Kafka converts it in fetches and appends
(recordpress.record.change_magic).

    v2 ─► v1, v0    control batches and batches that compaction emptied are omitted

An entry becomes one entry, except that a v2 batch without a codec becomes one message per record: a wrapper needs a
codec.
"""

from libc.stdint cimport int32_t, int64_t

from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_LOG_APPEND_TIME, RP_OK, rp_batch, rp_cursor, rp_cursor_of, rp_message_next,
    rp_record, rp_record_next,
)
from recordpress.codecs.codec cimport LEVEL_DEFAULT
from recordpress.log._digest cimport canonical_record, is_control
from recordpress.record.change_magic cimport (
    LOST_EMPTY_BATCHES, LOST_MARKERS, convert_begin, drop_fields, count_lost_header,
)
from recordpress.record.open_batch cimport batch_add, batch_close


cdef int change_entry_magic(conversion* c, recompressor* r, const rp_source* source, bint writing, pooled* form,
                            int64_t* records, rp_error* err) noexcept nogil:
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef rp_batch said = without_lost(&r.batch, c.converter.magic), message
    cdef rp_record row
    cdef int32_t i
    cdef int64_t before = records[0]
    if has_no_place(c, &r.batch, source):
        return RP_OK
    count_lost_header(&c.converter, &r.batch, source.count)
    for i in range(source.count):
        if r.batch.magic == 2:
            if rp_record_next(source, &cursor, i, &row, err) != RP_OK:
                return err.status
        elif rp_message_next(source, &cursor, &message, &row, err) != RP_OK:
            break  # the end: an earlier read found no error
        drop_fields(&c.converter, &r.batch, &row)
        if canonical_record(form, &said, &row, err) != RP_OK:
            return err.status
        if writing and write(c, r, &row, records[0] == before, err) != RP_OK:
            return err.status
        c.next_offset = row.offset + 1
        records[0] += 1
    if not writing or records[0] == before:
        return RP_OK
    return batch_close(&c.converter.batch, r.context, &r.out, err)


cdef rp_batch without_lost(const rp_batch* batch, int magic) noexcept nogil:
    """Return the header that the entry's records have in the other magic."""
    cdef rp_batch said = batch[0]
    said.magic = magic
    said.attributes &= RP_CODEC_MASK | RP_LOG_APPEND_TIME
    said.producer_id = said.producer_epoch = said.base_sequence = said.partition_leader_epoch = -1
    return said


cdef bint has_no_place(conversion* c, const rp_batch* batch, const rp_source* source) noexcept nogil:
    """Return whether the whole entry is lost, and count the loss."""
    if batch.magic < 2:
        return False
    if is_control(batch):
        c.converter.lost[LOST_MARKERS] += source.count
        return True
    if source.count == 0:
        c.converter.lost[LOST_EMPTY_BATCHES] += 1
        return True
    return False


cdef int write(conversion* c, const recompressor* r, const rp_record* row, bint first, rp_error* err) noexcept nogil:
    cdef int level = LEVEL_DEFAULT if c.keeps_codec else r.level
    if first and convert_begin(&c.converter, row, r.context, r.codec, level, err) != RP_OK:
        return err.status
    return batch_add(&c.converter.batch, row, err)
