from libc.stdint cimport uint8_t

from kpress._c.wire cimport kp_error
from kpress.compress._context cimport progress, size_range

cdef void snappy_expect(const uint8_t* src, size_t size, size_range* expected) noexcept nogil
cdef int snappy_decode(const uint8_t* src, size_t size, uint8_t* dst, size_t capacity,
                       progress* at, kp_error* err) noexcept nogil
cdef size_t snappy_bound(size_t size) noexcept nogil
cdef int snappy_encode(bint raw, const uint8_t* src, size_t size, uint8_t* dst, size_t* produced,
                       kp_error* err) noexcept nogil
