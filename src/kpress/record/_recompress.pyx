"""recompress: a record set whose records areas are under another codec; nothing else of it changes.

    v2 batch           header ─► kept but for batchLength, the codec bits and the CRC
                       payload ─► decompressed ─► compressed; no record is read or written
    v0/v1 wrapper      the same; under `none` its messages become entries of their own, as only a wrapper has a codec
    v0/v1 message      as it is: only wrappers carry a codec
    control, count 0   byte for byte, as brokers keep them

One pass without the GIL into pooled memory, which is copied once into the bytes object.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from kpress._arguments cimport integer_of
from kpress._buffers cimport InputView, pooled, pooled_free, pooled_reserve_more
from kpress._c.wire cimport (
    KP_ATTRIBUTES_OFFSET, KP_BATCH_HEADER, KP_CODEC_MAGIC, KP_CODEC_MASK, KP_CONTROL, KP_CRC_OFFSET, KP_CUT_ENTRY,
    KP_END, KP_ENTRY_SIZE_MAX, KP_LOG_APPEND_TIME, KP_LOG_OVERHEAD, KP_MAGIC, KP_MESSAGE_ATTRIBUTES_OFFSET,
    KP_MESSAGE_CRC_OFFSET, KP_MESSAGE_TIMESTAMP_OFFSET, KP_NONE, KP_OK, KP_WRAPPER_NULL, kp_batch,
    kp_batch_codec, kp_batch_next, kp_cursor, kp_cursor_of, kp_error, kp_fail, kp_message_next, kp_message_read,
    kp_record, kp_source, kp_source_fail, kp_store_be32, kp_store_be64,
)
from kpress._status cimport check, place, place_of
from kpress.checksum cimport crc32_update, crc32c_update
from kpress.codecs.codec cimport LEVEL_DEFAULT, codec
from kpress.codecs.payload cimport compress_payload, payload_bound
from kpress.codecs.table cimport CodecTable, codec_of, level_of, table_of
from kpress.codecs.context cimport codec_context, context_acquire, context_release
from kpress.record.decode cimport check_crc, check_inner_crcs, open_source

from kpress.codecs import DEFAULT_MAX_SIZE

# One call: what is wanted, where the result grows, and the entry at hand, for an error.
ctypedef struct job:
    int codec
    int least_magic
    int level
    size_t cap
    codec_context* context
    pooled out
    kp_batch batch


cdef int append(pooled* out, const uint8_t* data, size_t size, kp_error* err) noexcept nogil:
    if pooled_reserve_more(out, size, err) != KP_OK:
        return err.status
    memcpy(out.data + out.size, data, size)
    out.size += size
    return KP_OK


# --- one entry ----------------------------------------------------------------------------------------------

cdef bint is_kept(const job* j) noexcept nogil:
    """Whether the entry goes over byte for byte."""
    cdef int id = kp_batch_codec(&j.batch)
    if j.batch.magic < 2 and id == KP_NONE:
        return True
    if j.batch.magic == 2 and (j.batch.attributes & KP_CONTROL or j.batch.records_count == 0):
        return True
    return id == j.codec and j.level == LEVEL_DEFAULT


cdef int recompress_entry(job* j, const uint8_t* entry, kp_error* err) noexcept nogil:
    cdef kp_source source
    if check_crc(entry, &j.batch, err) != KP_OK:
        return err.status
    if j.batch.magic < j.least_magic:
        return kp_fail(err, KP_CODEC_MAGIC, 16, j.batch.magic, j.least_magic)
    if is_kept(j):
        return append(&j.out, entry, <size_t>j.batch.size, err)
    j.context.scratch.size = 0
    if open_source(j.context, entry, &j.batch, entry + j.batch.size, &j.context.scratch, j.cap, False, &source,
                   err) != KP_OK:
        return err.status
    if j.batch.magic < 2 and check_inner_crcs(&source, err) != KP_OK:
        return err.status
    if j.batch.magic < 2 and j.codec == KP_NONE:
        return unwrap(j, &source, err)
    return rewrap(j, entry, &source, err)


cdef int rewrap(job* j, const uint8_t* entry, const kp_source* source, kp_error* err) noexcept nogil:
    """The entry's header, the compressed records, then the fields of the header that they decide."""
    cdef size_t start = j.out.size, header = KP_BATCH_HEADER
    cdef kp_record wrapper
    cdef kp_batch ignored
    if j.batch.magic < 2:
        if kp_message_read(entry, j.batch.size, 0, &ignored, &wrapper, err) != KP_OK:
            return err.status
        if wrapper.value.data == NULL:  # it was there before: another thread writes to the bytes
            return kp_fail(err, KP_WRAPPER_NULL, j.batch.size, 0, 0)
        header = <size_t>(wrapper.value.data - entry)
    cdef size_t records = <size_t>(source.end - source.start)
    if pooled_reserve_more(&j.out, header + payload_bound(j.context.codecs, j.codec, records), err) != KP_OK:
        return err.status
    if append(&j.out, entry, header, err) != KP_OK:
        return err.status
    if compress_payload(j.context, j.codec, j.level, j.batch.magic, source.start, records, &j.out, err) != KP_OK:
        return err.status
    cdef size_t size = j.out.size - start
    if size - KP_LOG_OVERHEAD > INT32_MAX:
        return kp_fail(err, KP_ENTRY_SIZE_MAX, 8, <int64_t>size - KP_LOG_OVERHEAD, INT32_MAX)
    finish(j, j.out.data + start, size, header)
    return KP_OK


cdef void finish(const job* j, uint8_t* p, size_t size, size_t header) noexcept nogil:
    kp_store_be32(p + 8, <uint64_t>(size - KP_LOG_OVERHEAD))
    cdef int at = KP_ATTRIBUTES_OFFSET + 1 if j.batch.magic == 2 else KP_MESSAGE_ATTRIBUTES_OFFSET
    p[at] = <uint8_t>((p[at] & ~KP_CODEC_MASK) | j.codec)
    if j.batch.magic == 2:
        kp_store_be32(p + KP_CRC_OFFSET, crc32c_update(0, p + KP_ATTRIBUTES_OFFSET, size - KP_ATTRIBUTES_OFFSET))
        return
    kp_store_be32(p + header - 4, <uint64_t>(size - header))  # the length of the wrapper's value
    store_message_crc(p, size)


cdef void store_message_crc(uint8_t* entry, size_t size) noexcept nogil:
    cdef size_t covered = KP_MESSAGE_CRC_OFFSET + 4
    kp_store_be32(entry + KP_MESSAGE_CRC_OFFSET, crc32_update(0, entry + covered, size - covered))


# --- a v0/v1 wrapper to `none` --------------------------------------------------------------------------------

cdef int unwrap(job* j, const kp_source* source, kp_error* err) noexcept nogil:
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
        start = j.out.size
        if append(&j.out, at, <size_t>inner.size, err) != KP_OK:
            return err.status
        place_inner(j.out.data + start, &inner, source)


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


# --- the call ---------------------------------------------------------------------------------------------------

cdef int recompress_all(job* j, const uint8_t* data, int64_t size, kp_error* err) noexcept nogil:
    cdef int64_t position = 0
    cdef int status
    while position < size:
        j.batch.position = position
        j.batch.base_offset = -1
        status = kp_batch_next(data, size, position, INT32_MAX, &j.batch, err)
        if status == KP_END:
            return kp_fail(err, KP_CUT_ENTRY, 0, size - position, 0)
        if status != KP_OK:
            return status
        if recompress_entry(j, data + position, err) != KP_OK:
            return err.status
        position += j.batch.size
    return KP_OK


def recompress(data, compression_type, level=None, *, max_decompressed_bytes=DEFAULT_MAX_SIZE, codecs=None):
    """Put every batch of a record set under another codec; offsets, headers and records stay what they are.

    A v2 batch keeps its header but for ``batchLength``, the codec bits of ``attributes`` and ``crc`` (spec
    record-formats 4): base offset, last offset delta, timestamps, delete horizon, producer fields, sequence, leader
    epoch and records count are those of the source, and no record is touched. Control batches and the empty
    batches that compaction leaves are copied byte for byte; so are batches which are under that codec already, if no
    level is asked for. Wrapper messages of v0 and v1 keep their magic; to ``none`` their messages become entries of
    their own. Plain v0/v1 messages stay as they are: only a wrapper carries a codec.

    Every checksum of the source is compared first, those inside of a wrapper where it is opened.

    Parameters
    ----------
    data : bytes-like
        Record set of whole entries, such as the content of a ``.log`` file.
    compression_type : {'none', 'gzip', 'snappy', 'lz4', 'zstd'}
    level : int, optional
        As in `compress`; None is what Kafka's Java producer does by default.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    codecs : CodecTable | None
        Codecs of your own beside Kafka's five.

    Returns
    -------
    bytes

    Raises
    ------
    CorruptRecordError
        A checksum, size or magic is wrong, the last entry is cut (leaving it out would be a loss), or a codec's
        stream is damaged (DecompressionError). ``position`` and ``offset`` say where.
    InvalidRecordError
        A wrapper breaks a rule of its format.
    UnsupportedCompressionTypeError
        zstd for a v0/v1 entry (KIP-110), or a codec id that Kafka did not assign.
    OutputTooLargeError
        A batch is larger than max_decompressed_bytes.
    InvalidArgumentError, ArgumentTypeError

    Examples
    --------
    >>> import kpress
    >>> data = kpress.write_records([b"line"] * 100, compression_type="gzip", base_offset=7)
    >>> [batch] = kpress.read_batches(kpress.recompress(data, "zstd"))
    >>> batch.compression_type, batch.base_offset, batch.last_offset, batch.records_count
    ('zstd', 7, 106, 100)
    """
    cdef job j
    cdef kp_error err
    cdef place at
    cdef int status
    memset(&j, 0, sizeof(job))
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    j.codec = row.id
    j.least_magic = row.least_magic
    j.level = level_of(row, level)
    j.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
    cdef InputView view = InputView(data)
    j.context = context_acquire(&table.rows)
    if j.context == NULL:
        raise MemoryError
    try:
        with nogil:
            status = recompress_all(&j, view.data, view.size, &err)
        at = place_of(&j.batch)
        at.has_offset = at.offset >= 0
        check(status, &err, &at)
        return PyBytes_FromStringAndSize(<char*>j.out.data, <Py_ssize_t>j.out.size)
    finally:
        context_release(j.context)
        pooled_free(&j.out)
