"""The threads of a call. They run only C and never take the GIL."""

from cpython.ref cimport PyObject

from recordpress._c.wire cimport rp_flag_is_set


# One piece of work: the first member of the struct that `run` works on.
ctypedef struct task:
    void (*run)(task* self) noexcept nogil
    const int* cancelled     # set by Threads: `run` may end early, because its result is no longer wanted
    task* next
    PyObject* owner          # owns all that `run` reads and writes; the task refers to it until it was waited for
    bint done


cdef struct crew


cdef class Threads:
    cdef crew* crew

    cdef int put(self, object owner, task* work) except -1
    cdef int wait(self, task* work) except -1
    cdef close(self)
    cdef crew* _crew(self) except NULL


# Whether the task may end early. For `run`.
cdef inline bint is_cancelled(const task* work) noexcept nogil:
    return work.cancelled != NULL and rp_flag_is_set(work.cancelled)
