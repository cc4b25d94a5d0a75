"""The caller's Arrow data: capsules, moved out of and owned here."""

from recordpress._c.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema


cdef class ArrowSource:
    cdef ArrowSchema schema
    cdef ArrowArrayStream stream    # release NULL: there is one array only
    cdef ArrowArray array           # that one, or the stream's newest; release NULL: none
    cdef bint fresh                 # the one array that nobody has requested yet

    cdef int ask(self, object data) except -1
    cdef int take_stream(self, object capsule) except -1
    cdef int take_array(self, object capsules) except -1
    cdef int check(self, int code) except -1
    cdef const ArrowArray* next(self) except? NULL
