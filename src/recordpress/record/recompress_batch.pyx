"""An entry of a record set with another codec; nothing else in it changes.

    v2 batch           header ─► kept except for batchLength, the codec bits and the CRC
                       payload ─► decompressed ─► compressed; no record is read or written
    v0/v1 wrapper      the same; under `none` its messages become separate entries, as only a wrapper has a codec
    v0/v1 message      unchanged: only wrappers have a codec
    control, count 0   byte for byte, as brokers keep them
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, int64_t, uint64_t, uint8_t
from libc.string cimport memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView, pooled, pooled_free, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_CODEC_MAGIC, RP_CODEC_MASK, RP_CONTROL, RP_CRC_OFFSET, RP_END,
    RP_ENTRY_SIZE_MAX, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, RP_MAGIC, RP_MAGIC_OFFSET, RP_MESSAGE_ATTRIBUTES_OFFSET,
    RP_MESSAGE_CRC_OFFSET, RP_MESSAGE_TIMESTAMP_OFFSET, RP_NONE, RP_OK, RP_WRAPPER_NULL, rp_batch, rp_cursor,
    rp_cursor_of, rp_error, rp_fail, rp_message_next, rp_message_read, rp_record, rp_source, rp_source_fail,
    rp_store_be32, rp_store_be64,
)
from recordpress._status cimport check, place, place_of
from recordpress.checksum cimport crc32_update, crc32c_update
from recordpress.codecs.codec cimport LEVEL_DEFAULT, append, codec, codec_at, row_of
from recordpress.codecs.context cimport compress_payload, context_acquire, context_release, payload_bound
from recordpress.codecs.table cimport CodecTable, codec_of, level_of, table_of
from recordpress.record.decode cimport check_crc, check_inner_crcs, next_whole, open_source

from recordpress.codecs import DEFAULT_MAX_SIZE

# --- one entry ----------------------------------------------------------------------------------------------

cdef bint is_kept(const recompressor* r, const uint8_t* entry) noexcept nogil:
    """Return whether the entry is copied byte for byte."""
    cdef int id = codec_at(r.context.codecs, entry, &r.batch)
    if r.batch.magic < 2 and id == RP_NONE:
        return True
    if r.batch.magic == 2 and (r.batch.attributes & RP_CONTROL or r.batch.records_count == 0):
        return True
    return id == r.codec and r.level == LEVEL_DEFAULT


cdef int check_codec(const recompressor* r, rp_error* err) noexcept nogil:
    if r.batch.magic < r.least_magic:
        return rp_fail(err, RP_CODEC_MAGIC, RP_MAGIC_OFFSET, r.batch.magic, r.least_magic)
    return RP_OK


cdef int open_entry(const recompressor* r, const uint8_t* entry, pooled* scratch, rp_source* source,
                    rp_error* err) noexcept nogil:
    if check_crc(entry, &r.batch, err) != RP_OK:
        return err.status
    scratch.size = 0
    if open_source(r.context, entry, &r.batch, entry + r.batch.size, scratch, r.cap, False, source, err) != RP_OK:
        return err.status
    return check_inner_crcs(source, err) if r.batch.magic < 2 else RP_OK


cdef int recompress_source(
    recompressor* r, const uint8_t* entry, const rp_source* source, rp_error* err
) noexcept nogil:
    if r.batch.magic < 2 and r.codec == RP_NONE:
        return unwrap(r, source, err)
    return rewrap(r, entry, source, err)


cdef int rewrap(recompressor* r, const uint8_t* entry, const rp_source* source, rp_error* err) noexcept nogil:
    """Write the entry's header, the compressed records, then the header fields that depend on them."""
    cdef size_t start = r.out.size, header = RP_BATCH_HEADER
    cdef rp_record wrapper
    cdef rp_batch ignored
    if r.batch.magic < 2:
        if rp_message_read(entry, r.batch.size, 0, &ignored, &wrapper, err) != RP_OK:
            return err.status
        if wrapper.value.data == NULL:  # it was not NULL before: another thread wrote to the bytes
            return rp_fail(err, RP_WRAPPER_NULL, r.batch.size, 0, 0)
        header = <size_t>(wrapper.value.data - entry)
    cdef size_t records = <size_t>(source.end - source.start)
    if pooled_reserve_more(&r.out, header + payload_bound(r.context.codecs, r.codec, records), err) != RP_OK:
        return err.status
    if append(&r.out, entry, header, err) != RP_OK:
        return err.status
    if compress_payload(r.context, r.codec, r.level, r.batch.magic, source.start, records, &r.out, err) != RP_OK:
        return err.status
    cdef size_t size = r.out.size - start
    if size - RP_LOG_OVERHEAD > INT32_MAX:
        return rp_fail(err, RP_ENTRY_SIZE_MAX, 8, <int64_t>size - RP_LOG_OVERHEAD, INT32_MAX)
    finish(r, r.out.data + start, size, header)
    return RP_OK


cdef void finish(const recompressor* r, uint8_t* p, size_t size, size_t header) noexcept nogil:
    rp_store_be32(p + 8, <uint64_t>(size - RP_LOG_OVERHEAD))
    cdef int at = RP_ATTRIBUTES_OFFSET + 1 if r.batch.magic == 2 else RP_MESSAGE_ATTRIBUTES_OFFSET
    p[at] = <uint8_t>((p[at] & ~RP_CODEC_MASK) | row_of(r.context.codecs, r.codec).attributes)
    if r.batch.magic == 2:
        rp_store_be32(p + RP_CRC_OFFSET, crc32c_update(0, p + RP_ATTRIBUTES_OFFSET, size - RP_ATTRIBUTES_OFFSET))
        return
    rp_store_be32(p + header - 4, <uint64_t>(size - header))  # the length of the wrapper's value
    store_message_crc(p, size)


cdef void store_message_crc(uint8_t* entry, size_t size) noexcept nogil:
    cdef size_t covered = RP_MESSAGE_CRC_OFFSET + 4
    rp_store_be32(entry + RP_MESSAGE_CRC_OFFSET, crc32_update(0, entry + covered, size - covered))


# --- a v0/v1 wrapper to `none` --------------------------------------------------------------------------------

cdef int unwrap(recompressor* r, const rp_source* source, rp_error* err) noexcept nogil:
    """Write the inner messages as separate entries, with absolute offsets and the wrapper's append time."""
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef const uint8_t* at
    cdef rp_batch inner
    cdef rp_record ignored
    cdef int status
    cdef size_t start
    while True:
        at = cursor.p
        status = rp_message_next(source, &cursor, &inner, &ignored, err)
        if status != RP_OK:
            return RP_OK if status == RP_END else status
        if inner.magic != 0 and inner.magic != 1:  # a separate entry would have a different format
            rp_fail(err, RP_MAGIC, RP_MAGIC_OFFSET, inner.magic, 1)
            return rp_source_fail(source, at, err)
        start = r.out.size
        if append(&r.out, at, <size_t>inner.size, err) != RP_OK:
            return err.status
        place_inner(r.out.data + start, &inner, source)


cdef void place_inner(uint8_t* p, const rp_batch* inner, const rp_source* source) noexcept nogil:
    rp_store_be64(p, <uint64_t>source.base_offset + <uint64_t>inner.base_offset)
    if inner.magic == 0:
        return
    # the wrapper's timestamp type counts, not the inner one (DeepRecordsIterator)
    cdef uint8_t kind = RP_LOG_APPEND_TIME if source.log_append_time else 0
    if not source.log_append_time and not p[RP_MESSAGE_ATTRIBUTES_OFFSET] & RP_LOG_APPEND_TIME:
        return
    p[RP_MESSAGE_ATTRIBUTES_OFFSET] = (p[RP_MESSAGE_ATTRIBUTES_OFFSET] & ~<uint8_t>RP_LOG_APPEND_TIME) | kind
    if source.log_append_time:
        rp_store_be64(p + RP_MESSAGE_TIMESTAMP_OFFSET, <uint64_t>source.append_time)
    store_message_crc(p, <size_t>inner.size)


# --- recompress: a record set, entry by entry ------------------------------------------------------------------------

cdef int recompress_entry(recompressor* r, const uint8_t* entry, rp_error* err) noexcept nogil:
    cdef rp_source source
    if is_kept(r, entry):
        if check_crc(entry, &r.batch, err) != RP_OK or check_codec(r, err) != RP_OK:
            return err.status
        return append(&r.out, entry, <size_t>r.batch.size, err)
    if open_entry(r, entry, &r.context.scratch, &source, err) != RP_OK or check_codec(r, err) != RP_OK:
        return err.status
    return recompress_source(r, entry, &source, err)


cdef int recompress_all(recompressor* r, const uint8_t* data, int64_t size, rp_error* err) noexcept nogil:
    cdef int64_t position = 0
    cdef int status
    while True:
        status = next_whole(data, size, position, &r.batch, err)
        if status != RP_OK:
            return RP_OK if status == RP_END else status
        if recompress_entry(r, data + position, err) != RP_OK:
            return err.status
        position += r.batch.size


def recompress(data, compression_type, level=None, *, max_decompressed_bytes=DEFAULT_MAX_SIZE, codecs=None):
    """Compress every batch of a record set with another codec; offsets, headers and records stay the same.

    A v2 batch keeps its header except for ``batchLength``, the codec bits of ``attributes`` and ``crc``: base offset,
    last offset delta, timestamps, delete horizon, producer fields, sequence, leader epoch and records count do
    not change, and no record is touched. Control batches and the empty batches that compaction leaves are copied
    byte for byte; so are batches that have the codec already, if no level is given. Wrapper messages of v0 and
    v1 keep their magic; with ``none``, their messages become separate entries. Plain v0/v1 messages do not change:
    only a wrapper has a codec.

    Every checksum of the source is checked first; checksums inside a wrapper are checked when it is opened.

    Parameters
    ----------
    data : bytes-like
        Record set of complete entries, such as the content of a ``.log`` file.
    compression_type : CompressionType or a name in `codecs`
    level : int, optional
        As in `compress`; None means the default of Kafka's Java producer.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.

    Returns
    -------
    bytes

    Raises
    ------
    CorruptRecordError
        A checksum, size or magic is wrong, the last entry is truncated (leaving it out would be a loss), or a codec's
        stream is damaged (DecompressionError). ``position`` and ``offset`` name the place.
    InvalidRecordError
        A wrapper breaks a rule of its format.
    UnsupportedCompressionTypeError
        The codec is zstd for a v0/v1 entry (KIP-110), or Kafka did not assign the codec id.
    OutputTooLargeError
        A batch is larger than max_decompressed_bytes.
    InvalidArgumentError, ArgumentTypeError

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"line"] * 100, compression_type="gzip", base_offset=7)
    >>> [batch] = recordpress.read_batches(recordpress.recompress(data, "zstd"))
    >>> batch.compression_type, batch.base_offset, batch.last_offset, batch.records_count
    ('zstd', 7, 106, 100)
    """
    cdef recompressor r
    cdef rp_error err
    cdef place at
    cdef int status
    memset(&r, 0, sizeof(recompressor))
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    r.codec = row.id
    r.least_magic = row.least_magic
    r.level = level_of(row, level)
    r.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
    cdef InputView view = InputView(data)
    r.context = context_acquire(&table.rows)
    if r.context == NULL:
        raise MemoryError
    try:
        with nogil:
            status = recompress_all(&r, view.data, view.size, &err)
        at = place_of(&r.batch)
        at.has_offset = at.offset >= 0
        check(status, &err, &at)
        return PyBytes_FromStringAndSize(<char*>r.out.data, <Py_ssize_t>r.out.size)
    finally:
        context_release(r.context)
        pooled_free(&r.out)
