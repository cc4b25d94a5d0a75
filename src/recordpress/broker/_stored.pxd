"""Stored form of a set that stays as it was sent."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport InputView
from recordpress.record.header cimport BatchHeader
from recordpress.broker._check cimport validator

cdef enum:
    HEADER_ROOM = 64   # the largest header, of magic 2, has 61 bytes


cdef class StoredSet:
    cdef readonly int64_t size
    cdef readonly BatchHeader header
    cdef readonly bint rewritten
    cdef bytes whole             # None until it is requested, or if it never was sent as bytes
    cdef bytes sent              # the sender's, with the set at `start`
    cdef int64_t start
    cdef uint8_t changed[HEADER_ROOM]
    cdef int64_t changed_size

    cdef bytes joined(self)


# The set of `v`, whose bytes the sender gave as `data`, with the headers that the log will have. `one`: the first entry
# is the only one that changes. Sets v.next_offset.
cdef StoredSet keep(validator* v, object data, bint one)

# A set that was written again.
cdef StoredSet written(bytes records)
