"""kafka-python's record classes, under its names, without their constants and base classes; readers first, then
builders.

kafka_python.py derives the public classes from these; each also inherits from its base classes in the client.
AssertionErrors are raised where kafka.record raises them: in DefaultRecordBatch.validate_crc(), LegacyRecordBatch,
MemoryRecordsBuilder and the two batch builders.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport INT64_MAX, INT64_MIN, int16_t, int32_t, int64_t, int8_t, uint8_t

from recordpress._arguments cimport integer_of
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_CODEC_MASK, RP_CONTROL, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, RP_TRANSACTIONAL, rp_load_be16,
    rp_load_be32, rp_message_size, rp_record, rp_sequence_add, rp_varlong_size,
)
from recordpress.adapters._client cimport Client, demand, not_made, ready
from recordpress.adapters._entry cimport (
    BATCH, MESSAGE, Batch, Entry, LazyRecord, Message, RecordSet, messages_of, new, take_fields, take_headers,
)
from recordpress.adapters._open_batch cimport (
    MESSAGE_V0, MESSAGE_V1, DefaultBuilder, LegacyBuilder, length_of, most_of_one, now, size_of_fields,
)
from recordpress.checksum cimport crc32_update
from recordpress.record.encode cimport JAVA_RECORD_OVERHEAD

from recordpress.checksum import crc32

cdef enum:
    CONTROL_KEY = 4             # bytes: version and type, both int16

cdef Client client = None
cdef object default_record, control_record, legacy_record, default_batch, legacy_batch, memory_records
cdef object wrong_version, wrong_state


def use(Client used not None, dict classes not None, unsupported_version, illegal_state):
    """Set the client, whose errors all classes here raise, and the public classes of their results."""
    global client, default_record, control_record, legacy_record, default_batch, legacy_batch, memory_records
    global wrong_version, wrong_state
    default_record, control_record = classes["DefaultRecord"], classes["ControlRecord"]
    legacy_record, memory_records = classes["LegacyRecord"], classes["MemoryRecords"]
    default_batch, legacy_batch = classes["DefaultRecordBatch"], classes["LegacyRecordBatch"]
    wrong_version, wrong_state = unsupported_version, illegal_state
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
        """Return the key; raise an error if it has fewer than four bytes."""
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
    """A v2 batch: its header's attributes, and iteration over its records."""

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
        """Return whether a producer with an id wrote the batch."""
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
    """A message of v0 or v1: a single message, or a wrapper of compressed messages."""

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
    """The entries of a record set, in order, up to the first truncated entry."""

    def __init__(self, bytes_data):
        self.begin(client, bytes_data)

    def valid_bytes(self):
        """Return the total size of the whole entries in bytes."""
        cdef int64_t last
        return self.bounds(&last)

    @cython.critical_section
    def next_batch(self):
        """Return the next entry, or None at the end."""
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


# --- builders --------------------------------------------------------------------------------------------------------

cdef int64_t time_given(object timestamp) except? -2:
    if timestamp is None:
        return now()
    if type(timestamp) is not int:
        raise TypeError(f"`timestamp` should be int, but {type(timestamp)} provided")
    return <int64_t>timestamp


cdef int64_t offset_given(object offset) except? -1:
    if type(offset) is not int:
        raise TypeError(offset)
    return <int64_t>offset


cdef int check_bytes(object value, str name) except -1:
    if value is not None and not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"Not supported type for {name}: {type(value)}")
    return 0


cdef class DefaultRecordBatchBuilder(DefaultBuilder):
    """Builder of a v2 batch: append(), then build()."""

    MAX_RECORD_OVERHEAD = JAVA_RECORD_OVERHEAD

    def __init__(self, magic, compression_type, is_transactional, int64_t producer_id, int16_t producer_epoch,
                 int32_t base_sequence, int64_t batch_size):
        demand(magic == 2)
        self.start(client, 2, compression_type & RP_CODEC_MASK, batch_size)
        self.become(producer_id, producer_epoch, base_sequence)
        self.mark(bool(is_transactional))

    @cython.final
    cdef void mark(self, bint is_transactional) noexcept:
        self.batch.encoder.options.attributes &= ~RP_TRANSACTIONAL
        if is_transactional:
            self.batch.encoder.options.attributes |= RP_TRANSACTIONAL

    cdef bint fits(self, const rp_record* row, int64_t after) noexcept:
        return self.batch.encoder.records_count == 0 or after <= self.batch_size

    cdef bint takes_compressed(self, size_t compressed) noexcept:
        return compressed < self.batch.records.size

    @cython.critical_section
    def set_producer_state(self, producer_id, producer_epoch, base_sequence, is_transactional):
        """Set the fields that idempotent and transactional producers know only when they send the batch."""
        self.set_state(producer_id, producer_epoch, base_sequence, is_transactional)

    @cython.final
    cdef int set_state(self, producer_id, producer_epoch, base_sequence, is_transactional) except -1:
        demand(not is_transactional or producer_id != -1,
               "Cannot write transactional messages without a valid producer ID")
        demand(producer_id == -1 or producer_epoch != -1, "Invalid negative producer epoch")
        demand(producer_id == -1 or base_sequence != -1, "Invalid negative sequence number")
        self.become(producer_id, producer_epoch, base_sequence)
        self.mark(is_transactional)
        return 0

    def append(self, offset, timestamp, key, value, headers):
        """Append a record and return its metadata, or return None if it does not fit."""
        cdef int64_t at = offset_given(offset), time = time_given(timestamp)
        check_bytes(key, "key")
        check_bytes(value, "value")
        if headers is None:
            raise TypeError("headers must be a list of pairs, not None")
        return self.add(at, time, key, value, headers)

    @cython.critical_section
    def build(self):
        """Finish the batch, which then accepts no more records; return it, compressed if smaller, as a bytearray."""
        if self.result is None and self.client is not None and self.batch.encoder.records_count == 0:
            # as kafka-python writes an empty batch
            self.batch.encoder.base_timestamp = self.batch.encoder.max_timestamp = 0
        return self.finish()

    @classmethod
    def header_size_in_bytes(cls):
        """Return the number of bytes in a batch before its records."""
        return RP_BATCH_HEADER

    @classmethod
    def size_in_bytes(cls, offset_delta, timestamp_delta, key, value, headers):
        """Return the number of bytes that a record with the given deltas takes."""
        cdef int64_t body = (1 + rp_varlong_size(integer_of(offset_delta, "offset_delta", INT64_MIN + 2, INT64_MAX))
                             + rp_varlong_size(integer_of(timestamp_delta, "timestamp_delta", INT64_MIN + 2, INT64_MAX))
                             + size_of_fields(key, value, headers))
        return body + <int64_t>rp_varlong_size(body)

    @classmethod
    def size_of(cls, key, value, headers):
        """Return the number of bytes that key, value and headers take in a record."""
        return size_of_fields(key, value, headers)

    @classmethod
    def estimate_size_in_bytes(cls, key, value, headers):
        """Return the maximum size of a batch that holds only this record."""
        return most_of_one(key, value, headers)

    def __str__(self):
        cdef bint empty = self.batch.encoder.records_count == 0
        return (f"DefaultRecordBatchBuilder(magic=2, base_offset=0, "
                f"last_offset_delta={0 if empty else self.batch.encoder.last_offset}, "
                f"first_timestamp={0 if empty else self.batch.encoder.base_timestamp}, "
                f"max_timestamp={0 if empty else self.batch.encoder.max_timestamp}, "
                f"is_transactional={(self.batch.encoder.options.attributes & RP_TRANSACTIONAL) != 0}, "
                f"producer_id={self.producer_id}, producer_epoch={self.producer_epoch}, "
                f"base_sequence={self.base_sequence}, records_count={self.batch.encoder.records_count})")


cdef class LegacyRecordBatchBuilder(LegacyBuilder):
    """Builder of v0 or v1 messages, in a wrapper if they are compressed."""

    def __init__(self, magic, compression_type, int64_t batch_size):
        demand(magic in (0, 1), "Not supported magic")
        self.start(client, magic, compression_type, batch_size)

    def append(self, offset, timestamp, key, value, headers=None):
        """Append a message and return its metadata, or return None if it does not fit."""
        demand(not headers, "Headers not supported in v0/v1")
        cdef int64_t at = offset_given(offset), time = -1
        if self.batch.encoder.options.magic:
            time = time_given(timestamp)
        check_bytes(key, "key")
        check_bytes(value, "value")
        return self.add(at, time, key, value)

    def size_in_bytes(self, offset, timestamp, key, value, headers=None):
        """Return the number of bytes that the message would take."""
        demand(not headers, "Headers not supported in v0/v1")
        return self.message_size(key, value)

    @classmethod
    def record_size(cls, magic, key, value):
        """Return the number of bytes of a message without offset and size."""
        return cls.record_overhead(magic) + max(length_of(key), 0) + max(length_of(value), 0)

    @classmethod
    def record_overhead(cls, magic):
        """Return the number of bytes of a message without offset, size, key and value."""
        demand(magic in (0, 1), "Not supported magic")
        return MESSAGE_V0 if magic == 0 else MESSAGE_V1

    @classmethod
    def estimate_size_in_bytes(cls, magic, compression_type, key, value):
        """Return the maximum size of a message set that holds only this message."""
        size = RP_LOG_OVERHEAD + cls.record_size(magic, key, value)
        return size + cls.record_overhead(magic) if compression_type else size


# The builder in a MemoryRecordsBuilder has one of two classes.
cdef int64_t size_of_open(object builder) except -1:
    return builder.size()


cdef object finished(object builder):
    return builder.build()


cdef object appended(object builder, object offset, object timestamp, object key, object value, object headers):
    return builder.append(offset, timestamp, key, value, () if headers is None else headers)


cdef class MemoryRecordsBuilder:
    """A producer's batch of any magic: append() until it returns None, then close(), then buffer().

    Attributes
    ----------
    producer_id, producer_epoch, base_sequence : int | None
        -1 if not set; None in v0 and v1.

    Examples
    --------
    >>> from recordpress.adapters import kafka_python as fast
    >>> builder = fast.MemoryRecordsBuilder(magic=1, compression_type=0, batch_size=16384)
    >>> builder.append(timestamp=1700000000000, key=None, value=b"v").size
    35
    >>> builder.close()
    >>> builder.size_in_bytes(), builder.compression_rate(), [len(list(batch)) for batch in builder.records()]
    (35, 1.0, [1])
    """

    cdef object builder
    cdef int64_t batch_size
    cdef object built
    cdef int64_t offset
    cdef bint closed
    cdef int magic
    cdef int64_t bytes_written
    cdef readonly object producer_id
    cdef readonly object producer_epoch
    cdef readonly object base_sequence

    def __init__(self, magic, compression_type, batch_size, offset=0, transactional=False, producer_id=-1,
                 producer_epoch=-1, base_sequence=-1):
        demand(magic in (0, 1, 2), "Not supported magic")
        demand(compression_type in (0, 1, 2, 3, 4), "Not valid compression type")
        if magic == 2:
            demand(not transactional or producer_id != -1,
                   "Cannot write transactional messages without a valid producer ID")
            demand(producer_id == -1 or producer_epoch != -1, "Invalid negative producer epoch")
            demand(producer_id == -1 or base_sequence != -1, "Invalid negative sequence number used")
            self.builder = DefaultRecordBatchBuilder(magic, compression_type, transactional, producer_id,
                                                     producer_epoch, base_sequence, batch_size)
            self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        else:
            demand(not transactional and producer_id == -1,
                   f"Idempotent messages are not supported for magic {magic}")
            self.builder = LegacyRecordBatchBuilder(magic, compression_type, batch_size)
        self.batch_size = batch_size
        self.offset = offset
        self.magic = magic

    cdef int require_closed(self) except -1:
        demand(self.closed)
        return 0

    cdef object opened(self):
        if self.builder is None:
            raise not_made(self)
        return self.builder

    @cython.critical_section
    def skip(self, offsets_to_skip):
        """Omit offsets, as in a compacted log."""
        self.offset += offsets_to_skip

    @cython.critical_section
    def append(self, timestamp, key, value, headers=None):
        """Append a record and return its metadata, or return None if it does not fit or the batch is closed."""
        if self.closed:
            return None
        metadata = appended(self.opened(), self.offset, timestamp, key, value, headers)
        if metadata is not None:
            self.offset += 1
        return metadata

    @cython.critical_section
    def set_producer_state(self, producer_id, producer_epoch, base_sequence, is_transactional):
        """Set the fields that idempotent and transactional producers know only when they send the batch."""
        if self.magic < 2:
            raise wrong_version("Producer State requires Message format v2+")
        if self.closed:
            raise wrong_state("Trying to set producer state of an already closed batch. This indicates a bug on the "
                              "client.")
        cdef DefaultRecordBatchBuilder builder = self.opened()
        builder.set_state(producer_id, producer_epoch, base_sequence, is_transactional)
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence

    @cython.critical_section
    def records(self):
        """Return the closed batch as MemoryRecords."""
        self.require_closed()
        return memory_records(self.built)

    @cython.critical_section
    def close(self):
        """Compress the records and write the header; a second call does nothing."""
        if self.closed:
            return
        self.bytes_written = size_of_open(self.opened())
        self.built = finished(self.builder)
        self.builder = None
        self.closed = True

    @cython.critical_section
    def size_in_bytes(self):
        """Return the size of the batch in bytes: uncompressed until the batch is closed."""
        return len(self.built) if self.closed else size_of_open(self.opened())

    @cython.critical_section
    def compression_rate(self):
        """Return compressed bytes divided by uncompressed bytes."""
        self.require_closed()
        size, before = <object>len(self.built), <object>self.bytes_written
        return size / before

    @cython.critical_section
    def is_full(self):
        """Return whether the builder accepts no more records."""
        return self.closed or size_of_open(self.opened()) >= self.batch_size

    def next_offset(self):
        """Return the offset of the next record."""
        return self.offset

    @cython.critical_section
    def buffer(self):
        """Return the closed batch as a bytearray."""
        self.require_closed()
        return self.built
