"""The bytes of a walk: a buffer, or a file chunk by chunk."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport InputView, PooledBlock
from recordpress._c.wire cimport rp_batch, rp_error


cdef class Source:
    cdef InputView view        # what is in memory
    cdef int64_t size          # how much of it belongs to the source
    cdef int64_t base          # where it starts in the source
    cdef int64_t step          # bytes read from a file at a time
    cdef int64_t end           # where the source ends for the caller
    cdef object file           # None: the view is the whole source
    cdef int64_t unread        # bytes of an entry that the file does not have whole: they are not read
    cdef readonly object name
    cdef PooledBlock block     # of the view, where that is a chunk of a file

    # Bytes of the source from `position` on (in the view) that are known to be there, and in no complete entry.
    cdef int64_t rest(self, int64_t position)

    # Another view, which begins at `position` of this one and has more bytes; `position` becomes that in the new view.
    # False: there are no more.
    cdef bint more(self, int64_t* position) except -1

    # The size of the entry that begins at `position`, where it is a large one that the file has whole and memory has
    # not; else 0.
    cdef int64_t awaited(self, int64_t position) except -1

    # check_crc() for an entry that is awaited: the file is read in steps, and is then where it was.
    cdef int check_crc(self, const rp_batch* batch, rp_error* err) except -1

    # Go on at a position after the view without reading up to there; it becomes that in an empty view.
    cdef int skip(self, int64_t* position) except -1

    cdef PooledBlock _block(self, int64_t position, int64_t rest, int64_t room)
    cdef int64_t _first_entry(self, const uint8_t* data, int64_t rest, int64_t step) noexcept
    cdef int64_t _room(self, const uint8_t* data, int64_t rest) except -1
    cdef int64_t _read(self, PooledBlock block, int64_t rest, int64_t room) except -1


cdef Source source_of(object source, int64_t step, object start, object end, int64_t* position)
