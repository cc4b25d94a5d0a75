"""A batch that a client is filling, for magic 0, 1 and 2.

recordpress.record.encode defines the bytes, the sizes and which record may follow; the client's own rule decides when a
batch is full.
"""

cimport cython
from cpython.buffer cimport PyBuffer_Release
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t
from libc.string cimport memset
from posix.time cimport CLOCK_REALTIME, clock_gettime, timespec

from recordpress._buffers cimport acquire_for_client, pooled_free
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_CODEC_MASK, RP_MESSAGE_CRC_OFFSET, RP_NONE, RP_OK, rp_error, rp_field, rp_field_size,
    rp_load_be32, rp_message_size,
)
from recordpress._status cimport check
from recordpress.adapters._client cimport made_already, not_made, ready
from recordpress.codecs.codec cimport LEVEL_DEFAULT, codec as codec_row, row_of
from recordpress.codecs.context cimport codec_context, compress_payload, context_acquire, context_release
from recordpress.codecs.table cimport kafka_codecs
from recordpress.record.builder cimport bytes_field, encode_headers
from recordpress.record.encode cimport (
    JAVA_RECORD_OVERHEAD, MAX_SET_SIZE, batch_begin, batch_options, header_size, plain_options, record_room,
    record_size, write_around,
)
from recordpress.record.open_batch cimport BATCH_FULL, batch_add, batch_limit

from recordpress.errors import InUseError

cdef int64_t now() noexcept:
    """Return the milliseconds since 1970."""
    cdef timespec t
    clock_gettime(CLOCK_REALTIME, &t)
    return <int64_t>t.tv_sec * 1000 + t.tv_nsec // 1000000


cdef int64_t length_of(object value) except -2:
    cdef rp_field f
    cdef Py_buffer view
    if bytes_field(value, &f):
        return f.size
    acquire_for_client(value, &view)
    cdef int64_t size = view.len
    PyBuffer_Release(&view)
    return size


cdef int64_t size_of_fields(object key, object value, object headers) except -1:
    cdef pooled encoded
    cdef int64_t size = <int64_t>(rp_field_size(length_of(key)) + rp_field_size(length_of(value)))
    if not headers:
        return size + 1
    memset(&encoded, 0, sizeof(pooled))
    try:
        encode_headers(headers, &encoded)
        return size + <int64_t>encoded.size
    finally:
        pooled_free(&encoded)


cdef class OpenBatch:

    def __dealloc__(self):
        pooled_free(&self.batch.records)
        pooled_free(&self.headers)

    @cython.critical_section
    cdef int start(self, Client client, int magic, int codec, int64_t batch_size) except -1:
        """Begin an empty batch with relative offsets, as producers send it."""
        if self.client is not None:  # another thread may be building it
            raise made_already(self)
        self.client = ready(client)
        self.batch_size = batch_size
        self.codec = codec
        # header_size() only needs to know that there is a codec; finish() rejects an unknown codec
        plain_options(&self.batch.encoder.options, magic, kafka_codecs(), codec, LEVEL_DEFAULT)
        self.batch.encoder.options.attributes = <short>(codec & RP_CODEC_MASK)
        batch_begin(&self.batch.encoder, 0)
        batch_limit(&self.batch, MAX_SET_SIZE)
        return 0

    cdef int64_t size_of_all(self) noexcept:
        """Return the size of the batch in bytes: uncompressed until it is built, as the clients define it."""
        if self.result is not None:
            return len(self.result)
        cdef const batch_options* o = &self.batch.encoder.options
        return <int64_t>(self.batch.records.size + (header_size(o) if o.magic == 2 else 0))

    def build(self):
        """Finish the batch, which then accepts no more records; return it, compressed by its codec, as a bytearray."""
        return self.finish()

    @cython.critical_section
    def size(self):
        """Return the size of the batch in bytes: uncompressed until it is built."""
        return self.size_of_all()

    cdef bint fits(self, const rp_record* row, int64_t after) noexcept:
        """Apply the rule of all builders except kafka-python's builder for v2: the first record always fits."""
        return row.offset == 0 or after < self.batch_size

    cdef bint takes_compressed(self, size_t compressed) noexcept:
        return True

    cdef int64_t put(self, int64_t offset, int64_t timestamp, object key, object value, object headers) except -1:
        """Append a record and return its size in bytes, or NO_ROOM."""
        cdef rp_record row
        row.offset, row.timestamp = offset, timestamp
        if bytes_field(key, &row.key) and bytes_field(value, &row.value):
            return self.put_row(&row, headers)
        return self.put_views(&row, key, value, headers)

    cdef int64_t put_views(self, rp_record* row, object key, object value, object headers) except -1:
        """Append a record whose key or value is a buffer other than bytes, as put() does."""
        cdef record_views views
        memset(&views, 0, sizeof(record_views))
        try:
            if not bytes_field(key, &row.key):
                acquire_for_client(key, &views.key)
                row.key.data, row.key.size = <const unsigned char*>views.key.buf, views.key.len
            if not bytes_field(value, &row.value):
                acquire_for_client(value, &views.value)
                row.value.data, row.value.size = <const unsigned char*>views.value.buf, views.value.len
            return self.put_row(row, headers)
        finally:
            PyBuffer_Release(&views.key)
            PyBuffer_Release(&views.value)

    cdef int64_t put_row(self, rp_record* row, object headers) except -1:
        cdef rp_error err
        cdef size_t before
        cdef int status
        row.headers.size = 0
        if headers:
            self.encode(headers)
            row.headers.data, row.headers.size = self.headers.data, <int64_t>self.headers.size
        # no code of the caller runs after this line
        if self.client is None:
            raise not_made(self)
        if self.result is not None:
            return NO_ROOM
        self.refuse_busy()
        before = self.batch.records.size
        if before + record_room(row) + 64 >= <size_t>max(self.batch_size, 0) and not self.fits(
                row, self.size_of_all() + <int64_t>record_size(&self.batch.encoder, row)):
            return NO_ROOM
        status = batch_add(&self.batch, row, &err)
        if status == BATCH_FULL:
            return NO_ROOM
        if status != RP_OK:
            check(status, &err)
        return <int64_t>(self.batch.records.size - before)

    cdef int refuse_busy(self) except -1:
        if self.busy:
            raise InUseError("the builder is in use by another call")
        return 0

    @cython.critical_section
    cdef int64_t size_with(self, int64_t offset, int64_t timestamp, object key, object value,
                           object headers) except -1:
        """Return the number of bytes that the record would take if it were appended next."""
        cdef rp_record row
        row.offset, row.timestamp = offset, timestamp
        row.key.size, row.value.size = length_of(key), length_of(value)
        row.headers.size = 0
        if headers:
            self.encode(headers)
            row.headers.size = <int64_t>self.headers.size
        return <int64_t>record_size(&self.batch.encoder, &row)

    cdef int encode(self, object headers) except -1:
        """Encode the headers; iterating over them runs the caller's code."""
        self.refuse_busy()
        self.headers.size = 0
        self.busy = True
        try:
            return encode_headers(headers, &self.headers)
        finally:
            self.busy = False

    @cython.critical_section
    cdef bytearray finish(self):
        """Return the batch as it is sent; it accepts no records afterwards."""
        cdef pooled payload
        if self.client is None:
            raise not_made(self)
        if self.result is not None:
            return self.result
        self.refuse_busy()
        if self.codec == RP_NONE:
            self.result = self.joined(&self.batch.records)
            return self.result
        memset(&payload, 0, sizeof(pooled))
        self.busy = True
        try:
            self.compress(&payload)
            if self.takes_compressed(payload.size):
                self.result = self.joined(&payload)
            else:
                self.batch.encoder.options.codec = RP_NONE
                self.batch.encoder.options.attributes &= ~RP_CODEC_MASK
                self.result = self.joined(&self.batch.records)
        finally:
            self.busy = False
            pooled_free(&payload)
        return self.result

    cdef int compress(self, pooled* payload) except -1:
        cdef rp_error err
        cdef int status
        cdef const codec_row* row = row_of(kafka_codecs(), self.codec)
        if row == NULL or row.least_magic > self.batch.encoder.options.magic:
            raise self.client.refuse_codec(self.codec)
        self.client.require(self.codec)
        cdef codec_context* context = context_acquire(kafka_codecs())
        if context == NULL:
            raise MemoryError()
        if self.batch.records.size <= row.gil_kept:
            status = compress_payload(context, self.codec, LEVEL_DEFAULT, self.batch.encoder.options.magic,
                                      self.batch.records.data, self.batch.records.size, payload, &err)
        else:
            with nogil:
                status = compress_payload(context, self.codec, LEVEL_DEFAULT, self.batch.encoder.options.magic,
                                          self.batch.records.data, self.batch.records.size, payload, &err)
        context_release(context)
        return check(status, &err)

    cdef bytearray joined(self, const pooled* payload):
        """Return header and payload, and free the memory of the records."""
        cdef Py_ssize_t size = <Py_ssize_t>(header_size(&self.batch.encoder.options) + payload.size)
        cdef bytearray whole = PyByteArray_FromStringAndSize(NULL, size)
        if self.batch.encoder.records_count == 0:
            self.batch.encoder.last_offset = 0  # in the clients, an empty batch has one offset
        write_around(&self.batch.encoder, payload.data, payload.size, <unsigned char*>PyByteArray_AS_STRING(whole))
        pooled_free(&self.batch.records)
        pooled_free(&self.headers)
        return whole


# --- the common part of both clients' builders of v2 batches, and of v0 and v1 messages ------------------------------

cdef int64_t most_of_one(object key, object value, object headers) except -1:
    return RP_BATCH_HEADER + JAVA_RECORD_OVERHEAD + size_of_fields(key, value, headers)


@cython.no_gc
@cython.freelist(64)
cdef class DefaultRecordMetadata:
    """Result of an append.

    Attributes
    ----------
    offset, size, timestamp : int
        Relative offset; size of the uncompressed record in bytes; timestamp in ms.
    crc : None
        Always None: v2 records have no checksum.

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
        Offset; checksum; size of the uncompressed message in bytes; timestamp in ms.

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
    """Builder of a v2 batch."""

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
    """Builder of v0 or v1 messages, in a wrapper if they are compressed."""

    @cython.critical_section
    cdef LegacyRecordMetadata add(self, int64_t offset, int64_t timestamp, object key, object value):
        cdef int64_t size = self.put(offset, timestamp, key, value, None)
        if size == NO_ROOM:
            return None
        cdef LegacyRecordMetadata metadata = LegacyRecordMetadata.__new__(LegacyRecordMetadata)
        metadata.offset = offset
        # put() has just written a whole message of this size
        metadata.crc = rp_load_be32(self.batch.records.data + self.batch.records.size - size + RP_MESSAGE_CRC_OFFSET)
        metadata.size = size
        metadata.timestamp = timestamp
        return metadata

    cdef int64_t message_size(self, object key, object value) except -1:
        return <int64_t>rp_message_size(self.batch.encoder.options.magic, length_of(key), length_of(value))
