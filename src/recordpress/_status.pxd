from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch, rp_error


# Where the entry of an error lies; rp_error itself has the place in the entry.
ctypedef struct place:
    PyObject* file        # its name or None, kept alive by the caller
    int64_t base          # where the buffer starts in the file or in the caller's data
    int64_t entry         # of the entry in the buffer
    int64_t offset        # Kafka's, where it is known
    bint has_offset


cdef place place_at(int64_t entry, int64_t base=*, object file=*) noexcept
cdef place place_of(const rp_batch* batch, int64_t base=*, object file=*) noexcept

# Raises the exception that the status stands for, unless it is RP_OK. Without a place, only the field has a position:
# that of rp_error.
cdef int check(int status, const rp_error* err, const place* at=*) except -1
cdef object error_of(const rp_error* err, const place* at=*)

# Keeps an exception of the plug-in of that name, which cannot be raised where it occurred, or the name alone. Returns
# its number: error_of names it where `found` is that number.
cdef int64_t note_cause(object exception, str plugin) noexcept

# Between the two, no cause is dropped because of later ones: for who makes the errors of many entries together.
cdef void keep_causes() noexcept nogil
cdef void stop_keeping_causes() noexcept nogil
