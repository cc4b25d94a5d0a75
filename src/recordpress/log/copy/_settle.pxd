"""Single entries of producers in a copy: those that stay alone, lose their producer, or are omitted."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error

cdef enum mark:
    MARK_NONE = 0
    MARK_ALONE = 1      # not joined; its producer stays
    MARK_ABORTED = 2    # the same, in an aborted transaction: no reader of committed records sees it
    MARK_DROPPED = 3    # leaves the copy
    MARK_EMPTIED = 4    # the same, but an empty batch keeps its offsets: the segment ends with it


# By base offset, in their order.
ctypedef struct marks:
    const int64_t* offsets
    const uint8_t* kinds
    int64_t count
    bint settles            # batches below the offset lose their producer
    int64_t below


cdef mark mark_of(const marks* m, const rp_batch* batch) noexcept nogil

# Whether a batch loses its producer; then the header at hand is changed here.
cdef bint settle(const marks* m, mark found, rp_batch* batch) noexcept nogil

# Writes the header at hand around the payload of an entry that was written as it came.
cdef void settle_written(const rp_batch* batch, uint8_t* entry, size_t size) noexcept nogil

# Appends an empty batch with the offsets of this one, which becomes that batch.
cdef int append_empty(rp_batch* batch, pooled* out, rp_error* err) noexcept nogil
