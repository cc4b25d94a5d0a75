"""An entry of a record set with another codec; nothing else in it changes.

    v2 batch           header ─► kept but for batchLength, the codec bits and the CRC
                       payload ─► decompressed ─► compressed; no record is read or written
    v0/v1 wrapper      the same; under `none` its messages become entries of their own, as only a wrapper has a codec
    v0/v1 message      as it is: only wrappers carry a codec
    control, count 0   byte for byte, as brokers keep them
"""

from libc.stdint cimport INT32_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from kpress._buffers cimport pooled, pooled_reserve_more
from kpress._c.wire cimport (
    KP_ATTRIBUTES_OFFSET, KP_BATCH_HEADER, KP_CODEC_MAGIC, KP_CODEC_MASK, KP_CONTROL, KP_CRC_OFFSET, KP_END,
    KP_ENTRY_SIZE_MAX, KP_LOG_APPEND_TIME, KP_LOG_OVERHEAD, KP_MAGIC, KP_MESSAGE_ATTRIBUTES_OFFSET,
    KP_MESSAGE_CRC_OFFSET, KP_MESSAGE_TIMESTAMP_OFFSET, KP_NONE, KP_OK, KP_WRAPPER_NULL, kp_batch, kp_cursor,
    kp_cursor_of, kp_error, kp_fail, kp_message_next, kp_message_read, kp_record, kp_source, kp_source_fail,
    kp_store_be32, kp_store_be64,
)
from kpress.checksum cimport crc32_update, crc32c_update
from kpress.codecs.codec cimport LEVEL_DEFAULT, codec_at, row_of
from kpress.codecs.payload cimport compress_payload, payload_bound
from kpress.record.decode cimport check_crc, check_inner_crcs, open_source


cdef int append(pooled* out, const uint8_t* data, size_t size, kp_error* err) noexcept nogil:
    if pooled_reserve_more(out, size, err) != KP_OK:
        return err.status
    memcpy(out.data + out.size, data, size)
    out.size += size
    return KP_OK


# --- one entry ----------------------------------------------------------------------------------------------

cdef bint is_kept(const recoder* r, const uint8_t* entry) noexcept nogil:
    """Whether the entry is copied byte for byte."""
    cdef int id = codec_at(r.context.codecs, entry, &r.batch)
    if r.batch.magic < 2 and id == KP_NONE:
        return True
    if r.batch.magic == 2 and (r.batch.attributes & KP_CONTROL or r.batch.records_count == 0):
        return True
    return id == r.codec and r.level == LEVEL_DEFAULT


cdef int check_codec(const recoder* r, kp_error* err) noexcept nogil:
    if r.batch.magic < r.least_magic:
        return kp_fail(err, KP_CODEC_MAGIC, 16, r.batch.magic, r.least_magic)
    return KP_OK


cdef int open_entry(const recoder* r, const uint8_t* entry, pooled* scratch, kp_source* source,
                    kp_error* err) noexcept nogil:
    if check_crc(entry, &r.batch, err) != KP_OK:
        return err.status
    scratch.size = 0
    if open_source(r.context, entry, &r.batch, entry + r.batch.size, scratch, r.cap, False, source, err) != KP_OK:
        return err.status
    return check_inner_crcs(source, err) if r.batch.magic < 2 else KP_OK


cdef int recode_source(recoder* r, const uint8_t* entry, const kp_source* source, kp_error* err) noexcept nogil:
    if r.batch.magic < 2 and r.codec == KP_NONE:
        return unwrap(r, source, err)
    return rewrap(r, entry, source, err)


cdef int rewrap(recoder* r, const uint8_t* entry, const kp_source* source, kp_error* err) noexcept nogil:
    """The entry's header, the compressed records, then the header fields that depend on them."""
    cdef size_t start = r.out.size, header = KP_BATCH_HEADER
    cdef kp_record wrapper
    cdef kp_batch ignored
    if r.batch.magic < 2:
        if kp_message_read(entry, r.batch.size, 0, &ignored, &wrapper, err) != KP_OK:
            return err.status
        if wrapper.value.data == NULL:  # it was there before: another thread wrote to the bytes
            return kp_fail(err, KP_WRAPPER_NULL, r.batch.size, 0, 0)
        header = <size_t>(wrapper.value.data - entry)
    cdef size_t records = <size_t>(source.end - source.start)
    if pooled_reserve_more(&r.out, header + payload_bound(r.context.codecs, r.codec, records), err) != KP_OK:
        return err.status
    if append(&r.out, entry, header, err) != KP_OK:
        return err.status
    if compress_payload(r.context, r.codec, r.level, r.batch.magic, source.start, records, &r.out, err) != KP_OK:
        return err.status
    cdef size_t size = r.out.size - start
    if size - KP_LOG_OVERHEAD > INT32_MAX:
        return kp_fail(err, KP_ENTRY_SIZE_MAX, 8, <int64_t>size - KP_LOG_OVERHEAD, INT32_MAX)
    finish(r, r.out.data + start, size, header)
    return KP_OK


cdef void finish(const recoder* r, uint8_t* p, size_t size, size_t header) noexcept nogil:
    kp_store_be32(p + 8, <uint64_t>(size - KP_LOG_OVERHEAD))
    cdef int at = KP_ATTRIBUTES_OFFSET + 1 if r.batch.magic == 2 else KP_MESSAGE_ATTRIBUTES_OFFSET
    p[at] = <uint8_t>((p[at] & ~KP_CODEC_MASK) | row_of(r.context.codecs, r.codec).attributes)
    if r.batch.magic == 2:
        kp_store_be32(p + KP_CRC_OFFSET, crc32c_update(0, p + KP_ATTRIBUTES_OFFSET, size - KP_ATTRIBUTES_OFFSET))
        return
    kp_store_be32(p + header - 4, <uint64_t>(size - header))  # the length of the wrapper's value
    store_message_crc(p, size)


cdef void store_message_crc(uint8_t* entry, size_t size) noexcept nogil:
    cdef size_t covered = KP_MESSAGE_CRC_OFFSET + 4
    kp_store_be32(entry + KP_MESSAGE_CRC_OFFSET, crc32_update(0, entry + covered, size - covered))


# --- a v0/v1 wrapper to `none` --------------------------------------------------------------------------------

cdef int unwrap(recoder* r, const kp_source* source, kp_error* err) noexcept nogil:
    """The inner messages as entries of their own: offsets absolute, the wrapper's append time in each."""
    cdef kp_cursor cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef const uint8_t* at
    cdef kp_batch inner
    cdef kp_record ignored
    cdef int status
    cdef size_t start
    while True:
        at = cursor.p
        status = kp_message_next(source, &cursor, &inner, &ignored, err)
        if status != KP_OK:
            return KP_OK if status == KP_END else status
        if inner.magic != 0 and inner.magic != 1:  # as an entry of its own it would be another format
            kp_fail(err, KP_MAGIC, 16, inner.magic, 1)
            return kp_source_fail(source, at, err)
        start = r.out.size
        if append(&r.out, at, <size_t>inner.size, err) != KP_OK:
            return err.status
        place_inner(r.out.data + start, &inner, source)


cdef void place_inner(uint8_t* p, const kp_batch* inner, const kp_source* source) noexcept nogil:
    kp_store_be64(p, <uint64_t>source.base_offset + <uint64_t>inner.base_offset)
    if inner.magic == 0:
        return
    # the wrapper's timestamp type counts, not the inner one (DeepRecordsIterator)
    cdef uint8_t kind = KP_LOG_APPEND_TIME if source.log_append_time else 0
    if not source.log_append_time and not p[KP_MESSAGE_ATTRIBUTES_OFFSET] & KP_LOG_APPEND_TIME:
        return
    p[KP_MESSAGE_ATTRIBUTES_OFFSET] = (p[KP_MESSAGE_ATTRIBUTES_OFFSET] & ~<uint8_t>KP_LOG_APPEND_TIME) | kind
    if source.log_append_time:
        kp_store_be64(p + KP_MESSAGE_TIMESTAMP_OFFSET, <uint64_t>source.append_time)
    store_message_crc(p, <size_t>inner.size)
