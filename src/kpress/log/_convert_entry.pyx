"""An entry in another magic, for a copy of a log: what Kafka's fetches and appends make of it (kpress.record.convert).

    v2 ─► v1, v0    no control batch, and none that compaction emptied

An entry becomes one entry, but a v2 batch without a codec as many messages as it has records: only wrappers have a
codec.
"""

from libc.stdint cimport int32_t, int64_t

from kpress._c.wire cimport (
    KP_CODEC_MASK, KP_LOG_APPEND_TIME, KP_OK, kp_batch, kp_cursor, kp_cursor_of, kp_message_next,
    kp_record, kp_record_next,
)
from kpress.codecs.codec cimport LEVEL_DEFAULT
from kpress.log._digest cimport canonical_record, is_control
from kpress.record.convert cimport (
    LOST_EMPTY_BATCHES, LOST_MARKERS, convert_begin, convert_end, convert_record, lose_fields, lose_header,
)


cdef int convert_entry(conversion* c, recoder* r, const kp_source* source, bint writing, pooled* form, int64_t* records,
                       kp_error* err) noexcept nogil:
    cdef kp_cursor cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef kp_batch said = without_lost(&r.batch, c.converter.magic), message
    cdef kp_record row
    cdef int32_t i
    cdef int64_t before = records[0]
    if has_no_place(c, &r.batch, source):
        return KP_OK
    lose_header(&c.converter, &r.batch, source.count)
    for i in range(source.count):
        if r.batch.magic == 2:
            if kp_record_next(source, &cursor, i, &row, err) != KP_OK:
                return err.status
        elif kp_message_next(source, &cursor, &message, &row, err) != KP_OK:
            break  # the end: the entry was read before
        lose_fields(&c.converter, &r.batch, &row)
        if canonical_record(form, &said, &row, err) != KP_OK:
            return err.status
        if writing and write(c, r, &row, records[0] == before, err) != KP_OK:
            return err.status
        c.next_offset = row.offset + 1
        records[0] += 1
    if not writing or records[0] == before:
        return KP_OK
    return convert_end(&c.converter, r.context, &r.out, err)


cdef kp_batch without_lost(const kp_batch* batch, int magic) noexcept nogil:
    """What the header says in the other magic of its records."""
    cdef kp_batch said = batch[0]
    said.magic = magic
    said.attributes &= KP_CODEC_MASK | KP_LOG_APPEND_TIME
    said.producer_id = said.producer_epoch = said.base_sequence = said.partition_leader_epoch = -1
    return said


cdef bint has_no_place(conversion* c, const kp_batch* batch, const kp_source* source) noexcept nogil:
    """Whether the entry is lost as a whole; what is, is counted."""
    if batch.magic < 2:
        return False
    if is_control(batch):
        c.converter.lost[LOST_MARKERS] += source.count
        return True
    if source.count == 0:
        c.converter.lost[LOST_EMPTY_BATCHES] += 1
        return True
    return False


cdef int write(conversion* c, const recoder* r, const kp_record* row, bint first, kp_error* err) noexcept nogil:
    cdef int level = LEVEL_DEFAULT if c.keeps_codec else r.level
    if first and convert_begin(&c.converter, row, r.context, r.codec, level, err) != KP_OK:
        return err.status
    return convert_record(&c.converter, row, err)
