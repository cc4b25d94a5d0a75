"""The record classes of aiokafka that read, by its names.

The AssertionErrors are its own: DefaultRecordBatch.validate_crc() and __iter__() in aiokafka.record.
"""

cimport cython
from libc.stdint cimport int64_t, int8_t, uint32_t

from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_GZIP, RP_LOG_APPEND_TIME, RP_LZ4, RP_NONE, RP_OK, RP_SNAPPY, RP_ZSTD, rp_batch, rp_error,
    rp_message_read, rp_record,
)
from recordpress.adapters._client cimport Client, demand
from recordpress.adapters._entry cimport (
    BATCH, MESSAGE, Batch, Entry, LazyRecord, Message, RecordSet, messages_of, take_fields, take_headers,
)
from recordpress.adapters._open_batch cimport MESSAGE_V0, MESSAGE_V1

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
        Made when first read.
    headers : list[tuple[str, bytes | None]]
        Made when first read; bytes of a key that are not UTF-8 become U+FFFD, as in Java.
    checksum : None
        Records of v2 have none.

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
    """A v2 batch: attributes of its header, and its records by iterating.

    Attributes
    ----------
    base_offset, magic, crc, attributes, last_offset_delta, first_timestamp, max_timestamp : int
    producer_id, producer_epoch, base_sequence : int
        -1 for none.
    timestamp_type, compression_type : int
        As the attributes have them.
    is_transactional, is_control_batch : bool
    next_offset : int
        The offset to fetch next.
    CODEC_NONE, CODEC_MASK, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD : int
        Kafka's ids.

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
        None in v0, and without a timestamp.
    key, value : bytes | None
        Made when first read.
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
    """A message of v0 or v1, alone or a wrapper of compressed ones.

    Attributes
    ----------
    next_offset : int
        The offset to fetch next.
    is_control_batch, is_transactional : bool
        False.
    producer_id : None
    RECORD_OVERHEAD_V0, RECORD_OVERHEAD_V1, CODEC_MASK, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4 : int
        Kafka's sizes and ids.

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
    """The entries of a fetched record set, one after the other; a truncated entry ends it.

    Attributes
    ----------
    owner : bytes
        The record set.
    position : int
        Bytes before the next entry.

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
        """Return the next entry, or None."""
        cdef Entry made = self.entry(DefaultRecordBatch, LegacyRecordBatch)
        if made is None:
            return None
        if type(made) is LegacyRecordBatch:
            (<LegacyRecordBatch>made).check_message()
        self.position += made.header.size
        return made
