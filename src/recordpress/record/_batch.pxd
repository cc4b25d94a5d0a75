from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport InputView
from recordpress._c.wire cimport rp_error
from recordpress.codecs.table cimport CodecTable
from recordpress.record.header cimport BatchHeader


cdef class BatchIterator:
    cdef InputView view           # batches share this and the options of the call
    cdef size_t cap
    cdef CodecTable codecs
    cdef bint check_crcs
    cdef int64_t _position
    cdef int64_t _max_size
    cdef bint _complete
    cdef bint _ended
    cdef Batch _next(self)
    cdef int _raise(self, int status, rp_error* err) except -1


cdef class Batch(BatchHeader):
    cdef BatchIterator _set
    cdef const uint8_t* _entry
    cdef int64_t _inner_count     # number of messages in a v0/v1 wrapper; 0 until it is opened
    cdef object _first_inner_offset(self)
    cdef uint8_t* _change(self) except NULL
    cdef int _check_count(self) except -1
    cdef int _read_header(self) except -1
