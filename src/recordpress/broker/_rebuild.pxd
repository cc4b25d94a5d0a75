"""Replacement for a set that the broker cannot keep: one batch or wrapper, or messages without a codec.

Source: LogValidator.buildRecordsAndAssignOffsets, convertAndAssignOffsetsNonCompressed; MemoryRecordsBuilder.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from recordpress._c.wire cimport rp_record, rp_source
from recordpress.broker._check cimport validator

# From here on records go to a builder at v.next_offset. The level is one that level_of returned.
cdef int begin_rebuild(validator* v, int level) except -1

# Appends the record at v.next_offset. 0 or Kafka's error code; v.fails_late: the error waits for check_written.
cdef int write_record(validator* v, const rp_record* record) noexcept nogil

# Say about how many bytes of records will come.
cdef void expect_records(validator* v, int64_t size) noexcept nogil

# Whether the records of a batch, `s`, may stay as they are where the builder would write the same bytes; and whether it
# would for this one, of `size` bytes in all up to `end`, the one with that index.
cdef bint may_take(const validator* v, const rp_source* s) noexcept nogil
cdef bint is_same(const rp_source* s, const rp_record* r, int32_t index, int64_t size,
                  const uint8_t* end) noexcept nogil

# All records of the batch are: the builder takes them where they lie.
cdef void take_records(validator* v, const rp_source* s, int64_t max_timestamp) noexcept nogil

# Whether the builder took all records, and can be closed.
cdef int check_written(validator* v) noexcept nogil

# A message whose lengths lie, where they are read: Java reads outside of its buffer.
cdef int refuse_unreadable(validator* v) noexcept nogil

# The finished set.
cdef bytes end_rebuild(validator* v)
cdef void free_rebuild(validator* v) noexcept
