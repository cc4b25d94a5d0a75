from cpython.buffer cimport PyBUF_SIMPLE, Py_buffer, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t

from recordpress._c.wire cimport rp_error

cdef enum:
    # Bytes that may be read and written after the capacity of every pooled buffer: 256 for the step in which columns
    # copy values (RP_COPY_STEP in columns.h), and 64 for a vector that starts where that step ends.
    PADDING = 320


# A growable pooled buffer. If all fields are zero, it is empty.
ctypedef struct pooled:
    uint8_t* data
    size_t size
    size_t capacity   # usable bytes; PADDING more come after them
    size_t block      # size of the pool's block


cdef int pooled_reserve(pooled* b, size_t capacity, rp_error* err) noexcept nogil
cdef int pooled_reserve_more(pooled* b, size_t more, rp_error* err) noexcept nogil
cdef void pooled_free(pooled* b) noexcept nogil

cdef int acquire(object data, Py_buffer* view, str name, str field=*) except -1
cdef int acquire_writable(object data, Py_buffer* view, str name) except -1


cdef inline int acquire_for_client(object data, Py_buffer* view) except -1:
    """Take a view as `acquire` does, but raise Python's own exceptions, as the clients do."""
    return PyObject_GetBuffer(data, view, PyBUF_SIMPLE)


cdef class InputView:
    cdef Py_buffer view
    cdef const uint8_t* data
    cdef int64_t size


cdef class PooledBlock:
    cdef pooled buffer


cdef PooledBlock pooled_block(size_t size)

# Frees memory that another module keeps for reuse, and returns its number of bytes; release_unused() calls it.
ctypedef size_t (*releaser)() noexcept nogil
cdef void on_release_unused(releaser release) noexcept
