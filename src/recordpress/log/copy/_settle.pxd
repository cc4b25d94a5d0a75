"""Entries of producers in a copy that are not joined, lose their producer, or are omitted."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error

cdef enum mark:
    MARK_NONE = 0
    MARK_ALONE = 1      # not joined; keeps its producer
    MARK_ABORTED = 2    # the same, in an aborted transaction: no reader of committed records sees it
    MARK_DROPPED = 3    # omitted from the copy
    MARK_EMPTIED = 4    # the same, but an empty batch keeps its offsets, because the segment ends with it


# Marks, sorted by base offset.
ctypedef struct marks:
    const int64_t* offsets
    const uint8_t* kinds
    int64_t count
    bint settles            # batches before `below` lose their producer
    int64_t below


cdef mark mark_of(const marks* m, const rp_batch* batch) noexcept nogil

# Removes the producer from a batch's header if the batch loses it, and returns whether it does.
cdef bint settle(const marks* m, mark found, rp_batch* batch) noexcept nogil

# Replaces the header of a written entry by `batch`, with the size and codec of the entry.
cdef void settle_written(const rp_batch* batch, uint8_t* entry, size_t size) noexcept nogil

# Turns a batch's header into that of an empty batch with the same offsets, and appends it.
cdef int append_empty(rp_batch* batch, pooled* out, rp_error* err) noexcept nogil
