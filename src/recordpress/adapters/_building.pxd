"""The common part of both clients' builders of v2 batches, and of v0 and v1 messages."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t

from recordpress.adapters._open_batch cimport OpenBatch

cdef enum:
    MESSAGE_V0 = 14  # LegacyRecord.RECORD_OVERHEAD_V0
    MESSAGE_V1 = 22


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
