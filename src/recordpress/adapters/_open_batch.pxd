"""A batch that a client is filling, for magic 0, 1 and 2."""

from cpython.buffer cimport Py_buffer
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport RP_MESSAGE_V0_OVERHEAD, RP_MESSAGE_V1_OVERHEAD, rp_record
from recordpress.adapters._client cimport Client
from recordpress.record.open_batch cimport open_batch

# Views of a key and a value while they are appended. put_views() alone has them, and releases them on every path: an
# InputView each would be an object per record. Other objects raise Python's own TypeError, as in clients' classes.
ctypedef struct record_views:
    Py_buffer key
    Py_buffer value

cdef class OpenBatch:
    cdef Client client
    cdef open_batch batch
    cdef pooled headers        # of the record that is being appended, encoded
    cdef int64_t batch_size
    cdef int codec             # as the client asked, even if that id is unknown
    cdef bint busy
    cdef bytearray result

    cdef int start(self, Client client, int magic, int codec, int64_t batch_size) except -1
    cdef int64_t size_of_all(self) noexcept
    cdef int64_t put(self, int64_t offset, int64_t timestamp, object key, object value, object headers) except -1
    cdef int64_t put_views(self, rp_record* row, object key, object value, object headers) except -1
    cdef int64_t put_row(self, rp_record* row, object headers) except -1
    cdef int64_t size_with(self, int64_t offset, int64_t timestamp, object key, object value,
                           object headers) except -1
    cdef int refuse_busy(self) except -1
    cdef int encode(self, object headers) except -1
    cdef bint fits(self, const rp_record* row, int64_t after) noexcept
    cdef bytearray finish(self)
    cdef bytearray joined(self, const pooled* payload)
    cdef int compress(self, pooled* payload) except -1
    # Whether the compressed payload is to be used: clients differ.
    cdef bint takes_compressed(self, size_t compressed) noexcept

cdef int64_t now() noexcept

# Bytes of a record's fields: key, value and headers with their lengths (v2).
cdef int64_t size_of_fields(object key, object value, object headers) except -1

# Bytes of a buffer; -1 of None.
cdef int64_t length_of(object value) except -2

cdef enum:
    MESSAGE_V0 = RP_MESSAGE_V0_OVERHEAD  # LegacyRecord.RECORD_OVERHEAD_V0
    MESSAGE_V1 = RP_MESSAGE_V1_OVERHEAD

cdef class DefaultRecordMetadata:
    cdef readonly int64_t offset
    cdef readonly int64_t size
    cdef readonly int64_t timestamp

cdef class LegacyRecordMetadata:
    cdef readonly int64_t offset
    cdef readonly uint32_t crc
    cdef readonly int64_t size
    cdef readonly int64_t timestamp

cdef class DefaultBuilder(OpenBatch):
    cdef void become(self, int64_t producer_id, int16_t producer_epoch, int32_t base_sequence) noexcept
    # Append and return append()'s answer, None if the record does not fit.
    cdef DefaultRecordMetadata add(self, int64_t offset, int64_t timestamp, object key, object value, object headers)

cdef class LegacyBuilder(OpenBatch):
    cdef LegacyRecordMetadata add(self, int64_t offset, int64_t timestamp, object key, object value)
    cdef int64_t message_size(self, object key, object value) except -1

# The maximum size of a v2 batch of this one record.
cdef int64_t most_of_one(object key, object value, object headers) except -1

cdef enum:
    NO_ROOM = 0     # put() returns the record's bytes otherwise
