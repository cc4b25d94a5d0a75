"""What the broker writes in place of a set that it cannot keep: one batch or wrapper, or messages without a codec.

Source: LogValidator.buildRecordsAndAssignOffsets, convertAndAssignOffsetsNonCompressed; MemoryRecordsBuilder.
"""

from libc.stdint cimport int64_t

from kpress._c.wire cimport kp_record
from kpress.broker._check cimport validator

# From here on records go to a builder at v.next_offset. The level is one that level_of returned.
cdef int begin_rebuild(validator* v, int level) except -1

# Appends the record at v.next_offset. 0 or Kafka's error code; v.fails_late: the error waits for check_written.
cdef int write_record(validator* v, const kp_record* record) noexcept nogil

# Whether the builder took all records, and can be closed.
cdef int check_written(validator* v) noexcept nogil

# A message whose lengths lie, where they are read: Java reads outside of its buffer.
cdef int refuse_unreadable(validator* v) noexcept nogil

# The finished set.
cdef bytes end_rebuild(validator* v)
cdef void free_rebuild(validator* v) noexcept
