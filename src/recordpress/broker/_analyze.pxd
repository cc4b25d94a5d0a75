"""The header of an entry as Python sees it."""

from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch


cdef class BatchHeader:
    cdef readonly int64_t position, size, base_offset, last_offset, base_timestamp, max_timestamp, producer_id
    cdef readonly int magic, attributes, codec, last_offset_delta, producer_epoch, base_sequence, last_sequence
    cdef readonly int partition_leader_epoch, records_count
    cdef readonly bint is_transactional, is_control


cdef BatchHeader header_of(const rp_batch* batch)
