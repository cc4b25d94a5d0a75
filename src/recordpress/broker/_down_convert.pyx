"""Batches of a log in an older magic, by the rules of Kafka's RecordsUtil.downConvert.

    control batch                        dropped
    zstd                                 error 76, for all of the batches that are converted together
    magic is old enough                  copied byte for byte
    else, and not compressed             as many messages as there are records from the offset on that was requested
    else                                 one wrapper with all records, also before that offset

Before 0.11 all records became one batch, under the codec of the first one (FileMessageSet.toMessageFormat).

No checksum is compared: a broker does not, either. An error has the code of the exception that Kafka raises there.
"""

from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy, memset

from recordpress._buffers cimport pooled_free
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_BATCH_LENGTH, RP_CODEC_ID, RP_CODEC_MAGIC, RP_CONTROL, RP_END,
    RP_ENTRY_PREFIX, RP_ENTRY_SIZE, RP_HEADERS_MAGIC, RP_INNER_COMPRESSED, RP_LOG_OVERHEAD, RP_MAGIC,
    RP_MAGIC_OFFSET, RP_MESSAGE_ATTRIBUTES_OFFSET, RP_MIN_ENTRY_SIZE, RP_NONE, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP,
    RP_PLUGGABLE, RP_RECORDS_COUNT, RP_RECORDS_LEFT, RP_SIZE_OFFSET, RP_TIMESTAMP_NEGATIVE, RP_VARINT, RP_VARINT_MAX,
    RP_WRAPPER_EMPTY, RP_WRAPPER_NULL, RP_WRAPPER_OFFSET, RP_ZSTD, rp_batch_codec, rp_batch_read, rp_cursor,
    rp_cursor_left, rp_cursor_of, rp_cursor_ok, rp_fail, rp_load_be32, rp_message_next,
    rp_read_varint, rp_record, rp_record_next, rp_source,
)
from recordpress.broker._error_codes cimport (
    CORRUPT_MESSAGE, INVALID_RECORD, UNKNOWN_SERVER_ERROR, UNSUPPORTED_COMPRESSION_TYPE,
)
from recordpress.broker._walk cimport has_small_entry
from recordpress.codecs.codec cimport LEVEL_DEFAULT, codec, row_of
from recordpress.codecs.table cimport kafka_codecs
from recordpress.record.change_magic cimport (
    LOST_EMPTY_BATCHES, LOST_MARKERS, convert_begin, drop_fields, count_lost_header,
)
from recordpress.record.decode cimport open_source
from recordpress.record.encode cimport NO_TIMESTAMP, header_size
from recordpress.record.open_batch cimport batch_add, batch_close, open_batch
from recordpress.record.recompress_batch cimport append


cdef int entry_at(down_conversion* d, int64_t position, rp_batch* b) noexcept nogil:
    cdef const uint8_t* p = d.data + position
    cdef int64_t size
    if d.size - position <= RP_ENTRY_PREFIX:
        return RP_END
    size = <int32_t>rp_load_be32(p + RP_SIZE_OFFSET)
    b.position = position
    b.size = size + RP_LOG_OVERHEAD
    b.magic = <int8_t>p[RP_MAGIC_OFFSET]
    if size < RP_MIN_ENTRY_SIZE:
        d.batch = b[0]
        rp_fail(&d.error, RP_ENTRY_SIZE, RP_SIZE_OFFSET, size, RP_MIN_ENTRY_SIZE)
        return CORRUPT_MESSAGE
    return RP_OK if b.size <= d.size - position else RP_END


cdef int down_convert(down_conversion* d, int64_t start, int64_t end) noexcept nogil:
    """Convert a range of batches. All are read before one is written, so a read error comes before a write error."""
    cdef down_counts before = d.counts
    cdef size_t out = d.out.size
    cdef int status, failed = RP_OK
    cdef rp_error error
    while start < end:
        status = entry_at(d, start, &d.batch)
        if status == RP_OK:
            status = change_entry_magic(d, d.data + start, &failed, &error)
        if status != RP_OK:
            break  # bytes that another thread changes may end here, too
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
    """Return the status of reading; `failed` and `error` are the first one of writing."""
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
        return RP_OK  # its key and value are not looked at
    if b.magic >= 2 and b.size < RP_BATCH_HEADER:
        rp_fail(&d.error, RP_BATCH_LENGTH, RP_SIZE_OFFSET, b.size - RP_LOG_OVERHEAD, RP_BATCH_HEADER - RP_LOG_OVERHEAD)
        return UNKNOWN_SERVER_ERROR
    return convert_records(d, entry, id, is_new, failed, error)


cdef int read_header(down_conversion* d, const uint8_t* entry) noexcept nogil:
    """Read a magic above 2 as 2, as a broker's log does, because no checksum covers the field; and a batch that is
    shorter than its header, because control batches are omitted before its length counts."""
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
    if id == RP_PLUGGABLE and d.batch.magic >= 2 and d.context.codecs != kafka_codecs():  # whichever its name is
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
    if opened != RP_OK:  # Java's stream fails where ours did, after the records before that
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
            return UNKNOWN_SERVER_ERROR  # a length that is too long is an argument error, a field that is so is not
    return INVALID_RECORD


cdef bint ran_out(rp_cursor at) noexcept nogil:
    """Return whether the record there continues after the bytes that were decoded."""
    cdef size_t left = rp_cursor_left(&at)
    cdef int64_t length = rp_read_varint(&at)
    return length > <int64_t>rp_cursor_left(&at) if rp_cursor_ok(&at) else left < RP_VARINT_MAX


cdef int write_record(down_conversion* d, int id, rp_record* row, bint first, rp_error* error) noexcept nogil:
    cdef int status = RP_OK
    if row.timestamp < NO_TIMESTAMP:  # even where magic 0 keeps no timestamp
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


# --- what Kafka raises ------------------------------------------------------------------------------------------------

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
