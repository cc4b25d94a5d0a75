"""Batches of a log in an older magic, by the rules of Kafka's RecordsUtil.downConvert.

    control batch                        dropped
    zstd                                 error 76, for all of the batches that are converted together
    magic is old enough                  copied byte for byte
    else, and not compressed             as many messages as there are records from the offset on that was asked for
    else                                 one wrapper with all records, those before that offset too

Before 0.11 all records became one batch, under the codec of the first one (FileMessageSet.toMessageFormat).

No checksum is compared: a broker does not, either. An error has the code of the exception that Kafka raises there.
"""

from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy, memset

from kpress._buffers cimport pooled, pooled_free
from kpress._c.wire cimport (
    KP_ATTRIBUTES_OFFSET, KP_BATCH_HEADER, KP_BATCH_LENGTH, KP_CODEC_ID, KP_CODEC_MAGIC, KP_CONTROL, KP_END,
    KP_ENTRY_PREFIX, KP_ENTRY_SIZE, KP_HEADERS_MAGIC, KP_INNER_COMPRESSED, KP_LOG_OVERHEAD, KP_MAGIC,
    KP_MAGIC_OFFSET, KP_MESSAGE_ATTRIBUTES_OFFSET, KP_MIN_ENTRY_SIZE, KP_NONE, KP_NO_MEMORY, KP_OK, KP_OUTPUT_CAP,
    KP_PLUGGABLE, KP_RECORDS_COUNT, KP_RECORDS_LEFT, KP_SIZE_OFFSET, KP_TIMESTAMP_NEGATIVE, KP_VARINT, KP_VARINT_MAX,
    KP_WRAPPER_EMPTY, KP_WRAPPER_NULL, KP_WRAPPER_OFFSET, KP_ZSTD, kp_batch_codec, kp_batch_read, kp_cursor,
    kp_cursor_left, kp_cursor_of, kp_cursor_ok, kp_entry_size, kp_fail, kp_load_be32, kp_message_next,
    kp_message_read, kp_read_bytes, kp_read_varint, kp_record, kp_record_next, kp_source,
)
from kpress.codecs.codec cimport LEVEL_DEFAULT, codec, row_of
from kpress.codecs.payload cimport decompress_prefix
from kpress.codecs.table cimport kafka_codecs
from kpress.record.convert cimport (
    LOST_EMPTY_BATCHES, LOST_MARKERS, convert_begin, convert_end, convert_record, lose_fields, lose_header,
)
from kpress.record.decode cimport open_source
from kpress.record.encode cimport NO_TIMESTAMP, header_size
from kpress.record.recode cimport append


cdef int entry_at(down_conversion* d, int64_t position, kp_batch* b) noexcept nogil:
    cdef const uint8_t* p = d.data + position
    cdef int64_t size
    if d.size - position <= KP_ENTRY_PREFIX:
        return KP_END
    size = <int32_t>kp_load_be32(p + KP_SIZE_OFFSET)
    b.position = position
    b.size = size + KP_LOG_OVERHEAD
    b.magic = <int8_t>p[KP_MAGIC_OFFSET]
    if size < KP_MIN_ENTRY_SIZE:
        d.batch = b[0]
        kp_fail(&d.error, KP_ENTRY_SIZE, KP_SIZE_OFFSET, size, KP_MIN_ENTRY_SIZE)
        return DOWN_CORRUPT_MESSAGE
    return KP_OK if b.size <= d.size - position else KP_END


cdef int down_convert(down_conversion* d, int64_t start, int64_t end) noexcept nogil:
    """All batches are read before one is written, so an error of reading comes before one of writing."""
    cdef down_counts before = d.counts
    cdef size_t out = d.out.size
    cdef int status, failed = KP_OK
    cdef kp_error error
    while start < end:
        status = entry_at(d, start, &d.batch)
        if status == KP_OK:
            status = convert_entry(d, d.data + start, &failed, &error)
        if status != KP_OK:
            break  # bytes that another thread changes may end here, too
        start += d.batch.size
    if status == KP_OK and failed == KP_OK and d.began:
        failed = end_batch(d, &error)
    if status == KP_OK and failed != KP_OK:
        status = failed
        d.error = error
    if status != KP_OK:
        d.counts = before
        d.out.size = out
    return status


cdef void down_conversion_free(down_conversion* d) noexcept nogil:
    pooled_free(&d.out)
    pooled_free(&d.converter.records)


# --- one entry ------------------------------------------------------------------------------------------------------

cdef int convert_entry(down_conversion* d, const uint8_t* entry, int* failed, kp_error* error) noexcept nogil:
    """The status of reading; `failed` and `error` are the first one of writing."""
    cdef kp_batch* b = &d.batch
    cdef bint is_new = b.position >= d.counted
    cdef int id, status
    status = read_header(d, entry) if b.magic >= 2 else read_old_header(d, entry)
    if status != KP_OK:
        return status
    if b.magic >= 2 and b.attributes & KP_CONTROL:
        if is_new:
            d.counts.control_batches += 1
            d.counts.lost[LOST_MARKERS] += max(b.records_count, 0)
        return KP_OK
    id = kp_batch_codec(b)
    status = check_codec(d, id)
    if status != KP_OK:
        return status
    if b.magic <= d.converter.magic and not d.merges:
        d.counts.copied += 1
        d.counts.temporary_bytes += b.size
        return KP_OK if failed[0] or append(&d.out, entry, <size_t>b.size, &d.error) == KP_OK else DOWN_OURS
    if b.magic < 2 and id == KP_NONE and b.base_offset < d.first_offset:
        d.counts.early_records += is_new
        return KP_OK  # its key and value are not looked at
    if b.magic >= 2 and b.size < KP_BATCH_HEADER:
        kp_fail(&d.error, KP_BATCH_LENGTH, KP_SIZE_OFFSET, b.size - KP_LOG_OVERHEAD, KP_BATCH_HEADER - KP_LOG_OVERHEAD)
        return DOWN_UNKNOWN_ERROR
    return convert_records(d, entry, id, is_new, failed, error)


cdef int read_header(down_conversion* d, const uint8_t* entry) noexcept nogil:
    """A magic above 2 is read as 2, as a broker's log reads it: no checksum covers the field. So is a batch that is
    shorter than its header: a control batch is left out before that counts."""
    cdef uint8_t[KP_BATCH_HEADER] header
    cdef kp_batch b = d.batch
    memset(header, 0, KP_BATCH_HEADER)
    memcpy(header, entry, <size_t>min(b.size, <int64_t>KP_BATCH_HEADER))
    header[KP_MAGIC_OFFSET] = 2
    kp_batch_read(header, KP_BATCH_HEADER, b.position, &d.batch, &d.error)
    d.batch.size = b.size
    return KP_OK


cdef int read_old_header(down_conversion* d, const uint8_t* entry) noexcept nogil:
    if d.batch.magic < 0:  # LegacyRecord.headerSize
        kp_fail(&d.error, KP_MAGIC, KP_MAGIC_OFFSET, d.batch.magic, 2)
        return DOWN_UNKNOWN_ERROR
    if kp_batch_read(entry, d.batch.size, d.batch.position, &d.batch, &d.error) != KP_OK:
        return DOWN_UNKNOWN_ERROR
    return KP_OK


cdef int check_codec(down_conversion* d, int id) noexcept nogil:
    """zstd and plug-ins are never converted, also where the batch could be copied."""
    cdef const codec* row = row_of(d.context.codecs, id)
    cdef int at = KP_ATTRIBUTES_OFFSET if d.batch.magic >= 2 else KP_MESSAGE_ATTRIBUTES_OFFSET
    if id == KP_PLUGGABLE and d.batch.magic >= 2 and d.context.codecs != kafka_codecs():  # whichever its name is
        kp_fail(&d.error, KP_CODEC_MAGIC, at, d.converter.magic, 2)
        return DOWN_UNSUPPORTED_CODEC
    if row == NULL or id == KP_ZSTD and not d.zstd:
        kp_fail(&d.error, KP_CODEC_ID, at, id, 0)
        return DOWN_UNKNOWN_ERROR
    if row.least_magic > d.converter.magic:
        kp_fail(&d.error, KP_CODEC_MAGIC, at, d.converter.magic, row.least_magic)
        return DOWN_UNSUPPORTED_CODEC
    return KP_OK


# --- its records ----------------------------------------------------------------------------------------------------

cdef int convert_records(down_conversion* d, const uint8_t* entry, int id, bint is_new, int* failed,
                         kp_error* error) noexcept nogil:
    cdef kp_source source
    cdef kp_cursor cursor, at
    cdef kp_error codec_error
    cdef kp_record row
    cdef kp_batch message
    cdef int64_t kept = 0
    cdef int32_t i
    cdef int status, opened
    cdef bint is_v2 = d.batch.magic == 2
    memset(d.converter.lost, 0, sizeof(d.converter.lost))
    d.context.scratch.size = 0
    opened = open_source(d.context, entry, &d.batch, entry + d.batch.size, &d.context.scratch, d.cap, is_v2, &source,
                         &d.error)
    if opened != KP_OK and not (is_v2 and is_of_codec(opened)):
        return code_of_open(d, entry, opened)
    codec_error = d.error
    cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    for i in range(source.count):
        at = cursor
        status = next_record(d, &source, &cursor, i, &message, &row)
        if status == KP_END:
            break
        if status != KP_OK:
            if opened != KP_OK and ran_out(at):
                break
            return status
        if id == KP_NONE and row.offset < d.first_offset:
            d.counts.early_records += is_new
            continue
        if failed[0] == KP_OK:
            failed[0] = write_record(d, id, &row, kept == 0 and not d.began, error)
        kept += 1
    if opened != KP_OK:  # Java's stream fails where ours did, after the records before that
        d.error = codec_error
        return DOWN_UNKNOWN_ERROR
    if is_v2 and cursor.p != cursor.end:
        kp_fail(&d.error, KP_RECORDS_LEFT, -1, cursor.end - cursor.p, source.count)
        return DOWN_INVALID_RECORD
    if is_new:
        count_lost(d, &source, kept)
    if kept and failed[0] == KP_OK:
        count_batch(d, kept)
        if not d.merges:
            failed[0] = end_batch(d, error)
    return KP_OK


cdef int next_record(down_conversion* d, const kp_source* source, kp_cursor* cursor, int32_t i, kp_batch* message,
                     kp_record* row) noexcept nogil:
    cdef kp_cursor at = cursor[0]
    cdef int status
    if d.batch.magic < 2:
        status = kp_message_next(source, cursor, message, row, &d.error)
        return status if status == KP_OK or status == KP_END else code_of_message(d, status, message)
    status = kp_record_next(source, cursor, i, row, &d.error)
    if status == KP_OK:
        return KP_OK
    if status == KP_VARINT and kp_batch_codec(&d.batch) == KP_NONE and kp_cursor_left(&at) >= KP_VARINT_MAX:
        kp_read_varint(&at)
        if not kp_cursor_ok(&at):
            return DOWN_UNKNOWN_ERROR  # a length that is too long is an argument error, a field that is so is not
    return DOWN_INVALID_RECORD


cdef bint ran_out(kp_cursor at) noexcept nogil:
    """Whether the record there goes on after the bytes that were decoded."""
    cdef size_t left = kp_cursor_left(&at)
    cdef int64_t length = kp_read_varint(&at)
    return length > <int64_t>kp_cursor_left(&at) if kp_cursor_ok(&at) else left < KP_VARINT_MAX


cdef int write_record(down_conversion* d, int id, kp_record* row, bint first, kp_error* error) noexcept nogil:
    cdef int status = KP_OK
    if row.timestamp < NO_TIMESTAMP:  # also of those that no magic 0 keeps
        status = kp_fail(error, KP_TIMESTAMP_NEGATIVE, -1, row.timestamp, 0)
    elif row.header_count and not d.drops_headers:
        status = kp_fail(error, KP_HEADERS_MAGIC, -1, d.converter.magic, 0)
    if status == KP_OK:
        lose_fields(&d.converter, &d.batch, row)
        if first:
            status = convert_begin(&d.converter, row, d.context, id, LEVEL_DEFAULT, error)
            d.began = d.merges
    if status == KP_OK:
        status = convert_record(&d.converter, row, error)
    if status == KP_OK:
        return KP_OK
    return DOWN_OURS if status == KP_NO_MEMORY else DOWN_UNKNOWN_ERROR


cdef void count_lost(down_conversion* d, const kp_source* source, int64_t kept) noexcept nogil:
    cdef int kind
    lose_header(&d.converter, &d.batch, kept)
    d.counts.lost[LOST_EMPTY_BATCHES] += source.count == 0
    for kind in range(LOST_KINDS):
        d.counts.lost[kind] += d.converter.lost[kind]


cdef void count_batch(down_conversion* d, int64_t kept) noexcept nogil:
    d.counts.batches += 1
    d.counts.records += kept
    d.counts.temporary_bytes += d.batch.size


cdef int end_batch(down_conversion* d, kp_error* error) noexcept nogil:
    cdef size_t uncompressed = header_size(&d.converter.encoder.options) + d.converter.records.size
    d.counts.temporary_bytes += <int64_t>uncompressed
    return KP_OK if convert_end(&d.converter, d.context, &d.out, error) == KP_OK else DOWN_OURS


# --- what Kafka raises ------------------------------------------------------------------------------------------------

cdef bint is_of_codec(int status) noexcept nogil:
    return status not in (KP_NO_MEMORY, KP_OUTPUT_CAP, KP_RECORDS_COUNT, KP_CODEC_ID)


cdef int code_of_open(down_conversion* d, const uint8_t* entry, int status) noexcept nogil:
    if status == KP_NO_MEMORY or status == KP_OUTPUT_CAP:
        return DOWN_OURS
    if status in (KP_RECORDS_COUNT, KP_WRAPPER_NULL, KP_WRAPPER_EMPTY, KP_WRAPPER_OFFSET):
        return DOWN_INVALID_RECORD
    if status == KP_ENTRY_SIZE or d.batch.magic < 2 and holds_wrong_size(d, entry):
        return DOWN_CORRUPT_MESSAGE
    return DOWN_UNKNOWN_ERROR


cdef bint holds_wrong_size(down_conversion* d, const uint8_t* entry) noexcept nogil:
    """Whether an impossible size comes before what is wrong with the payload of a wrapper."""
    cdef pooled* scratch = &d.context.scratch
    cdef kp_error ignored
    cdef kp_batch header
    cdef kp_record wrapper
    cdef kp_cursor cursor
    cdef int64_t size
    if kp_message_read(entry, d.batch.size, 0, &header, &wrapper, &ignored) != KP_OK or wrapper.value.data == NULL:
        return False
    scratch.size = 0
    decompress_prefix(d.context, kp_batch_codec(&d.batch), d.batch.magic, wrapper.value.data,
                      <size_t>wrapper.value.size, scratch, d.cap, &ignored)
    cursor = kp_cursor_of(scratch.data, scratch.size)
    while kp_cursor_left(&cursor) >= KP_LOG_OVERHEAD:
        size = kp_entry_size(cursor)
        if size < KP_LOG_OVERHEAD + KP_MIN_ENTRY_SIZE:
            return True
        kp_read_bytes(&cursor, <size_t>size)  # a failed cursor has nothing left
    return False


cdef int code_of_message(const down_conversion* d, int status, const kp_batch* message) noexcept nogil:
    if status == KP_INNER_COMPRESSED and row_of(d.context.codecs, kp_batch_codec(message)) != NULL:
        return DOWN_INVALID_RECORD
    return DOWN_UNKNOWN_ERROR
