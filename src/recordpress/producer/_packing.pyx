"""pack: records -> batches whose compressed size is the largest that a limit allows."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, int64_t, uint8_t
from libc.string cimport memset

from recordpress._arguments cimport integer_of
from recordpress._c.wire cimport RP_BATCH_HEADER, RP_NONE, rp_error, rp_record
from recordpress._sealed cimport seal
from recordpress._status cimport check, error_of
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.columns.column_rows cimport ColumnRows
from recordpress.producer._packer cimport (
    SETTLED, TOO_LARGE, WANTING, pack_free, pack_header, pack_next, pack_open, pack_rows, pack_settle, packer,
)
from recordpress.record.encode cimport batch_encoder, options_of, signature_with_options
from recordpress.record.open_batch cimport write_around
from recordpress.record.rows cimport ROWS, RecordRows, RowSource

from recordpress.errors import InUseError, InvalidArgumentError
from recordpress.producer._errors import RecordTooLargeError


cdef class BatchPacker:
    """Iterator over batches that `pack` returns.

    Attributes
    ----------
    packed : int
        Number of records in the batches so far.

    Examples
    --------
    >>> import recordpress
    >>> packer = recordpress.producer.pack([b"line"] * 1000, limit=1000, compression_type="zstd")
    >>> all(len(batch) <= 1000 for batch in packer)
    True
    """

    cdef packer p
    cdef CodecTable codecs
    cdef RowSource source
    cdef rp_record[ROWS] rows
    cdef int64_t at, n         # the rows that are not written yet
    cdef readonly int64_t packed
    cdef int64_t limit
    cdef bint exhausted        # the source has no more rows
    cdef bint failed
    cdef bint busy

    def __dealloc__(self):
        pack_free(&self.p)

    def __iter__(self):
        return self

    @cython.critical_section
    def __next__(self):
        if self.busy:
            raise InUseError("the iterator is in use by another call")
        if self.failed:
            raise StopIteration
        self.busy = self.failed = True
        try:
            result = self._batch()
            self.failed = False
        finally:
            self.busy = False
        if result is None:
            raise StopIteration
        return result

    cdef bytes _batch(self):
        cdef int state
        cdef rp_error err
        if self.p.fit.n:
            with nogil:
                state = pack_next(&self.p, &err)
            check(state, &err)
        while True:
            self._read()
            if self.p.n == 0:
                return None
            with nogil:
                state = pack_settle(&self.p, &err)
            if state == SETTLED:
                return self._finish()
            if state == TOO_LARGE:
                self._refuse()
            elif state != WANTING:
                raise error_of(&err)

    cdef int _read(self) except -1:
        """Write rows to the batch until it has as many bytes as it wants, or no row is left that it can take."""
        cdef rp_error err
        cdef int64_t n
        self.p.ended = False
        while self.p.n == 0 or self.p.batch.records.size < self.p.wanted:
            if self.at == self.n and not self._take():
                break
            with nogil:
                n = pack_rows(&self.p, self.rows + self.at, self.n - self.at, &err)
            self.at += n
            if self.at < self.n:
                self._check_row(&err)
                break
        self.p.ended = self.at < self.n or self.exhausted
        return 0

    cdef bint _take(self) except -1:
        """Take rows of the source, about as many as the batch wants; False without one."""
        cdef int64_t most = ROWS
        cdef size_t size = self.p.batch.records.size
        if self.p.n:
            most = <int64_t>((self.p.wanted - size) // (size // self.p.n + 1)) + 1
        if not self.exhausted:
            self.at = self.n = 0
            self.n = self.source.next(self.rows, min(most, <int64_t>ROWS))
            self.exhausted = self.n == 0
        return not self.exhausted

    cdef int _check_row(self, const rp_error* err) except -1:
        if err.status == 0:
            return 0
        error = error_of(err)
        if isinstance(error, InvalidArgumentError):
            error.message = f"record {self.packed + self.p.n}: {error.message}"
        raise error

    cdef int _refuse(self) except -1:
        cdef int64_t size = RP_BATCH_HEADER + <int64_t>self.p.over.size
        raise RecordTooLargeError(f"record {self.packed}: a batch of it alone has {size} bytes, more than the limit of "
                                  f"{self.limit}", field="limit")

    cdef bytes _finish(self):
        cdef batch_encoder encoder
        cdef const uint8_t* payload = self.p.best.data
        if self.p.batch.encoder.options.codec == RP_NONE:
            payload = self.p.batch.records.data
        result = PyBytes_FromStringAndSize(NULL, RP_BATCH_HEADER + self.p.best.size)
        cdef char* start = PyBytes_AS_STRING(result)
        with nogil:
            pack_header(&self.p, &encoder)
            write_around(&encoder, payload, self.p.best.size, <uint8_t*>start)
        self.packed += self.p.fit.n
        return result


seal(BatchPacker, "pack")


cdef RowSource source_of(values, keys, timestamps, headers, offsets, base_offset, coerce_timestamps):
    if not hasattr(type(values), "__arrow_c_stream__") and not hasattr(type(values), "__arrow_c_array__"):
        return RecordRows(values, keys, timestamps, headers, offsets, base_offset)
    for name, given in (("keys", keys), ("timestamps", timestamps), ("headers", headers), ("offsets", offsets)):
        if given is not None:
            raise InvalidArgumentError(f"values are Arrow columns: {name} must be one of them", field=name)
    return ColumnRows(values, base_offset, coerce_timestamps)


cdef bint numbers_its_records(object source, object offsets, object base_offset):
    """Return whether offsets were requested."""
    if isinstance(source, ColumnRows) and (<ColumnRows>source).numbered:
        return True
    return offsets is not None or base_offset is not None


def pack(values, keys=None, timestamps=None, headers=None, *, limit, compression_type="none", level=None, offsets=None,
         base_offset=None, coerce_timestamps=False, codecs=None, **options):
    """Cut records into batches whose compressed size is as large as possible, and never over a limit.

    A producer fills its batches by an estimate of what compression will do. Batches that become larger than
    `max.message.bytes` are refused and split, and the others are smaller than they could be. Here every batch is
    compressed before it is cut: none is ever refused for its size.

    Parameters
    ----------
    values : sequence of (bytes-like | None), or object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        One value per record; or columns as `write_columns` takes them, except columns of the batch header, and
        without LogAppendTime. A stream is read one array at a time.
    keys, timestamps, headers
        As for `write_records`. None where values are columns.
    offsets, base_offset
        As for `write_records`: the batches together are a record set then, as they are with an offset column. None of
        these: each batch begins at offset 0, as brokers demand of a producer's.
    limit : int
        Maximum size of a batch in bytes, its header of 61 bytes included: `max.message.bytes` of the topic.
    compression_type, level, codecs
        As for `BatchBuilder`.
    coerce_timestamps : bool
        As for `write_columns`.
    **options
        `recordpress.typing.BatchOptions`, as for `BatchBuilder`: timestamp_type, log_append_time, producer_id,
        producer_epoch, base_sequence (the first record's; later batches count on), partition_leader_epoch,
        is_transactional, delete_horizon_ms.

    Returns
    -------
    iterator of bytes
        One batch of magic 2 each, with the records in order. Each but the last fills at least 97 % of the limit, or
        does not take one record more. A batch is also cut where an offset would be more than 2^31-1 above its base,
        and where its records would have more than 2^31-1 bytes before compression.

    Raises
    ------
    RecordTooLargeError
        While iterating: a record that does not fit alone; the message names it. Earlier batches were returned.
    InvalidArgumentError
        As for `write_records` and `write_columns`. Errors of a record are raised while iterating.
    ArgumentTypeError
        An argument of another type.

    Notes
    -----
    Sizes are predicted from what was compressed just before. With snappy, lz4 and zstd what fits is kept, and as a rule
    only the end of a batch is compressed again where a prediction was off. gzip keeps it from limits of 192 KiB on: the
    batch has a second member then, which readers treat as one with the first. Below that, and with codec plug-ins
    that do not join, all records of the batch are compressed again.

    Examples
    --------
    >>> import recordpress
    >>> values = [b"%d GET /index.html HTTP/1.1" % number for number in range(100_000)]
    >>> batches = list(recordpress.producer.pack(values, limit=16384, compression_type="zstd"))
    >>> max(map(len, batches)) <= 16384, sum(len(recordpress.read_columns(batch, ["offset"])) for batch in batches)
    (True, 100000)
    """
    cdef BatchPacker packed = BatchPacker.__new__(BatchPacker)
    packed.codecs = table_of(codecs)
    packed.limit = integer_of(limit, "limit", RP_BATCH_HEADER + 1, INT32_MAX)
    memset(&packed.p, 0, sizeof(packer))
    options_of(&packed.p.batch.encoder.options, pack, 2, compression_type, level, packed.codecs, False, options)
    packed.source = source_of(values, keys, timestamps, headers, offsets, base_offset, coerce_timestamps)
    packed.p.from_zero = not numbers_its_records(packed.source, offsets, base_offset)
    if pack_open(&packed.p, packed.limit):
        raise MemoryError
    return packed


pack.__text_signature__ = signature_with_options(pack)
