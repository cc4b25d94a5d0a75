"""The threads of a call. They run only C and never take the GIL."""

from cpython.ref cimport PyObject

from recordpress._c.wire cimport rp_flag_is_set


# A task: the first member of the struct that `run` works on.
ctypedef struct task:
    void (*run)(task* self) noexcept nogil
    const int* cancelled     # set by Threads: `run` may end early, because its result is no longer wanted
    task* next
    PyObject* owner          # owns all that `run` reads and writes; referenced until the task has been waited for
    bint done


cdef struct crew


cdef class Threads:
    cdef crew* crew

    cdef int put(self, object owner, task* work) except -1
    cdef int wait(self, task* work) except -1
    cdef close(self)
    cdef crew* _crew(self) except NULL


# Returns whether the task may end early, for use in `run`.
cdef inline bint is_cancelled(const task* work) noexcept nogil:
    return work.cancelled != NULL and rp_flag_is_set(work.cancelled)
