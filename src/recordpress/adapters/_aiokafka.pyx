"""aiokafka's record classes, under its names; readers first, then builders.

AssertionErrors are raised where aiokafka.record raises them: in DefaultRecordBatch.validate_crc() and __iter__(),
DefaultRecordBatchBuilder and LegacyRecordBatchBuilder.
"""

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, int8_t, uint32_t

from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_GZIP, RP_LOG_APPEND_TIME, RP_LZ4, RP_NONE, RP_OK, RP_SNAPPY, RP_TRANSACTIONAL, RP_ZSTD, rp_batch,
    rp_error, rp_message_read, rp_record,
)
from recordpress.adapters._client cimport Client, demand, not_made
from recordpress.adapters._entry cimport (
    BATCH, MESSAGE, Batch, Entry, LazyRecord, Message, RecordSet, messages_of, take_fields, take_headers,
)
from recordpress.adapters._open_batch cimport (
    MESSAGE_V0, MESSAGE_V1, DefaultBuilder, LegacyBuilder, most_of_one, now, size_of_fields,
)

cdef Client client = None


def use(Client used not None):
    """Set the client, whose errors all classes here raise."""
    global client
    client = used


@cython.final
@cython.no_gc
cdef class DefaultRecord(LazyRecord):
    """A record of a v2 batch.

    Attributes
    ----------
    offset, timestamp, timestamp_type : int
        Timestamp in ms; type 0 CreateTime, 1 LogAppendTime.
    key, value : bytes | None
        Created when first read.
    headers : list[tuple[str, bytes | None]]
        Created when first read; bytes of a key that are not UTF-8 become U+FFFD, as in Java.
    checksum : None
        Always None: v2 records have no checksum.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.DefaultRecord(7, 1700000000000, 0, b"k", None, []).offset
    7
    """

    def __init__(self, int64_t offset, int64_t timestamp, int8_t timestamp_type, object key, object value,
                 object headers):
        self.give(offset, timestamp, timestamp_type, key, value, headers)

    def __repr__(self):
        return (f"DefaultRecord(offset={self.offset!r}, timestamp={self.timestamp!r}, "
                f"timestamp_type={self.timestamp_type!r}, key={self.key!r}, value={self.value!r}, "
                f"headers={self.headers!r})")


@cython.final
cdef class DefaultRecordBatch(Batch):
    """A v2 batch: its header's attributes, and iteration over its records.

    Attributes
    ----------
    base_offset, magic, crc, attributes, last_offset_delta, first_timestamp, max_timestamp : int
    producer_id, producer_epoch, base_sequence : int
        -1 if not set.
    timestamp_type, compression_type : int
        Codec id and timestamp type from the attributes.
    is_transactional, is_control_batch : bool
    next_offset : int
        The offset to fetch next.
    CODEC_NONE, CODEC_MASK, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD : int
        Kafka's codec ids, and their mask.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.adapters import aiokafka as fast
    >>> batch = fast.DefaultRecordBatch(recordpress.write_records([b"a", b"b"], compression_type="zstd"))
    >>> batch.validate_crc(), batch.next_offset, [record.value for record in batch]
    (True, 2, [b'a', b'b'])
    """

    CODEC_NONE = RP_NONE
    CODEC_MASK = RP_CODEC_MASK
    CODEC_GZIP = RP_GZIP
    CODEC_SNAPPY = RP_SNAPPY
    CODEC_LZ4 = RP_LZ4
    CODEC_ZSTD = RP_ZSTD

    def __init__(self, object buffer):
        self.take(client, buffer, BATCH)

    def __iter__(self):
        demand(self.index == 0)
        self.open()
        return self

    @cython.critical_section
    def __next__(self):
        cdef rp_record r
        if not self.next(&r):
            self.index = 0           # the batch can be iterated over again
            self.cursor.p = self.source.start
            raise StopIteration
        cdef DefaultRecord record = DefaultRecord.__new__(DefaultRecord)
        take_fields(record, &r, self.records_owner)
        take_headers(record, &r)
        return record


@cython.final
@cython.no_gc
cdef class LegacyRecord(Message):
    """A message of v0 or v1.

    Attributes
    ----------
    offset, checksum : int
    timestamp, timestamp_type : int | None
        None in v0, or if the message has no timestamp.
    key, value : bytes | None
        Created when first read.
    headers : list
        Empty.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.LegacyRecord(7, -1, 0, None, b"v", 0).timestamp is None
    True
    """

    def __init__(self, int64_t offset, int64_t timestamp, int8_t attributes, object key, object value, uint32_t crc):
        self.give(offset, timestamp, 1 if attributes & RP_LOG_APPEND_TIME else 0, key, value, None)
        self.crc = crc

    @property
    def timestamp(self):
        return None if self.time == -1 else self.time

    @property
    def timestamp_type(self):
        if self.time == -1:
            return None
        return 1 if self.kind == 1 else 0

    def __repr__(self):
        return (f"LegacyRecord(offset={self.offset!r}, timestamp={self.timestamp!r}, "
                f"timestamp_type={self.timestamp_type!r}, key={self.key!r}, value={self.value!r}, "
                f"crc={self.checksum!r})")


@cython.final
cdef class LegacyRecordBatch(Entry):
    """A message of v0 or v1: a single message, or a wrapper of compressed messages.

    Attributes
    ----------
    next_offset : int
        The offset to fetch next.
    is_control_batch, is_transactional : bool
        False.
    producer_id : None
    RECORD_OVERHEAD_V0, RECORD_OVERHEAD_V1, CODEC_MASK, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4 : int
        Kafka's overhead sizes, and codec ids with their mask.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.adapters import aiokafka as fast
    >>> batch = fast.LegacyRecordBatch(recordpress.write_records([b"a", b"b"], magic=1, compression_type="gzip"), 1)
    >>> batch.validate_crc(), [record.value for record in batch]
    (True, [b'a', b'b'])
    """

    RECORD_OVERHEAD_V0 = MESSAGE_V0
    RECORD_OVERHEAD_V1 = MESSAGE_V1
    CODEC_MASK = RP_CODEC_MASK
    CODEC_GZIP = RP_GZIP
    CODEC_SNAPPY = RP_SNAPPY
    CODEC_LZ4 = RP_LZ4

    is_control_batch = False
    is_transactional = False
    producer_id = None

    def __init__(self, object buffer, int8_t magic):
        self.take(client, buffer, MESSAGE)
        self.check_message()

    cdef int check_message(self) except -1:
        """Check the message as aiokafka's constructor does."""
        cdef rp_batch ignored
        cdef rp_record r
        cdef rp_error err
        if rp_message_read(self.data, self.header.size, 0, &ignored, &r, &err) != RP_OK:
            raise self.client.error_of(&err, &self.header)
        return 0

    @property
    def next_offset(self):
        return self.header.base_offset + 1

    def validate_crc(self):
        """Return whether the checksum is right."""
        return self.crc_matches()

    def __iter__(self):
        return messages_of(self, LegacyRecord)


cdef class MemoryRecords(RecordSet):
    """The entries of a fetched record set, in order, up to the first truncated entry.

    Attributes
    ----------
    owner : bytes
        The record set.
    position : int
        Position of the next entry, in bytes.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.adapters import aiokafka as fast
    >>> records = fast.MemoryRecords(recordpress.write_records([b"a", b"b"]))
    >>> while records.has_next():
    ...     for record in records.next_batch():
    ...         print(record.offset, record.value)
    0 b'a'
    1 b'b'
    """

    def __init__(self, bytes bytes_data not None):
        self.begin(client, bytes_data)

    @cython.critical_section
    def next_batch(self):
        """Return the next entry, or None at the end."""
        cdef Entry made = self.entry(DefaultRecordBatch, LegacyRecordBatch)
        if made is None:
            return None
        if type(made) is LegacyRecordBatch:
            (<LegacyRecordBatch>made).check_message()
        self.position += made.header.size
        return made


# --- builders, and the producer's BatchBuilder -----------------------------------------------------------------------

cdef inline int64_t time_given(object timestamp) except? -1:
    return now() if timestamp is None else <int64_t>timestamp


cdef class DefaultRecordBatchBuilder(DefaultBuilder):
    """Builder of a v2 batch: append(), then build().

    Attributes
    ----------
    producer_id, producer_epoch, base_sequence : int
        -1 if not set.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> builder = fast.DefaultRecordBatchBuilder(
    ...     magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=-1,
    ...     batch_size=100)
    >>> builder.append(0, timestamp=1700000000000, key=None, value=b"v", headers=[]).size
    8
    >>> builder.append(1, timestamp=1700000000000, key=None, value=b"v" * 40, headers=[]) is None
    True
    >>> len(builder.build())
    69
    """

    def __init__(self, int8_t magic, int8_t compression_type, int8_t is_transactional, int64_t producer_id,
                 int16_t producer_epoch, int32_t base_sequence, Py_ssize_t batch_size):
        demand(magic == 2)
        self.begin(compression_type, is_transactional, batch_size)
        self.become(producer_id, producer_epoch, base_sequence)

    @cython.final
    cdef int begin(self, int compression_type, int is_transactional, int64_t batch_size) except -1:
        self.start(client, 2, compression_type & RP_CODEC_MASK, batch_size)
        if is_transactional:
            self.batch.encoder.options.attributes |= RP_TRANSACTIONAL
        return 0

    @cython.critical_section
    def set_producer_state(self, int64_t producer_id, int16_t producer_epoch, int32_t base_sequence):
        """Set the fields that idempotent and transactional producers know only when they send the batch."""
        self.become(producer_id, producer_epoch, base_sequence)

    def append(self, int64_t offset, timestamp, key, value, list headers not None):
        """Append a record and return its metadata, or return None if it does not fit."""
        return self.add(offset, time_given(timestamp), key, value, headers if len(headers) else None)

    def size_in_bytes(self, offset, timestamp, key, value, list headers not None):
        """Return the number of bytes that the record would take."""
        return self.size_with(offset, timestamp, key, value, headers)

    @classmethod
    def size_of(cls, key, value, list headers not None):
        """Return the number of bytes that key, value and headers take in a record."""
        return size_of_fields(key, value, headers)

    @classmethod
    def estimate_size_in_bytes(cls, key, value, list headers not None):
        """Return the maximum size of a batch that holds only this record."""
        return most_of_one(key, value, headers)


cdef class LegacyRecordBatchBuilder(LegacyBuilder):
    """Builder of v0 or v1 messages, in a wrapper if they are compressed.

    Attributes
    ----------
    CODEC_MASK, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4 : int
        Kafka's codec ids, and their mask.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> builder = fast.LegacyRecordBatchBuilder(magic=1, compression_type=0, batch_size=16384)
    >>> builder.append(0, timestamp=1700000000000, key=None, value=b"v").size, len(builder.build())
    (35, 35)
    """

    CODEC_MASK = RP_CODEC_MASK
    CODEC_GZIP = RP_GZIP
    CODEC_SNAPPY = RP_SNAPPY
    CODEC_LZ4 = RP_LZ4

    def __init__(self, int8_t magic, int8_t compression_type, Py_ssize_t batch_size):
        demand(magic in (0, 1), "Not supported magic")
        self.start(client, magic, compression_type, batch_size)

    def append(self, int64_t offset, timestamp, key, value, headers=None):
        """Append a message and return its metadata, or return None if it does not fit. v0 and v1 have no headers."""
        return self.add(offset, time_given(timestamp) if self.batch.encoder.options.magic else -1, key, value)

    def size_in_bytes(self, offset, timestamp, key, value):
        """Return the number of bytes that the message would take."""
        return self.message_size(key, value)

    @staticmethod
    def record_overhead(int8_t magic):
        """Return the number of bytes of a message without offset, size, key and value."""
        return MESSAGE_V0 if magic == 0 else MESSAGE_V1


cdef int check_headers(object headers) except -1:
    if headers is not None and type(headers) is not list:
        raise TypeError(f"headers must be a list, not {type(headers).__name__}")
    return 0


cdef class BatchBuilder:
    """One batch of a producer, with its serializers, as `AIOKafkaProducer.create_batch` returns it.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> batch = fast.BatchBuilder(16384, 0, value_serializer=str.encode)
    >>> batch.append(timestamp=1700000000000, key=None, value="v").size, batch.record_count()
    (8, 1)
    """

    cdef readonly DefaultRecordBatchBuilder _builder   # aiokafka's own benchmark calls its build()
    cdef readonly int64_t _relative_offset
    cdef readonly object _buffer
    cdef readonly bint _closed
    cdef object key_serializer
    cdef object value_serializer

    def __init__(self, batch_size, compression_type, *, is_transactional=0, key_serializer=None,
                 value_serializer=None):
        self._builder = DefaultRecordBatchBuilder.__new__(DefaultRecordBatchBuilder)
        self._builder.begin(compression_type, bool(is_transactional), batch_size)
        self._builder.batch.encoder.options.base_sequence = 0
        self._relative_offset = 0
        self._closed = False
        self.key_serializer = key_serializer
        self.value_serializer = value_serializer

    @cython.critical_section
    def append(self, *, timestamp, key, value, headers=None):
        """Append a record; return its metadata, or None if the batch is full or closed. `timestamp`: ms; None: now."""
        if self._closed:
            return None
        if self.key_serializer is not None:
            key = self.key_serializer(key)
        if self.value_serializer is not None:
            value = self.value_serializer(value)
        check_headers(headers)
        metadata = self._opened().add(self._relative_offset, time_given(timestamp), key, value, headers)
        if metadata is None:
            self._closed = True
            return None
        self._relative_offset += 1
        return metadata

    cdef inline DefaultRecordBatchBuilder _opened(self):
        if self._builder is None:
            raise not_made(self)
        return self._builder

    @cython.critical_section
    def close(self):
        """Close the batch: append() then returns None."""
        self._closed = True

    def closed(self):
        """Return whether the builder accepts no more records."""
        return self._closed

    @cython.critical_section
    def _set_producer_state(self, producer_id, producer_epoch, base_sequence):
        self._opened().become(producer_id, producer_epoch, base_sequence)

    @cython.critical_section
    def _build(self):
        self._closed = True
        if self._buffer is None:
            self._buffer = self._opened().finish()
        return self._buffer

    @cython.critical_section
    def size(self):
        """Return the size of the batch in bytes: uncompressed until it is built."""
        return self._opened().size_of_all()

    def record_count(self):
        """Return the number of records in the batch."""
        return self._relative_offset
