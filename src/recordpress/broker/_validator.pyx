"""Record sets as a leader stores or rejects them: LogValidator.validateMessagesAndAssignOffsets.

    A   source and target codec none, all entries of the target magic    in place, entry by entry
    B   source and target codec none                                     converted
    C   all else                                                         one batch or wrapper: in place, or rebuilt

In place, records are checked without a copy, and only headers change (StoredSet); their checksums are patched.
A rebuild takes one pass over the records, except for a batch whose inner offsets turn out to be wrong.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcmp, memcpy, memset

from recordpress._arguments cimport flag_of, integer_of
from recordpress._buffers cimport InputView, pooled_free
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_CONTROL, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, RP_MIN_ENTRY_SIZE, RP_NONE,
    RP_OK, RP_PARTITION_LEADER_EPOCH_OFFSET, RP_TRANSACTIONAL, rp_batch, rp_batch_codec, rp_batch_next, rp_batch_read,
    rp_error, rp_store_be32, rp_store_be64,
)
from recordpress._status cimport error_of, place_of
from recordpress.broker._check cimport (
    ANY_ENTRIES, CODEC_DIFFERS, COUNTS_FREE, FAILED, FIRST_ERROR, MAGIC_CONVERSION, NEGATIVE_TIMESTAMPS,
    NON_SEQUENTIAL_INNER_OFFSETS, NO_TIMESTAMP, NULL_KEY, OFFSETS_REFUSED, OUT_OF_RANGE, STRICT_LENGTHS, TARGET_V0,
    TYPE_OF_ALL, UNKNOWN_ATTRIBUTES, UNSEEN_OFFSETS, WHOLE_RECORDS, WRONG_MAGIC, WRONG_OFFSET, ZSTD_TAIL, check_batch,
    refuse, rejected, validator,
)
from recordpress.broker._error_codes cimport (
    INVALID_RECORD, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE, UNSUPPORTED_FOR_MESSAGE_FORMAT,
)
from recordpress.broker._walk cimport (
    begin_rebuild, check_written, end_rebuild, free_rebuild, walk, walk_fields, write_again,
)
from recordpress.codecs.codec cimport CODEC_ROWS, row_of
from recordpress.codecs.context cimport context_acquire, context_release
from recordpress.codecs.table cimport CodecTable, level_of, table_of
from recordpress.record.header cimport BatchHeader, header_of
from recordpress.record.in_place cimport set_max_timestamp

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import InvalidArgumentError

# --- what the log holds ----------------------------------------------------------------------------------------------

# A broker changes headers in its request buffer. We must not change the sender's bytes, and copying them costs as much
# as checking them. So if they are immutable (Python's bytes), the new header is kept separately, and both are joined
# when the set is requested.

cdef enum:
    HEADER_ROOM = 64   # the largest header, of magic 2, has 61 bytes


cdef class StoredSet:
    """A record set as the log stores it."""

    cdef readonly int64_t size
    cdef readonly BatchHeader header
    cdef readonly bint rewritten
    cdef bytes whole             # None until it is requested, if the set was sent as bytes
    cdef bytes sent              # the sender's bytes, with the set at `start`
    cdef int64_t start
    cdef uint8_t changed[HEADER_ROOM]
    cdef int64_t changed_size

    cdef bytes joined(self):
        cdef bytes records = PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.sent) + self.start, self.size)
        memcpy(PyBytes_AS_STRING(records), self.changed, <size_t>self.changed_size)
        return records

    @property
    @cython.critical_section
    def records(self):
        if self.whole is None and self.sent is not None:
            self.whole, self.sent = self.joined(), None
        return self.whole


# --- headers ---------------------------------------------------------------------------------------------------------

cdef void store_entry(const validator* v, uint8_t* entry, const rp_batch* b, int64_t last_offset,
                      int64_t max_timestamp) noexcept nogil:
    rp_store_be64(entry, <uint64_t>last_offset - <uint64_t><int64_t>b.last_offset_delta)
    if v.target_magic == 2 and b.magic == 2:
        rp_store_be32(entry + RP_PARTITION_LEADER_EPOCH_OFFSET, <uint32_t>v.leader_epoch)
    if v.target_magic > 0 and b.magic > 0:
        set_max_timestamp(entry, b, v.log_append_time, v.now_ms if v.log_append_time else max_timestamp)


cdef bint differ(const uint8_t* sent, const uint8_t* stored, int magic) noexcept nogil:
    """Return whether headers differ in more than offset and leader epoch; of a message, the bytes that every entry has
    are compared."""
    if magic == 2:
        return memcmp(sent + RP_ATTRIBUTES_OFFSET, stored + RP_ATTRIBUTES_OFFSET,
                      RP_BATCH_HEADER - RP_ATTRIBUTES_OFFSET) != 0
    return memcmp(sent + RP_LOG_OVERHEAD, stored + RP_LOG_OVERHEAD, RP_MIN_ENTRY_SIZE) != 0


cdef int64_t store_all(const validator* v, uint8_t* out, bint* rewritten) noexcept nogil:
    """Store the headers of all entries; return the next offset."""
    cdef int64_t position = 0, offset = v.start_offset
    cdef rp_batch b
    cdef rp_error ignored
    while rp_batch_next(v.data, v.size, position, INT32_MAX, &b, &ignored) == RP_OK:
        store_entry(v, out + position, &b, offset, max(b.max_timestamp, NO_TIMESTAMP))
        rewritten[0] |= differ(v.data + position, out + position, b.magic)
        offset = <int64_t>(<uint64_t>offset + 1)
        position += b.size
    return offset


# --- sets ------------------------------------------------------------------------------------------------------------

cdef bytes owner(object data, const uint8_t* at, int64_t size):
    """Return the bytes object that holds `data`; None if other code can change its memory."""
    whole = data.obj if isinstance(data, memoryview) else data
    if not PyBytes_CheckExact(whole):
        return None
    cdef int64_t before = at - <const uint8_t*>PyBytes_AS_STRING(whole)
    return whole if 0 <= before <= PyBytes_GET_SIZE(whole) - size else None


cdef int take_header(StoredSet stored, const uint8_t* entry, int64_t size) except -1:
    cdef rp_batch b
    cdef rp_error ignored
    if size > 0 and rp_batch_read(entry, size, 0, &b, &ignored) == RP_OK:
        stored.header = header_of(&b)
    return 0


cdef StoredSet keep(validator* v, object data, bint one):
    """Return the set of `v`, sent as `data`, with the headers that the log will have; set v.next_offset.
    `one`: only the first entry changes."""
    cdef StoredSet stored = StoredSet.__new__(StoredSet)
    cdef bytes sent = owner(data, v.data, v.size) if one else None
    cdef uint8_t* out
    stored.size = v.size
    stored.changed_size = min(v.first.size, <int64_t>RP_BATCH_HEADER)
    v.next_offset = <int64_t>(<uint64_t>v.start_offset + <uint64_t>v.records)
    if one:
        memcpy(stored.changed, v.data, <size_t>stored.changed_size)
        store_entry(v, stored.changed, &v.first, <int64_t>(<uint64_t>v.next_offset - 1), v.max_timestamp)
        stored.rewritten = differ(v.data, stored.changed, v.first.magic)
        take_header(stored, stored.changed, v.first.size)
    if sent is not None:
        stored.sent, stored.start = sent, v.data - <const uint8_t*>PyBytes_AS_STRING(sent)
        return stored
    stored.whole = PyBytes_FromStringAndSize(<const char*>v.data, v.size)
    out = <uint8_t*>PyBytes_AS_STRING(stored.whole)
    if one:
        memcpy(out, stored.changed, <size_t>stored.changed_size)
    else:
        with nogil:
            store_all(v, out, &stored.rewritten)
        take_header(stored, out, v.first.size)
    return stored


cdef StoredSet written(bytes records):
    """Return a rebuilt set."""
    cdef StoredSet stored = StoredSet.__new__(StoredSet)
    cdef const uint8_t* data = <const uint8_t*>PyBytes_AS_STRING(records)
    cdef rp_batch b
    cdef rp_error ignored
    stored.whole, stored.size = records, len(records)
    if stored.size and rp_batch_next(data, stored.size, 0, INT32_MAX, &b, &ignored) == RP_OK:
        stored.header = header_of(&b)
    return stored


cdef enum:
    IN_PLACE_UNCOMPRESSED = 65   # the letters of the paths
    CONVERTED = 66
    COMPRESSED = 67

    KNOWN_V2 = 0x3f   # attribute bits that producers or brokers set; only compaction sets bit 6
    KNOWN_V1 = 0x0f
    KNOWN_V0 = 0x07


# --- which path ------------------------------------------------------------------------------------------------------

# The entries of an analyzed set are complete and have valid headers.
cdef bint next_entry(validator* v, int64_t* position) noexcept nogil:
    """Read the entry at `position` into v.batch; return False at the end."""
    cdef rp_error ignored
    if rp_batch_next(v.data, v.size, position[0], INT32_MAX, &v.batch, &ignored) != RP_OK:
        return False
    position[0] += v.batch.size
    return True


cdef int choose(validator* v) noexcept nogil:
    """Choose the path, and truncate the set to its complete entries."""
    cdef int64_t position = 0
    cdef bint matches = True
    while next_entry(v, &position):
        matches &= v.batch.magic == v.target_magic
        v.max_entry_size = max(v.max_entry_size, v.batch.size)
    v.size = position
    if v.source_codec != RP_NONE or v.target_codec != RP_NONE:
        return COMPRESSED
    return IN_PLACE_UNCOMPRESSED if matches else CONVERTED


cdef int find_first(validator* v) noexcept nogil:
    """Find the first batch, and reject further batches (getFirstBatchAndMaybeValidateNoMoreBatches)."""
    cdef int64_t position = 0
    v.err.status = RP_OK
    if not next_entry(v, &position):
        return refuse(v, INVALID_RECORD, INVALID_RECORD, b"NO_BATCH")
    v.first = v.batch
    if v.rules & ANY_ENTRIES:
        return 0
    if (v.first.magic == 2 or v.source_codec != RP_NONE) and next_entry(v, &position):
        return refuse(v, INVALID_RECORD, INVALID_RECORD, b"MORE_THAN_ONE_BATCH")
    return 0


cdef bint all_match(validator* v) noexcept nogil:
    cdef int64_t position = 0
    while next_entry(v, &position):
        if v.batch.magic != v.target_magic:
            return False
    return True


cdef void choose_reasons(validator* v) noexcept nogil:
    """Set the reasons to rebuild a set of path C, from its headers."""
    if v.source_codec != v.target_codec:
        v.reasons |= CODEC_DIFFERS
    if v.first.magic != v.target_magic:
        v.reasons |= MAGIC_CONVERSION
    if v.rules & ANY_ENTRIES and not all_match(v):
        v.reasons |= MAGIC_CONVERSION
    if v.target_magic == 0:
        v.reasons |= TARGET_V0
    if v.source_codec == RP_NONE and v.first.magic == 2 and v.first.attributes & RP_CONTROL:
        v.reasons = 0  # control records are not compressed unless they were sent compressed


cdef int read_all(validator* v) noexcept nogil:
    """Read all records before any check (AbstractRecords.estimateSizeInBytes)."""
    cdef int64_t position = 0
    while next_entry(v, &position):
        if walk_fields(v):
            return v.error_code
    return 0


cdef int begin(validator* v, int path) noexcept nogil:
    """Run all steps that precede the first record."""
    if path == CONVERTED and read_all(v):
        return v.error_code
    if find_first(v):
        return v.error_code
    if path == CONVERTED:
        v.reasons = MAGIC_CONVERSION
        if v.target_magic < 2 and v.first.magic == 2 and v.first.attributes & RP_TRANSACTIONAL:
            return refuse(v, UNKNOWN_SERVER_ERROR, UNSUPPORTED_FOR_MESSAGE_FORMAT, b"TRANSACTIONAL_MAGIC")
    elif path == COMPRESSED:
        choose_reasons(v)
    return 0


# --- all entries -----------------------------------------------------------------------------------------------------

cdef int64_t moved(int64_t offset, int64_t records) noexcept nogil:
    """Add a number of records to an offset, wrapping as Java's sums do."""
    return <int64_t>(<uint64_t>offset + <uint64_t>records)


cdef void note_attributes(validator* v) noexcept nogil:
    cdef int known = KNOWN_V2 if v.batch.magic == 2 else KNOWN_V1 if v.batch.magic else KNOWN_V0
    if v.batch.attributes & ~known:
        v.findings |= UNKNOWN_ATTRIBUTES


cdef void note_max_timestamp(validator* v) noexcept nogil:
    if v.batch_max_timestamp > v.max_timestamp:
        v.max_timestamp = v.batch_max_timestamp
        v.max_timestamp_offset = moved(v.start_offset, v.records - 1)


cdef int run(validator* v, int path) noexcept nogil:
    cdef int64_t position = 0
    while next_entry(v, &position):
        note_attributes(v)
        if check_batch(v):
            return v.error_code
        v.skips = path == COMPRESSED and v.reasons == 0 and v.first.magic == 2 and not v.rules & WHOLE_RECORDS
        if walk(v, v.skips, path == COMPRESSED):
            return v.error_code
        note_max_timestamp(v)
    if v.least_timestamp_seen < NO_TIMESTAMP:
        v.findings |= NEGATIVE_TIMESTAMPS
    if path == CONVERTED:
        v.findings &= ~UNSEEN_OFFSETS  # offsets are written again
    return 0


cdef int run_again(validator* v, int path) noexcept nogil:
    """Restart at the first entry, to rebuild several entries."""
    v.records = v.expected = 0
    v.max_timestamp = v.max_timestamp_offset = NO_TIMESTAMP
    return run(v, path)


cdef bint must_repair(validator* v) noexcept nogil:
    """Return whether a set must be rebuilt only because its inner offsets turned out to be wrong."""
    return v.reasons == NON_SEQUENTIAL_INNER_OFFSETS and not v.writing


cdef int check_repair(validator* v) noexcept nogil:
    if v.first.magic == 2 and rp_batch_codec(&v.first) and not v.helpful and not v.rules & WHOLE_RECORDS:
        return refuse(v, UNKNOWN_SERVER_ERROR, INVALID_RECORD, b"OFFSETS_NOT_REPAIRED")
    return 0


# --- the answer ------------------------------------------------------------------------------------------------------

RULES = {
    "ANY_ENTRIES": ANY_ENTRIES,
    "COUNTS_FREE": COUNTS_FREE,
    "OFFSETS_REFUSED": OFFSETS_REFUSED,
    "FIRST_ERROR": FIRST_ERROR,
    "WHOLE_RECORDS": WHOLE_RECORDS,
    "STRICT_LENGTHS": STRICT_LENGTHS,
    "TYPE_OF_ALL": TYPE_OF_ALL,
    "ZSTD_TAIL": ZSTD_TAIL,
}
REASONS = ("CODEC_DIFFERS", "MAGIC_CONVERSION", "TARGET_V0", "NON_SEQUENTIAL_INNER_OFFSETS")
FINDINGS = ("poisoned", "unseen_offsets", "bad_lz4_header_checksum", "trailing_bytes", "unknown_attributes",
            "negative_timestamps")


cdef class Validation:
    """Result of LogValidator, or its exception."""

    cdef readonly int error_code, reasons, findings
    cdef readonly str refusal, error_message, detail, path
    cdef readonly list record_errors
    cdef readonly StoredSet stored
    cdef readonly bint rebuilt, size_may_have_changed
    cdef readonly int64_t largest_batch, max_timestamp, shallow_offset_of_max_timestamp, log_append_time, next_offset

    @property
    def records(self):
        return b"" if self.stored is None else self.stored.records


# --- texts, as in brokers except for the name of the partition -------------------------------------------------------

cdef str message_text(const rejected* r, const validator* v):
    """Return the text of LegacyRecord.toString."""
    magic, attributes = r.magic, r.attributes
    time = ""
    if magic > 0:
        wrapped = rp_batch_codec(&v.batch) != 0 and magic == 1
        is_append_time = (v.batch.attributes if wrapped else attributes) & RP_LOG_APPEND_TIME
        kind = "LogAppendTime" if is_append_time else "CreateTime"
        time = f"{'NoTimestampType' if wrapped and v.batch.magic == 0 else kind}={r.timestamp}, "
    return (f"LegacyRecordBatch(offset={r.offset}, Record(magic={magic}, attributes={attributes}, compression=none, "
            f"crc={r.crc}, {time}key={max(r.key_size, 0)} bytes, value={max(r.value_size, 0)} bytes))")


cdef str record_text(const rejected* r, const validator* v, bint skips):
    """Return the text of DefaultRecord.toString or PartialDefaultRecord.toString."""
    if v.batch.magic < 2:
        return message_text(r, v)
    key, value = r.key_size, r.value_size
    if not skips:
        key, value = max(key, 0), max(value, 0)
    return (f"{'PartialDefaultRecord' if skips else 'DefaultRecord'}(offset={r.offset}, timestamp={r.timestamp}, "
            f"key={key} bytes, value={value} bytes)")


cdef str rejection_text(const rejected* r, const validator* v, bint skips):
    if r.kind == NULL_KEY:
        return "Compacted topic cannot accept message without key"
    if r.kind == WRONG_OFFSET:
        return (f"Inner record {record_text(r, v, skips)} inside the compressed record batch does not have incremental "
                f"offsets, expected offset is {r.index}")
    if r.kind == WRONG_MAGIC:
        return f"Record {record_text(r, v, skips)}'s magic does not match outer magic {v.batch.magic}"
    if r.kind == OUT_OF_RANGE:
        return (f"Timestamp {r.timestamp} of message with offset {r.offset} is out of range. The timestamp should be "
                f"within [{v.now_ms - v.before_max_ms}, {moved(v.now_ms, v.after_max_ms)}]")
    return (f"Invalid timestamp type in message {record_text(r, v, skips)}. Producer should not set timestamp type to "
            f"LogAppendTime.")


cdef str size_text(const validator* v):
    """Return the message of DefaultRecord.readFrom."""
    if v.err.found < 0:
        return f"Invalid record size: {v.err.found} is negative."
    return f"Invalid record size: {v.err.found} exceeds the configured maximum record size of {v.max_record_bytes}."


cdef list record_errors_of(const validator* v):
    cdef const rejected* r = <const rejected*>v.errors.data
    cdef bint skips = v.skips and rp_batch_codec(&v.batch) != 0
    return [(r[i].index, rejection_text(&r[i], v, skips)) for i in range(v.errors_count)]


cdef str errors_text(list errors, bint has_timestamp_error):
    if has_timestamp_error:
        return "One or more records have been rejected due to invalid timestamp"
    shown = ", ".join(f"RecordError(batchIndex={index}, message='{text}')" for index, text in errors[:3])
    return (f"One or more records have been rejected due to {len(errors)} record errors in total, and only showing the "
            f"first three errors at most: [{shown}]")


# --- a call ----------------------------------------------------------------------------------------------------------

cdef Validation refused(const validator* v, int path):
    cdef Validation answer = Validation.__new__(Validation)
    answer.error_code, answer.refusal, answer.path = v.error_code, v.refusal.decode("ascii"), chr(path)
    answer.record_errors = []
    answer.reasons, answer.findings = v.reasons, v.findings
    answer.max_timestamp = answer.shallow_offset_of_max_timestamp = answer.log_append_time = -1
    answer.next_offset = v.start_offset
    if v.errors_count and v.err.status == RP_OK:
        answer.record_errors = record_errors_of(v)
        answer.error_message = errors_text(answer.record_errors, v.has_timestamp_error)
    elif v.err.status != RP_OK:
        answer.detail = size_text(v) if answer.refusal == "RECORD_SIZE" else detail_of(v)
    return answer


cdef str detail_of(const validator* v):
    at = place_of(&v.batch)
    error = error_of(&v.err, &at)
    if not isinstance(error, Exception):  # an interrupt, raised in a caller's codec
        raise error
    return str(error)


cdef Validation accepted(const validator* v, int path, StoredSet stored):
    cdef Validation answer = Validation.__new__(Validation)
    answer.path, answer.stored, answer.record_errors = chr(path), stored, []
    answer.rebuilt = answer.size_may_have_changed = v.writing
    answer.reasons, answer.findings = v.reasons, v.findings
    answer.next_offset = v.next_offset
    answer.log_append_time = v.now_ms if v.log_append_time else -1
    answer.largest_batch = largest_entry(stored.records) if v.writing else v.max_entry_size
    set_timestamps(answer, v, path)
    return answer


cdef int64_t largest_entry(object records):
    cdef InputView view = InputView(records)
    cdef rp_batch b
    cdef rp_error ignored
    cdef int64_t position = 0, largest = 0
    while rp_batch_next(view.data, view.size, position, INT32_MAX, &b, &ignored) == RP_OK:
        largest = max(largest, b.size)
        position += b.size
    return largest


cdef int set_timestamps(Validation answer, const validator* v, int path) except -1:
    """Set the offset of the largest timestamp for the time index (MemoryRecordsBuilder.info, and its in-place
    equivalent)."""
    cdef int64_t last = moved(v.next_offset, -1)
    cdef bint alone = v.target_codec == RP_NONE and v.target_magic < 2   # messages, not a batch
    answer.max_timestamp, answer.shallow_offset_of_max_timestamp = v.max_timestamp, last
    if v.writing and v.records == 0:
        answer.shallow_offset_of_max_timestamp = -1
    elif v.log_append_time:
        answer.max_timestamp = v.now_ms
        if alone:
            answer.shallow_offset_of_max_timestamp = v.start_offset
        if path == IN_PLACE_UNCOMPRESSED and v.target_magic == 0:
            answer.max_timestamp = answer.shallow_offset_of_max_timestamp = -1
    elif v.writing:
        answer.max_timestamp = v.writer.batch.encoder.max_timestamp
        if answer.max_timestamp == NO_TIMESTAMP:
            answer.shallow_offset_of_max_timestamp = -1
        elif alone:
            answer.shallow_offset_of_max_timestamp = v.writer.batch.encoder.offset_of_max_timestamp
    elif path == IN_PLACE_UNCOMPRESSED:
        answer.shallow_offset_of_max_timestamp = v.max_timestamp_offset
    return 0


cdef bint can_rebuild(const validator* v) noexcept:
    """Return whether a builder can be created: zstd needs magic 2."""
    return v.target_magic >= row_of(v.context.codecs, v.target_codec).least_magic


cdef int check_rebuild(validator* v) noexcept:
    if v.reasons == 0 or v.writing:
        return check_written(v) if v.writing else 0
    v.err.status = RP_OK
    return refuse(v, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE, b"REBUILD_REFUSED")


cdef Validation decide(validator* v, int level, object data):
    cdef int path, code
    with nogil:
        path = choose(v)
        code = begin(v, path)
    v.fails_late = path == COMPRESSED
    if code == 0 and v.reasons and can_rebuild(v):
        begin_rebuild(v, level)
    if code == 0:
        with nogil:
            code = run(v, path)
    if code == 0 and must_repair(v):
        code = check_repair(v)
        if code == 0:
            begin_rebuild(v, level)
            with nogil:
                code = write_again(v) if v.batch.position == 0 else run_again(v, path)
    if code == 0:
        code = check_rebuild(v)
    if code == FAILED:
        at = place_of(&v.batch)
        raise error_of(&v.err, &at)
    if code:
        return refused(v, path)
    if v.writing:
        return accepted(v, path, written(end_rebuild(v)))
    return accepted(v, path, keep(v, data, path == COMPRESSED or v.first.magic == 2))


cdef int64_t bound(int64_t value, int64_t change) noexcept:
    """Return the sum, limited to the range of int64_t."""
    if change > 0 and value > INT64_MAX - change:
        return INT64_MAX
    if change < 0 and value < INT64_MIN - change:
        return INT64_MIN
    return value + change


cdef codec_id(object value, str name, CodecTable table):
    cdef int id = <int>integer_of(value, name, 0, CODEC_ROWS - 1)
    if row_of(&table.rows, id) == NULL:
        raise InvalidArgumentError(f"{name} must be the id of a codec, not {id}", field=name)
    return id


def validate_records(data, *, source_codec, target_codec, target_level=None, target_magic=2, log_append_time=False,
                     before_max_ms=INT64_MAX, after_max_ms=INT64_MAX, compacted=False, leader_epoch=0, next_offset=0,
                     now_ms, origin_client=True, rules=0, helpful=False, codecs=None,
                     max_record_bytes=0, max_decompressed_bytes=DEFAULT_MAX_SIZE):
    """Validate records and assign offsets (LogValidator.validateMessagesAndAssignOffsets)."""
    cdef validator v
    cdef CodecTable table = table_of(codecs)
    cdef InputView view = InputView(data)
    cdef int level
    memset(&v, 0, sizeof(validator))
    v.data, v.size = view.data, view.size
    v.source_codec = codec_id(source_codec, "source_codec", table)
    v.target_codec = codec_id(target_codec, "target_codec", table)
    level = level_of(&table.rows.rows[v.target_codec], target_level)
    v.target_magic = <int>integer_of(target_magic, "target_magic", 0, 2)
    v.log_append_time = flag_of(log_append_time, "log_append_time")
    v.compacted = flag_of(compacted, "compacted")
    v.is_client = flag_of(origin_client, "origin_client")
    v.helpful = flag_of(helpful, "helpful")
    v.rules = <int>integer_of(rules, "rules", 0, INT32_MAX)
    v.leader_epoch = <int32_t>integer_of(leader_epoch, "leader_epoch", -1, INT32_MAX)
    v.start_offset = v.next_offset = integer_of(next_offset, "next_offset", 0, INT64_MAX)
    v.now_ms = integer_of(now_ms, "now_ms", 0, INT64_MAX)
    v.before_max_ms = integer_of(before_max_ms, "before_max_ms", 0, INT64_MAX)
    v.after_max_ms = integer_of(after_max_ms, "after_max_ms", 0, INT64_MAX)
    v.least_timestamp, v.most_timestamp = bound(v.now_ms, -v.before_max_ms), bound(v.now_ms, v.after_max_ms)
    v.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
    v.max_record_bytes = integer_of(max_record_bytes, "max_record_bytes", 0, INT32_MAX)
    v.max_timestamp = v.max_timestamp_offset = v.least_timestamp_seen = NO_TIMESTAMP
    v.context = context_acquire(&table.rows)
    if v.context == NULL:
        raise MemoryError()
    try:
        return decide(&v, level, data)
    finally:
        context_release(v.context)
        free_rebuild(&v)
        pooled_free(&v.errors)
