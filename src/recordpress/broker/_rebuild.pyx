"""Replacement for a set that the broker cannot keep: see the .pxd."""

from libc.stdint cimport INT64_MAX, int32_t, uint8_t, uint64_t
from libc.string cimport memmove, memset

from recordpress._buffers cimport pooled_free, pooled_reserve
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_HEADERS_MAGIC, RP_KEY_LENGTH, RP_LOG_APPEND_TIME, RP_MESSAGE_SIZE, RP_NO_MEMORY, RP_OK,
    RP_SET_SIZE, RP_TRANSACTIONAL, RP_VALUE_LENGTH, RP_VARLONG_MAX, rp_batch, rp_cursor, rp_error, rp_field_size,
    rp_field_write, rp_header, rp_header_read, rp_headers_of, rp_record, rp_record_size, rp_source, rp_utf8_copy,
    rp_utf8_sequence, rp_varlong_size, rp_varlong_write,
)
from recordpress.broker._check cimport (
    ANY_ENTRIES, FAILED, NO_TIMESTAMP, refuse,
)
from recordpress.broker._error_codes cimport (
    INVALID_RECORD, MESSAGE_TOO_LARGE, UNKNOWN_SERVER_ERROR, UNSUPPORTED_FOR_MESSAGE_FORMAT,
)
from recordpress.codecs.codec cimport row_of
from recordpress.record.encode cimport MAX_SET_SIZE, batch_options, keep_header
from recordpress.record.set_writer cimport (
    writer_expect, writer_free, writer_next_at, writer_open, writer_result, writer_rows, writer_take,
)

cdef enum:
    REPLACED = 3   # bytes of U+FFFD, for one byte that is not UTF-8
    NULL_LENGTH = 1   # -1 as a varint


cdef void set_options(validator* v, int level) noexcept nogil:
    cdef batch_options* o = &v.writer.batch.encoder.options
    cdef const rp_batch* first = &v.first
    o.magic, o.codec, o.level, o.codecs = v.target_magic, v.target_codec, level, v.context.codecs
    o.attributes = row_of(v.context.codecs, v.target_codec).attributes
    if v.log_append_time and v.target_magic > 0:
        o.attributes |= RP_LOG_APPEND_TIME
    if first.magic == 2 and v.target_magic == 2:
        o.attributes |= first.attributes & RP_TRANSACTIONAL
    o.log_append_time = v.now_ms
    keep_header(o, first)
    o.partition_leader_epoch = v.leader_epoch
    o.delete_horizon_ms = -1


cdef int begin_rebuild(validator* v, int level) except -1:
    cdef batch_options options
    memset(&v.writer, 0, sizeof(v.writer))
    set_options(v, level)
    options = v.writer.batch.encoder.options
    writer_open(&v.writer, None, None)
    v.writing = True
    with nogil:
        writer_next_at(&v.writer, &options, v.next_offset, &v.write_err)  # nothing is open yet: it cannot fail
    v.write_err.status = RP_OK
    return 0


# --- records ---------------------------------------------------------------------------------------------------------

cdef bint is_canonical(const rp_record* r) noexcept nogil:
    """Return whether Java would write the headers with these bytes: shortest varints, -1 for null, keys in UTF-8."""
    cdef rp_cursor cursor = rp_headers_of(r)
    cdef rp_header header
    cdef size_t at
    cdef int n
    cdef int64_t size = rp_varlong_size(r.header_count)
    for _ in range(r.header_count):
        if rp_header_read(&cursor, &header) != RP_OK:
            return True  # they were read before: another thread writes to the bytes
        size += rp_field_size(header.key.size) + rp_field_size(header.value.size)
        if header.value.size < 0 and (cursor.p - 1)[0] != 1:
            return False
        at = 0
        while at < <size_t>header.key.size:
            n = rp_utf8_sequence(header.key.data + at, header.key.size - at)
            if n < 0:
                return False
            at += n
    return size == r.headers.size


cdef int write_headers(validator* v, rp_record* r) noexcept nogil:
    """Write headers as Java does: keys go through java.lang.String."""
    cdef rp_cursor cursor = rp_headers_of(r)
    cdef rp_header header
    cdef uint8_t* p
    cdef uint8_t* key
    cdef size_t size
    if pooled_reserve(&v.headers, REPLACED * r.headers.size + RP_VARLONG_MAX * (2 * <size_t>r.header_count + 1),
                      &v.write_err) != RP_OK:
        return v.write_err.status
    p = rp_varlong_write(v.headers.data, r.header_count)
    for _ in range(r.header_count):
        if rp_header_read(&cursor, &header) != RP_OK:
            break
        size = rp_utf8_copy(p + RP_VARLONG_MAX, header.key.data, header.key.size)
        key = rp_varlong_write(p, size)
        memmove(key, p + RP_VARLONG_MAX, size)
        p = rp_field_write(key + size, &header.value)
    r.headers.data = v.headers.data
    r.headers.size = p - v.headers.data
    return RP_OK


cdef int write_record(validator* v, const rp_record* record) noexcept nogil:
    cdef rp_record row = record[0]
    if v.write_err.status != RP_OK:
        return 0
    row.offset = v.next_offset
    v.next_offset = <int64_t>(<uint64_t>v.next_offset + 1)
    if row.header_count and v.target_magic == 2 and not is_canonical(&row) and write_headers(v, &row) != RP_OK:
        return 0 if v.fails_late else check_written(v)
    if writer_rows(&v.writer, &row, 1, &v.write_err) != RP_OK and not v.fails_late:
        return check_written(v)
    return 0


# --- records that stay as they are -----------------------------------------------------------------------------------

cdef void expect_records(validator* v, int64_t size) noexcept nogil:
    cdef rp_error ignored
    writer_expect(&v.writer, <size_t>size, &ignored)  # a failed reservation is reported by the write


cdef bint may_take(const validator* v, const rp_source* s) noexcept nogil:
    """Return whether a set may be taken as it is: not if several batches become one, or the batch's time replaces that
    of its records."""
    return (v.batch.magic == 2 and v.target_magic == 2 and v.fails_late and not v.rules & ANY_ENTRIES
            and not s.log_append_time and s.end - s.start <= MAX_SET_SIZE - RP_BATCH_HEADER
            and v.next_offset <= INT64_MAX - s.count)


cdef bint is_same(const rp_source* s, const rp_record* r, int32_t index, int64_t size,
                  const uint8_t* end) noexcept nogil:
    """Return whether the record's bytes stay the same. Deltas do if the first is 0, as in every Java batch. A varint is
    minimal if all of them together are; but every negative length is null, and Java writes -1."""
    cdef const uint8_t* at
    cdef int64_t least = <int64_t>rp_record_size(r, s.base_offset, s.base_timestamp)
    if least != size or <uint64_t>r.offset - <uint64_t>s.base_offset != <uint64_t>index or r.attributes:
        return False
    if (r.timestamp < 0 and r.timestamp != NO_TIMESTAMP) or (index == 0 and r.timestamp != s.base_timestamp):
        return False
    if r.header_count and not is_canonical(r):
        return False
    if r.key.size < 0 or r.value.size < 0:
        at = end - max(r.headers.size, 1) - 1 - max(r.value.size, 0)
        if r.value.size >= 0:
            at -= rp_varlong_size(r.value.size) - 1
        if r.value.size < 0 and at[0] != NULL_LENGTH:
            return False
        return r.key.size >= 0 or (at - 1)[0] == NULL_LENGTH
    return True


cdef void take_records(validator* v, const rp_source* s, int64_t max_timestamp) noexcept nogil:
    writer_take(&v.writer, s.start, <size_t>(s.end - s.start), s.count, s.base_timestamp, max_timestamp)
    v.next_offset = <int64_t>(<uint64_t>v.next_offset + <uint64_t>s.count)


# --- what the builder refuses ----------------------------------------------------------------------------------------

cdef int refuse_unreadable(validator* v) noexcept nogil:
    v.err.status = RP_OK
    return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")


cdef int refuse_record(validator* v) noexcept nogil:
    cdef int status = v.write_err.status
    v.err = v.write_err
    if status == RP_NO_MEMORY:
        v.error_code = FAILED
        return FAILED
    if status == RP_SET_SIZE:
        return refuse(v, UNKNOWN_SERVER_ERROR, MESSAGE_TOO_LARGE, b"REBUILT_TOO_LARGE")
    if status == RP_HEADERS_MAGIC:
        return refuse(v, UNKNOWN_SERVER_ERROR, UNSUPPORTED_FOR_MESSAGE_FORMAT, b"HEADERS_MAGIC")
    if status == RP_MESSAGE_SIZE or status == RP_KEY_LENGTH or status == RP_VALUE_LENGTH:
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")
    return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"REBUILD_REFUSED")


cdef int check_written(validator* v) noexcept nogil:
    cdef const rp_batch* first = &v.first
    if v.write_err.status != RP_OK:
        return refuse_record(v)
    v.err.status = RP_OK
    # MemoryRecordsBuilder.validateProducerState, when it is closed
    if first.magic == 2 and (
            (first.attributes & RP_TRANSACTIONAL and first.producer_id == -1)
            or (first.producer_id != -1 and (first.producer_epoch == -1 or first.base_sequence < 0
                                             or v.target_magic < 2))):
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"REBUILD_REFUSED")
    if v.records == 0 and v.log_append_time:  # MemoryRecordsBuilder.info: no last offset
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"REBUILD_REFUSED")
    return 0


cdef bytes end_rebuild(validator* v):
    return writer_result(&v.writer)


cdef void free_rebuild(validator* v) noexcept:
    writer_free(&v.writer)
    pooled_free(&v.headers)
