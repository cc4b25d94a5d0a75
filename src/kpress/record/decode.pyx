"""From an entry of a record set to where its records lie: checksum, payload, decompression, base offset."""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from kpress._buffers cimport PADDING, pooled
from kpress._c.wire cimport (
    KP_ATTRIBUTES_OFFSET, KP_BATCH_HEADER, KP_CODEC_ID, KP_CRC, KP_CRC_OFFSET, KP_CUT_ENTRY, KP_END, KP_ENTRY_SIZE,
    KP_IN_PAYLOAD, KP_IN_RECORDS, KP_LOG_APPEND_TIME, KP_LOG_OVERHEAD, KP_MESSAGE_ATTRIBUTES_OFFSET,
    KP_MESSAGE_CRC_OFFSET, KP_MIN_ENTRY_SIZE, KP_NONE, KP_OK, KP_PLUGGABLE, KP_PLUGIN_NAME_OFFSET,
    KP_PLUGIN_UNKNOWN, KP_RECORD_LENGTH, KP_RECORDS_COUNT, KP_RECORDS_MISSING, KP_WRAPPER_CODEC, KP_WRAPPER_EMPTY,
    KP_WRAPPER_NULL, KP_WRAPPER_OFFSET, kp_batch, kp_batch_codec, kp_batch_next, kp_cursor, kp_cursor_left,
    kp_cursor_of, kp_cursor_ok, kp_entry_size, kp_error, kp_fail, kp_in_frame, kp_message_next, kp_message_read,
    kp_plugin_name, kp_read_be64, kp_read_bytes, kp_read_varint, kp_record, kp_record_next, kp_source,
    kp_source_fail,
)
from kpress._status cimport note_cause
from kpress.checksum cimport crc32_update, crc32c_update
from kpress.codecs.codec cimport codec as codec_row, codec_at, codec_table, row_of
from kpress.codecs.payload cimport decompress_payload, decompress_prefix
from kpress.codecs.context cimport codec_context


cdef int check_crc(const uint8_t* entry, const kp_batch* batch, kp_error* err) noexcept nogil:
    cdef int64_t begin = checked_from(batch)  # the header was read: the entry is longer
    return compare_crc(batch, crc_update(0, batch, entry + begin, batch.size - begin), err)


cdef int64_t checked_from(const kp_batch* batch) noexcept nogil:
    return KP_ATTRIBUTES_OFFSET if batch.magic == 2 else KP_MESSAGE_CRC_OFFSET + 4


cdef uint32_t crc_update(uint32_t crc, const kp_batch* batch, const uint8_t* data, int64_t size) noexcept nogil:
    return crc32c_update(crc, data, <size_t>size) if batch.magic == 2 else crc32_update(crc, data, <size_t>size)


cdef int compare_crc(const kp_batch* batch, uint32_t computed, kp_error* err) noexcept nogil:
    cdef int64_t where = KP_CRC_OFFSET if batch.magic == 2 else KP_MESSAGE_CRC_OFFSET
    return KP_OK if computed == batch.crc else kp_fail(err, KP_CRC, where, batch.crc, computed)


cdef int next_whole(const uint8_t* data, int64_t size, int64_t position, kp_batch* batch,
                    kp_error* err) noexcept nogil:
    cdef int status
    if position == size:
        return KP_END
    batch.position = position  # for an error of the header
    batch.base_offset = -1
    status = kp_batch_next(data, size, position, INT32_MAX, batch, err)
    return status if status != KP_END else kp_fail(err, KP_CUT_ENTRY, 0, size - position, 0)


cdef int check_overlooked(const codec_table* codecs, const uint8_t* entry, const kp_batch* batch,
                          kp_error* err) noexcept nogil:
    cdef const codec_row* row = row_of(codecs, codec_at(codecs, entry, batch))
    cdef const uint8_t* payload = entry + KP_BATCH_HEADER
    cdef size_t size = <size_t>batch.size - KP_BATCH_HEADER
    cdef kp_record wrapper
    cdef kp_batch ignored
    cdef int status
    if batch.magic == 0 or row == NULL or row.overlooked == NULL:
        return KP_OK
    if batch.magic == 1:
        if kp_message_read(entry, batch.size, 0, &ignored, &wrapper, err) != KP_OK or wrapper.value.data == NULL:
            return KP_OK
        payload, size = wrapper.value.data, <size_t>wrapper.value.size
    status = row.overlooked(payload, size, err)
    if status != KP_OK:
        kp_in_frame(err, KP_IN_PAYLOAD, payload - entry)
    return status


cdef int check_message_crc(const uint8_t* entry, const kp_batch* message, kp_error* err) noexcept nogil:
    """The same for a v0/v1 message, whatever its magic is inside a wrapper."""
    cdef size_t covered = KP_MESSAGE_CRC_OFFSET + 4
    cdef uint32_t computed = crc32_update(0, entry + covered, <size_t>message.size - covered)
    return KP_OK if computed == message.crc else kp_fail(err, KP_CRC, KP_MESSAGE_CRC_OFFSET, message.crc, computed)


cdef int check_inner_crcs(const kp_source* source, kp_error* err) noexcept nogil:
    """Inner messages of a wrapper carry checksums of their own; base_of_inner has checked their sizes."""
    cdef kp_cursor cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef const uint8_t* at
    cdef kp_batch inner
    cdef kp_record ignored
    cdef int status
    for _ in range(source.count):
        at = cursor.p
        status = kp_message_next(source, &cursor, &inner, &ignored, err)
        if status != KP_OK:
            return KP_OK if status == KP_END else status
        if check_message_crc(at, &inner, err) != KP_OK:
            return kp_source_fail(source, at, err)
    return KP_OK


cdef int open_source(codec_context* context, const uint8_t* entry, const kp_batch* batch, const uint8_t* readable,
                     pooled* scratch, size_t cap, bint prefix, kp_source* source, kp_error* err) noexcept nogil:
    memset(source, 0, sizeof(kp_source))
    source.frame = KP_IN_PAYLOAD
    source.readable = readable
    source.base_sequence = batch.base_sequence
    source.base_timestamp = batch.base_timestamp
    source.append_time = batch.max_timestamp
    source.log_append_time = batch.magic > 0 and (batch.attributes & KP_LOG_APPEND_TIME) != 0
    if batch.magic < 2:
        return open_messages(context, entry, batch, scratch, cap, source, err)

    source.base_offset = batch.base_offset
    source.start = entry + KP_BATCH_HEADER
    source.payload = KP_BATCH_HEADER
    source.end = entry + batch.size
    source.count = batch.records_count
    cdef int codec = codec_at(context.codecs, entry, batch)
    if batch.records_count == 0:
        source.end = source.start
        return KP_OK
    if row_of(context.codecs, codec) == NULL:
        return refuse_codec(context.codecs, entry, batch, err)
    if batch.records_count < 0:
        return kp_fail(err, KP_RECORDS_COUNT, KP_BATCH_HEADER - 4, batch.records_count, 0)
    if codec == KP_NONE:
        return KP_OK
    return decompress(context, codec, batch.magic, prefix, scratch, cap, source, err)


cdef int refuse_codec(const codec_table* codecs, const uint8_t* entry, const kp_batch* batch,
                      kp_error* err) noexcept nogil:
    """Why a batch has no codec: an id that is not assigned, or the name of a plug-in. A reader without any plug-in sees
    what Kafka sees where a name is impossible: an id that it does not know.
    """
    cdef const uint8_t* name = NULL
    cdef int length
    if kp_batch_codec(batch) != KP_PLUGGABLE:
        return kp_fail(err, KP_CODEC_ID, KP_ATTRIBUTES_OFFSET, kp_batch_codec(batch), 0)
    if kp_plugin_name(entry, batch.size, &name, &length, err) != KP_OK:
        return err.status if codecs.n_plugins else kp_fail(err, KP_CODEC_ID, KP_ATTRIBUTES_OFFSET, KP_PLUGGABLE, 0)
    with gil:
        return kp_fail(err, KP_PLUGIN_UNKNOWN, KP_PLUGIN_NAME_OFFSET + 1,
                       note_cause(None, name[:length].decode("ascii")), 0)


cdef int refuse_early(codec_context* context, const uint8_t* entry, int64_t there, const kp_batch* batch,
                      kp_error* err) noexcept nogil:
    cdef int64_t room = batch.size - KP_BATCH_HEADER, length
    cdef kp_source source
    cdef kp_cursor cursor
    cdef kp_record first
    cdef int codec = kp_batch_codec(batch)
    if batch.magic != 2 or batch.records_count == 0 or codec == KP_PLUGGABLE:  # its name may not be there yet
        return KP_OK
    if batch.records_count > 0 and codec and row_of(context.codecs, codec) != NULL:
        return KP_OK  # only decompressing it shows this
    if open_source(context, entry, batch, entry + there, &context.scratch, 0, False, &source, err) != KP_OK:
        return err.status
    if batch.records_count > room // SMALLEST_RECORD:
        kp_fail(err, KP_RECORDS_MISSING, 0, room // SMALLEST_RECORD, batch.records_count)
        return kp_source_fail(&source, source.start, err)
    cursor = kp_cursor_of(source.start, <size_t>(there - KP_BATCH_HEADER))
    length = kp_read_varint(&cursor)
    if not kp_cursor_ok(&cursor):
        return KP_OK
    room = batch.size - (cursor.p - entry)
    if length < 0 or length > room:
        kp_fail(err, KP_RECORD_LENGTH, 0, length, room)
        return kp_source_fail(&source, source.start, err)
    if length > <int64_t>kp_cursor_left(&cursor):
        return KP_OK
    source.end = cursor.p + length
    cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    return kp_record_next(&source, &cursor, 0, &first, err)


cdef int decompress(codec_context* context, int codec, int magic, bint prefix, pooled* scratch, size_t cap,
                    kp_source* source, kp_error* err) noexcept nogil:
    """Replace the payload that source points to with its decompressed bytes at the end of `scratch`."""
    cdef const uint8_t* payload = source.start
    cdef size_t size = <size_t>(source.end - payload)
    cdef size_t before = scratch.size
    cdef int status
    if prefix:
        status = decompress_prefix(context, codec, magic, payload, size, scratch, cap, err)
    else:
        status = decompress_payload(context, codec, magic, payload, size, scratch, cap, err)
    if status != KP_OK:
        kp_in_frame(err, KP_IN_PAYLOAD, source.payload)
        if not prefix:
            return status
    source.start = scratch.data + before
    source.end = scratch.data + scratch.size
    source.readable = source.end + PADDING
    source.frame = KP_IN_RECORDS
    return status


cdef int open_messages(codec_context* context, const uint8_t* entry, const kp_batch* batch, pooled* scratch, size_t cap,
                       kp_source* source, kp_error* err) noexcept nogil:
    """A plain v0/v1 message is its own set; a wrapper's value is the compressed set (DeepRecordsIterator)."""
    cdef int codec = kp_batch_codec(batch)
    source.start = entry
    source.end = entry + batch.size
    source.count = 1
    if codec == KP_NONE:
        return KP_OK
    if codec != KP_PLUGGABLE and row_of(context.codecs, codec) == NULL:
        return kp_fail(err, KP_CODEC_ID, KP_MESSAGE_ATTRIBUTES_OFFSET, codec, 0)
    if codec == KP_PLUGGABLE or row_of(context.codecs, codec).least_magic > batch.magic:
        return kp_fail(err, KP_WRAPPER_CODEC, KP_MESSAGE_ATTRIBUTES_OFFSET, codec, 0)
    cdef kp_record wrapper
    cdef kp_batch ignored
    cdef int status = kp_message_read(entry, batch.size, 0, &ignored, &wrapper, err)
    if status != KP_OK:
        return status
    if wrapper.value.data == NULL:
        return kp_fail(err, KP_WRAPPER_NULL, batch.size, 0, 0)
    source.start = wrapper.value.data
    source.end = wrapper.value.data + wrapper.value.size
    source.payload = wrapper.value.data - entry
    status = decompress(context, codec, batch.magic, False, scratch, cap, source, err)
    if status != KP_OK:
        return status
    return base_of_inner(batch, source, err)


cdef int base_of_inner(const kp_batch* batch, kp_source* source, kp_error* err) noexcept nogil:
    """Counts the inner messages and finds what to add to their offsets: v0 nothing; v1 nothing if the
    wrapper's offset is 0 (some librdkafka versions write that), else what makes the last one the wrapper's."""
    cdef kp_cursor cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef const uint8_t* at
    cdef int64_t size, last = -1
    cdef int32_t count = 0
    while kp_cursor_left(&cursor) >= KP_LOG_OVERHEAD:
        at = cursor.p
        size = kp_entry_size(cursor)
        if size < KP_LOG_OVERHEAD + KP_MIN_ENTRY_SIZE:
            kp_fail(err, KP_ENTRY_SIZE, 8, size - KP_LOG_OVERHEAD, KP_MIN_ENTRY_SIZE)
            return kp_source_fail(source, at, err)
        if size > <int64_t>kp_cursor_left(&cursor):
            break  # a cut inner entry is dropped (DataLogInputStream)
        last = kp_read_be64(&cursor)
        kp_read_bytes(&cursor, <size_t>size - 8)
        count += 1
    source.count = count
    if count == 0:
        return kp_fail(err, KP_WRAPPER_EMPTY, -1, 0, 0)
    if batch.magic == 1 and batch.base_offset != 0:
        if batch.base_offset < last:
            return kp_fail(err, KP_WRAPPER_OFFSET, -1, batch.base_offset, last)
        source.base_offset = <int64_t>(<uint64_t>batch.base_offset - <uint64_t>last)  # may wrap: bytes from outside
    return KP_OK
