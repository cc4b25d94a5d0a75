"""One entry of a record set as the clients read it: header first, records when they are iterated over.

The rules are those of kpress.record; the errors are the client's own, each with kpress's as its cause.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, Py_buffer, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE

from kpress._buffers cimport PooledBlock, pooled
from kpress._c.wire cimport (
    KP_END, KP_ENTRY_SIZE_MAX, KP_IN_RECORDS, KP_LOG_OVERHEAD, KP_MAGIC, KP_MAGIC_OFFSET, KP_OK, KP_RECORDS_LEFT,
    KP_RECORDS_MISSING, KP_RECORD_LENGTH, KP_VARINT, kp_batch_codec, kp_batch_read, kp_cursor_of, kp_fail,
    kp_load_be32, kp_message_next, kp_record_next, kp_source_fail,
)
from kpress.adapters._client cimport ready
from kpress.codecs.codec cimport row_of
from kpress.codecs.context cimport codec_context, context_acquire, context_release
from kpress.codecs.table cimport kafka_codecs
from kpress.record.decode cimport check_crc, open_source
from kpress.record.fields cimport bytes_of, headers_of

cdef enum:
    RELEASE_GIL = 1 << 14   # bytes of a batch: below, releasing the GIL takes as long as the work


cdef bytes frozen(object data, const uint8_t** start, int64_t* size):
    cdef Py_buffer view
    cdef bytes copy
    if PyBytes_CheckExact(data):
        start[0], size[0] = <const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
        return data
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    try:
        base = <object>view.obj
        start[0], size[0] = <const uint8_t*>view.buf, view.len
        # a memoryview says that it is its own exporter: its object's memory is what counts
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

    cdef object key_of(self):
        if self.key_object is None and self.record.key.size >= 0:
            self.key_object = bytes_of(&self.record.key)
        return self.key_object

    cdef object value_of(self):
        if self.value_object is None and self.record.value.size >= 0:
            self.value_object = bytes_of(&self.record.value)
        return self.value_object

    @property
    def key(self):
        """bytes | None"""
        return self.key_of()

    @property
    def value(self):
        """bytes | None"""
        return self.value_of()

    @property
    def headers(self):
        """list[tuple[str, bytes | None]]: keys that are not UTF-8 have U+FFFD where they are not, as in Java."""
        if self.headers_object is None:
            self.headers_object = headers_of(&self.record)
        return self.headers_object


cdef class Entry:

    cdef int take(self, Client client, object data, int kind) except -1:
        cdef const uint8_t* start = NULL
        cdef int64_t size = 0
        cdef bytes owner = frozen(data, &start, &size)
        return self.take_slice(client, owner, start, size, kind)

    cdef int take_slice(self, Client client, bytes owner, const uint8_t* data, int64_t size, int kind) except -1:
        """Read the header of the entry, which are all bytes that are given."""
        cdef kp_error err
        cdef kp_batch header
        cdef int magic
        if self.owner is not None:  # iterators point into it
            raise TypeError(f"this {type(self).__name__} was made already")
        self.client = ready(client)
        header.position = header.base_offset = 0
        if size > KP_MAGIC_OFFSET:
            magic = <signed char>data[KP_MAGIC_OFFSET]
            if (magic != 2) if kind == BATCH else (magic < 0 or magic > 1):
                kp_fail(&err, KP_MAGIC, KP_MAGIC_OFFSET, magic, 2)
                raise self.client.error_of(&err, &header)
        if kp_batch_read(data, size, 0, &header, &err) != KP_OK:
            raise self.client.error_of(&err, &header)
        self.header = header
        self.owner = owner
        self.data = data
        return 0

    cdef int require_made(self) except -1:
        if self.owner is None:
            raise TypeError(f"this {type(self).__name__} was made without its arguments")
        return 0

    cdef int open(self) except -1:
        """Decompress. What is wrong with the payload is raised here, or by the record that needs the missing bytes."""
        cdef PooledBlock block = None
        cdef codec_context* context
        cdef kp_source source
        cdef kp_error err
        cdef int status, codec = kp_batch_codec(&self.header)
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
        if status != KP_OK and (self.header.magic < 2 or source.frame != KP_IN_RECORDS):
            raise self.client.error_of(&err, &self.header)
        self.failed = status != KP_OK  # some records may come before the error
        self.source, self.pending = source, err
        self.records_owner = block if source.frame == KP_IN_RECORDS else self.owner
        self.cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
        self.opened = True
        return 0

    cdef int decompressed(self, codec_context* context, PooledBlock block, kp_source* source,
                          kp_error* err) noexcept:
        """open_source() with a context, which is given back."""
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

    cdef int next(self, kp_record* r) except -1:
        """The next record of a v2 batch: 1, or 0 at the end."""
        cdef kp_error err
        if not self.opened:
            self.open()
        if self.index >= self.source.count:
            return 0
        if kp_record_next(&self.source, &self.cursor, self.index, r, &err) != KP_OK:
            raise self.explain(&err)
        self.index += 1
        # what is wrong after the last record is raised instead of it (DefaultRecordBatch.RecordIterator)
        if self.index == self.source.count and (self.failed or self.cursor.p != self.cursor.end):
            raise self.rest()
        return 1

    cdef object explain(self, const kp_error* err):
        """The error for a record that could not be read: the codec's, if its bytes are what is missing."""
        if self.failed and err.status in (KP_RECORDS_MISSING, KP_RECORD_LENGTH, KP_VARINT):
            err = &self.pending
        self.index = self.source.count = 0
        return self.client.error_of(err, &self.header)

    cdef object rest(self):
        """The error for bytes after the last record."""
        cdef kp_error err
        if self.failed:
            return self.explain(&self.pending)
        kp_fail(&err, KP_RECORDS_LEFT, 0, self.cursor.end - self.cursor.p, self.source.count)
        kp_source_fail(&self.source, self.cursor.p, &err)
        return self.explain(&err)

    cdef int next_message(self, kp_cursor* cursor, int32_t index, kp_batch* message, kp_record* r) except -1:
        """The next message of a v0/v1 set: 1, or 0 at the end."""
        cdef kp_error err
        cdef const uint8_t* at = cursor.p
        if index >= self.source.count:
            return 0
        cdef int status = kp_message_next(&self.source, cursor, message, r, &err)
        if status == KP_END:  # a message alone that says it is longer than the bytes that were given
            status = kp_fail(&err, KP_ENTRY_SIZE_MAX, 8, <int32_t>kp_load_be32(at + 8),
                             cursor.end - at - KP_LOG_OVERHEAD)
        if status != KP_OK:
            raise self.client.error_of(&err, &self.header)
        return 1

    cdef bint crc_matches(self) except -1:
        cdef kp_error err
        cdef int status
        self.require_made()
        if self.header.size < RELEASE_GIL:
            return check_crc(self.data, &self.header, &err) == KP_OK
        with nogil:
            status = check_crc(self.data, &self.header, &err)
        return status == KP_OK

    cdef object message_record(self, const kp_record* r, const kp_batch* message, const uint8_t* at):
        raise NotImplementedError


@cython.final
cdef class MessageIterator:
    """The records of a v0/v1 entry."""

    def __iter__(self):
        return self

    def __next__(self):
        cdef kp_batch message
        cdef kp_record r
        cdef const uint8_t* at = self.cursor.p
        if self.entry is None or not self.entry.next_message(&self.cursor, self.index, &message, &r):
            raise StopIteration
        self.index += 1
        return self.entry.message_record(&r, &message, at)


cdef MessageIterator messages_of(Entry entry):
    entry.open()
    cdef MessageIterator messages = MessageIterator.__new__(MessageIterator)
    messages.entry = entry
    messages.cursor = kp_cursor_of(entry.source.start, <size_t>(entry.source.end - entry.source.start))
    return messages
