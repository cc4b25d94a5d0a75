"""The records of a batch as Python objects, one at a time: key, value and headers are made when asked for.

One record alive at a time costs a fraction of a list of all: its memory serves the next one.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from kpress._buffers cimport InputView, PooledBlock
from kpress._c.wire cimport (
    KP_ENTRY_SIZE_MAX, KP_INNER_COMPRESSED, KP_LOG_OVERHEAD, KP_MESSAGE_ATTRIBUTES_OFFSET, KP_OK, KP_RECORDS_LEFT,
    KP_RECORDS_MISSING, KP_RECORD_LENGTH, KP_VARINT, kp_batch, kp_batch_codec, kp_batch_timestamp_type, kp_cursor,
    kp_cursor_of, kp_error, kp_fail, kp_header, kp_header_read, kp_load_be32, kp_message_read, kp_record,
    kp_record_explain, kp_record_read, kp_sequence_add,
)
from kpress._status cimport error_of
from kpress.codecs.context cimport codec_context, context_acquire, context_release
from kpress.record.decode cimport check_crc, open_source

from kpress.record._types import TIMESTAMP_TYPES


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Record:
    """One record. Made by iterating over a `Batch`.

    Attributes
    ----------
    offset : int
    timestamp : int
        Milliseconds; -1 for none. The batch's append time where timestamp_type is LogAppendTime.
    timestamp_type : TimestampType
    key, value : bytes | None
        Made when first read.
    headers : list[tuple[str, bytes | None]]
        Keys are decoded as UTF-8; bytes that are not become U+FFFD, as in Kafka's clients.
    sequence : int
        Of an idempotent producer, -1 for none.
    size : int
        Bytes of the record as stored (uncompressed).
    attributes : int
        As stored: 0 in v2; codec and timestamp type bits in v0/v1.

    Examples
    --------
    >>> import kpress
    >>> data = kpress.write_records([b"v"], keys=[b"k"], timestamps=[1700000000000], headers=[[("h", None)]])
    >>> [[record]] = kpress.read_batches(data)
    >>> record
    <kpress.Record offset 0, timestamp 1700000000000, key 1 bytes, value 1 bytes, 1 headers>
    >>> record.key, record.value, record.headers
    (b'k', b'v', [('h', None)])
    """

    def __init__(self):
        raise TypeError("records are made by iterating over a batch")

    def __repr__(self):
        key = "null" if self._key_size < 0 else f"{self._key_size} bytes"
        value = "null" if self._value_size < 0 else f"{self._value_size} bytes"
        return (f"<kpress.Record offset {self.offset}, timestamp {self.timestamp}, key {key}, value {value}, "
                f"{self._header_count} headers>")

    @property
    def key(self):
        if self._key_size < 0:
            return None
        if self._key_bytes is None:
            self._key_bytes = PyBytes_FromStringAndSize(<const char*>self._key, self._key_size)
        return self._key_bytes

    @property
    def value(self):
        if self._value_size < 0:
            return None
        if self._value_bytes is None:
            self._value_bytes = PyBytes_FromStringAndSize(<const char*>self._value, self._value_size)
        return self._value_bytes

    @property
    def key_size(self):
        """int: bytes of the key, -1 for null; makes no object."""
        return self._key_size

    @property
    def value_size(self):
        """int: bytes of the value, -1 for null; makes no object."""
        return self._value_size

    @property
    def timestamp_type(self):
        return TIMESTAMP_TYPES[1 + self._timestamp_type]

    @property
    def headers(self):
        cdef kp_cursor cursor
        cdef kp_header h
        cdef list headers = []
        if self._header_count:
            # they were checked when the record was read; the caller may have written to the bytes since
            cursor = kp_cursor_of(self._headers, <size_t>self._headers_size)
            for _ in range(self._header_count):
                if kp_header_read(&cursor, &h) != KP_OK:
                    break
                value = None if h.value_size < 0 else PyBytes_FromStringAndSize(<const char*>h.value, h.value_size)
                headers.append((PyUnicode_DecodeUTF8(<const char*>h.key, h.key_size, "replace"), value))
        return headers

    def is_valid(self):
        """Whether a v0/v1 message's own checksum holds; a v2 record has none and is True.

        Returns
        -------
        bool
        """
        cdef kp_batch message
        cdef kp_record ignored
        cdef kp_error err
        if self._entry == NULL:
            return True
        return (kp_message_read(self._entry, self.size, 0, &message, &ignored, &err) == KP_OK
                and check_crc(self._entry, &message, &err) == KP_OK)


@cython.final
cdef class Records:
    """Iterator over the records of one batch."""

    def __init__(self):
        raise TypeError("made by iterating over a batch")

    def __iter__(self):
        return self

    def __next__(self):
        if self._magic == 2:
            return self._next()
        return self._next_message()

    cdef Record _next(self):
        cdef kp_record r
        cdef const uint8_t* at = self._cursor.p
        if self._index >= self._source.count:
            raise StopIteration
        if not kp_record_read(&self._cursor, &r):
            raise self._explain(at)
        self._index += 1
        # what is wrong behind the last record is raised instead of it (DefaultRecordBatch.RecordIterator)
        if self._index == self._source.count and (self._failed or self._cursor.p != self._cursor.end):
            raise self._rest()
        cdef Record record = Record.__new__(Record)
        record._owner = self._owner
        record._key = r.key
        record._value = r.value
        record._headers = r.headers
        record._headers_size = <int32_t>(self._cursor.p - r.headers)
        record._key_size = r.key_size
        record._value_size = r.value_size
        record._header_count = r.header_count
        record.size = r.size
        record.attributes = r.attributes
        record._timestamp_type = self._timestamp_type
        # sums wrap: deltas from outside may be anything, as in Java
        record.offset = <int64_t>(<uint64_t>self._source.base_offset + <uint64_t>r.offset_delta)
        if self._source.log_append_time:
            record.timestamp = self._source.append_time
        else:
            record.timestamp = <int64_t>(<uint64_t>self._source.base_timestamp + <uint64_t>r.timestamp_delta)
        record.sequence = -1
        if self._source.base_sequence >= 0:
            record.sequence = kp_sequence_add(self._source.base_sequence, <int32_t>r.offset_delta)
        return record

    cdef Record _next_message(self):
        """The next entry of a v0/v1 set; what a wrapper's reader checks was checked when it was opened."""
        cdef kp_record r
        cdef kp_batch message
        cdef kp_error err
        cdef const uint8_t* at = self._cursor.p
        if self._index >= self._source.count:
            raise StopIteration
        cdef int64_t size = <int64_t><int32_t>kp_load_be32(at + 8) + KP_LOG_OVERHEAD
        if size > self._cursor.end - at:  # of a plain message: the caller wrote to it since
            kp_fail(&err, KP_ENTRY_SIZE_MAX, at + 8 - self._source.start, size - KP_LOG_OVERHEAD,
                    self._cursor.end - at - KP_LOG_OVERHEAD)
            raise self._error(&err)
        if kp_message_read(at, size, at - self._source.start, &message, &r, &err) != KP_OK:
            raise self._error(&err)
        if kp_batch_codec(&message):
            kp_fail(&err, KP_INNER_COMPRESSED, at + KP_MESSAGE_ATTRIBUTES_OFFSET - self._source.start,
                    message.attributes, 0)
            raise self._error(&err)
        self._index += 1
        self._cursor.p += size
        cdef Record record = Record.__new__(Record)
        record._owner = self._owner
        record._entry = at
        record._key = r.key
        record._value = r.value
        record._key_size = r.key_size
        record._value_size = r.value_size
        record.size = r.size
        record.attributes = r.attributes
        record.sequence = -1
        record.offset = <int64_t>(<uint64_t>self._source.base_offset + <uint64_t>message.base_offset)
        # an inner message of magic 0 has neither timestamp nor type, whatever its wrapper says
        record._timestamp_type = self._timestamp_type if message.magic else -1
        record.timestamp = message.base_timestamp
        if self._source.log_append_time and message.magic:
            record.timestamp = self._source.append_time
        return record

    cdef object _explain(self, const uint8_t* at):
        """The error for the record at `at`: the codec's where its bytes are what is missing."""
        cdef kp_error err
        if at == self._source.end:
            kp_fail(&err, KP_RECORDS_MISSING, at - self._source.start, self._index, self._source.count)
        else:
            kp_record_explain(at, self._source.end, self._source.start, &err)
        if self._failed and err.status in (KP_RECORDS_MISSING, KP_RECORD_LENGTH, KP_VARINT):
            return self._codec_error()
        return self._error(&err)

    cdef object _rest(self):
        """The error for what is behind the last record."""
        cdef kp_error err
        if self._failed:
            return self._codec_error()
        kp_fail(&err, KP_RECORDS_LEFT, self._cursor.p - self._source.start, self._cursor.end - self._cursor.p,
                self._source.count)
        return self._error(&err)

    cdef object _codec_error(self):
        self._index = self._source.count = 0
        return error_of(&self._pending, self._position, self._base_offset)

    cdef object _error(self, const kp_error* err):
        """The exception; the iterator is at its end afterwards."""
        self._index = self._source.count = 0
        return error_of(err, self._position + self._start, self._base_offset, None, self._inside)


cdef object records_of(InputView view, const uint8_t* entry, const kp_batch* batch, int64_t base, size_t cap):
    """An iterator over the records of an entry of `view`; decompression happens here."""
    cdef Records records = Records.__new__(Records)
    cdef PooledBlock block = PooledBlock.__new__(PooledBlock)
    cdef codec_context* context = context_acquire()
    cdef int status
    if context == NULL:
        raise MemoryError()
    with nogil:
        status = open_source(context, entry, batch, entry + batch.size, &block.buffer, cap, True, &records._source,
                             &records._inside, &records._pending)
        context_release(context)
    records._position = base + batch.position
    records._base_offset = batch.base_offset
    if status != KP_OK:
        # of a v0/v1 wrapper nothing is handed out before all of it is found to be sound
        if batch.magic < 2 or not records._inside:
            raise error_of(&records._pending, records._position, batch.base_offset, None, records._inside)
        records._failed = True  # some records may come before it
    records._owner = block if records._inside else view
    records._cursor = kp_cursor_of(records._source.start, <size_t>(records._source.end - records._source.start))
    records._start = 0 if records._inside else records._source.start - entry
    records._magic = batch.magic
    records._timestamp_type = <signed char>kp_batch_timestamp_type(batch)
    return records
