"""Records of one batch, checked as they are read.

Kafka reads records in different ways, and therefore finds different faults:

    v2, compressed, kept             skipKeyValueIterator: fields in sequence; `length` is read, but not used
    v2, compressed, rebuilt          streamingIterator: `length` bytes are read from the stream, then the fields
    v2, uncompressed                 fields in the buffer; only here, an overlong varint as `length` does not raise
                                     InvalidRecordException
    v0/v1, compressed                the whole set is decompressed first; lengths inside a message are read only for a
                                     rebuild, or the key's length for a compacted topic
    v0/v1                            the entry is the record

Damage in a stream counts only when the reader reaches it: earlier records may be rejected first. Sources:
DefaultRecordBatch, DefaultRecord, AbstractLegacyRecordBatch, LegacyRecord.

A set that the broker cannot keep is rebuilt as one batch or wrapper, or as messages without a codec. Source:
LogValidator.buildRecordsAndAssignOffsets, convertAndAssignOffsetsNonCompressed; MemoryRecordsBuilder.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memmove, memset

from recordpress._buffers cimport pooled, pooled_free, pooled_reserve
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_CODEC_ID, RP_CODEC_MASK, RP_ENTRY_SIZE, RP_HEADERS_MAGIC, RP_IN_RECORDS, RP_KEY_LENGTH,
    RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, RP_LZ4, RP_LZ4_HC, RP_LZ4_SHORT, RP_MESSAGE_SIZE, RP_MIN_ENTRY_SIZE,
    RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_PLUGIN_UNKNOWN, RP_RECORDS_COUNT, RP_RECORDS_LEFT, RP_RECORDS_MISSING,
    RP_RECORD_LENGTH, RP_SET_SIZE, RP_SKIP_ENDED, RP_SKIP_OK, RP_SKIP_TOO_LONG, RP_TRANSACTIONAL, RP_VALUE_LENGTH,
    RP_VARLONG_MAX, RP_WRAPPER_CODEC, RP_WRAPPER_EMPTY, RP_WRAPPER_NULL, RP_WRAPPER_OFFSET, RP_ZSTD, rp_batch,
    rp_batch_codec, rp_cursor, rp_cursor_left, rp_cursor_of, rp_cursor_ok, rp_entry_size, rp_error, rp_fail,
    rp_field_size, rp_field_write, rp_header, rp_header_read, rp_headers_of, rp_load_be32, rp_lz4_frame,
    rp_lz4_header_read, rp_message_header_read, rp_message_read, rp_read_bytes, rp_read_varint, rp_record,
    rp_record_explain, rp_record_fault, rp_record_place, rp_record_read, rp_record_size, rp_record_skip, rp_source,
    rp_source_fail, rp_utf8_copy, rp_utf8_sequence, rp_varlong_size, rp_varlong_write,
)
from recordpress.broker._check cimport (
    ANY_ENTRIES, BAD_LZ4_HEADER_CHECKSUM, FAILED, FIRST_ERROR, NON_SEQUENTIAL_INNER_OFFSETS, NO_ERROR, NO_TIMESTAMP,
    NULL_KEY, OFFSETS_REFUSED, OUT_OF_RANGE, POISONED, STRICT_LENGTHS, TRAILING_BYTES, UNSEEN_OFFSETS, WRONG_MAGIC,
    WRONG_OFFSET, ZSTD_TAIL, check_rejected, passed, record_error, refuse, reject, rejected, validator,
)
from recordpress.broker._error_codes cimport (
    CORRUPT_MESSAGE, INVALID_RECORD, MESSAGE_TOO_LARGE, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE,
    UNSUPPORTED_FOR_MESSAGE_FORMAT,
)
from recordpress.codecs.codec cimport codec as codec_row, progress, row_of, size_range
from recordpress.codecs.context cimport codec_context, decompress_prefix
from recordpress.record.decode cimport check_message_crc, open_source
from recordpress.record.encode cimport MAX_SET_SIZE, batch_options, keep_header
from recordpress.record.set_writer cimport (
    writer_expect, writer_free, writer_next_at, writer_open, writer_result, writer_rows, writer_take,
)

cdef enum:
    REPLACED = 3   # bytes of U+FFFD, which replaces one byte that is not UTF-8
    NULL_LENGTH = 1   # -1 as a varint


# --- the set that is written again -----------------------------------------------------------------------------------

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
        writer_next_at(&v.writer, &options, v.next_offset, &v.write_err)  # no batch is open yet: it cannot fail
    v.write_err.status = RP_OK
    return 0


# --- records ---------------------------------------------------------------------------------------------------------

cdef bint is_canonical(const rp_record* r) noexcept nogil:
    """Return whether Java would write the same bytes for the headers: shortest varints, -1 for null, keys in UTF-8."""
    cdef rp_cursor cursor = rp_headers_of(r)
    cdef rp_header header
    cdef size_t at
    cdef int n
    cdef int64_t size = rp_varlong_size(r.header_count)
    for _ in range(r.header_count):
        if rp_header_read(&cursor, &header) != RP_OK:
            return True  # valid when read before: another thread writes to the bytes
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
    """Append the record at v.next_offset; return 0 or Kafka's error code. With v.fails_late, check_written returns the
    error."""
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


# --- records whose bytes are kept ------------------------------------------------------------------------------------

cdef void expect_records(validator* v, int64_t size) noexcept nogil:
    """Tell the builder the approximate number of bytes of records to come."""
    cdef rp_error ignored
    writer_expect(&v.writer, <size_t>size, &ignored)  # a failed reservation is reported by the write


cdef bint may_take(const validator* v, const rp_source* s) noexcept nogil:
    """Return whether a batch's record bytes may be kept if the builder would write the same bytes: not if several
    batches become one, or if the batch's time replaces that of its records."""
    return (v.batch.magic == 2 and v.target_magic == 2 and v.fails_late and not v.rules & ANY_ENTRIES
            and not s.log_append_time and s.end - s.start <= MAX_SET_SIZE - RP_BATCH_HEADER
            and v.next_offset <= INT64_MAX - s.count)


cdef bint is_same(const rp_source* s, const rp_record* r, int32_t index, int64_t size,
                  const uint8_t* end) noexcept nogil:
    """Return whether the builder would write the same bytes for the record at `index`, which has `size` bytes up to
    `end`."""
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
    """Pass the bytes of all records of the batch to the builder, unchanged."""
    writer_take(&v.writer, s.start, <size_t>(s.end - s.start), s.count, s.base_timestamp, max_timestamp)
    v.next_offset = <int64_t>(<uint64_t>v.next_offset + <uint64_t>s.count)


# --- errors of the builder -------------------------------------------------------------------------------------------

cdef int refuse_unreadable(validator* v) noexcept nogil:
    """Reject a message whose lengths are wrong: Java reads beyond its buffer."""
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


cdef enum:
    INPUT_STEP = 1 << 14  # bytes of payload in a step; chosen, not measured
    # where the length of a message's key lies
    KEY_SIZE_V0 = 18
    KEY_SIZE_V1 = 26


# --- errors ----------------------------------------------------------------------------------------------------------

cdef int refuse_invalid(validator* v, const char* refusal) noexcept nogil:
    return refuse(v, INVALID_RECORD, INVALID_RECORD, refusal)


cdef int refuse_stream(validator* v) noexcept nogil:
    """Reject a stream that its codec cannot read: a KafkaException, which has no error code."""
    return refuse(v, UNKNOWN_SERVER_ERROR, CORRUPT_MESSAGE,
                  b"LZ4_HEADER_CHECKSUM" if v.err.status == RP_LZ4_HC else b"DECOMPRESSION")


cdef int refuse_payload(validator* v) noexcept nogil:
    """Reject the set because of the error of open_source in v.err."""
    cdef int status = v.err.status
    if status == RP_NO_MEMORY or (status == RP_OUTPUT_CAP and not v.helpful):
        v.error_code = FAILED
        return FAILED
    if status == RP_OUTPUT_CAP:
        return refuse(v, MESSAGE_TOO_LARGE, MESSAGE_TOO_LARGE, b"DECOMPRESSED_TOO_LARGE")
    if status == RP_CODEC_ID or status == RP_PLUGIN_UNKNOWN:
        return refuse(v, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE, b"UNKNOWN_CODEC")
    if status == RP_WRAPPER_CODEC:
        return refuse_invalid(v, b"WRAPPER_CODEC")
    if status == RP_WRAPPER_NULL or status == RP_WRAPPER_EMPTY or status == RP_WRAPPER_OFFSET:
        return refuse_invalid(v, b"WRAPPER")
    if status == RP_RECORDS_COUNT:
        return refuse_invalid(v, b"RECORD_COUNT")
    if status == RP_ENTRY_SIZE:
        return refuse(v, CORRUPT_MESSAGE, CORRUPT_MESSAGE, b"ENTRY_SIZE")
    if status == RP_MESSAGE_SIZE or status == RP_KEY_LENGTH or status == RP_VALUE_LENGTH:  # Java reads beyond it
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")
    return refuse_stream(v)


# --- magic 2 ---------------------------------------------------------------------------------------------------------

cdef bint is_negative_length(const uint8_t* at, const uint8_t* end) noexcept nogil:
    cdef rp_cursor cursor = rp_cursor_of(at, <size_t>(end - at))
    return rp_read_varint(&cursor) < 0 and rp_cursor_ok(&cursor)


cdef int misread(validator* v, const rp_source* s, const uint8_t* at, int32_t index, int fault, bint pending,
                 bint compressed, bint skips) noexcept nogil:
    """Reject a batch that has no readable record at `at`; v.err has the stream's error if one is pending."""
    cdef rp_cursor cursor = rp_cursor_of(at, <size_t>(s.end - at))
    if fault == RP_SKIP_ENDED and pending:
        rp_read_varint(&cursor)
        if (skips and v.err.status == RP_LZ4_SHORT and v.err.found and rp_cursor_ok(&cursor)
                and not v.rules & STRICT_LENGTHS):
            return refuse_invalid(v, b"RECORD_STRUCTURE")  # readPartiallyFrom: BufferUnderflowException
        return refuse_stream(v)
    if compressed and not skips and v.rules & STRICT_LENGTHS and is_negative_length(at, s.end):
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")  # ByteBuffer.allocate
    if at == s.end:
        rp_fail(&v.err, RP_RECORDS_MISSING, 0, index, s.count)
    else:
        rp_record_explain(at, s.end, at, &v.err)
    rp_source_fail(s, at, &v.err)
    if fault == RP_SKIP_TOO_LONG and (not compressed or v.rules & STRICT_LENGTHS):
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")
    return refuse_invalid(v, b"RECORDS_AND_COUNT" if at == s.end else b"RECORD_STRUCTURE")


cdef int check_end(validator* v, const rp_source* s, const uint8_t* at, bint pending) noexcept nogil:
    """Check the end of the records, where the reader requests one more byte."""
    if at != s.end:
        rp_fail(&v.err, RP_RECORDS_LEFT, 0, s.end - at, s.count)
        rp_source_fail(s, at, &v.err)
        return refuse_invalid(v, b"RECORDS_AND_COUNT")
    return refuse_stream(v) if pending else 0


cdef int reject_record(validator* v, int kind, int64_t index, const rp_record* r, int magic,
                       uint32_t crc) noexcept nogil:
    cdef rejected record
    record.kind, record.index, record.offset, record.timestamp = kind, index, r.offset, r.timestamp
    record.key_size, record.value_size = r.key.size, r.value.size
    record.magic, record.attributes, record.crc = magic, r.attributes, crc
    if reject(v, &record) != RP_OK:
        v.error_code = FAILED
    return v.error_code


cdef inline void see_timestamp(validator* v, int64_t timestamp, int64_t* most, int64_t* least) noexcept nogil:
    if timestamp > most[0]:
        most[0] = timestamp
    if timestamp < least[0]:
        least[0] = timestamp


cdef bint refuses_offsets(const validator* v) noexcept nogil:
    return v.rules & OFFSETS_REFUSED and v.target_magic > 0


cdef int check_record_size(validator* v, const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Check the length of a record before reading anything after the length (DefaultRecord.readFrom since 4.4)."""
    cdef rp_cursor cursor = rp_cursor_of(at, <size_t>(end - at))
    cdef int64_t length = rp_read_varint(&cursor)
    if not rp_cursor_ok(&cursor) or 0 <= length <= v.max_record_bytes:
        return 0
    rp_fail(&v.err, RP_RECORD_LENGTH, 0, length, v.max_record_bytes)
    return refuse_invalid(v, b"RECORD_SIZE")


cdef bint may_exceed(const validator* v, const rp_source* s) noexcept nogil:
    """Return whether a readable record may be larger than the topic allows."""
    return v.max_record_bytes and s.end - s.start > v.max_record_bytes and rp_batch_codec(&v.batch)


cdef void begin_passing(passed* done) noexcept nogil:
    done.at, done.count, done.most, done.least = NULL, 0, NO_TIMESTAMP, NO_TIMESTAMP


cdef void pass_ordinary(validator* v, const rp_source* s) noexcept nogil:
    """Pass the next records that need no further checks: they are readable, have no error, and have the expected
    offset. This is nearly always true of all records.

    Keeping values in registers saves a third of the loop's time: so this loop does not pass the address of a record
    to a function, as the loop of walk_records must to report errors.
    """
    cdef passed* done = &v.passed
    cdef const uint8_t* start = s.start if done.at == NULL else done.at
    cdef rp_cursor cursor = rp_cursor_of(start, <size_t>(s.end - start))
    cdef rp_record r
    cdef const uint8_t* at = start
    cdef int64_t timestamp, most = done.most, least = done.least, first = v.least_timestamp, last = v.most_timestamp
    cdef int64_t next = <int64_t>(<uint64_t>v.expected - <uint64_t>s.base_offset) + done.count
    cdef int32_t count = done.count, ordinary = count if may_exceed(v, s) else s.count
    cdef bint needs_key = v.compacted, any_time = v.log_append_time
    while count < ordinary and rp_record_read(&cursor, &r):
        timestamp = <int64_t>(<uint64_t>s.base_timestamp + <uint64_t>r.timestamp)
        if r.offset != next or (needs_key and r.key.size < 0):
            break
        if (timestamp < first or timestamp > last) and timestamp != NO_TIMESTAMP and not any_time:
            break
        most, least = max(most, timestamp), min(least, timestamp)
        at = cursor.p
        next += 1
        count += 1
    done.at, done.count, done.most, done.least = at, count, most, least


cdef int walk_records(validator* v, const rp_source* s, bint pending, bint compressed, bint skips,
                      bint counts) noexcept nogil:
    cdef rp_cursor cursor = rp_cursor_of(s.start, <size_t>(s.end - s.start)), again
    cdef const uint8_t* at
    cdef rp_record r
    cdef int32_t i
    cdef int64_t expected, most, least
    cdef int kind, fault
    cdef bint in_order = True, writing = v.writing, by_client = s.log_append_time
    cdef bint same = writing and may_take(v, s)   # so far, no record was passed to the builder
    cdef bint sized = compressed and v.max_record_bytes, exceeds = may_exceed(v, s)
    if writing and not same:
        expect_records(v, s.end - s.start)
    if not writing and not by_client:
        pass_ordinary(v, s)
        cursor.p = v.passed.at
    expected, most, least = v.expected + v.passed.count, v.passed.most, v.passed.least
    for i in range(v.passed.count, s.count):
        at = cursor.p
        if exceeds and check_record_size(v, at, s.end):
            return v.error_code
        if not rp_record_read(&cursor, &r):
            if sized and check_record_size(v, at, s.end):
                return v.error_code
            fault = rp_record_fault(at, s.end)
            if skips and not v.rules & STRICT_LENGTHS:
                again = rp_cursor_of(at, <size_t>(s.end - at))
                r.attributes = 0
                fault = rp_record_skip(&again, &r)
            if fault != RP_SKIP_OK:
                return misread(v, s, at, i, fault, pending, compressed, skips)
            v.findings |= POISONED
            cursor = again
        rp_record_place(s, &r)
        kind = record_error(v, by_client, r.key.size >= 0, r.timestamp)
        if counts and kind == NO_ERROR and r.offset != expected and refuses_offsets(v):
            kind = WRONG_OFFSET
        if kind:
            if skips:  # the error's text shows sizes as written, also negative sizes
                again = rp_cursor_of(at, <size_t>(s.end - at))
                rp_record_skip(&again, &r)
                rp_record_place(s, &r)
            if reject_record(v, kind, i, &r, 2, 0):
                return v.error_code
            writing = False
        else:
            see_timestamp(v, r.timestamp, &most, &least)
            in_order &= r.offset == expected
            if writing and same and not is_same(s, &r, i, cursor.p - at, cursor.p):
                same = False
                write_first(v, s, i)
            if writing and not same and write_record(v, &r):
                return v.error_code
        expected += 1
    if s.count > 0 and check_end(v, s, cursor.p, pending):
        return v.error_code
    if writing and same and s.count > 0:
        take_records(v, s, most)
    v.expected = expected
    v.records += s.count
    note_batch(v, most, least, in_order, counts)
    return check_rejected(v)


cdef void write_first(validator* v, const rp_source* s, int32_t count) noexcept nogil:
    """Write the first `count` records, which were read before; none of them breaks a rule of the builder."""
    cdef rp_cursor cursor = rp_cursor_of(s.start, <size_t>(s.end - s.start))
    cdef rp_record r
    expect_records(v, s.end - s.start)
    for _ in range(count):
        if not rp_record_read(&cursor, &r):
            return  # another thread writes to the bytes
        rp_record_place(s, &r)
        write_record(v, &r)


cdef void note_batch(validator* v, int64_t most, int64_t least, bint in_order, bint counts) noexcept nogil:
    """Record the timestamps and the order of the batch's records."""
    if v.batch.magic > 0:
        v.batch_max_timestamp = most
        v.least_timestamp_seen = min(v.least_timestamp_seen, least)
    if not in_order:
        if not counts:
            v.findings |= UNSEEN_OFFSETS
        elif v.batch.magic > 0 and v.target_magic > 0:
            v.reasons |= NON_SEQUENTIAL_INNER_OFFSETS


# --- magic 0 and 1 ---------------------------------------------------------------------------------------------------

cdef int refuse_inner_codec(validator* v, int codec) noexcept nogil:
    if codec > RP_ZSTD:
        return refuse(v, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE, b"UNKNOWN_CODEC")
    return refuse_invalid(v, b"NESTED_COMPRESSION")


cdef int message_error(validator* v, const rp_batch* message, const uint8_t* at, bint compressed,
                       int64_t timestamp) noexcept nogil:
    """Return the error of validateRecord; a negative value rejects the whole batch."""
    cdef bint has_key = True
    cdef size_t key_at = KEY_SIZE_V1 if message.magic else KEY_SIZE_V0
    if compressed:
        if message.magic != v.batch.magic:
            return WRONG_MAGIC
        if check_message_crc(at, message, &v.err) != RP_OK:
            refuse(v, CORRUPT_MESSAGE, CORRUPT_MESSAGE, b"INNER_CHECKSUM")
            return -1
    if v.compacted:
        if message.size < <int64_t>key_at + 4:  # the key's length, which is read below
            refuse_unreadable(v)
            return -1
        has_key = <int32_t>rp_load_be32(at + key_at) >= 0
    return record_error(v, v.batch.magic > 0 and v.batch.attributes & RP_LOG_APPEND_TIME, has_key, timestamp)


cdef int64_t message_timestamp(const rp_source* s, const rp_batch* message) noexcept nogil:
    return s.append_time if message.magic == 1 and s.log_append_time else message.base_timestamp


cdef int walk_messages(validator* v, const rp_source* s, bint compressed, bint counts) noexcept nogil:
    cdef rp_cursor cursor = rp_cursor_of(s.start, <size_t>(s.end - s.start))
    cdef rp_batch message, ignored
    cdef rp_record r
    cdef rp_error unread
    cdef const uint8_t* at
    cdef int64_t size, most = NO_TIMESTAMP, least = NO_TIMESTAMP
    cdef int32_t i
    cdef int kind
    cdef bint in_order = True, writing = v.writing, readable
    for i in range(s.count):
        at = cursor.p
        size = rp_entry_size(cursor) if compressed else v.batch.size
        if rp_message_header_read(at, size, at - s.start, &message, &v.err) != RP_OK:
            return refuse_payload(v)
        rp_read_bytes(&cursor, <size_t>size)
        if v.errors_count and v.rules & FIRST_ERROR:
            return check_rejected(v)
        if compressed and rp_batch_codec(&message):
            return refuse_inner_codec(v, rp_batch_codec(&message))
        readable = rp_message_read(at, size, 0, &ignored, &r, &unread) == RP_OK
        r.offset = <int64_t>(<uint64_t>s.base_offset + <uint64_t>message.base_offset)
        r.timestamp = message_timestamp(s, &message)
        kind = message_error(v, &message, at, compressed, r.timestamp)
        if kind < 0:
            return v.error_code
        if counts and v.batch.magic > 0 and kind == NO_ERROR and r.offset != v.expected + i and refuses_offsets(v):
            kind = WRONG_OFFSET
        if kind:
            if not readable:
                if kind != NULL_KEY and kind != OUT_OF_RANGE:  # the error's text shows the record
                    return refuse_unreadable(v)
                r.key.size = r.value.size = -1
                r.attributes = 0
            if reject_record(v, kind, i, &r, message.magic, message.crc):
                return v.error_code
            writing = False
        else:
            see_timestamp(v, r.timestamp, &most, &least)
            in_order &= r.offset == v.expected + i
            if not readable:
                v.findings |= POISONED
            if writing and write_message(v, &r, readable, &unread):
                return v.error_code
    v.expected += s.count
    v.records += s.count
    note_batch(v, most, least, in_order or not counts, counts)
    return check_rejected(v)


cdef int write_message(validator* v, const rp_record* r, bint readable, const rp_error* unread) noexcept nogil:
    if readable:
        return write_record(v, r)
    if v.write_err.status == RP_OK:
        v.write_err = unread[0]
    return 0


cdef bint has_small_entry(codec_context* context, const rp_batch* batch, const uint8_t* entry,
                          size_t cap) noexcept nogil:
    cdef rp_batch ignored
    cdef rp_record wrapper
    cdef rp_error unused
    cdef pooled* out = &context.scratch
    cdef rp_cursor cursor
    cdef int64_t size
    if rp_message_read(entry, batch.size, 0, &ignored, &wrapper, &unused) != RP_OK or wrapper.value.data == NULL:
        return False
    out.size = 0
    decompress_prefix(context, rp_batch_codec(batch), batch.magic, wrapper.value.data, <size_t>wrapper.value.size, out,
                      cap, &unused)
    cursor = rp_cursor_of(out.data, out.size)
    while rp_cursor_left(&cursor) >= RP_LOG_OVERHEAD:
        size = rp_entry_size(cursor)
        if size < RP_LOG_OVERHEAD + RP_MIN_ENTRY_SIZE:
            return True
        rp_read_bytes(&cursor, <size_t>size)  # a failed cursor has no bytes left
    return False


# --- one batch -------------------------------------------------------------------------------------------------------

cdef void note_payload(validator* v, const uint8_t* entry) noexcept nogil:
    """Record defects of the compressed payload that readers ignore."""
    cdef rp_lz4_frame frame
    cdef rp_error wrong
    cdef int64_t at = v.source.payload
    if v.context.ignored:
        v.findings |= TRAILING_BYTES
    if v.batch.magic == 0 and rp_batch_codec(&v.batch) == RP_LZ4:
        if rp_lz4_header_read(entry + at, <size_t>(v.batch.size - at), True, &frame, &wrong) == RP_LZ4_HC:
            v.findings |= BAD_LZ4_HEADER_CHECKSUM


cdef bint is_stream_error(const validator* v) noexcept nogil:
    return v.err.status != RP_NO_MEMORY and v.err.status != RP_OUTPUT_CAP and v.source.frame == RP_IN_RECORDS


cdef bint has_ignored_tail(const validator* v) noexcept nogil:
    """Return whether the frame has a tail that zstd-jni before 1.5.5 ignores: it needs five bytes to detect that no
    frame follows."""
    cdef int64_t left = v.batch.size - v.source.payload - v.err.position
    return v.rules & ZSTD_TAIL and rp_batch_codec(&v.batch) == RP_ZSTD and v.err.position > 0 and left < 5


cdef bint open_in_steps(validator* v, const uint8_t* entry) noexcept nogil:
    """Open a payload of small blocks (`join_unit`) in steps, to check records while they are cached; return False if it
    must be opened as a whole."""
    cdef const codec_row* row = row_of(v.context.codecs, rp_batch_codec(&v.batch))
    cdef pooled* out = &v.context.scratch
    cdef rp_source* s = &v.source
    cdef rp_batch bare = v.batch
    cdef const uint8_t* payload
    cdef size_t size, given = 0
    cdef size_range expected
    cdef progress at
    cdef int status
    if v.writing or v.batch.magic < 2 or row == NULL or row.join_unit == 0:
        return False
    bare.attributes &= ~RP_CODEC_MASK  # then `s` has the payload instead of the records
    if open_source(v.context, entry, &bare, entry + bare.size, out, v.cap, True, s, &v.err) != RP_OK or s.count == 0:
        return False
    payload, size = s.start, <size_t>(s.end - s.start)
    row.expect(row, payload, size, &expected)
    if size <= INPUT_STEP or expected.most > v.cap or pooled_reserve(out, expected.most, &v.err) != RP_OK:
        return False
    memset(&at, 0, sizeof(progress))
    at.cap, at.counted = v.cap, True
    s.start, s.frame = out.data, RP_IN_RECORDS
    while True:
        given = min(size, given + INPUT_STEP)  # a decoder stops at the last complete block
        status = row.decode(row, &v.context.states[row.id], 2, payload, given, out.data, min(out.capacity, v.cap), &at,
                            &v.err)
        if at.produced == 0:
            return False
        s.end = s.readable = out.data + at.produced
        if not s.log_append_time:
            pass_ordinary(v, s)
        if at.ended or given == size:
            break
    out.size, v.context.ignored = at.produced, size - at.consumed
    return status == RP_OK


cdef int open_batch(validator* v, bint* pending) noexcept nogil:
    """Open the records of v.batch; set `pending` if a damaged stream follows the available records."""
    cdef const uint8_t* entry = v.data + v.batch.position
    pending[0] = False
    v.context.scratch.size = v.context.ignored = 0
    v.batch_max_timestamp = NO_TIMESTAMP
    v.err.status = RP_OK
    begin_passing(&v.passed)
    if open_in_steps(v, entry):
        note_payload(v, entry)
        return 0
    begin_passing(&v.passed)
    v.err.status = RP_OK
    if open_source(v.context, entry, &v.batch, entry + v.batch.size, &v.context.scratch, v.cap, True, &v.source,
                   &v.err) == RP_OK:
        if rp_batch_codec(&v.batch):
            note_payload(v, entry)
        return 0
    if v.batch.magic == 2 and is_stream_error(v):
        pending[0] = not (v.context.ends or has_ignored_tail(v))
        return 0
    if (v.batch.magic < 2 and refuse_payload(v) == UNKNOWN_SERVER_ERROR
            and has_small_entry(v.context, &v.batch, entry, v.cap)):
        v.err.status = RP_OK
        return refuse(v, CORRUPT_MESSAGE, CORRUPT_MESSAGE, b"ENTRY_SIZE")
    return refuse_payload(v)


cdef int walk(validator* v, bint skips, bint counts) noexcept nogil:
    cdef bint pending, compressed = rp_batch_codec(&v.batch) != 0
    if v.batch.magic == 2 and not counts:
        v.expected = v.batch.base_offset
    if open_batch(v, &pending):
        return v.error_code
    if v.batch.magic < 2:
        return walk_messages(v, &v.source, compressed, counts)
    return walk_records(v, &v.source, pending, compressed, skips and compressed, counts)


# --- the second pass of an unexpected rebuild ------------------------------------------------------------------------

cdef int write_again(validator* v) noexcept nogil:
    cdef const rp_source* s = &v.source
    cdef rp_cursor cursor = rp_cursor_of(s.start, <size_t>(s.end - s.start))
    cdef const uint8_t* at
    cdef rp_batch message
    cdef rp_record r
    cdef int32_t i
    expect_records(v, s.end - s.start)
    for i in range(s.count):
        at = cursor.p
        if v.batch.magic == 2:
            if not rp_record_read(&cursor, &r):  # its length is wrong: the first pass skipped it
                return misread(v, s, at, i, RP_SKIP_OK, False, True, False)
            rp_record_place(s, &r)
        else:
            if rp_message_read(at, rp_entry_size(cursor), 0, &message, &r, &v.write_err) != RP_OK:
                return 0
            rp_read_bytes(&cursor, <size_t>message.size)
            r.timestamp = message_timestamp(s, &message)
        if write_record(v, &r):
            return v.error_code
    return 0


# --- only fields -----------------------------------------------------------------------------------------------------

cdef int walk_fields(validator* v) noexcept nogil:
    cdef const rp_source* s = &v.source
    cdef bint pending
    cdef rp_cursor cursor
    cdef rp_batch message
    cdef rp_record r
    cdef const uint8_t* at
    cdef int32_t i
    if open_batch(v, &pending):
        return v.error_code
    if v.batch.magic < 2:
        if rp_message_read(s.start, v.batch.size, 0, &message, &r, &v.err) != RP_OK:
            return refuse_payload(v)
        return 0
    cursor = rp_cursor_of(s.start, <size_t>(s.end - s.start))
    for i in range(s.count):
        at = cursor.p
        if not rp_record_read(&cursor, &r):
            return misread(v, s, at, i, rp_record_fault(at, s.end), pending, False, False)
    return check_end(v, s, cursor.p, pending) if s.count > 0 else 0
