"""A batch that a client is filling, for magic 0, 1 and 2."""

from cpython.buffer cimport Py_buffer
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport RP_MESSAGE_V0_OVERHEAD, RP_MESSAGE_V1_OVERHEAD, rp_record
from recordpress.adapters._client cimport Client
from recordpress.record.open_batch cimport open_batch

# Views of a key and a value while they are appended. Only put_views() has views, and releases them on every path: with
# InputView, each would be an object. Objects that are not buffers raise Python's own TypeError, as in the clients.
ctypedef struct record_views:
    Py_buffer key
    Py_buffer value

cdef class OpenBatch:
    cdef Client client
    cdef open_batch batch
    cdef pooled headers        # encoded headers of the record that is being appended
    cdef int64_t batch_size
    cdef int codec             # the id that the client requested, even if it is unknown
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
    # Return whether to use the compressed payload: clients differ.
    cdef bint takes_compressed(self, size_t compressed) noexcept

cdef int64_t now() noexcept

# Return the number of bytes of a record's key, value and headers, with their lengths (v2).
cdef int64_t size_of_fields(object key, object value, object headers) except -1

# Return the length of a buffer in bytes; -1 for None.
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
    # Append a record and return its metadata, or return None if it does not fit.
    cdef DefaultRecordMetadata add(self, int64_t offset, int64_t timestamp, object key, object value, object headers)

cdef class LegacyBuilder(OpenBatch):
    cdef LegacyRecordMetadata add(self, int64_t offset, int64_t timestamp, object key, object value)
    cdef int64_t message_size(self, object key, object value) except -1

# Return the maximum size of a v2 batch that holds only this record.
cdef int64_t most_of_one(object key, object value, object headers) except -1

cdef enum:
    NO_ROOM = 0     # otherwise, put() returns the record's size
