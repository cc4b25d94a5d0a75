"""Arrays that kpress made, handed out through the Arrow C data interface."""

from libc.stdint cimport int64_t, uint8_t

from kpress._buffers cimport pooled


# One Arrow array: its buffers point into the memory of its chunk.
ctypedef struct array_data:
    int64_t length
    int64_t null_count
    int64_t n_buffers
    const void** buffers
    int64_t n_children
    array_data* children


# One record batch. Counted: every exported ArrowArray holds a reference, so that a consumer can keep one
# column and let the others go.
ctypedef struct chunk_data:
    int64_t references
    int64_t rows
    int64_t n_columns
    array_data* columns
    int64_t n_blocks
    pooled* blocks       # owned memory
    void* owner          # a Python object that buffers point into (an InputView), or NULL


cdef chunk_data* chunk_new(int64_t n_columns, int64_t most_blocks) noexcept nogil    # NULL: out of memory
cdef bint array_init(array_data* array, int64_t length, int64_t n_buffers, int64_t n_children) noexcept nogil
cdef void chunk_drop(chunk_data* chunk) noexcept nogil


cdef class Columns:
    cdef tuple _fields            # of Field
    cdef chunk_data** _chunks
    cdef int64_t _n_chunks
    cdef readonly int64_t num_rows

    cdef Columns _only(self, int64_t i)
    cdef chunk_data* _only_chunk(self) except NULL

    @staticmethod
    cdef Columns make(tuple fields, chunk_data** chunks, int64_t n_chunks)
