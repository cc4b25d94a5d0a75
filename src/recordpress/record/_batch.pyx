"""A record set, entry by entry, by header alone: nothing is decompressed or copied until it is requested."""

cimport cython
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from recordpress._arguments cimport flag_of, integer_of, time_of
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_CUT_ENTRY, RP_END, RP_ENTRY_PREFIX, RP_LOG_OVERHEAD, RP_MESSAGE_V1_OVERHEAD, RP_OK,
    RP_PARTITION_LEADER_EPOCH_OFFSET, RP_PLUGGABLE, RP_RECORDS_COUNT, RP_RECORDS_MISSING, rp_batch, rp_batch_codec,
    rp_batch_next, rp_batch_read, rp_batch_timestamp_type, rp_cursor, rp_cursor_of, rp_error, rp_fail,
    rp_message_next, rp_message_read, rp_plugin_name, rp_record, rp_source, rp_store_be32, rp_store_be64,
)
from recordpress._sealed cimport seal
from recordpress._status cimport check, error_of, place, place_at, place_of
from recordpress.codecs.codec cimport codec_at
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.table cimport name_of, reading_table_of
from recordpress.record.decode cimport SMALLEST_RECORD, check_crc, check_header_checksum, open_source
from recordpress.record.header cimport BatchHeader
from recordpress.record.in_place cimport set_max_timestamp
from recordpress.record._records cimport Records, records_of

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import ArgumentTypeError, CorruptRecordError, InvalidArgumentError, NotFoundError
from recordpress.record._types import TIMESTAMP_TYPES


cdef str NOT_AN_ARRAY = "batches and records cannot become a NumPy array: use read_columns(data).to_pandas()"


cdef class Batch(BatchHeader):
    """One entry of a record set: a v2 batch, or a v0/v1 message (plain, or a compressed wrapper).

    Every attribute comes from the header. Iterating checks the checksum, decompresses the payload and returns `Record`
    objects, lazily; ``len(batch)`` is the number of records, and `records` is a list of them. The three `set_` methods
    change the caller's data in place, if it is writable.

    `read_batches` creates the object, which keeps the caller's data alive.

    Examples
    --------
    >>> import recordpress
    >>> [batch] = recordpress.read_batches(recordpress.write_records([b"a", b"b"], compression_type="lz4"))
    >>> batch
    <recordpress.Batch v2 lz4: offsets 0 to 1, 2 records, 92 bytes at 0>
    >>> [record.value for record in batch]
    [b'a', b'b']
    >>> len(batch), batch.records[-1].offset
    (2, 1)
    """

    def __init__(self):
        raise ArgumentTypeError("Batch cannot be created directly: use read_batches")

    def __repr__(self):
        count = self.records_count
        records = "1 record" if count == 1 else f"{'?' if count is None else count} records"
        first = self._header.base_offset if self._header.magic == 2 else "?" if self.is_compressed else self.last_offset
        return (f"<recordpress.Batch v{self.magic} {self.compression_type}: offsets {first} to {self.last_offset}, "
                f"{records}, {self.size} bytes at {self.position}>")

    @property
    def compression_type(self):
        """str: Kafka's name of the codec, or the name of a registered codec plug-in, else 'pluggable'; 'unknown(7)' for
        an id without a codec."""
        return name_of(self._set.codecs, codec_at(&self._set.codecs.rows, self._entry, &self._header))

    @property
    def plugin_name(self):
        """str | None: the plug-in's name in the batch, registered or not (KIP-984); None for one of Kafka's codecs, and
        for an id without a codec.

        Raises
        ------
        CorruptRecordError
            The name is missing or impossible.
        """
        cdef rp_error err
        cdef place at = place_of(&self._header)
        cdef const uint8_t* name = NULL
        cdef int length
        if self._header.magic != 2 or rp_batch_codec(&self._header) != RP_PLUGGABLE:
            return None
        check(rp_plugin_name(self._entry, self._header.size, &name, &length, &err), &err, &at)
        return name[:length].decode("ascii")

    @property
    def timestamp_type(self):
        """TimestampType"""
        return TIMESTAMP_TYPES[1 + rp_batch_timestamp_type(&self._header)]

    @property
    def base_offset(self):
        """int: offset of the first record. For a v0/v1 wrapper, it is in the compressed set: reading it decompresses
        the set, and raises the same errors as iterating."""
        if self._header.magic == 2 or not self.is_compressed:
            return self._header.base_offset
        return self._first_inner_offset()

    @property
    def last_offset_delta(self):
        """int | None: v2 only."""
        return self._header.last_offset_delta if self._header.magic == 2 else None

    @property
    def base_timestamp(self):
        """int | None: milliseconds; v2 only. The first record's timestamp, or the delete horizon."""
        return self._header.base_timestamp if self._header.magic == 2 else None

    @property
    def records_count(self):
        """int | None: number of records that the header declares; None for a v0/v1 wrapper, which declares none."""
        if self._header.magic < 2 and self.is_compressed:
            return None
        return self._header.records_count

    @property
    def data(self):
        """memoryview: the bytes of the entry, not copied."""
        start = self._header.position
        return memoryview(self._set.view.view.obj).cast("B")[start:start + self._header.size]

    @property
    def payload(self):
        """memoryview: the records area of a v2 batch as stored (compressed if the batch is, without a plug-in's name),
        not copied."""
        if self._header.magic != 2:
            raise InvalidArgumentError("only v2 batches have a records area; a v0/v1 message has a key and a value",
                                       field="magic")
        name = self.plugin_name
        return self.data[RP_BATCH_HEADER + (0 if name is None else 1 + len(name)):]

    @property
    def stored_value(self):
        """memoryview | None: the value of a v0/v1 message as stored (compressed in a wrapper), not copied. A wrong
        length raises CorruptRecordError or InvalidRecordError."""
        cdef rp_batch ignored
        cdef rp_record message
        cdef rp_error err
        cdef place at = place_of(&self._header)
        if self._header.magic == 2:
            raise InvalidArgumentError("a v2 batch has a records area; only a v0/v1 message has a value", field="magic")
        message.value.data, message.value.size = NULL, -1
        check(rp_message_read(self._entry, self._header.size, 0, &ignored, &message, &err), &err, &at)
        if message.value.data == NULL:
            return None
        start = message.value.data - self._entry
        return self.data[start:start + message.value.size]

    @property
    def lz4_header_error(self):
        """DecompressionError or None: the error in the checksum of an LZ4 frame's header in a v1 wrapper or a v2
        batch (KIP-57). Reading the records raises it, except with ``lz4_header_checksum="ignore"``."""
        cdef rp_error err
        cdef place at = place_of(&self._header)
        if check_header_checksum(&self._set.codecs.rows, self._entry, &self._header, &err) == RP_OK:
            return None
        return error_of(&err, &at)

    def is_valid(self):
        """Return whether the stored checksum is right (and the entry is large enough to have a checksum).

        Returns
        -------
        bool
        """
        cdef rp_error err
        cdef int status
        with nogil:
            status = check_crc(self._entry, &self._header, &err)
        return status == RP_OK

    def ensure_valid(self):
        """Raise an error if the checksum is wrong.

        Raises
        ------
        CorruptRecordError
            The checksum is wrong.
        """
        cdef rp_error err
        cdef int status
        cdef place at = place_of(&self._header)
        with nogil:
            status = check_crc(self._entry, &self._header, &err)
        check(status, &err, &at)

    cdef uint8_t* _change(self) except NULL:
        """Return the entry for writing, after reading its header again: another Batch of the same bytes may have
        changed it."""
        if self._set.view.view.readonly:
            raise InvalidArgumentError("the data of this batch is read-only: give read_batches a bytearray or another "
                                       "writable buffer", field="data")
        self._read_header()
        return <uint8_t*>self._entry

    cdef int _read_header(self) except -1:
        cdef rp_error err
        cdef int magic = <signed char>self._entry[RP_ENTRY_PREFIX - 1]
        if magic != self._header.magic:
            raise CorruptRecordError(f"magic {magic}: it was {self._header.magic} when the batch was read",
                                     position=self.position, field="magic",
                                     field_position=self.position + RP_ENTRY_PREFIX - 1)
        cdef place at = place_of(&self._header)
        return check(rp_batch_read(self._entry, self._header.size, self._header.position, &self._header, &err),
                     &err, &at)

    @cython.critical_section
    def set_last_offset(self, offset):
        """Set the offsets of the entry in the data, as a broker does when it appends.

        No checksum covers the offset. A batch keeps its offset deltas: its base offset becomes `offset` -
        last_offset_delta. A v0/v1 message, plain or wrapper, has only this offset.

        Parameters
        ----------
        offset : int
            Offset of the last record, 0 or more.

        Raises
        ------
        InvalidArgumentError
            The data is read-only, or the base offset would be negative.
        ArgumentTypeError

        Notes
        -----
        MutableRecordBatch.setLastOffset.

        Examples
        --------
        >>> import recordpress
        >>> data = bytearray(recordpress.write_records([b"a", b"b"]))
        >>> [batch] = recordpress.read_batches(data)
        >>> batch.set_last_offset(100)
        >>> [record.offset for record in batch], batch.is_valid()
        ([99, 100], True)
        """
        cdef int64_t last = integer_of(offset, "offset", 0, INT64_MAX)  # first: it may run the caller's code
        cdef uint8_t* entry = self._change()
        cdef int64_t base = <int64_t>(<uint64_t>last - <uint64_t><int64_t>self._header.last_offset_delta)
        if base < 0:
            raise InvalidArgumentError(f"offset must be at least last_offset_delta, {self._header.last_offset_delta}, "
                                       f"not {offset}", field="offset")
        rp_store_be64(entry, <uint64_t>base)
        self._header.base_offset = base

    @cython.critical_section
    def set_max_timestamp(self, timestamp_type, max_timestamp):
        """Set timestamp type and max timestamp in the data, as a broker with LogAppendTime does.

        Nothing is decompressed and no other byte is read: the checksum is patched, and a wrong checksum remains wrong.
        If anything changes, attribute bits that Kafka does not know are cleared.

        Parameters
        ----------
        timestamp_type : TimestampType
            CreateTime or LogAppendTime. With LogAppendTime, readers see `max_timestamp` for every record.
        max_timestamp : int | datetime | str
            Milliseconds, or -1 for no timestamp; a datetime or ISO 8601 text, with a time zone.

        Raises
        ------
        InvalidArgumentError
            The data is read-only, or the entry is a v0 message, which has no timestamp.
        ArgumentTypeError

        Notes
        -----
        MutableRecordBatch.setMaxTimestamp.

        Examples
        --------
        >>> import recordpress
        >>> data = bytearray(recordpress.write_records([b"a", b"b"], compression_type="zstd"))
        >>> [batch] = recordpress.read_batches(data)
        >>> batch.set_max_timestamp(recordpress.TimestampType.LogAppendTime, 1700000000000)
        >>> [record.timestamp for record in batch], batch.is_valid()
        ([1700000000000, 1700000000000], True)
        """
        cdef int type_ = <int>integer_of(timestamp_type, "timestamp_type", 0, 1)
        cdef int64_t time = time_of(max_timestamp, "max_timestamp", -1, INT64_MAX)
        cdef uint8_t* entry = self._change()
        if self._header.magic == 0:
            raise InvalidArgumentError("a v0 message has no timestamp", field="magic")
        if self._header.magic == 1 and self._header.size < RP_LOG_OVERHEAD + RP_MESSAGE_V1_OVERHEAD:
            raise InvalidArgumentError("this v1 message is too short for a timestamp", field="size")
        set_max_timestamp(entry, &self._header, type_, time)
        self._read_header()

    @cython.critical_section
    def set_partition_leader_epoch(self, epoch):
        """Set the epoch of the leader that appends the batch, in the data; no checksum covers it.

        Parameters
        ----------
        epoch : int
            0 or more, or -1 for no epoch.

        Raises
        ------
        InvalidArgumentError
            The data is read-only, or the entry is a v0/v1 message, which has no such field.
        ArgumentTypeError

        Notes
        -----
        MutableRecordBatch.setPartitionLeaderEpoch.

        Examples
        --------
        >>> import recordpress
        >>> data = bytearray(recordpress.write_records([b"a"]))
        >>> [batch] = recordpress.read_batches(data)
        >>> batch.set_partition_leader_epoch(7)
        >>> batch.partition_leader_epoch, batch.is_valid()
        (7, True)
        """
        cdef int64_t number = integer_of(epoch, "epoch", -1, INT32_MAX)
        cdef uint8_t* entry = self._change()
        if self._header.magic < 2:
            raise InvalidArgumentError(f"a v{self._header.magic} message has no partition leader epoch", field="magic")
        rp_store_be32(entry + RP_PARTITION_LEADER_EPOCH_OFFSET, <uint32_t>number)
        self._header.partition_leader_epoch = <int32_t>number

    def __iter__(self):
        """Return the records, lazily: key, value and headers become objects when they are read.

        Checksums, also those inside a v0/v1 wrapper, are checked first, unless ``check_crcs=False``. Before
        any other error is raised, the records before it are returned, as by Kafka's own iterator.
        """
        cdef Records records = records_of(self._set.view, self._entry, &self._header, 0, self._set.cap,
                                          self._set.check_crcs, self._set.codecs)
        self._inner_count = records._source.count
        return records

    @property
    def records(self):
        """list[Record]: all records at once.

        Raises
        ------
        CorruptRecordError, InvalidRecordError, UnsupportedCompressionTypeError, OutputTooLargeError
            As for iterating.
        """
        return list(self)

    def __getitem__(self, key):
        """Return a record by its index, -1 for the last, or a list of records by a slice. Each call decompresses the
        batch: keep `records` to read several records."""
        found = self.records
        if isinstance(key, slice):
            return found[key]
        cdef int64_t index = integer_of(key, "key", -INT64_MAX, INT64_MAX)
        if not -len(found) <= index < len(found):
            raise NotFoundError(f"record {key} does not exist: the batch has {len(found)}", field="key")
        return found[index if index >= 0 else index + len(found)]  # Cython's own indexing does not wrap around

    def __array__(self, dtype=None, copy=None):
        """Raise an error: pandas calls this for an object that it does not know."""
        raise ArgumentTypeError(NOT_AN_ARRAY, field="data")

    def __len__(self):
        """Return the declared number of records; decompress a v0/v1 wrapper, which declares none, once."""
        if self._header.magic == 2:
            self._check_count()
            return self._header.records_count
        if self.is_compressed and not self._inner_count:
            iter(self)
        return self._inner_count if self.is_compressed else 1

    cdef int _check_count(self) except -1:
        """Reject a count that is too large for the bytes (7 per record), before list(batch) allocates memory for
        len(batch) records."""
        cdef rp_error err
        cdef place at = place_of(&self._header)
        cdef int64_t bytes = self._header.size - RP_BATCH_HEADER
        if rp_batch_codec(&self._header):
            bytes = <int64_t>self._set.cap
        if self._header.records_count < 0:
            check(rp_fail(&err, RP_RECORDS_COUNT, RP_BATCH_HEADER - 4, self._header.records_count, 0), &err, &at)
        if self._header.records_count > bytes // SMALLEST_RECORD:
            check(rp_fail(&err, RP_RECORDS_MISSING, RP_BATCH_HEADER - 4, bytes // SMALLEST_RECORD,
                          self._header.records_count), &err, &at)
        return 0

    cdef object _first_inner_offset(self):
        cdef codec_context* context = context_acquire(&self._set.codecs.rows)
        cdef rp_source source
        cdef rp_error err
        cdef place at = place_of(&self._header)
        cdef int status
        cdef rp_cursor cursor
        cdef rp_batch message
        cdef rp_record record
        if context == NULL:
            raise MemoryError()
        record.offset = 0
        with nogil:
            context.scratch.size = 0
            status = open_source(context, self._entry, &self._header, self._entry + self._header.size, &context.scratch,
                                 self._set.cap, False, &source, &err)
            if status == RP_OK:
                cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
                status = rp_message_next(&source, &cursor, &message, &record, &err)
            context_release(context)
        check(status, &err, &at)
        return record.offset


cdef class BatchIterator:
    """Iterator over the entries of a record set, as `read_batches` returns it.

    Attributes
    ----------
    valid_bytes : int
        Bytes of the complete entries so far.
    trailing_bytes : int | None
        Bytes of the truncated entry after the last complete one, otherwise 0. None until the iteration has ended.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a"])
    >>> batches = recordpress.read_batches(data + data[:16])
    >>> len(list(batches)), batches.valid_bytes, batches.trailing_bytes
    (1, 69, 16)
    """

    def __init__(self):
        raise ArgumentTypeError("BatchIterator cannot be created directly: use read_batches")

    def __iter__(self):
        return self

    def __array__(self, dtype=None, copy=None):
        """Raise an error: pandas calls this for an object that it does not know."""
        raise ArgumentTypeError(NOT_AN_ARRAY, field="data")

    def __next__(self):
        cdef Batch batch = self._next()
        if batch is None:
            raise StopIteration  # as in Records
        return batch

    @cython.critical_section
    cdef Batch _next(self):
        """Return the next entry, or None at the end."""
        cdef Batch batch = Batch.__new__(Batch)
        cdef rp_error err
        cdef int status = rp_batch_next(self.view.data, self.view.size, self._position, self._max_size, &batch._header,
                                        &err)
        if status != RP_OK:
            if status == RP_END:
                self._ended = True
                if not self._complete or self._position == self.view.size:
                    return None
            self._raise(status, &err)
        batch._set = self
        batch._entry = self.view.data + self._position
        self._position += batch._header.size
        return batch

    cdef int _raise(self, int status, rp_error* err) except -1:
        cdef place at = place_at(self._position)
        if status == RP_END:
            status = rp_fail(err, RP_CUT_ENTRY, -1, self.view.size - self._position, 0)
        return check(status, err, &at)

    @property
    def valid_bytes(self):
        return self._position

    @property
    def trailing_bytes(self):
        return self.view.size - self._position if self._ended else None


seal(Batch, "read_batches")
seal(BatchIterator, "read_batches")


def read_batches(data, *, check_crcs=True, complete=False, max_decompressed_bytes=DEFAULT_MAX_SIZE,
                 max_message_bytes=INT32_MAX, codecs=None, lz4_header_checksum="verify"):
    """Iterate over the entries of a record set by header alone: v0, v1 and v2 in any mix.

    A truncated last entry ends the iteration without an error, as in every Kafka client
    (ByteBufferLogInputStream); `BatchIterator.trailing_bytes` has its size, and `complete` makes it an error.

    Parameters
    ----------
    data : bytes-like
        Record set: the records field of a Produce request or Fetch answer, or the content of a ``.log`` file. It
        is not copied; batches and records keep it alive.
    check_crcs : bool
        Check the checksums of a batch when its records are read. False: read as Kafka's own iterator does, which leaves
        the checks to its callers.
    complete : bool
        The data must end with a complete entry.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch, applied when its records are read.
    max_message_bytes : int
        An entry whose size field is larger than this is corrupt.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.
    lz4_header_checksum : {'verify', 'ignore'}
        How to treat a wrong LZ4 header checksum in v1 and v2; some clients write the checksum of v0 (KIP-57). 'verify'
        rejects the frame, as Kafka's consumers do. 'ignore' reads it; `Batch.lz4_header_error` then has the error.

    Returns
    -------
    BatchIterator of Batch

    Raises
    ------
    CorruptRecordError
        While iterating: a size is impossible, a magic is not 0, 1 or 2, or, with `complete`, the last entry is
        truncated. Earlier entries are returned first.
    ArgumentTypeError, InvalidArgumentError

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a"], compression_type="gzip")
    >>> data += recordpress.write_records([b"b", b"c"], base_offset=1)
    >>> for batch in recordpress.read_batches(data):
    ...     print(batch.base_offset, batch.last_offset, batch.compression_type, batch.is_valid())
    0 0 gzip True
    1 2 none True
    """
    cdef BatchIterator batches = BatchIterator.__new__(BatchIterator)
    batches.check_crcs = flag_of(check_crcs, "check_crcs")
    batches._complete = flag_of(complete, "complete")
    batches.view = InputView(data)
    batches.codecs = reading_table_of(codecs, lz4_header_checksum)
    batches.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
    batches._max_size = integer_of(max_message_bytes, "max_message_bytes", 1, INT32_MAX)
    return batches
