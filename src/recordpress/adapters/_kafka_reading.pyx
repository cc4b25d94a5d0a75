"""The record classes of kafka-python that read, by its names, except for their constants and base classes.

kafka_python.py makes the public classes of these: each also inherits from its base classes in the client. The
AssertionErrors are the client's own: DefaultRecordBatch.validate_crc() and LegacyRecordBatch in kafka.record.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_CONTROL, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, rp_load_be16, rp_load_be32, rp_message_size,
    rp_record, rp_sequence_add,
)
from recordpress.adapters._client cimport Client, demand, ready
from recordpress.adapters._entry cimport (
    BATCH, MESSAGE, Batch, Entry, LazyRecord, Message, RecordSet, messages_of, new, take_fields, take_headers,
)
from recordpress.adapters._open_batch cimport length_of
from recordpress.checksum cimport crc32_update

from recordpress.checksum import crc32

cdef enum:
    CONTROL_KEY = 4             # version and type, int16 each

cdef Client client = None
cdef object default_record, control_record, legacy_record, default_batch, legacy_batch


def use(Client used not None, dict classes not None):
    """Set the client, whose errors all classes here raise, and the public classes of their results."""
    global client, default_record, control_record, legacy_record, default_batch, legacy_batch
    default_record, control_record = classes["DefaultRecord"], classes["ControlRecord"]
    legacy_record = classes["LegacyRecord"]
    default_batch, legacy_batch = classes["DefaultRecordBatch"], classes["LegacyRecordBatch"]
    client = used


@cython.no_gc
cdef class DefaultRecord(LazyRecord):
    """A record of a v2 batch: size_in_bytes, offset, timestamp, timestamp_type, key, value, headers."""

    def __init__(self, size_in_bytes, int64_t offset, int64_t timestamp, int8_t timestamp_type, key, value, headers):
        self.record.size = size_in_bytes
        self.give(offset, timestamp, timestamp_type, key, value, headers)

    @property
    def size_in_bytes(self):
        """int: Size of the whole record with its length field (DefaultRecord.sizeInBytes)."""
        return self.record.size

    def validate_crc(self):
        """Return True: records of v2 have no checksum."""
        return True

    def __repr__(self):
        return (f"DefaultRecord(offset={self.offset!r}, timestamp={self.time!r}, timestamp_type={self.kind!r}, "
                f"key={self.key!r}, value={self.value!r}, headers={self.headers!r})")


@cython.no_gc
cdef class ControlRecord(DefaultRecord):
    """A record of a control batch: also version, type, and whether it is an abort or a commit marker."""

    cdef const uint8_t* _key_bytes(self) except NULL:
        """Return the key, which has at least four bytes."""
        key = self.key_of()
        if type(key) is not bytes or len(key) < CONTROL_KEY:
            raise ready(client).corrupt(f"the key of a control record must have {CONTROL_KEY} bytes or more, not "
                                        f"{key!r}")
        return <const uint8_t*>PyBytes_AS_STRING(key)

    def __init__(self, size_in_bytes, offset, timestamp, timestamp_type, key, value, headers):
        DefaultRecord.__init__(self, size_in_bytes, offset, timestamp, timestamp_type, key, value, headers)
        self._key_bytes()

    @property
    def version(self):
        return <int16_t>rp_load_be16(self._key_bytes())

    @property
    def type(self):
        return <int16_t>rp_load_be16(self._key_bytes() + 2)

    @property
    def abort(self):
        return self.type == 0

    @property
    def commit(self):
        return self.type == 1

    def __repr__(self):
        return (f"ControlRecord(offset={self.offset!r}, timestamp={self.time!r}, timestamp_type={self.kind!r}, "
                f"version={self.version!r}, type={self.type!r} <{'abort' if self.abort else 'commit'}>)")


cdef class DefaultRecordBatch(Batch):
    """A v2 batch: attributes of its header, and its records by iterating."""

    def __init__(self, buffer):
        self.take(client, buffer, BATCH)

    @property
    def size_in_bytes(self):
        return self.header.size

    @property
    def leader_epoch(self):
        return self.header.partition_leader_epoch

    @property
    def last_offset(self):
        return self.header.base_offset + self.header.last_offset_delta

    def has_producer_id(self):
        """Return whether a producer with an id wrote it."""
        return self.header.producer_id > -1

    @property
    def has_sequence(self):
        return self.header.base_sequence != -1

    @property
    def last_sequence(self):
        if self.header.base_sequence == -1:
            return -1
        return rp_sequence_add(self.header.base_sequence, self.header.last_offset_delta)

    @property
    def records_count(self):
        return self.header.records_count

    def __iter__(self):
        self.open()
        return self

    @cython.critical_section
    def __next__(self):
        cdef rp_record r
        cdef LazyRecord record
        if not self.next(&r):
            raise StopIteration
        record = new(control_record if self.header.attributes & RP_CONTROL else default_record)
        take_fields(record, &r, self.records_owner)
        take_headers(record, &r)
        record.record.size = r.size
        if self.header.attributes & RP_CONTROL:
            (<ControlRecord?>record)._key_bytes()
        return record

    def __str__(self):
        return (f"DefaultRecordBatch(magic={self.magic}, base_offset={self.base_offset}, "
                f"last_offset_delta={self.last_offset_delta}, first_timestamp={self.first_timestamp}, "
                f"max_timestamp={self.max_timestamp}, is_transactional={self.is_transactional}, "
                f"producer_id={self.producer_id}, producer_epoch={self.producer_epoch}, "
                f"base_sequence={self.base_sequence}, records_count={self.records_count})")


@cython.no_gc
cdef class LegacyRecord(Message):
    """A message of v0 or v1: magic, offset, timestamp, timestamp_type (both None in v0), key, value, checksum."""

    def __init__(self, int8_t magic, int64_t offset, timestamp, timestamp_type, key, value, crc, crc_bytes):
        self.record.attributes = magic
        self.give(offset, -1 if timestamp is None else timestamp, -1 if timestamp_type is None else timestamp_type, key,
                  value, crc_bytes)
        self.crc = crc

    @property
    def magic(self):
        return self.record.attributes

    @property
    def timestamp(self):
        return None if self.kind == -1 else self.time

    @property
    def timestamp_type(self):
        return None if self.kind == -1 else self.kind

    def validate_crc(self):
        """Return whether the message's own checksum is right."""
        if self.headers_object is not None:
            return crc32(self.headers_object) == self.crc
        return crc32_update(0, self.record.headers.data, <size_t>self.record.headers.size) == self.crc

    @property
    def size_in_bytes(self):
        return rp_message_size(self.record.attributes, length_of(self.key_of()), length_of(self.value_of()))

    def __repr__(self):
        return (f"LegacyRecord(magic={self.magic!r} offset={self.offset!r}, timestamp={self.timestamp!r}, "
                f"timestamp_type={self.timestamp_type!r}, key={self.key!r}, value={self.value!r}, "
                f"crc={self.crc!r})")


cdef class LegacyRecordBatch(Entry):
    """A message of v0 or v1, alone or a wrapper of compressed ones."""

    def __init__(self, buffer, magic):
        self.take(client, buffer, MESSAGE)
        # take() has read the header
        demand(<int64_t><int32_t>rp_load_be32(self.data + 8) == self.header.size - RP_LOG_OVERHEAD)
        demand(magic == self.header.magic)

    @property
    def base_offset(self):
        return self.header.base_offset

    @property
    def size_in_bytes(self):
        return self.header.size

    @property
    def timestamp_type(self):
        """int | None: 0 CreateTime, 1 LogAppendTime; None in v0."""
        if self.header.magic == 0:
            return None
        return 1 if self.header.attributes & RP_LOG_APPEND_TIME else 0

    @property
    def compression_type(self):
        return self.header.attributes & RP_CODEC_MASK

    @property
    def magic(self):
        return self.header.magic

    def validate_crc(self):
        """Return whether the checksum is right."""
        return self.crc_matches()

    def __iter__(self):
        return messages_of(self, legacy_record)


cdef class MemoryRecords(RecordSet):
    """The entries of a record set, one after the other; a truncated entry ends it."""

    def __init__(self, bytes_data):
        self.begin(client, bytes_data)

    def valid_bytes(self):
        """Return bytes of all entries that are whole."""
        cdef int64_t last
        return self.bounds(&last)

    @cython.critical_section
    def next_batch(self):
        """Return the next entry, or None."""
        cdef Entry made = self.entry(default_batch, legacy_batch)
        if made is not None:
            self.position += made.header.size
        return made

    def __iter__(self):
        return self

    def __next__(self):
        batch = self.next_batch() if self.has_next() else None
        if batch is None:  # or another thread took it
            raise StopIteration
        return batch
