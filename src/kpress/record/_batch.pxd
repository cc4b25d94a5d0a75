from libc.stdint cimport int64_t, uint8_t

from kpress._buffers cimport InputView
from kpress._c.wire cimport kp_batch


cdef class Batch:
    cdef InputView _view
    cdef const uint8_t* _entry
    cdef kp_batch _header
    cdef int64_t _base            # position of the view in the caller's data
    cdef size_t _cap
    cdef object _first_inner_offset(self)
    cdef uint8_t* _change(self) except NULL
    cdef int _read_header(self) except -1
    cdef void _stamp_batch(self, uint8_t* entry, int type_, int64_t time) noexcept
    cdef void _stamp_message(self, uint8_t* entry, int type_, int64_t time) noexcept


cdef class BatchIterator:
    cdef InputView _view
    cdef int64_t _position
    cdef int64_t _max_size
    cdef size_t _cap
