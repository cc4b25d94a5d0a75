"""Owners of bytes: views of the caller's buffers, and pooled memory for results and scratch.

This module holds the only instance of the pool, and, with its .pxd, the only calls to PyObject_GetBuffer.
"""

from cpython.buffer cimport (
    PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer,
)
from libc.string cimport memcpy, memset

from recordpress._c.pool cimport rp_pool_bytes, rp_pool_give, rp_pool_init, rp_pool_release, rp_pool_take
from recordpress._c.wire cimport RP_NO_MEMORY, RP_OK, rp_fail
from recordpress._status cimport check

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

rp_pool_init()


cdef int pooled_reserve(pooled* b, size_t capacity, rp_error* err) noexcept nogil:
    """Make room for `capacity` bytes in all, and keep the existing bytes."""
    if capacity <= b.capacity and b.data != NULL:
        return RP_OK
    cdef size_t block = capacity + PADDING
    cdef uint8_t* data = <uint8_t*>rp_pool_take(&block)
    if data == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, <int64_t>capacity)
    if b.data != NULL:
        memcpy(data, b.data, b.size)
        rp_pool_give(b.data, b.block)
    b.data = data
    b.block = block
    b.capacity = block - PADDING
    return RP_OK


cdef int pooled_reserve_more(pooled* b, size_t more, rp_error* err) noexcept nogil:
    """Make room for `more` bytes at the end. A block that must grow doubles, so that copying costs little in total."""
    if b.data != NULL and b.capacity - b.size >= more:
        return RP_OK
    return pooled_reserve(b, max(b.size + more, 2 * b.capacity), err)


cdef void pooled_free(pooled* b) noexcept nogil:
    rp_pool_give(b.data, b.block)
    memset(b, 0, sizeof(pooled))


cdef int acquire(object data, Py_buffer* view, str name, str field=None) except -1:
    """Acquire a contiguous read-only view of `data`; the caller releases it. Errors call the data `name`, and have
    `field` as the argument."""
    if not PyObject_CheckBuffer(data):
        raise ArgumentTypeError(f"{name} must be a bytes-like object (bytes, bytearray, memoryview, mmap, NumPy array, "
                                f"pyarrow Buffer), not {type(data).__name__}{advice(data)}", field=field or name)
    try:
        PyObject_GetBuffer(data, view, PyBUF_SIMPLE)
    except (BufferError, ValueError) as error:  # ValueError: NumPy; a released memoryview, a closed mmap
        raise InvalidArgumentError(f"{name} must be a contiguous buffer: {error}", field=field or name) from error
    return 0


cdef int acquire_writable(object data, Py_buffer* view, str name) except -1:
    """Acquire a contiguous, writable view of `data`; the caller releases it with PyBuffer_Release."""
    if not PyObject_CheckBuffer(data):
        raise ArgumentTypeError(f"{name} must be a writable bytes-like object (bytearray, memoryview, mmap, "
                                f"NumPy array), not {type(data).__name__}", field=name)
    try:
        PyObject_GetBuffer(data, view, PyBUF_SIMPLE | PyBUF_WRITABLE)
    except (BufferError, ValueError) as error:
        raise InvalidArgumentError(f"{name} must be a writable, contiguous buffer: {error}", field=name) from error
    return 0


cdef str advice(data):
    """Return the hint for the most common mistakes, text or a path instead of bytes."""
    files = "Path(path).read_bytes() reads a file, iter_columns(open(path, 'rb')) reads its records chunk by chunk"
    if isinstance(data, str):
        return f": text.encode() converts text to bytes; {files}"
    return f": {files}" if hasattr(type(data), "__fspath__") else ""


cdef class InputView:
    """Owner of a view of the caller's buffer while anything points into it; also a read-only buffer of bytes."""

    def __cinit__(self, data, str name="data", str field=None):
        acquire(data, &self.view, name, field)
        self.data = <const uint8_t*>self.view.buf
        self.size = self.view.len

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.view.buf, self.view.len, 1, flags)

    def __dealloc__(self):
        PyBuffer_Release(&self.view)  # does nothing if acquire failed: obj is NULL


cdef PooledBlock pooled_block(size_t size):
    """Return a block of `size` uninitialised bytes."""
    cdef PooledBlock block = PooledBlock.__new__(PooledBlock)
    cdef rp_error err
    check(pooled_reserve(&block.buffer, size, &err), &err)
    block.buffer.size = size
    return block


cdef class PooledBlock:
    """Owner of a pooled buffer for the Python objects that point into it; also a writable buffer."""

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.buffer.data, <Py_ssize_t>self.buffer.size, 0, flags)

    def __dealloc__(self):
        pooled_free(&self.buffer)


# Frees the memory of another module: see on_release_unused.
cdef releaser release_idle = NULL


cdef void on_release_unused(releaser release) noexcept:
    global release_idle
    release_idle = release


def pool_bytes():
    """Return the number of bytes of pooled memory, as (in use, kept for reuse).

    The pool holds blocks of 64 KiB and more, for results and scratch. Smaller blocks, which come from malloc, and the
    states that codec libraries allocate are not counted.

    Returns
    -------
    tuple[int, int]

    Examples
    --------
    >>> import recordpress
    >>> in_use, kept = recordpress.pool_bytes()
    """
    cdef size_t in_use, kept
    rp_pool_bytes(&in_use, &kept)
    return in_use, kept


def release_unused():
    """Release the memory that is kept for reuse: the pool's blocks to the system, idle codec contexts to malloc.

    Returns
    -------
    int
        Number of bytes released, including states of codec libraries that report their size. Results that are
        still alive and calls that are running keep their memory.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.release_unused() >= 0
    True
    """
    cdef size_t released = 0
    if release_idle != NULL:
        released = release_idle()
    return released + rp_pool_release()
