"""recompress: a record set with another codec, entry by entry (recompress).

One pass without the GIL into pooled memory, which is copied once into the bytes object.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, int64_t, uint8_t
from libc.string cimport memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView, pooled_free
from recordpress._c.wire cimport RP_END, RP_OK, rp_error, rp_source
from recordpress._status cimport check, place, place_of
from recordpress.codecs.codec cimport codec
from recordpress.codecs.context cimport context_acquire, context_release
from recordpress.codecs.table cimport CodecTable, codec_of, level_of, table_of
from recordpress.record.decode cimport check_crc, next_whole
from recordpress.record.recompress_batch cimport (
    append, check_codec, is_kept, open_entry, recompress_source, recompressor,
)

from recordpress.codecs import DEFAULT_MAX_SIZE


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
    last offset delta, timestamps, delete horizon, producer fields, sequence, leader epoch and records count are
    the source's, and no record is touched. Control batches and the empty batches that compaction leaves are
    copied byte for byte; so are batches that have the codec already, if no level is given. Wrapper messages of v0 and
    v1 keep their magic; with ``none`` their messages become separate entries. Plain v0/v1 messages stay as they
    are: only a wrapper has a codec.

    Every checksum of the source is checked first, and those inside a wrapper when it is opened.

    Parameters
    ----------
    data : bytes-like
        Record set of complete entries, such as the content of a ``.log`` file.
    compression_type : CompressionType or a name in `codecs`
    level : int, optional
        As in `compress`; None is what Kafka's Java producer does by default.
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
        stream is damaged (DecompressionError). ``position`` and ``offset`` have the place.
    InvalidRecordError
        A wrapper breaks a rule of its format.
    UnsupportedCompressionTypeError
        zstd for a v0/v1 entry (KIP-110), or a codec id that Kafka did not assign.
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
