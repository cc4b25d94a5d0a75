"""A batch's records as Python objects, one at a time; key, value and headers on request. `_write_records` writes them.

Keeping one record at a time costs a fraction of keeping a list of all, because the next record reuses its memory.
"""

cimport cython
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint8_t

from recordpress._buffers cimport InputView, PooledBlock
from recordpress._c.wire cimport (
    RP_END, RP_ENTRY_SIZE_MAX, RP_IN_RECORDS, RP_LOG_OVERHEAD, RP_OK, RP_RECORDS_LEFT, RP_RECORDS_MISSING,
    RP_RECORD_LENGTH, RP_VARINT, rp_batch, rp_cursor_of, rp_entry_size, rp_error, rp_fail, rp_message_next,
    rp_message_read, rp_record, rp_record_next, rp_source_fail,
)
from recordpress._sealed cimport seal
from recordpress._status cimport error_of, place_of
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.table cimport CodecTable
from recordpress.record.decode cimport check_crc, check_inner_crcs, check_message_crc, open_source
from recordpress.record.fields cimport bytes_of, headers_of

from recordpress.errors import ArgumentTypeError
from recordpress.record._types import TIMESTAMP_TYPES


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Record:
    """One record, as iterating over a `Batch` returns it.

    Attributes
    ----------
    offset : int
    timestamp : int
        Milliseconds; -1 if not set. The batch's append time if timestamp_type is LogAppendTime.
    timestamp_type : TimestampType
    key, value : bytes | None
        Created when first read.
    headers : list[tuple[str, bytes | None]]
        Keys are decoded as UTF-8; invalid bytes become U+FFFD, as in Kafka's clients.
    sequence : int
        Sequence of an idempotent producer, or -1.
    size : int
        Bytes of the record as stored (uncompressed).
    attributes : int
        As stored: 0 in v2; codec and timestamp type bits in v0/v1.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"v"], keys=[b"k"], timestamps=[1700000000000], headers=[[("h", None)]])
    >>> [[record]] = recordpress.read_batches(data)
    >>> record
    <recordpress.Record offset 0, timestamp 1700000000000, key 1 bytes, value 1 bytes, 1 headers>
    >>> record.key, record.value, record.headers
    (b'k', b'v', [('h', None)])
    """

    def __init__(self):
        raise ArgumentTypeError("Record cannot be created directly: iterate over a Batch")

    def __repr__(self):
        cdef const rp_record* r = &self._record
        key = "null" if r.key.size < 0 else f"{r.key.size} bytes"
        value = "null" if r.value.size < 0 else f"{r.value.size} bytes"
        return (f"<recordpress.Record offset {r.offset}, timestamp {r.timestamp}, key {key}, value {value}, "
                f"{r.header_count} headers>")

    @property
    def offset(self):
        return self._record.offset

    @property
    def timestamp(self):
        return self._record.timestamp

    @property
    def sequence(self):
        return self._record.sequence

    @property
    def size(self):
        return self._record.size

    @property
    def attributes(self):
        return self._record.attributes

    @property
    @cython.critical_section
    def key(self):
        if self._record.key.size < 0:
            return None
        if self._key_bytes is None:
            self._key_bytes = bytes_of(&self._record.key)
        return self._key_bytes

    @property
    @cython.critical_section
    def value(self):
        if self._record.value.size < 0:
            return None
        if self._value_bytes is None:
            self._value_bytes = bytes_of(&self._record.value)
        return self._value_bytes

    @property
    def key_size(self):
        """int: size of the key in bytes, -1 for null; does not create the key object."""
        return self._record.key.size

    @property
    def value_size(self):
        """int: size of the value in bytes, -1 for null; does not create the value object."""
        return self._record.value.size

    @property
    def timestamp_type(self):
        return TIMESTAMP_TYPES[1 + self._record.timestamp_type]

    @property
    def headers(self):
        return headers_of(&self._record)

    def to_dict(self):
        """Return the record's fields by the names of their columns.

        Returns
        -------
        dict
            offset, timestamp in ms, timestampType (0 create time, 1 log append time, -1 none), key, value, headers.

        Examples
        --------
        >>> import recordpress
        >>> [[record]] = recordpress.read_batches(recordpress.write_records([b"v"], timestamps=1700000000000))
        >>> record.to_dict()  # doctest: +NORMALIZE_WHITESPACE
        {'offset': 0, 'timestamp': 1700000000000, 'timestampType': 0, 'key': None, 'value': b'v', 'headers': []}
        """
        return {
            "offset": self.offset,
            "timestamp": self.timestamp,
            "timestampType": self._record.timestamp_type,
            "key": self.key,
            "value": self.value,
            "headers": self.headers,
        }

    def is_valid(self):
        """Return whether a v0/v1 message's own checksum is right; True for a v2 record, which has no checksum.

        Returns
        -------
        bool
        """
        cdef rp_batch message
        cdef rp_record ignored
        cdef rp_error err
        if self._entry == NULL:
            return True
        return (rp_message_read(self._entry, self._record.size, 0, &message, &ignored, &err) == RP_OK
                and check_message_crc(self._entry, &message, &err) == RP_OK)


@cython.final
cdef class Records:
    """Iterator over the records of one batch."""

    def __init__(self):
        raise ArgumentTypeError("Records cannot be created directly: iterate over a Batch")

    def __iter__(self):
        return self

    def __next__(self):
        cdef Record record = self._taken()
        if record is None:
            raise StopIteration  # only here, Cython creates no object for it, which takes as long as reading a record
        return record

    @cython.critical_section
    cdef Record _taken(self):
        """Return the next record, or None at the end."""
        if self._index >= self._source.count:
            return None
        if self._magic == 2:
            return self._next()
        return self._next_message()

    cdef Record _next(self):
        cdef Record record = Record.__new__(Record)
        cdef rp_error err
        if rp_record_next(&self._source, &self._cursor, self._index, &record._record, &err) != RP_OK:
            raise self._explain(&err)
        self._index += 1
        # an error after the last record is raised instead of returning it (DefaultRecordBatch.RecordIterator)
        if self._index == self._source.count and (self._pending is not None or self._cursor.p != self._cursor.end):
            raise self._rest()
        record._owner = self._owner
        return record

    cdef Record _next_message(self):
        """Return the next entry of a v0/v1 set; a wrapper was checked when it was opened."""
        cdef rp_batch message
        cdef rp_error err
        cdef const uint8_t* at = self._cursor.p
        cdef Record record = Record.__new__(Record)
        cdef int status = rp_message_next(&self._source, &self._cursor, &message, &record._record, &err)
        if status == RP_END:  # the caller has since written to a plain message
            status = rp_fail(&err, RP_ENTRY_SIZE_MAX, 8, rp_entry_size(self._cursor) - RP_LOG_OVERHEAD,
                             self._cursor.end - at - RP_LOG_OVERHEAD)
        if status != RP_OK:
            raise self._ended(error_of(&err, &self._place))
        self._index += 1
        record._owner = self._owner
        record._entry = at
        return record

    cdef object _explain(self, const rp_error* err):
        """Return the error for a record that could not be read: the codec's error if it explains the missing bytes."""
        if self._pending is not None and err.status in (RP_RECORDS_MISSING, RP_RECORD_LENGTH, RP_VARINT):
            return self._ended(self._pending)
        return self._ended(error_of(err, &self._place))

    cdef object _rest(self):
        """Return the error for bytes after the last record."""
        cdef rp_error err
        if self._pending is not None:
            return self._ended(self._pending)
        rp_fail(&err, RP_RECORDS_LEFT, 0, self._cursor.end - self._cursor.p, self._source.count)
        rp_source_fail(&self._source, self._cursor.p, &err)
        return self._ended(error_of(&err, &self._place))

    cdef object _ended(self, object error):
        """Return the exception; the iterator is at its end afterwards."""
        self._index = self._source.count = 0
        return error


def summarize_records(batch):
    """Return count, first, least and largest offset, latest timestamp and first descent of a batch's records."""
    cdef Records records = iter(batch)
    cdef rp_batch message
    cdef rp_record r
    cdef rp_error err
    cdef int64_t count = 0, first = -1, least = INT64_MAX, largest = INT64_MIN, latest = INT64_MIN, last = INT64_MIN
    cdef int64_t before = 0, after = 0
    cdef bint descends = False
    cdef int status = RP_OK
    with cython.critical_section(records):
        with nogil:
            while records._index < records._source.count:
                if records._magic == 2:
                    status = rp_record_next(&records._source, &records._cursor, records._index, &r, &err)
                else:
                    status = rp_message_next(&records._source, &records._cursor, &message, &r, &err)
                if status != RP_OK:
                    break
                records._index += 1
                if count == 0:
                    first = r.offset
                elif r.offset <= last and not descends:
                    descends = True
                    before, after = last, r.offset
                last = r.offset
                least = min(least, last)
                largest = max(largest, last)
                latest = max(latest, r.timestamp)
                count += 1
        if status != RP_OK:
            raise records._explain(&err) if records._magic == 2 else records._ended(error_of(&err, &records._place))
        if records._magic == 2 and count and (records._pending is not None or records._cursor.p != records._cursor.end):
            raise records._rest()
    return count, first, least, largest, latest, (before, after) if descends else None


seal(Record, "iterating over a Batch")
seal(Records, "iterating over a Batch")


cdef Records records_of(InputView view, const uint8_t* entry, const rp_batch* batch, int64_t base, size_t cap,
                        bint check_crcs, CodecTable codecs):
    """Return an iterator over the records of an entry of `view`; compare checksums and decompress payloads."""
    cdef Records records = Records.__new__(Records)
    cdef PooledBlock block = PooledBlock.__new__(PooledBlock)
    cdef codec_context* context = context_acquire(&codecs.rows)
    cdef rp_error err
    cdef int status
    if context == NULL:
        raise MemoryError()
    with nogil:
        status = check_crc(entry, batch, &err) if check_crcs else RP_OK
        if status == RP_OK:
            status = open_source(context, entry, batch, entry + batch.size, &block.buffer, cap, True,
                                 &records._source, &err)
        if status == RP_OK and check_crcs and batch.magic < 2 and records._source.frame == RP_IN_RECORDS:
            status = check_inner_crcs(&records._source, &err)
        context_release(context)
    cdef bint decompressed = records._source.frame == RP_IN_RECORDS
    records._place = place_of(batch, base)
    if status != RP_OK:
        # no record of a v0/v1 wrapper is returned before the whole wrapper has been checked
        if batch.magic < 2 or not decompressed:
            raise error_of(&err, &records._place)
        records._pending = error_of(&err, &records._place)  # some records may come before it
    records._owner = block if decompressed else view
    records._cursor = rp_cursor_of(records._source.start, <size_t>(records._source.end - records._source.start))
    records._magic = batch.magic
    return records
