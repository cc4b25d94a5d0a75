"""A record set and its entries as the clients read them: header first, records when they are iterated over.

Names and AssertionErrors are as in DefaultRecordBatch, LegacyRecordBatch and MemoryRecords of aiokafka and
kafka-python, because callers and the clients' tests rely on both. The rules follow recordpress.record; other errors are
of the client's own classes, each with recordpress's error as its cause.
"""

cimport cython
from cpython.buffer cimport Py_buffer, PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE

from recordpress._buffers cimport PooledBlock, acquire_for_client, pooled
from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_CONTROL, RP_END, RP_ENTRY_SIZE, RP_ENTRY_SIZE_MAX, RP_IN_RECORDS, RP_LOG_APPEND_TIME,
    RP_LOG_OVERHEAD, RP_MAGIC, RP_MAGIC_OFFSET, RP_MIN_ENTRY_SIZE, RP_OK, RP_RECORDS_LEFT, RP_RECORDS_MISSING,
    RP_RECORD_LENGTH, RP_TRANSACTIONAL, RP_VARINT, rp_batch_codec, rp_batch_read, rp_cursor_of, rp_cursor_ok,
    rp_entry_size, rp_fail, rp_message_next, rp_read_be32, rp_read_be64, rp_record_next, rp_source_fail,
)
from recordpress.adapters._client cimport demand, made_already, not_made, ready
from recordpress.codecs.codec cimport row_of
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.table cimport kafka_codecs
from recordpress.record.decode cimport check_crc, open_source
from recordpress.record.fields cimport bytes_of, headers_of

cdef enum:
    RELEASE_GIL = 1 << 14   # bytes of a batch: for fewer, releasing the GIL takes as long as the work
    CRC_COVERS = 16         # where the bytes under a message's checksum begin: at its magic

cdef tuple NO_ARGUMENTS = ()


cdef bytes frozen(object data, const uint8_t** start, int64_t* size):
    cdef Py_buffer view
    cdef bytes copy
    if PyBytes_CheckExact(data):
        start[0], size[0] = <const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
        return data
    acquire_for_client(data, &view)
    try:
        base = <object>view.obj
        start[0], size[0] = <const uint8_t*>view.buf, view.len
        # a memoryview names itself as the exporter: the memory is its object's
        while type(base) is memoryview:
            base = base.obj
        if PyBytes_CheckExact(base):
            return base
        copy = PyBytes_FromStringAndSize(<const char*>view.buf, view.len)
        start[0] = <const uint8_t*>PyBytes_AS_STRING(copy)
        return copy
    finally:
        PyBuffer_Release(&view)


@cython.no_gc
@cython.freelist(64)
cdef class LazyRecord:

    checksum = None  # v2 records have none

    cdef void give(self, int64_t offset, int64_t time, int8_t kind, object key, object value, object headers) noexcept:
        """Set the fields from a constructor's arguments instead of bytes."""
        self.offset, self.time, self.kind = offset, time, kind
        self.key_object, self.value_object, self.headers_object = key, value, headers
        self.record.key.size = self.record.value.size = -1

    @cython.critical_section
    cdef object key_of(self):
        if self.key_object is None and self.record.key.size >= 0:
            self.key_object = bytes_of(&self.record.key)
        return self.key_object

    @cython.critical_section
    cdef object value_of(self):
        if self.value_object is None and self.record.value.size >= 0:
            self.value_object = bytes_of(&self.record.value)
        return self.value_object

    @property
    def key(self):
        """bytes | None: the record's key."""
        return self.key_of()

    @property
    def value(self):
        """bytes | None: the record's value."""
        return self.value_of()

    @property
    @cython.critical_section
    def headers(self):
        """list[tuple[str, bytes | None]]: bytes of a key that are not UTF-8 become U+FFFD, as in Java."""
        if self.headers_object is None:
            self.headers_object = headers_of(&self.record)
        return self.headers_object

    @property
    def timestamp(self):
        """int: ms"""
        return self.time

    @property
    def timestamp_type(self):
        """int: 0 CreateTime, 1 LogAppendTime"""
        return self.kind


@cython.no_gc
cdef class Message(LazyRecord):
    """A record of v0 or v1. `record.attributes` is its magic, `record.headers` the bytes that its checksum covers."""

    @property
    def checksum(self):
        """int: stored CRC-32 of the message."""
        return self.crc

    @property
    def headers(self):
        """list: empty"""
        return []


cdef class Entry:

    cdef int take(self, Client client, object data, int kind) except -1:
        cdef const uint8_t* start = NULL
        cdef int64_t size = 0
        cdef bytes owner = frozen(data, &start, &size)
        return self.take_slice(client, owner, start, size, kind)

    @cython.critical_section
    cdef int take_slice(self, Client client, bytes owner, const uint8_t* data, int64_t size, int kind) except -1:
        """Read the header of the entry, whose bytes are all of `data`."""
        cdef rp_error err
        cdef rp_batch header
        cdef int magic
        if self.owner is not None:  # iterators point into it
            raise made_already(self)
        self.client = ready(client)
        header.position = header.base_offset = 0
        if size > RP_MAGIC_OFFSET:  # a bounds check instead of a cursor's
            magic = <signed char>data[RP_MAGIC_OFFSET]
            if (magic != 2) if kind == BATCH else (magic < 0 or magic > 1):
                rp_fail(&err, RP_MAGIC, RP_MAGIC_OFFSET, magic, 2)
                raise self.client.error_of(&err, &header)
        if rp_batch_read(data, size, 0, &header, &err) != RP_OK:
            raise self.client.error_of(&err, &header)
        self.header = header
        self.owner = owner
        self.data = data
        return 0

    cdef int require_made(self) except -1:
        if self.owner is None:
            raise not_made(self)
        return 0

    @cython.critical_section
    cdef int open(self) except -1:
        """Decompress the payload; its errors are raised here, or by the record that needs the missing bytes."""
        cdef PooledBlock block = None
        cdef codec_context* context
        cdef rp_source source
        cdef rp_error err
        cdef int status, codec = rp_batch_codec(&self.header)
        self.require_made()
        if self.opened:
            return 0
        if codec:
            if row_of(kafka_codecs(), codec) != NULL:
                self.client.require(codec)
            block = PooledBlock.__new__(PooledBlock)
        context = context_acquire(kafka_codecs())
        if context == NULL:
            raise MemoryError()
        status = self.decompressed(context, block, &source, &err)
        if self.opened:  # by another thread, while this one had released the GIL
            return 0
        if status != RP_OK and (self.header.magic < 2 or source.frame != RP_IN_RECORDS):
            raise self.client.error_of(&err, &self.header)
        self.failed = status != RP_OK  # some records may come before the error
        self.source, self.pending = source, err
        self.records_owner = block if source.frame == RP_IN_RECORDS else self.owner
        self.cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
        self.opened = True
        return 0

    cdef int decompressed(self, codec_context* context, PooledBlock block, rp_source* source,
                          rp_error* err) noexcept:
        """Call open_source() with a context, and release it."""
        cdef int status
        cdef pooled* scratch = NULL if block is None else &block.buffer
        if block is None or self.header.size < RELEASE_GIL:
            status = open_source(context, self.data, &self.header, self.data + self.header.size, scratch,
                                 self.client.cap, True, source, err)
            context_release(context)
            return status
        with nogil:
            status = open_source(context, self.data, &self.header, self.data + self.header.size, scratch,
                                 self.client.cap, True, source, err)
            context_release(context)
        return status

    cdef int next(self, rp_record* r) except -1:
        """Read the next record of a v2 batch; return 1, or 0 at the end."""
        cdef rp_error err
        if not self.opened:
            self.open()
        if self.index >= self.source.count:
            return 0
        if rp_record_next(&self.source, &self.cursor, self.index, r, &err) != RP_OK:
            raise self.explain(&err)
        self.index += 1
        # an error after the last record is raised instead of returning it (DefaultRecordBatch.RecordIterator)
        if self.index == self.source.count and (self.failed or self.cursor.p != self.cursor.end):
            raise self.rest()
        return 1

    cdef object explain(self, const rp_error* err):
        """Return the error for a record that could not be read: the codec's error if it explains the missing bytes."""
        if self.failed and err.status in (RP_RECORDS_MISSING, RP_RECORD_LENGTH, RP_VARINT):
            err = &self.pending
        self.index = self.source.count = 0
        return self.client.error_of(err, &self.header)

    cdef object rest(self):
        """Return the error for bytes after the last record."""
        cdef rp_error err
        if self.failed:
            return self.explain(&self.pending)
        rp_fail(&err, RP_RECORDS_LEFT, 0, self.cursor.end - self.cursor.p, self.source.count)
        rp_source_fail(&self.source, self.cursor.p, &err)
        return self.explain(&err)

    cdef int next_message(self, rp_cursor* cursor, int32_t index, rp_batch* message, rp_record* r) except -1:
        """Read the next message of a v0/v1 set; return 1, or 0 at the end."""
        cdef rp_error err
        if index >= self.source.count:
            return 0
        cdef int status = rp_message_next(&self.source, cursor, message, r, &err)
        if status == RP_END:  # a single message, whose header was read, has fewer bytes than its size
            status = rp_fail(&err, RP_ENTRY_SIZE_MAX, 8, rp_entry_size(cursor[0]) - RP_LOG_OVERHEAD,
                             cursor.end - cursor.p - RP_LOG_OVERHEAD)
        if status != RP_OK:
            raise self.client.error_of(&err, &self.header)
        return 1

    cdef bint crc_matches(self) except -1:
        cdef rp_error err
        cdef int status
        self.require_made()
        if self.header.size < RELEASE_GIL:
            return check_crc(self.data, &self.header, &err) == RP_OK
        with nogil:
            status = check_crc(self.data, &self.header, &err)
        return status == RP_OK


cdef class Batch(Entry):
    """The header of a v2 batch, with the attributes of both clients."""

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
    def next_offset(self):
        return self.header.base_offset + self.header.last_offset_delta + 1

    @property
    def first_timestamp(self):
        return self.header.base_timestamp

    @property
    def max_timestamp(self):
        return self.header.max_timestamp

    @property
    def timestamp_type(self):
        return 1 if self.header.attributes & RP_LOG_APPEND_TIME else 0

    @property
    def compression_type(self):
        return self.header.attributes & RP_CODEC_MASK

    @property
    def is_transactional(self):
        return (self.header.attributes & RP_TRANSACTIONAL) != 0

    @property
    def is_control_batch(self):
        return (self.header.attributes & RP_CONTROL) != 0

    @property
    def producer_id(self):
        return self.header.producer_id

    @property
    def producer_epoch(self):
        return self.header.producer_epoch

    @property
    def base_sequence(self):
        return self.header.base_sequence

    def validate_crc(self):
        """Return whether the checksum is right; must be called before the records are read."""
        demand(not self.opened, "Validate should be called before iteration")
        return self.crc_matches()


@cython.final
cdef class MessageIterator:
    """The records of a v0/v1 entry."""

    def __iter__(self):
        return self

    @cython.critical_section
    def __next__(self):
        cdef rp_batch message
        cdef rp_record r
        cdef const uint8_t* at = self.cursor.p
        if self.entry is None or not self.entry.next_message(&self.cursor, self.index, &message, &r):
            raise StopIteration
        self.index += 1
        cdef Message record = new(self.kind)
        take_fields(record, &r, self.entry.records_owner)
        record.crc = message.crc
        record.record.attributes = self.entry.header.magic
        record.record.headers.data = at + CRC_COVERS
        record.record.headers.size = r.size - CRC_COVERS
        return record


cdef MessageIterator messages_of(Entry entry, object kind):
    entry.open()
    cdef MessageIterator messages = MessageIterator.__new__(MessageIterator)
    messages.entry, messages.kind = entry, kind
    messages.cursor = rp_cursor_of(entry.source.start, <size_t>(entry.source.end - entry.source.start))
    return messages


cdef class RecordSet:
    """The entries of a record set, in order, up to the first truncated entry."""

    @cython.critical_section
    cdef int begin(self, Client client, object data) except -1:
        cdef const uint8_t* start = NULL
        cdef int64_t size = 0
        cdef bytes owner = frozen(data, &start, &size)
        self.client, self.owner, self.data, self.size, self.position = client, owner, start, size, 0
        return 0

    cdef bint size_field(self, int64_t at, int64_t* size) noexcept:
        """Read the size field of the entry at `at`; return False if the field is incomplete."""
        cdef rp_cursor cursor = rp_cursor_of(self.data + at, <size_t>(self.size - at))
        rp_read_be64(&cursor)
        size[0] = rp_read_be32(&cursor)
        return rp_cursor_ok(&cursor)

    cdef int64_t whole(self, int64_t at) except -1:
        """Return the number of bytes of the entry at `at`, or 0 if it is truncated."""
        cdef rp_error err
        cdef rp_batch entry
        cdef int64_t size
        if not self.size_field(at, &size):
            return 0
        if size < RP_MIN_ENTRY_SIZE:
            entry.position, entry.base_offset = at, 0
            rp_fail(&err, RP_ENTRY_SIZE, 8, size, RP_MIN_ENTRY_SIZE)
            raise ready(self.client).error_of(&err, &entry)
        size += RP_LOG_OVERHEAD
        return size if size <= self.size - at else 0

    cdef int64_t bounds(self, int64_t* last) except -1:
        """Return the total size of the whole entries; set `last` to the position of the last of them, or to -1."""
        cdef int64_t at = 0, size
        last[0] = -1
        while True:
            size = self.whole(at)
            if size == 0:
                return at
            last[0] = at
            at += size

    def end_offset(self):
        """Return the offset after the last whole entry, from its header; None without entries, and for v0 and v1, whose
        offsets may only be in a wrapper's compressed data."""
        cdef int64_t last
        self.bounds(&last)
        if last < 0 or self.data[last + RP_MAGIC_OFFSET] < 2:
            return None
        cdef Batch batch = Batch.__new__(Batch)
        batch.take_slice(self.client, self.owner, self.data + last, self.whole(last), BATCH)
        return batch.next_offset

    cdef Entry entry(self, object default_batch, object legacy_batch):
        """Return the next entry as an object of one of the classes, or None; the position does not change."""
        cdef int64_t size = self.whole(self.position)
        cdef Entry made
        cdef int8_t magic
        if size == 0:
            return None
        magic = <int8_t>self.data[self.position + RP_MAGIC_OFFSET]  # whole() has found RP_MIN_ENTRY_SIZE bytes
        made = new(legacy_batch if magic in (0, 1) else default_batch)
        made.take_slice(self.client, self.owner, self.data + self.position, size,
                        MESSAGE if magic in (0, 1) else BATCH)
        return made

    def size_in_bytes(self):
        """Return the size of the record set in bytes."""
        return self.size

    def has_next(self):
        """Return whether another entry follows, also if its size is invalid: next_batch() then raises an error."""
        cdef int64_t size
        return self.size_field(self.position, &size) and self.size - self.position - RP_LOG_OVERHEAD >= size
