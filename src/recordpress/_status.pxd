from cpython.ref cimport PyObject
from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch, rp_error


# The place of an error's entry; rp_error itself has the place within the entry.
ctypedef struct place:
    PyObject* file        # name of the file or None, kept alive by the caller
    int64_t base          # where the buffer starts in the file or in the caller's data
    int64_t entry         # position of the entry in the buffer
    int64_t offset        # Kafka's offset, if it is known
    bint has_offset


cdef place place_at(int64_t entry, int64_t base=*, object file=*) noexcept
cdef place place_of(const rp_batch* batch, int64_t base=*, object file=*) noexcept

# Raises the exception for the status, unless it is RP_OK. Without a place, only the field has a position: that of
# rp_error.
cdef int check(int status, const rp_error* err, const place* at=*) except -1
cdef object error_of(const rp_error* err, const place* at=*)

# Keeps an exception of the plug-in of that name, which cannot be raised where it occurred, or only the name. Returns
# its number: error_of reports it if `found` is that number.
cdef int64_t note_cause(object exception, str plugin) noexcept

# Between these calls, no cause is dropped because of later causes: for callers that create the errors of many entries.
cdef void keep_causes() noexcept nogil
cdef void stop_keeping_causes() noexcept nogil
