"""The records of one batch, checked as they are read.

Kafka reads them in different ways, and so finds different faults:

    v2, compressed, stays as it is   skipKeyValueIterator: fields one after the other; `length` is read, not used
    v2, compressed, rebuilt          streamingIterator: `length` bytes are taken from the stream, then the fields
    v2, uncompressed                 the fields in the buffer; only there a too long varint in place of `length` is no
                                     InvalidRecordException
    v0/v1, compressed                the whole set is decompressed first; lengths inside of a message are read for a
                                     rebuild alone, or the key's for a compacted topic
    v0/v1                            the entry is the record

A damaged stream counts only when the reader comes to it: what lies before it may be refused for itself. Sources:
DefaultRecordBatch, DefaultRecord, AbstractLegacyRecordBatch, LegacyRecord.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from kpress._buffers cimport pooled, pooled_reserve
from kpress._c.wire cimport (
    KP_CODEC_ID, KP_CODEC_MASK, KP_ENTRY_SIZE, KP_IN_RECORDS, KP_KEY_LENGTH, KP_LOG_APPEND_TIME, KP_LOG_OVERHEAD,
    KP_LZ4, KP_LZ4_HC,
    KP_MESSAGE_SIZE, KP_MIN_ENTRY_SIZE, KP_NO_MEMORY, KP_OK, KP_OUTPUT_CAP, KP_PLUGIN_UNKNOWN, KP_RECORDS_COUNT,
    KP_RECORDS_LEFT, KP_RECORDS_MISSING, KP_SKIP_ENDED, KP_SKIP_OK, KP_SKIP_TOO_LONG, KP_VALUE_LENGTH, KP_WRAPPER_CODEC,
    KP_WRAPPER_EMPTY, KP_WRAPPER_NULL, KP_WRAPPER_OFFSET, KP_ZSTD, kp_batch, kp_batch_codec, kp_cursor, kp_cursor_left,
    kp_cursor_of, kp_cursor_ok, kp_entry_size, kp_error, kp_fail, kp_load_be32, kp_lz4_frame, kp_lz4_header_read,
    kp_message_header_read, kp_message_read, kp_read_bytes, kp_read_varint, kp_record, kp_record_explain,
    kp_record_fault, kp_record_place, kp_record_read, kp_record_skip, kp_source, kp_source_fail,
)
from kpress.broker._check cimport (
    BAD_LZ4_HEADER_CHECKSUM, CORRUPT_MESSAGE, FAILED, FIRST_ERROR, INVALID_RECORD, MESSAGE_TOO_LARGE,
    NON_SEQUENTIAL_INNER_OFFSETS, NO_ERROR, NO_TIMESTAMP, NULL_KEY, OFFSETS_REFUSED, OUT_OF_RANGE, POISONED,
    STRICT_LENGTHS, TRAILING_BYTES, UNKNOWN_SERVER_ERROR, UNSEEN_OFFSETS, UNSUPPORTED_COMPRESSION_TYPE, WRONG_MAGIC,
    WRONG_OFFSET, ZSTD_TAIL, check_rejected, passed, record_error, refuse, reject, rejected, validator,
)
from kpress.broker._rebuild cimport (
    expect_records, is_same, may_take, refuse_unreadable, take_records, write_record,
)
from kpress.codecs.codec cimport codec as codec_row, progress, row_of, size_range
from kpress.codecs.payload cimport decompress_prefix
from kpress.record.decode cimport check_message_crc, open_source

cdef enum:
    INPUT_STEP = 1 << 14
    # where the length of a message's key lies
    KEY_SIZE_V0 = 18
    KEY_SIZE_V1 = 26


# --- errors ----------------------------------------------------------------------------------------------------------

cdef int refuse_invalid(validator* v, const char* refusal) noexcept nogil:
    return refuse(v, INVALID_RECORD, INVALID_RECORD, refusal)


cdef int refuse_stream(validator* v) noexcept nogil:
    """A stream that its codec cannot read: a KafkaException, which has no code of its own."""
    return refuse(v, UNKNOWN_SERVER_ERROR, CORRUPT_MESSAGE,
                  b"LZ4_HEADER_CHECKSUM" if v.err.status == KP_LZ4_HC else b"DECOMPRESSION")


cdef int refuse_payload(validator* v) noexcept nogil:
    """What open_source failed with (v.err), but for a stream of which something can be read."""
    cdef int status = v.err.status
    if status == KP_NO_MEMORY or (status == KP_OUTPUT_CAP and not v.helpful):
        v.error_code = FAILED
        return FAILED
    if status == KP_OUTPUT_CAP:
        return refuse(v, MESSAGE_TOO_LARGE, MESSAGE_TOO_LARGE, b"DECOMPRESSED_TOO_LARGE")
    if status == KP_CODEC_ID or status == KP_PLUGIN_UNKNOWN:
        return refuse(v, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE, b"UNKNOWN_CODEC")
    if status == KP_WRAPPER_CODEC:
        return refuse_invalid(v, b"WRAPPER_CODEC")
    if status == KP_WRAPPER_NULL or status == KP_WRAPPER_EMPTY or status == KP_WRAPPER_OFFSET:
        return refuse_invalid(v, b"WRAPPER")
    if status == KP_RECORDS_COUNT:
        return refuse_invalid(v, b"RECORD_COUNT")
    if status == KP_ENTRY_SIZE:
        return refuse(v, CORRUPT_MESSAGE, CORRUPT_MESSAGE, b"ENTRY_SIZE")
    if status == KP_MESSAGE_SIZE or status == KP_KEY_LENGTH or status == KP_VALUE_LENGTH:  # Java reads outside of it
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")
    return refuse_stream(v)


# --- magic 2 ---------------------------------------------------------------------------------------------------------

cdef bint is_negative_length(const uint8_t* at, const uint8_t* end) noexcept nogil:
    cdef kp_cursor cursor = kp_cursor_of(at, <size_t>(end - at))
    return kp_read_varint(&cursor) < 0 and kp_cursor_ok(&cursor)


cdef int misread(validator* v, const kp_source* s, const uint8_t* at, int32_t index, int fault, bint pending,
                 bint compressed, bint skips) noexcept nogil:
    """There is no record at `at`; v.err has the stream's error where one is pending."""
    if fault == KP_SKIP_ENDED and pending:
        return refuse_stream(v)
    if compressed and not skips and v.rules & STRICT_LENGTHS and is_negative_length(at, s.end):
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")  # ByteBuffer.allocate
    if at == s.end:
        kp_fail(&v.err, KP_RECORDS_MISSING, 0, index, s.count)
    else:
        kp_record_explain(at, s.end, at, &v.err)
    kp_source_fail(s, at, &v.err)
    if fault == KP_SKIP_TOO_LONG and (not compressed or v.rules & STRICT_LENGTHS):
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"RECORD_STRUCTURE")
    return refuse_invalid(v, b"RECORDS_AND_COUNT" if at == s.end else b"RECORD_STRUCTURE")


cdef int check_end(validator* v, const kp_source* s, const uint8_t* at, bint pending) noexcept nogil:
    """After the last record the reader asks for one more byte."""
    if at != s.end:
        kp_fail(&v.err, KP_RECORDS_LEFT, 0, s.end - at, s.count)
        kp_source_fail(s, at, &v.err)
        return refuse_invalid(v, b"RECORDS_AND_COUNT")
    return refuse_stream(v) if pending else 0


cdef int reject_record(validator* v, int kind, int64_t index, const kp_record* r, int magic,
                       uint32_t crc) noexcept nogil:
    cdef rejected record
    record.kind, record.index, record.offset, record.timestamp = kind, index, r.offset, r.timestamp
    record.key_size, record.value_size = r.key.size, r.value.size
    record.magic, record.attributes, record.crc = magic, r.attributes, crc
    if reject(v, &record) != KP_OK:
        v.error_code = FAILED
    return v.error_code


cdef inline void see_timestamp(validator* v, int64_t timestamp, int64_t* most, int64_t* least) noexcept nogil:
    if timestamp > most[0]:
        most[0] = timestamp
    if timestamp < least[0]:
        least[0] = timestamp


cdef bint refuses_offsets(const validator* v) noexcept nogil:
    return v.rules & OFFSETS_REFUSED and v.target_magic > 0


cdef void begin_passing(passed* done) noexcept nogil:
    done.at, done.count, done.most, done.least = NULL, 0, NO_TIMESTAMP, NO_TIMESTAMP


cdef void pass_ordinary(validator* v, const kp_source* s) noexcept nogil:
    """Go past the next records that have nothing to be looked at again: they are read with success, and have no error
    and the offset that is expected. Nearly always these are all.

    What a loop has in registers is worth a third of its time: so no address of a record is given away here, as the
    loop of walk_records must for what it finds.
    """
    cdef passed* done = &v.passed
    cdef const uint8_t* start = s.start if done.at == NULL else done.at
    cdef kp_cursor cursor = kp_cursor_of(start, <size_t>(s.end - start))
    cdef kp_record r
    cdef const uint8_t* at = start
    cdef int64_t timestamp, most = done.most, least = done.least, first = v.least_timestamp, last = v.most_timestamp
    cdef int64_t next = <int64_t>(<uint64_t>v.expected - <uint64_t>s.base_offset) + done.count
    cdef int32_t count = done.count
    cdef bint needs_key = v.compacted, any_time = v.log_append_time
    while count < s.count and kp_record_read(&cursor, &r):
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


cdef int walk_records(validator* v, const kp_source* s, bint pending, bint compressed, bint skips,
                      bint counts) noexcept nogil:
    cdef kp_cursor cursor = kp_cursor_of(s.start, <size_t>(s.end - s.start)), again
    cdef const uint8_t* at
    cdef kp_record r
    cdef int32_t i
    cdef int64_t expected, most, least
    cdef int kind, fault
    cdef bint in_order = True, writing = v.writing, by_client = s.log_append_time
    cdef bint same = writing and may_take(v, s)   # so far, nothing was handed to the builder
    if writing and not same:
        expect_records(v, s.end - s.start)
    if not writing and not by_client:
        pass_ordinary(v, s)
        cursor.p = v.passed.at
    expected, most, least = v.expected + v.passed.count, v.passed.most, v.passed.least
    for i in range(v.passed.count, s.count):
        at = cursor.p
        if not kp_record_read(&cursor, &r):
            fault = kp_record_fault(at, s.end)
            if skips and not v.rules & STRICT_LENGTHS:
                again = kp_cursor_of(at, <size_t>(s.end - at))
                r.attributes = 0
                fault = kp_record_skip(&again, &r)
            if fault != KP_SKIP_OK:
                return misread(v, s, at, i, fault, pending, compressed, skips)
            v.findings |= POISONED
            cursor = again
        kp_record_place(s, &r)
        kind = record_error(v, by_client, r.key.size >= 0, r.timestamp)
        if counts and kind == NO_ERROR and r.offset != expected and refuses_offsets(v):
            kind = WRONG_OFFSET
        if kind:
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


cdef void write_first(validator* v, const kp_source* s, int32_t count) noexcept nogil:
    """Records that were read before; what the builder refuses is not among them."""
    cdef kp_cursor cursor = kp_cursor_of(s.start, <size_t>(s.end - s.start))
    cdef kp_record r
    expect_records(v, s.end - s.start)
    for _ in range(count):
        if not kp_record_read(&cursor, &r):
            return  # another thread writes to the bytes
        kp_record_place(s, &r)
        write_record(v, &r)


cdef void note_batch(validator* v, int64_t most, int64_t least, bint in_order, bint counts) noexcept nogil:
    """What the records of the batch say together."""
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
    if codec > KP_ZSTD:
        return refuse(v, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE, b"UNKNOWN_CODEC")
    return refuse_invalid(v, b"NESTED_COMPRESSION")


cdef int message_error(validator* v, const kp_batch* message, const uint8_t* at, bint compressed,
                       int64_t timestamp) noexcept nogil:
    """validateRecord; negative: the whole batch is refused."""
    cdef bint has_key = True
    cdef size_t key_at = KEY_SIZE_V1 if message.magic else KEY_SIZE_V0
    if compressed:
        if message.magic != v.batch.magic:
            return WRONG_MAGIC
        if check_message_crc(at, message, &v.err) != KP_OK:
            refuse(v, CORRUPT_MESSAGE, CORRUPT_MESSAGE, b"INNER_CHECKSUM")
            return -1
    if v.compacted:
        if message.size < <int64_t>key_at + 4:
            refuse_unreadable(v)
            return -1
        has_key = <int32_t>kp_load_be32(at + key_at) >= 0
    return record_error(v, v.batch.magic > 0 and v.batch.attributes & KP_LOG_APPEND_TIME, has_key, timestamp)


cdef int64_t message_timestamp(const kp_source* s, const kp_batch* message) noexcept nogil:
    return s.append_time if message.magic == 1 and s.log_append_time else message.base_timestamp


cdef int walk_messages(validator* v, const kp_source* s, bint compressed, bint counts) noexcept nogil:
    cdef kp_cursor cursor = kp_cursor_of(s.start, <size_t>(s.end - s.start))
    cdef kp_batch message, ignored
    cdef kp_record r
    cdef kp_error unread
    cdef const uint8_t* at
    cdef int64_t size, most = NO_TIMESTAMP, least = NO_TIMESTAMP
    cdef int32_t i
    cdef int kind
    cdef bint in_order = True, writing = v.writing, readable
    for i in range(s.count):
        at = cursor.p
        size = kp_entry_size(cursor) if compressed else v.batch.size
        if kp_message_header_read(at, size, at - s.start, &message, &v.err) != KP_OK:
            return refuse_payload(v)
        kp_read_bytes(&cursor, <size_t>size)
        if v.errors_count and v.rules & FIRST_ERROR:
            return check_rejected(v)
        if compressed and kp_batch_codec(&message):
            return refuse_inner_codec(v, kp_batch_codec(&message))
        readable = kp_message_read(at, size, 0, &ignored, &r, &unread) == KP_OK
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


cdef int write_message(validator* v, const kp_record* r, bint readable, const kp_error* unread) noexcept nogil:
    if readable:
        return write_record(v, r)
    if v.write_err.status == KP_OK:
        v.write_err = unread[0]
    return 0


cdef bint has_small_entry(validator* v, const uint8_t* entry) noexcept nogil:
    """Whether an inner entry is too small for a message, before the place where the stream is damaged."""
    cdef kp_batch ignored
    cdef kp_record wrapper
    cdef kp_error unused
    cdef pooled* out = &v.context.scratch
    cdef kp_cursor cursor
    cdef int64_t size
    if kp_message_read(entry, v.batch.size, 0, &ignored, &wrapper, &unused) != KP_OK:
        return False
    out.size = 0
    decompress_prefix(v.context, kp_batch_codec(&v.batch), v.batch.magic, wrapper.value.data,
                      <size_t>wrapper.value.size, out, v.cap, &unused)
    cursor = kp_cursor_of(out.data, out.size)
    while kp_cursor_left(&cursor) >= KP_LOG_OVERHEAD:
        size = kp_entry_size(cursor)
        if size < KP_LOG_OVERHEAD + KP_MIN_ENTRY_SIZE:
            return True
        if kp_read_bytes(&cursor, <size_t>size) == NULL:
            return False
    return False


# --- one batch -------------------------------------------------------------------------------------------------------

cdef void note_payload(validator* v, const uint8_t* entry) noexcept nogil:
    """What a reader of the compressed payload does not mind."""
    cdef kp_lz4_frame frame
    cdef kp_error wrong
    cdef int64_t at = v.source.payload
    if v.context.ignored:
        v.findings |= TRAILING_BYTES
    if v.batch.magic == 0 and kp_batch_codec(&v.batch) == KP_LZ4:
        if kp_lz4_header_read(entry + at, <size_t>(v.batch.size - at), True, &frame, &wrong) == KP_LZ4_HC:
            v.findings |= BAD_LZ4_HEADER_CHECKSUM


cdef bint is_stream_error(const validator* v) noexcept nogil:
    return v.err.status != KP_NO_MEMORY and v.err.status != KP_OUTPUT_CAP and v.source.frame == KP_IN_RECORDS


cdef bint has_ignored_tail(const validator* v) noexcept nogil:
    """zstd-jni before 1.5.5 needs five bytes to see that no frame follows."""
    cdef int64_t left = v.batch.size - v.source.payload - v.err.position
    return v.rules & ZSTD_TAIL and kp_batch_codec(&v.batch) == KP_ZSTD and v.err.position > 0 and left < 5


cdef bint open_in_steps(validator* v, const uint8_t* entry) noexcept nogil:
    """open_source for a payload of small blocks (`join_unit`): the records of some are checked while these are in the
    cache. False: it is not such a payload, or not sound, and is to be opened as a whole.
    """
    cdef const codec_row* row = row_of(v.context.codecs, kp_batch_codec(&v.batch))
    cdef pooled* out = &v.context.scratch
    cdef kp_source* s = &v.source
    cdef kp_batch bare = v.batch
    cdef const uint8_t* payload
    cdef size_t size, given = 0
    cdef size_range expected
    cdef progress at
    cdef int status
    if v.writing or v.batch.magic < 2 or row == NULL or row.join_unit == 0:
        return False
    bare.attributes &= ~KP_CODEC_MASK  # then `s` has the payload in place of the records
    if open_source(v.context, entry, &bare, entry + bare.size, out, v.cap, True, s, &v.err) != KP_OK or s.count == 0:
        return False
    payload, size = s.start, <size_t>(s.end - s.start)
    row.expect(row, payload, size, &expected)
    if size <= INPUT_STEP or expected.most > v.cap or pooled_reserve(out, expected.most, &v.err) != KP_OK:
        return False
    memset(&at, 0, sizeof(progress))
    at.cap, at.counted = v.cap, True
    s.start, s.frame = out.data, KP_IN_RECORDS
    while True:
        given = min(size, given + INPUT_STEP)  # a decoder goes as far as whole blocks are there
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
    return status == KP_OK


cdef int open_batch(validator* v, bint* pending) noexcept nogil:
    """Find the records of v.batch; `pending`: a damaged stream comes after those that are there."""
    cdef const uint8_t* entry = v.data + v.batch.position
    pending[0] = False
    v.context.scratch.size = v.context.ignored = 0
    v.batch_max_timestamp = NO_TIMESTAMP
    v.err.status = KP_OK
    begin_passing(&v.passed)
    if open_in_steps(v, entry):
        note_payload(v, entry)
        return 0
    begin_passing(&v.passed)
    v.err.status = KP_OK
    if open_source(v.context, entry, &v.batch, entry + v.batch.size, &v.context.scratch, v.cap, True, &v.source,
                   &v.err) == KP_OK:
        if kp_batch_codec(&v.batch):
            note_payload(v, entry)
        return 0
    if v.batch.magic == 2 and is_stream_error(v):
        pending[0] = not (v.context.ends or has_ignored_tail(v))
        return 0
    if v.batch.magic < 2 and refuse_payload(v) == UNKNOWN_SERVER_ERROR and has_small_entry(v, entry):
        v.err.status = KP_OK
        return refuse(v, CORRUPT_MESSAGE, CORRUPT_MESSAGE, b"ENTRY_SIZE")
    return refuse_payload(v)


cdef int walk(validator* v, bint skips, bint counts) noexcept nogil:
    cdef bint pending, compressed = kp_batch_codec(&v.batch) != 0
    if v.batch.magic == 2 and not counts:
        v.expected = v.batch.base_offset
    if open_batch(v, &pending):
        return v.error_code
    if v.batch.magic < 2:
        return walk_messages(v, &v.source, compressed, counts)
    return walk_records(v, &v.source, pending, compressed, skips and compressed, counts)


# --- again, for a rebuild that was not expected -----------------------------------------------------------------------

cdef int write_again(validator* v) noexcept nogil:
    cdef const kp_source* s = &v.source
    cdef kp_cursor cursor = kp_cursor_of(s.start, <size_t>(s.end - s.start))
    cdef const uint8_t* at
    cdef kp_batch message
    cdef kp_record r
    cdef int32_t i
    expect_records(v, s.end - s.start)
    for i in range(s.count):
        at = cursor.p
        if v.batch.magic == 2:
            if not kp_record_read(&cursor, &r):  # its length lies: it was skipped over
                return misread(v, s, at, i, KP_SKIP_OK, False, True, False)
            kp_record_place(s, &r)
        else:
            if kp_message_read(at, kp_entry_size(cursor), 0, &message, &r, &v.write_err) != KP_OK:
                return 0
            kp_read_bytes(&cursor, <size_t>message.size)
            r.timestamp = message_timestamp(s, &message)
        if write_record(v, &r):
            return v.error_code
    return 0


# --- fields alone ----------------------------------------------------------------------------------------------------

cdef int walk_fields(validator* v) noexcept nogil:
    cdef const kp_source* s = &v.source
    cdef bint pending
    cdef kp_cursor cursor
    cdef kp_batch message
    cdef kp_record r
    cdef const uint8_t* at
    cdef int32_t i
    if open_batch(v, &pending):
        return v.error_code
    if v.batch.magic < 2:
        if kp_message_read(s.start, v.batch.size, 0, &message, &r, &v.err) != KP_OK:
            return refuse_payload(v)
        return 0
    cursor = kp_cursor_of(s.start, <size_t>(s.end - s.start))
    for i in range(s.count):
        at = cursor.p
        if not kp_record_read(&cursor, &r):
            return misread(v, s, at, i, kp_record_fault(at, s.end), pending, False, False)
    return check_end(v, s, cursor.p, pending) if s.count > 0 else 0
