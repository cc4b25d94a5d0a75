"""The common part of both clients' builders of v2 batches, and of v0 and v1 messages."""

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t

from recordpress._c.wire cimport RP_BATCH_HEADER, RP_MESSAGE_CRC_OFFSET, rp_load_be32, rp_message_size
from recordpress.adapters._open_batch cimport NO_ROOM, OpenBatch, length_of, size_of_fields
from recordpress.record.encode cimport JAVA_RECORD_OVERHEAD


cdef int64_t most_of_one(object key, object value, object headers) except -1:
    return RP_BATCH_HEADER + JAVA_RECORD_OVERHEAD + size_of_fields(key, value, headers)


@cython.no_gc
@cython.freelist(64)
cdef class DefaultRecordMetadata:
    """Result of an append.

    Attributes
    ----------
    offset, size, timestamp : int
        Relative offset, bytes of the record before compression, ms.
    crc : None
        Records of v2 have none.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.DefaultRecordMetadata(0, 9, 1700000000000)
    DefaultRecordMetadata(offset=0, size=9, timestamp=1700000000000)
    """

    crc = None

    def __init__(self, int64_t offset, Py_ssize_t size, int64_t timestamp):
        self.offset = offset
        self.size = size
        self.timestamp = timestamp

    def __repr__(self):
        return f"DefaultRecordMetadata(offset={self.offset!r}, size={self.size!r}, timestamp={self.timestamp!r})"


@cython.no_gc
@cython.freelist(16)
cdef class LegacyRecordMetadata:
    """Result of an append.

    Attributes
    ----------
    offset, crc, size, timestamp : int
        Offset, checksum and bytes of the message before compression, ms.

    Examples
    --------
    >>> from recordpress.adapters import aiokafka as fast
    >>> fast.LegacyRecordMetadata(0, 1, 35, 1700000000000)
    LegacyRecordMetadata(offset=0, crc=1, size=35, timestamp=1700000000000)
    """

    def __init__(self, int64_t offset, uint32_t crc, Py_ssize_t size, int64_t timestamp):
        self.offset = offset
        self.crc = crc
        self.size = size
        self.timestamp = timestamp

    def __repr__(self):
        return (f"LegacyRecordMetadata(offset={self.offset!r}, crc={self.crc!r}, size={self.size!r}, "
                f"timestamp={self.timestamp!r})")


cdef class DefaultBuilder(OpenBatch):
    """Builds a v2 batch."""

    cdef void become(self, int64_t producer_id, int16_t producer_epoch, int32_t base_sequence) noexcept:
        self.batch.encoder.options.producer_id = producer_id
        self.batch.encoder.options.producer_epoch = producer_epoch
        self.batch.encoder.options.base_sequence = base_sequence

    @cython.critical_section
    cdef DefaultRecordMetadata add(self, int64_t offset, int64_t timestamp, object key, object value, object headers):
        cdef int64_t size = self.put(offset, timestamp, key, value, headers)
        if size == NO_ROOM:
            return None
        cdef DefaultRecordMetadata metadata = DefaultRecordMetadata.__new__(DefaultRecordMetadata)
        metadata.offset = offset
        metadata.size = size
        metadata.timestamp = timestamp
        return metadata

    @property
    def producer_id(self):
        return self.batch.encoder.options.producer_id

    @property
    def producer_epoch(self):
        return self.batch.encoder.options.producer_epoch

    @property
    def base_sequence(self):
        return self.batch.encoder.options.base_sequence


cdef class LegacyBuilder(OpenBatch):
    """Builds messages of v0 or v1, in a wrapper if they are compressed."""

    @cython.critical_section
    cdef LegacyRecordMetadata add(self, int64_t offset, int64_t timestamp, object key, object value):
        cdef int64_t size = self.put(offset, timestamp, key, value, None)
        if size == NO_ROOM:
            return None
        cdef LegacyRecordMetadata metadata = LegacyRecordMetadata.__new__(LegacyRecordMetadata)
        metadata.offset = offset
        metadata.crc = rp_load_be32(self.batch.records.data + self.batch.records.size - size + RP_MESSAGE_CRC_OFFSET)
        metadata.size = size
        metadata.timestamp = timestamp
        return metadata

    cdef int64_t message_size(self, object key, object value) except -1:
        return <int64_t>rp_message_size(self.batch.encoder.options.magic, length_of(key), length_of(value))
