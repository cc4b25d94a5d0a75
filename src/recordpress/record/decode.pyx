"""Find the records of an entry of a record set: checksum, payload, decompression, base offset. `encode` does the
reverse."""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from recordpress._buffers cimport PADDING, pooled
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_CODEC_ID, RP_CRC, RP_CRC_OFFSET, RP_CUT_ENTRY, RP_END, RP_ENTRY_SIZE,
    RP_IN_PAYLOAD, RP_IN_RECORDS, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, RP_MESSAGE_ATTRIBUTES_OFFSET,
    RP_MESSAGE_CRC_OFFSET, RP_MIN_ENTRY_SIZE, RP_NONE, RP_OK, RP_PLUGGABLE, RP_PLUGIN_NAME_OFFSET, RP_PLUGIN_UNKNOWN,
    RP_RECORDS_COUNT, RP_RECORDS_MISSING, RP_RECORD_LENGTH, RP_WRAPPER_CODEC, RP_WRAPPER_EMPTY, RP_WRAPPER_NULL,
    RP_WRAPPER_OFFSET, rp_batch, rp_batch_codec, rp_batch_next, rp_cursor, rp_cursor_left, rp_cursor_of, rp_cursor_ok,
    rp_entry_size, rp_error, rp_fail, rp_in_frame, rp_message_next, rp_message_read, rp_plugin_name, rp_read_be64,
    rp_read_bytes, rp_read_varint, rp_record, rp_record_next, rp_source, rp_source_fail,
)
from recordpress._status cimport note_cause
from recordpress.checksum cimport crc32_update, crc32c_update
from recordpress.codecs.codec cimport codec as codec_row, codec_at, codec_table, row_of
from recordpress.codecs.context cimport codec_context, decompress_payload, decompress_prefix

cdef int check_crc(const uint8_t* entry, const rp_batch* batch, rp_error* err) noexcept nogil:
    cdef int64_t begin = checked_from(batch)  # the header was read: the entry is longer
    return compare_crc(batch, crc_update(0, batch, entry + begin, batch.size - begin), err)


cdef int64_t checked_from(const rp_batch* batch) noexcept nogil:
    return RP_ATTRIBUTES_OFFSET if batch.magic == 2 else RP_MESSAGE_CRC_OFFSET + 4


cdef uint32_t crc_update(uint32_t crc, const rp_batch* batch, const uint8_t* data, int64_t size) noexcept nogil:
    return crc32c_update(crc, data, <size_t>size) if batch.magic == 2 else crc32_update(crc, data, <size_t>size)


cdef int compare_crc(const rp_batch* batch, uint32_t computed, rp_error* err) noexcept nogil:
    cdef int64_t where = RP_CRC_OFFSET if batch.magic == 2 else RP_MESSAGE_CRC_OFFSET
    return RP_OK if computed == batch.crc else rp_fail(err, RP_CRC, where, batch.crc, computed)


cdef int next_whole(const uint8_t* data, int64_t size, int64_t position, rp_batch* batch,
                    rp_error* err) noexcept nogil:
    cdef int status
    if position == size:
        return RP_END
    batch.position = position  # for an error of the header
    batch.base_offset = -1
    status = rp_batch_next(data, size, position, INT32_MAX, batch, err)
    return status if status != RP_END else rp_fail(err, RP_CUT_ENTRY, 0, size - position, 0)


cdef int check_header_checksum(const codec_table* codecs, const uint8_t* entry, const rp_batch* batch,
                               rp_error* err) noexcept nogil:
    cdef const codec_row* row = row_of(codecs, codec_at(codecs, entry, batch))
    cdef const uint8_t* payload = entry + RP_BATCH_HEADER
    cdef size_t size = <size_t>batch.size - RP_BATCH_HEADER
    cdef rp_record wrapper
    cdef rp_batch ignored
    cdef int status
    if batch.magic == 0 or row == NULL or row.header_checksum_status == NULL:
        return RP_OK
    if batch.magic == 1:
        if rp_message_read(entry, batch.size, 0, &ignored, &wrapper, err) != RP_OK or wrapper.value.data == NULL:
            return RP_OK
        payload, size = wrapper.value.data, <size_t>wrapper.value.size
    status = row.header_checksum_status(payload, size, err)
    if status != RP_OK:
        rp_in_frame(err, RP_IN_PAYLOAD, payload - entry)
    return status


cdef int check_message_crc(const uint8_t* entry, const rp_batch* message, rp_error* err) noexcept nogil:
    """Check a v0/v1 message's checksum, regardless of its magic inside a wrapper."""
    cdef size_t covered = RP_MESSAGE_CRC_OFFSET + 4
    cdef uint32_t computed = crc32_update(0, entry + covered, <size_t>message.size - covered)
    return RP_OK if computed == message.crc else rp_fail(err, RP_CRC, RP_MESSAGE_CRC_OFFSET, message.crc, computed)


cdef int check_inner_crcs(const rp_source* source, rp_error* err) noexcept nogil:
    """Check the checksums of a wrapper's inner messages; base_of_inner has checked their sizes."""
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef const uint8_t* at
    cdef rp_batch inner
    cdef rp_record ignored
    cdef int status
    for _ in range(source.count):
        at = cursor.p
        status = rp_message_next(source, &cursor, &inner, &ignored, err)
        if status != RP_OK:
            return RP_OK if status == RP_END else status
        if check_message_crc(at, &inner, err) != RP_OK:
            return rp_source_fail(source, at, err)
    return RP_OK


cdef int open_source(codec_context* context, const uint8_t* entry, const rp_batch* batch, const uint8_t* readable,
                     pooled* scratch, size_t cap, bint prefix, rp_source* source, rp_error* err) noexcept nogil:
    memset(source, 0, sizeof(rp_source))
    source.frame = RP_IN_PAYLOAD
    source.readable = readable
    source.base_sequence = batch.base_sequence
    source.base_timestamp = batch.base_timestamp
    source.append_time = batch.max_timestamp
    source.log_append_time = batch.magic > 0 and (batch.attributes & RP_LOG_APPEND_TIME) != 0
    if batch.magic < 2:
        return open_messages(context, entry, batch, scratch, cap, source, err)

    source.base_offset = batch.base_offset
    source.start = entry + RP_BATCH_HEADER
    source.payload = RP_BATCH_HEADER
    source.end = entry + batch.size
    source.count = batch.records_count
    cdef int codec = codec_at(context.codecs, entry, batch)
    if batch.records_count == 0:
        source.end = source.start
        return RP_OK
    if row_of(context.codecs, codec) == NULL:
        return refuse_codec(context.codecs, entry, batch, err)
    if batch.records_count < 0:
        return rp_fail(err, RP_RECORDS_COUNT, RP_BATCH_HEADER - 4, batch.records_count, 0)
    if codec == RP_NONE:
        return RP_OK
    return decompress(context, codec, batch.magic, prefix, scratch, cap, source, err)


cdef int refuse_codec(const codec_table* codecs, const uint8_t* entry, const rp_batch* batch,
                      rp_error* err) noexcept nogil:
    """Set the error of a batch whose codec is unknown: an unassigned id, or the name of a plug-in. For an impossible
    name, a reader without plug-ins reports Kafka's error: an unknown id."""
    cdef const uint8_t* name = NULL
    cdef int length
    if rp_batch_codec(batch) != RP_PLUGGABLE:
        return rp_fail(err, RP_CODEC_ID, RP_ATTRIBUTES_OFFSET, rp_batch_codec(batch), 0)
    if rp_plugin_name(entry, batch.size, &name, &length, err) != RP_OK:
        return err.status if codecs.n_plugins else rp_fail(err, RP_CODEC_ID, RP_ATTRIBUTES_OFFSET, RP_PLUGGABLE, 0)
    with gil:
        return rp_fail(err, RP_PLUGIN_UNKNOWN, RP_PLUGIN_NAME_OFFSET + 1,
                       note_cause(None, name[:length].decode("ascii")), 0)


cdef int refuse_early(codec_context* context, const uint8_t* entry, int64_t there, const rp_batch* batch,
                      rp_error* err) noexcept nogil:
    cdef int64_t room = batch.size - RP_BATCH_HEADER, length
    cdef rp_source source
    cdef rp_cursor cursor
    cdef rp_record first
    cdef int codec = rp_batch_codec(batch)
    if batch.magic != 2 or batch.records_count == 0 or codec == RP_PLUGGABLE:  # its name may not be read yet
        return RP_OK
    if batch.records_count > 0 and codec and row_of(context.codecs, codec) != NULL:
        return RP_OK  # only decompression shows an error
    if open_source(context, entry, batch, entry + there, &context.scratch, 0, False, &source, err) != RP_OK:
        return err.status
    if batch.records_count > room // SMALLEST_RECORD:
        rp_fail(err, RP_RECORDS_MISSING, 0, room // SMALLEST_RECORD, batch.records_count)
        return rp_source_fail(&source, source.start, err)
    cursor = rp_cursor_of(source.start, <size_t>(there - RP_BATCH_HEADER))
    length = rp_read_varint(&cursor)
    if not rp_cursor_ok(&cursor):
        return RP_OK
    room = batch.size - (cursor.p - entry)
    if length < 0 or length > room:
        rp_fail(err, RP_RECORD_LENGTH, 0, length, room)
        return rp_source_fail(&source, source.start, err)
    if length > <int64_t>rp_cursor_left(&cursor):
        return RP_OK
    source.end = cursor.p + length
    cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    return rp_record_next(&source, &cursor, 0, &first, err)


cdef int decompress(codec_context* context, int codec, int magic, bint prefix, pooled* scratch, size_t cap,
                    rp_source* source, rp_error* err) noexcept nogil:
    """Replace the payload that source points to with its decompressed bytes at the end of `scratch`."""
    cdef const uint8_t* payload = source.start
    cdef size_t size = <size_t>(source.end - payload)
    cdef size_t before = scratch.size
    cdef int status
    if prefix:
        status = decompress_prefix(context, codec, magic, payload, size, scratch, cap, err)
    else:
        status = decompress_payload(context, codec, magic, payload, size, scratch, cap, err)
    if status != RP_OK:
        rp_in_frame(err, RP_IN_PAYLOAD, source.payload)
        if not prefix:
            return status
    source.start = scratch.data + before
    source.end = scratch.data + scratch.size
    source.readable = source.end + PADDING
    source.frame = RP_IN_RECORDS
    return status


cdef int open_messages(codec_context* context, const uint8_t* entry, const rp_batch* batch, pooled* scratch, size_t cap,
                       rp_source* source, rp_error* err) noexcept nogil:
    """Open messages: a plain v0/v1 message is its own set; a wrapper's value is the compressed set
    (DeepRecordsIterator)."""
    cdef int codec = rp_batch_codec(batch)
    source.start = entry
    source.end = entry + batch.size
    source.count = 1
    if codec == RP_NONE:
        return RP_OK
    if codec != RP_PLUGGABLE and row_of(context.codecs, codec) == NULL:
        return rp_fail(err, RP_CODEC_ID, RP_MESSAGE_ATTRIBUTES_OFFSET, codec, 0)
    if codec == RP_PLUGGABLE or row_of(context.codecs, codec).least_magic > batch.magic:
        return rp_fail(err, RP_WRAPPER_CODEC, RP_MESSAGE_ATTRIBUTES_OFFSET, codec, 0)
    cdef rp_record wrapper
    cdef rp_batch ignored
    cdef int status = rp_message_read(entry, batch.size, 0, &ignored, &wrapper, err)
    if status != RP_OK:
        return status
    if wrapper.value.data == NULL:
        return rp_fail(err, RP_WRAPPER_NULL, batch.size, 0, 0)
    source.start = wrapper.value.data
    source.end = wrapper.value.data + wrapper.value.size
    source.payload = wrapper.value.data - entry
    status = decompress(context, codec, batch.magic, False, scratch, cap, source, err)
    if status != RP_OK:
        return status
    return base_of_inner(batch, source, err)


cdef int base_of_inner(const rp_batch* batch, rp_source* source, rp_error* err) noexcept nogil:
    """Count the inner messages and find the number to add to their offsets: 0 for v0, and for v1 if the wrapper's
    offset is 0 (as some librdkafka versions write it); otherwise, the last message gets the wrapper's offset."""
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef const uint8_t* at
    cdef int64_t size, last = -1
    cdef int32_t count = 0
    while rp_cursor_left(&cursor) >= RP_LOG_OVERHEAD:
        at = cursor.p
        size = rp_entry_size(cursor)
        if size < RP_LOG_OVERHEAD + RP_MIN_ENTRY_SIZE:
            rp_fail(err, RP_ENTRY_SIZE, 8, size - RP_LOG_OVERHEAD, RP_MIN_ENTRY_SIZE)
            return rp_source_fail(source, at, err)
        if size > <int64_t>rp_cursor_left(&cursor):
            break  # a cut inner entry is dropped (DataLogInputStream)
        last = rp_read_be64(&cursor)
        rp_read_bytes(&cursor, <size_t>size - 8)
        count += 1
    source.count = count
    if count == 0:
        return rp_fail(err, RP_WRAPPER_EMPTY, -1, 0, 0)
    if batch.magic == 1 and batch.base_offset != 0:
        if batch.base_offset < last:
            return rp_fail(err, RP_WRAPPER_OFFSET, -1, batch.base_offset, last)
        source.base_offset = <int64_t>(<uint64_t>batch.base_offset - <uint64_t>last)  # untrusted bytes: it may wrap
    return RP_OK
