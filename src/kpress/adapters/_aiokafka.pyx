"""The record classes of aiokafka that read, by its names."""

cimport cython
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE

from kpress._c.wire cimport (
    KP_CODEC_MASK, KP_CONTROL, KP_ENTRY_SIZE, KP_GZIP, KP_LOG_APPEND_TIME, KP_LOG_OVERHEAD, KP_LZ4, KP_MAGIC_OFFSET,
    KP_MIN_ENTRY_SIZE, KP_NONE, KP_OK, KP_SNAPPY, KP_TRANSACTIONAL, KP_ZSTD, kp_batch, kp_error, kp_fail,
    kp_load_be32, kp_message_read, kp_record,
)
from kpress.adapters._client cimport Client, ready
from kpress.adapters._entry cimport (
    BATCH, MESSAGE, Entry, LazyRecord, messages_of, take_fields, take_headers,
)

cdef enum:
    MESSAGE_V0 = 14             # LegacyRecord.RECORD_OVERHEAD_V0
    MESSAGE_V1 = 22

cdef Client client = None


def use(Client used not None):
    """What raises the errors of all classes here, once aiokafka was imported."""
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
    >>> from kpress.adapters import aiokafka as fast
    >>> fast.DefaultRecord(7, 1700000000000, 0, b"k", None, []).offset
    7
    """

    checksum = None

    def __init__(self, int64_t offset, int64_t timestamp, int8_t timestamp_type, object key, object value,
                 object headers):
        self.offset = offset
        self.time = timestamp
        self.kind = timestamp_type
        self.key_object, self.value_object, self.headers_object = key, value, headers
        self.record.key.size = self.record.value.size = -1

    @property
    def timestamp(self):
        return self.time

    @property
    def timestamp_type(self):
        return self.kind

    def __repr__(self):
        return (f"DefaultRecord(offset={self.offset!r}, timestamp={self.timestamp!r}, "
                f"timestamp_type={self.timestamp_type!r}, key={self.key!r}, value={self.value!r}, "
                f"headers={self.headers!r})")


@cython.final
cdef class DefaultRecordBatch(Entry):
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
    >>> import kpress
    >>> from kpress.adapters import aiokafka as fast
    >>> batch = fast.DefaultRecordBatch(kpress.write_records([b"a", b"b"], compression_type="zstd"))
    >>> batch.validate_crc(), batch.next_offset, [record.value for record in batch]
    (True, 2, [b'a', b'b'])
    """

    CODEC_NONE = KP_NONE
    CODEC_MASK = KP_CODEC_MASK
    CODEC_GZIP = KP_GZIP
    CODEC_SNAPPY = KP_SNAPPY
    CODEC_LZ4 = KP_LZ4
    CODEC_ZSTD = KP_ZSTD

    def __init__(self, object buffer):
        self.take(client, buffer, BATCH)

    @property
    def base_offset(self):
        return self.header.base_offset

    @property
    def magic(self):
        return self.header.magic

    @property
    def crc(self):
        return self.header.crc

    @property
    def attributes(self):
        return self.header.attributes

    @property
    def last_offset_delta(self):
        return self.header.last_offset_delta

    @property
    def first_timestamp(self):
        return self.header.base_timestamp

    @property
    def max_timestamp(self):
        return self.header.max_timestamp

    @property
    def producer_id(self):
        return self.header.producer_id

    @property
    def producer_epoch(self):
        return self.header.producer_epoch

    @property
    def base_sequence(self):
        return self.header.base_sequence

    @property
    def timestamp_type(self):
        return 1 if self.header.attributes & KP_LOG_APPEND_TIME else 0

    @property
    def compression_type(self):
        return self.header.attributes & KP_CODEC_MASK

    @property
    def is_transactional(self):
        return (self.header.attributes & KP_TRANSACTIONAL) != 0

    @property
    def is_control_batch(self):
        return (self.header.attributes & KP_CONTROL) != 0

    @property
    def next_offset(self):
        return self.header.base_offset + self.header.last_offset_delta + 1

    def validate_crc(self):
        """Whether the checksum is right; before the records are read."""
        assert not self.opened, "Validate should be called before iteration"
        return self.crc_matches()

    def __iter__(self):
        assert self.index == 0
        self.open()
        return self

    def __next__(self):
        cdef kp_record r
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
cdef class LegacyRecord(LazyRecord):
    """A message of v0 or v1.

    Attributes
    ----------
    offset, checksum : int
    timestamp, timestamp_type : int | None
        None in v0, and where there is no timestamp.
    key, value : bytes | None
        Made when first read.
    headers : list
        Empty.

    Examples
    --------
    >>> from kpress.adapters import aiokafka as fast
    >>> fast.LegacyRecord(7, -1, 0, None, b"v", 0).timestamp is None
    True
    """

    def __init__(self, int64_t offset, int64_t timestamp, int8_t attributes, object key, object value, uint32_t crc):
        self.offset = offset
        self.time = timestamp
        self.kind = 1 if attributes & KP_LOG_APPEND_TIME else 0
        self.key_object, self.value_object = key, value
        self.record.key.size = self.record.value.size = -1
        self.crc = crc

    @property
    def checksum(self):
        return self.crc

    @property
    def headers(self):
        return []

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
    >>> import kpress
    >>> from kpress.adapters import aiokafka as fast
    >>> batch = fast.LegacyRecordBatch(kpress.write_records([b"a", b"b"], magic=1, compression_type="gzip"), 1)
    >>> batch.validate_crc(), [record.value for record in batch]
    (True, [b'a', b'b'])
    """

    RECORD_OVERHEAD_V0 = MESSAGE_V0
    RECORD_OVERHEAD_V1 = MESSAGE_V1
    CODEC_MASK = KP_CODEC_MASK
    CODEC_GZIP = KP_GZIP
    CODEC_SNAPPY = KP_SNAPPY
    CODEC_LZ4 = KP_LZ4

    is_control_batch = False
    is_transactional = False
    producer_id = None

    def __init__(self, object buffer, int8_t magic):
        self.take(client, buffer, MESSAGE)
        self.check_message()

    cdef int check_message(self) except -1:
        """What aiokafka reads when it makes the object."""
        cdef kp_batch ignored
        cdef kp_record r
        cdef kp_error err
        if kp_message_read(self.data, self.header.size, 0, &ignored, &r, &err) != KP_OK:
            raise self.client.error_of(&err, &self.header)
        return 0

    @property
    def next_offset(self):
        return self.header.base_offset + 1

    def validate_crc(self):
        """Whether the checksum is right."""
        return self.crc_matches()

    def __iter__(self):
        return messages_of(self)

    cdef object message_record(self, const kp_record* r, const kp_batch* message, const uint8_t* at):
        cdef LegacyRecord record = LegacyRecord.__new__(LegacyRecord)
        take_fields(record, r, self.records_owner)
        record.crc = message.crc
        return record


cdef class MemoryRecords:
    """The entries of a fetched record set, one after the other; an entry that is cut ends it.

    Examples
    --------
    >>> import kpress
    >>> from kpress.adapters import aiokafka as fast
    >>> records = fast.MemoryRecords(kpress.write_records([b"a", b"b"]))
    >>> while records.has_next():
    ...     for record in records.next_batch():
    ...         print(record.offset, record.value)
    0 b'a'
    1 b'b'
    """

    cdef bytes data
    cdef int64_t position

    def __init__(self, bytes bytes_data not None):
        self.data = bytes_data
        self.position = 0

    def size_in_bytes(self):
        """Bytes of the record set."""
        return len(self.data)

    cdef int64_t left(self) except -1:
        if self.data is None:
            raise TypeError("this MemoryRecords was made without its argument")
        return PyBytes_GET_SIZE(self.data) - self.position

    cdef inline const uint8_t* at(self) noexcept:
        return <const uint8_t*>PyBytes_AS_STRING(self.data) + self.position

    def has_next(self):
        """Whether there is an entry, or one whose size is wrong: next_batch() raises that."""
        cdef int64_t left = self.left()
        return left >= KP_LOG_OVERHEAD and left >= <int64_t><int32_t>kp_load_be32(self.at() + 8) + KP_LOG_OVERHEAD

    def next_batch(self):
        """The next entry, or None."""
        cdef kp_error err
        cdef kp_batch whole
        cdef int64_t size, left = self.left()
        cdef const uint8_t* at
        cdef DefaultRecordBatch batch
        if left < KP_LOG_OVERHEAD:
            return None
        at = self.at()
        size = <int64_t><int32_t>kp_load_be32(at + 8)
        if size < KP_MIN_ENTRY_SIZE:
            whole.position, whole.base_offset = self.position, 0
            kp_fail(&err, KP_ENTRY_SIZE, 8, size, KP_MIN_ENTRY_SIZE)
            raise ready(client).error_of(&err, &whole)
        size += KP_LOG_OVERHEAD
        if size > left:
            return None
        if <int8_t>at[KP_MAGIC_OFFSET] in (0, 1):
            made = self.legacy(at, size)
            self.position += size
            return made
        batch = DefaultRecordBatch.__new__(DefaultRecordBatch)
        batch.take_slice(client, self.data, at, size, BATCH)
        self.position += size
        return batch

    cdef LegacyRecordBatch legacy(self, const uint8_t* at, int64_t size):
        cdef LegacyRecordBatch batch = LegacyRecordBatch.__new__(LegacyRecordBatch)
        batch.take_slice(client, self.data, at, size, MESSAGE)
        batch.check_message()
        return batch
