"""Records that a broker sends to an old client: as many bytes as it announced before it converted
all of them (KIP-283).

    first    batches are converted one by one, before the response begins, until one of them has a result
    announce the number of bytes that were read, or the size of the first result if that is larger
    send     the first result; then chunks of up to 128 KiB of batches, each converted as a whole
    filler   an entry that claims to be longer than the remaining bytes: every reader treats it as truncated

Source: org.apache.kafka.common.record: LazyDownConversionRecords, LazyDownConversionRecordsSend. Their two mistakes are
kept, because clients encounter them. The sender skips one batch for the first result, even if earlier batches had no
result: it then continues at the second batch, and sends the first result twice. If a chunk cannot be converted
because of zstd, one filler is sent; if its maximum of 128 KiB is not enough, the iterator fails, and the connection is
closed before the response is complete.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int32_t, int64_t, int8_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView, pooled, pooled_free, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_BATCH_LENGTH, RP_CODEC_ID, RP_CODEC_MAGIC, RP_CONTROL, RP_END,
    RP_ENTRY_PREFIX, RP_ENTRY_SIZE, RP_HEADERS_MAGIC, RP_INNER_COMPRESSED, RP_LOG_OVERHEAD, RP_MAGIC, RP_MAGIC_OFFSET,
    RP_MESSAGE_ATTRIBUTES_OFFSET, RP_MIN_ENTRY_SIZE, RP_NONE, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_PLUGGABLE,
    RP_RECORDS_COUNT, RP_RECORDS_LEFT, RP_SIZE_OFFSET, RP_TIMESTAMP_NEGATIVE, RP_VARINT, RP_VARINT_MAX,
    RP_WRAPPER_EMPTY, RP_WRAPPER_NULL, RP_WRAPPER_OFFSET, RP_ZSTD, rp_batch, rp_batch_codec, rp_batch_read, rp_cursor,
    rp_cursor_left, rp_cursor_of, rp_cursor_ok, rp_entry_size, rp_error, rp_fail, rp_message_next, rp_read_varint,
    rp_record, rp_record_next, rp_source, rp_store_be32, rp_store_be64,
)
from recordpress._status cimport error_of, place, place_at
from recordpress.broker._error_codes cimport (
    CORRUPT_MESSAGE, INVALID_RECORD, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE,
)
from recordpress.broker._walk cimport has_small_entry
from recordpress.codecs.codec cimport LEVEL_DEFAULT, append, codec, row_of
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.table cimport CodecTable, kafka_codecs, table_of
from recordpress.record.change_magic cimport (
    LOST_EMPTY_BATCHES, LOST_KINDS, LOST_MARKERS, convert_begin, converter, count_lost_header, drop_fields,
)
from recordpress.record.decode cimport open_source
from recordpress.record.encode cimport NO_TIMESTAMP, header_size
from recordpress.record.open_batch cimport batch_add, batch_close, open_batch

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import CorruptRecordError
from recordpress.record.change_magic import LOST

# --- batches in an older magic ---------------------------------------------------------------------------------------

# By the rules of Kafka's RecordsUtil.downConvert:
#
#     control batch                        dropped
#     zstd                                 error 76 for all batches that are converted together
#     magic is old enough                  copied byte for byte
#     otherwise, if not compressed         one message per record, starting at the requested offset
#     otherwise                            one wrapper with all records, also before that offset
#
# Before 0.11, all records became one batch with the codec of the first batch (FileMessageSet.toMessageFormat).
# As in a broker, no checksum is compared. An error has the code of the exception that Kafka raises.

cdef enum:
    # A result other than RP_OK and Kafka's error codes: out of memory, or the cap on decompressed bytes.
    DOWN_OURS = 1000


ctypedef struct down_counts:
    int64_t batches             # converted
    int64_t records
    int64_t copied              # batches whose magic was old enough
    int64_t control_batches     # dropped
    int64_t early_records       # dropped: before the requested offset
    int64_t temporary_bytes     # as in RecordValidationStats
    int64_t lost[LOST_KINDS]


# All fields are zero before the first call except `converter.magic`, `data`, `size`, `first_offset`, `cap`, `context`
# and the flags.
ctypedef struct down_conversion:
    converter converter
    const uint8_t* data
    int64_t size
    int64_t first_offset
    size_t cap
    bint zstd                   # the broker knows zstd
    bint drops_headers          # of records; otherwise headers are an error
    bint merges                 # all records become one batch with the codec of the first batch
    bint began                  # the merged batch was begun
    int64_t counted             # losses before this position in `data` were already counted
    codec_context* context
    pooled out
    down_counts counts
    rp_batch batch              # the current batch, for errors
    rp_error error


cdef int entry_at(down_conversion* d, int64_t position, rp_batch* b) noexcept nogil:
    """Read position, size and magic of the next complete entry as FileLogInputStream does, which ignores the magic.
    Return RP_OK, RP_END or CORRUPT_MESSAGE."""
    cdef const uint8_t* p = d.data + position
    cdef int64_t size
    if d.size - position <= RP_ENTRY_PREFIX:
        return RP_END
    b.position = position
    b.size = rp_entry_size(rp_cursor_of(p, <size_t>(d.size - position)))
    size = b.size - RP_LOG_OVERHEAD
    b.magic = <int8_t>p[RP_MAGIC_OFFSET]
    if size < RP_MIN_ENTRY_SIZE:
        d.batch = b[0]
        rp_fail(&d.error, RP_ENTRY_SIZE, RP_SIZE_OFFSET, size, RP_MIN_ENTRY_SIZE)
        return CORRUPT_MESSAGE
    return RP_OK if b.size <= d.size - position else RP_END


cdef int down_convert(down_conversion* d, int64_t start, int64_t end) noexcept nogil:
    """Append the entries that begin in [start, end) to d.out, as RecordsUtil.downConvert converts them; after an error
    d.out and d.counts are unchanged. All entries are read before any is written, so read errors come first."""
    cdef down_counts before = d.counts
    cdef size_t out = d.out.size
    cdef int status, failed = RP_OK
    cdef rp_error error
    while start < end:
        status = entry_at(d, start, &d.batch)
        if status == RP_OK:
            status = change_entry_magic(d, d.data + start, &failed, &error)
        if status != RP_OK:
            break  # also RP_END, if another thread has changed the bytes
        start += d.batch.size
    if status == RP_OK and failed == RP_OK and d.began:
        failed = end_batch(d, &error)
    if status == RP_OK and failed != RP_OK:
        status = failed
        d.error = error
    if status != RP_OK:
        d.counts = before
        d.out.size = out
    return status


cdef void down_conversion_free(down_conversion* d) noexcept nogil:
    pooled_free(&d.out)
    pooled_free(&d.converter.batch.records)


# --- one entry ------------------------------------------------------------------------------------------------------

cdef int change_entry_magic(down_conversion* d, const uint8_t* entry, int* failed, rp_error* error) noexcept nogil:
    """Return the status of reading. The first write error goes to `failed` and `error`."""
    cdef rp_batch* b = &d.batch
    cdef bint is_new = b.position >= d.counted
    cdef int id, status
    status = read_header(d, entry) if b.magic >= 2 else read_old_header(d, entry)
    if status != RP_OK:
        return status
    if b.magic >= 2 and b.attributes & RP_CONTROL:
        if is_new:
            d.counts.control_batches += 1
            d.counts.lost[LOST_MARKERS] += max(b.records_count, 0)
        return RP_OK
    id = rp_batch_codec(b)
    status = check_codec(d, id)
    if status != RP_OK:
        return status
    if b.magic <= d.converter.magic and not d.merges:
        d.counts.copied += 1
        d.counts.temporary_bytes += b.size
        return RP_OK if failed[0] or append(&d.out, entry, <size_t>b.size, &d.error) == RP_OK else DOWN_OURS
    if b.magic < 2 and id == RP_NONE and b.base_offset < d.first_offset:
        d.counts.early_records += is_new
        return RP_OK  # its key and value are not read
    if b.magic >= 2 and b.size < RP_BATCH_HEADER:
        rp_fail(&d.error, RP_BATCH_LENGTH, RP_SIZE_OFFSET, b.size - RP_LOG_OVERHEAD, RP_BATCH_HEADER - RP_LOG_OVERHEAD)
        return UNKNOWN_SERVER_ERROR
    return convert_records(d, entry, id, is_new, failed, error)


cdef int read_header(down_conversion* d, const uint8_t* entry) noexcept nogil:
    """Read a header: a magic above 2 counts as 2, as in a broker's log, because no checksum covers it; a batch may be
    shorter than its header, because control batches are omitted before their length is checked."""
    cdef uint8_t[RP_BATCH_HEADER] header
    cdef rp_batch b = d.batch
    memset(header, 0, RP_BATCH_HEADER)
    memcpy(header, entry, <size_t>min(b.size, <int64_t>RP_BATCH_HEADER))
    header[RP_MAGIC_OFFSET] = 2
    rp_batch_read(header, RP_BATCH_HEADER, b.position, &d.batch, &d.error)
    d.batch.size = b.size
    return RP_OK


cdef int read_old_header(down_conversion* d, const uint8_t* entry) noexcept nogil:
    if d.batch.magic < 0:  # LegacyRecord.headerSize
        rp_fail(&d.error, RP_MAGIC, RP_MAGIC_OFFSET, d.batch.magic, 2)
        return UNKNOWN_SERVER_ERROR
    if rp_batch_read(entry, d.batch.size, d.batch.position, &d.batch, &d.error) != RP_OK:
        return UNKNOWN_SERVER_ERROR
    return RP_OK


cdef int check_codec(down_conversion* d, int id) noexcept nogil:
    """Reject zstd and plug-ins, which are never converted, even if the batch could be copied."""
    cdef const codec* row = row_of(d.context.codecs, id)
    cdef int at = RP_ATTRIBUTES_OFFSET if d.batch.magic >= 2 else RP_MESSAGE_ATTRIBUTES_OFFSET
    if id == RP_PLUGGABLE and d.batch.magic >= 2 and d.context.codecs != kafka_codecs():  # under any name
        rp_fail(&d.error, RP_CODEC_MAGIC, at, d.converter.magic, 2)
        return UNSUPPORTED_COMPRESSION_TYPE
    if row == NULL or id == RP_ZSTD and not d.zstd:
        rp_fail(&d.error, RP_CODEC_ID, at, id, 0)
        return UNKNOWN_SERVER_ERROR
    if row.least_magic > d.converter.magic:
        rp_fail(&d.error, RP_CODEC_MAGIC, at, d.converter.magic, row.least_magic)
        return UNSUPPORTED_COMPRESSION_TYPE
    return RP_OK


# --- its records ----------------------------------------------------------------------------------------------------

cdef int convert_records(down_conversion* d, const uint8_t* entry, int id, bint is_new, int* failed,
                         rp_error* error) noexcept nogil:
    cdef rp_source source
    cdef rp_cursor cursor, at
    cdef rp_error codec_error
    cdef rp_record row
    cdef rp_batch message
    cdef int64_t kept = 0
    cdef int32_t i
    cdef int status, opened
    cdef bint is_v2 = d.batch.magic == 2
    memset(d.converter.lost, 0, sizeof(d.converter.lost))
    d.context.scratch.size = 0
    opened = open_source(d.context, entry, &d.batch, entry + d.batch.size, &d.context.scratch, d.cap, is_v2, &source,
                         &d.error)
    if opened != RP_OK and not (is_v2 and is_of_codec(opened)):
        return code_of_open(d, entry, opened)
    codec_error = d.error
    cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    for i in range(source.count):
        at = cursor
        status = next_record(d, &source, &cursor, i, &message, &row)
        if status == RP_END:
            break
        if status != RP_OK:
            if opened != RP_OK and ran_out(at):
                break
            return status
        if id == RP_NONE and row.offset < d.first_offset:
            d.counts.early_records += is_new
            continue
        if failed[0] == RP_OK:
            failed[0] = write_record(d, id, &row, kept == 0 and not d.began, error)
        kept += 1
    if opened != RP_OK:  # Java's stream fails where ours did, after the preceding records
        d.error = codec_error
        return UNKNOWN_SERVER_ERROR
    if is_v2 and cursor.p != cursor.end:
        rp_fail(&d.error, RP_RECORDS_LEFT, -1, cursor.end - cursor.p, source.count)
        return INVALID_RECORD
    if is_new:
        count_lost(d, &source, kept)
    if kept and failed[0] == RP_OK:
        count_batch(d, kept)
        if not d.merges:
            failed[0] = end_batch(d, error)
    return RP_OK


cdef int next_record(down_conversion* d, const rp_source* source, rp_cursor* cursor, int32_t i, rp_batch* message,
                     rp_record* row) noexcept nogil:
    cdef rp_cursor at = cursor[0]
    cdef int status
    if d.batch.magic < 2:
        status = rp_message_next(source, cursor, message, row, &d.error)
        return status if status == RP_OK or status == RP_END else code_of_message(d, status, message)
    status = rp_record_next(source, cursor, i, row, &d.error)
    if status == RP_OK:
        return RP_OK
    if status == RP_VARINT and rp_batch_codec(&d.batch) == RP_NONE and rp_cursor_left(&at) >= RP_VARINT_MAX:
        rp_read_varint(&at)
        if not rp_cursor_ok(&at):
            return UNKNOWN_SERVER_ERROR  # an overlong length is an argument error, an overlong field is not
    return INVALID_RECORD


cdef bint ran_out(rp_cursor at) noexcept nogil:
    """Return whether the record at the cursor continues beyond the decoded bytes."""
    cdef size_t left = rp_cursor_left(&at)
    cdef int64_t length = rp_read_varint(&at)
    return length > <int64_t>rp_cursor_left(&at) if rp_cursor_ok(&at) else left < RP_VARINT_MAX


cdef int write_record(down_conversion* d, int id, rp_record* row, bint first, rp_error* error) noexcept nogil:
    cdef int status = RP_OK
    if row.timestamp < NO_TIMESTAMP:  # even if magic 0 does not keep the timestamp
        status = rp_fail(error, RP_TIMESTAMP_NEGATIVE, -1, row.timestamp, 0)
    elif row.header_count and not d.drops_headers:
        status = rp_fail(error, RP_HEADERS_MAGIC, -1, d.converter.magic, 0)
    if status == RP_OK:
        drop_fields(&d.converter, &d.batch, row)
        if first:
            status = convert_begin(&d.converter, row, d.context, id, LEVEL_DEFAULT, error)
            d.began = d.merges
    if status == RP_OK:
        status = batch_add(&d.converter.batch, row, error)
    if status == RP_OK:
        return RP_OK
    return DOWN_OURS if status == RP_NO_MEMORY else UNKNOWN_SERVER_ERROR


cdef void count_lost(down_conversion* d, const rp_source* source, int64_t kept) noexcept nogil:
    cdef int kind
    count_lost_header(&d.converter, &d.batch, kept)
    d.counts.lost[LOST_EMPTY_BATCHES] += source.count == 0
    for kind in range(LOST_KINDS):
        d.counts.lost[kind] += d.converter.lost[kind]


cdef void count_batch(down_conversion* d, int64_t kept) noexcept nogil:
    d.counts.batches += 1
    d.counts.records += kept
    d.counts.temporary_bytes += d.batch.size


cdef int end_batch(down_conversion* d, rp_error* error) noexcept nogil:
    cdef const open_batch* b = &d.converter.batch
    cdef size_t uncompressed = header_size(&b.encoder.options) + b.records.size
    d.counts.temporary_bytes += <int64_t>uncompressed
    return RP_OK if batch_close(b, d.context, &d.out, error) == RP_OK else DOWN_OURS


# --- errors that Kafka raises -----------------------------------------------------------------------------------------

cdef bint is_of_codec(int status) noexcept nogil:
    return status not in (RP_NO_MEMORY, RP_OUTPUT_CAP, RP_RECORDS_COUNT, RP_CODEC_ID)


cdef int code_of_open(down_conversion* d, const uint8_t* entry, int status) noexcept nogil:
    if status == RP_NO_MEMORY or status == RP_OUTPUT_CAP:
        return DOWN_OURS
    if status in (RP_RECORDS_COUNT, RP_WRAPPER_NULL, RP_WRAPPER_EMPTY, RP_WRAPPER_OFFSET):
        return INVALID_RECORD
    if status == RP_ENTRY_SIZE or d.batch.magic < 2 and has_small_entry(d.context, &d.batch, entry, d.cap):
        return CORRUPT_MESSAGE
    return UNKNOWN_SERVER_ERROR


cdef int code_of_message(const down_conversion* d, int status, const rp_batch* message) noexcept nogil:
    if status == RP_INNER_COMPRESSED and row_of(d.context.codecs, rp_batch_codec(message)) != NULL:
        return INVALID_RECORD
    return UNKNOWN_SERVER_ERROR


cdef enum:
    MAX_READ_SIZE = 128 << 10               # LazyDownConversionRecordsSend
    MIN_OVERFLOW_MESSAGE_LENGTH = RP_LOG_OVERHEAD


cdef int last_entry(object data, int magic, int64_t* end) except -1:
    """Return RP_OK and the position of the first entry above `magic`; RP_END and the end if there is no such entry."""
    cdef InputView view = InputView(data)
    cdef down_conversion d
    cdef rp_batch b
    cdef place at
    cdef int status
    memset(&d, 0, sizeof(down_conversion))
    d.data, d.size = view.data, view.size
    end[0] = 0
    with nogil:
        while True:
            status = entry_at(&d, end[0], &b)
            if status != RP_OK or b.magic > magic:
                break
            end[0] += b.size
    if status == RP_OK or status == RP_END:
        return status
    at = place_at(b.position)
    raise error_of(&d.error, &at)


def holds_newer(data, magic):
    """Return whether an entry is newer than the magic that a client knows (AbstractRecords.hasCompatibleMagic)."""
    cdef int64_t end
    return last_entry(data, magic, &end) == RP_OK


def cut_bytes_of(data):
    """Return the number of bytes of an incomplete last entry."""
    cdef InputView view = InputView(data)
    cdef int64_t end = 0
    try:
        last_entry(data, 127, &end)
    except CorruptRecordError:
        return 0  # a reader of the data reports the damage
    return view.size - end


cdef class DownConversion:
    """Converted response to one fetch, computed when the object is created."""

    cdef down_conversion conversion
    cdef bint helpful
    cdef bint keeps_unconverted
    cdef int64_t position           # of the next entry
    cdef readonly int error_code
    cdef readonly object cause
    cdef readonly bytes records
    cdef readonly int64_t size
    cdef readonly bint closed
    cdef readonly bint hidden
    cdef readonly int64_t repeated_batches
    cdef readonly int64_t filler_bytes
    cdef readonly int64_t cut_bytes

    def __cinit__(self):
        memset(&self.conversion, 0, sizeof(down_conversion))

    def __dealloc__(self):
        down_conversion_free(&self.conversion)

    def __init__(self, data, magic, first_offset, *, conversion="lazy", keeps_unconverted=True, helpful=False,
                 zstd=True, drops_headers=True, codecs=None, max_decompressed_bytes=DEFAULT_MAX_SIZE):
        cdef CodecTable table = table_of(codecs)
        cdef InputView view = InputView(data)
        cdef bint lazily = conversion == "lazy"
        cdef int status
        self.helpful = helpful
        self.conversion.converter.magic = <int>integer_of(magic, "magic", 0, 1)
        self.conversion.first_offset = integer_of(first_offset, "first_offset", INT64_MIN, INT64_MAX)
        self.conversion.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
        self.keeps_unconverted = keeps_unconverted
        self.conversion.zstd = zstd
        self.conversion.drops_headers = drops_headers
        self.conversion.merges = conversion == "merged"
        self.conversion.data, self.conversion.size = view.data, view.size
        self.conversion.context = context_acquire(&table.rows)
        if self.conversion.context == NULL:
            raise MemoryError
        try:
            with nogil:
                status = self.convert_lazily() if lazily else self.convert_all()
        finally:
            context_release(self.conversion.context)
            self.conversion.context = NULL
            self.conversion.data, self.conversion.size = NULL, 0
        self.take(status)
        down_conversion_free(&self.conversion)

    cdef int take(self, int status) except -1:
        cdef down_conversion* d = &self.conversion
        cdef place at
        if status != RP_OK or self.hidden:
            at = place_at(d.batch.position)
            self.cause = error_of(&d.error, &at)
            if status == DOWN_OURS:
                raise self.cause
            if not self.closed and not self.hidden:
                self.error_code, self.size = status, 0
        if self.closed or self.error_code:
            d.out.size = 0
            self.filler_bytes = self.cut_bytes = 0
        self.records = PyBytes_FromStringAndSize(<char*>d.out.data, <Py_ssize_t>d.out.size)
        return 0

    @property
    def batches(self):
        return self.conversion.counts.batches

    @property
    def converted_records(self):
        return self.conversion.counts.records

    @property
    def control_batches(self):
        return self.conversion.counts.control_batches

    @property
    def early_records(self):
        return self.conversion.counts.early_records

    @property
    def temporary_bytes(self):
        return self.conversion.counts.temporary_bytes

    @property
    def lost(self):
        counted = {name: self.conversion.counts.lost[i] for i, name in enumerate(LOST)}
        return {name: count for name, count in counted.items() if count}

    # --- before Kafka 2.0 -----------------------------------------------------------------------------------------

    cdef int convert_all(self) noexcept nogil:
        cdef down_conversion* d = &self.conversion
        cdef int status = self.pass_chunk(NULL, INT64_MAX)
        if status == RP_OK:
            status = down_convert(d, 0, self.position)
        if status == RP_END or status == RP_OK and self.keeps_unconverted and d.counts.records == 0:
            return self.leave()
        self.size = <int64_t>d.out.size
        return status

    cdef int leave(self) noexcept nogil:
        """Return the bytes that were read, unchanged."""
        cdef down_conversion* d = &self.conversion
        d.out.size = 0
        self.size = d.size
        return RP_OK if append(&d.out, d.data, <size_t>d.size, &d.error) == RP_OK else DOWN_OURS

    # --- from Kafka 2.0 on ----------------------------------------------------------------------------------------

    cdef int convert_lazily(self) noexcept nogil:
        cdef down_conversion* d = &self.conversion
        cdef int64_t after_first = 0
        cdef int status = self.next_result(0, &after_first)
        if status == RP_END:
            self.size = MIN_OVERFLOW_MESSAGE_LENGTH if self.position else 0
            return self.fill()
        if status != RP_OK:
            return status
        self.size = max(d.size, <int64_t>d.out.size)
        d.counted = self.position
        if not self.helpful:
            self.position = after_first
        return self.send()

    cdef int send(self) noexcept nogil:
        cdef down_conversion* d = &self.conversion
        cdef int64_t start = 0, ignored
        cdef int status
        while <int64_t>d.out.size < self.size:
            start = <int64_t>d.out.size
            status = self.next_result(MAX_READ_SIZE, &ignored)
            if status == RP_END:
                return self.fill()
            if status == UNSUPPORTED_COMPRESSION_TYPE and (self.helpful or self.size - start <= MAX_READ_SIZE):
                self.hidden = True
                return self.fill()
            if status != RP_OK:
                self.closed = status != DOWN_OURS
                return status
        if <int64_t>d.out.size > self.size:
            self.cut(start)
        return RP_OK

    cdef int next_result(self, int64_t most, int64_t* after_first) noexcept nogil:
        """Convert chunk by chunk until a chunk has a result."""
        cdef down_conversion* d = &self.conversion
        cdef size_t before = d.out.size
        cdef int64_t start
        cdef int status
        while d.out.size == before:
            start = self.position
            status = self.pass_chunk(after_first if start == 0 else NULL, most)
            if status == RP_OK:
                status = down_convert(d, start, self.position)
            if status != RP_OK:
                return status
            self.count_repeated(start)
        return RP_OK

    cdef int pass_chunk(self, int64_t* after_first, int64_t most) noexcept nogil:
        """Pass at most `most` bytes of entries, but at least one entry; return RP_END at the end of the set, or the
        error in the next header."""
        cdef rp_batch b
        cdef int64_t start = self.position
        cdef int status
        while True:
            status = entry_at(&self.conversion, self.position, &b)
            if status == RP_END:
                return RP_OK if self.position > start else RP_END
            if status != RP_OK:
                return status
            if self.position > start and self.position - start + b.size > most:
                return RP_OK
            self.position += b.size
            if after_first != NULL and start == 0:
                after_first[0] = self.position

    cdef void count_repeated(self, int64_t start) noexcept nogil:
        """Count the batch that gave the first result, if the chunk sends it again."""
        cdef down_conversion* d = &self.conversion
        cdef rp_batch b
        while start < d.counted and entry_at(d, start, &b) == RP_OK:
            start += b.size
            self.repeated_batches += start == d.counted

    cdef void cut(self, int64_t start) noexcept nogil:
        """Truncate the result that begins at `start` to the size of the response."""
        cdef down_conversion* d = &self.conversion
        cdef down_conversion sent
        cdef rp_batch b
        memset(&sent, 0, sizeof(sent))
        sent.data, sent.size = d.out.data, self.size
        while entry_at(&sent, start, &b) == RP_OK:
            start += b.size
        self.cut_bytes = self.size - start
        d.out.size = <size_t>self.size

    cdef int fill(self) noexcept nogil:
        """Append fillers, each of which claims to be longer than the remaining bytes."""
        cdef pooled* out = &self.conversion.out
        cdef int64_t left = self.size - <int64_t>out.size, filler
        cdef size_t room = <size_t>left + MIN_OVERFLOW_MESSAGE_LENGTH
        if left and pooled_reserve_more(out, room, &self.conversion.error) != RP_OK:
            return DOWN_OURS
        self.filler_bytes = left
        while left > 0:
            filler = max(<int64_t>MIN_OVERFLOW_MESSAGE_LENGTH, min(left + 1, <int64_t>MAX_READ_SIZE))
            memset(out.data + out.size, 0, <size_t>max(min(filler, left), <int64_t>MIN_OVERFLOW_MESSAGE_LENGTH))
            rp_store_be64(out.data + out.size, <uint64_t>-1)
            rp_store_be32(out.data + out.size + 8, <uint64_t>max(left + 1, <int64_t>RP_BATCH_HEADER))
            filler = min(filler, left)
            out.size += <size_t>filler
            left -= filler
        return RP_OK
