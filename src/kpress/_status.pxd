from libc.stdint cimport int64_t

from kpress._c.wire cimport kp_error


cdef object error_of(const kp_error* err, int64_t base=*, object offset=*, object file=*, bint inside=*)
cdef int raise_status(const kp_error* err) except -1
