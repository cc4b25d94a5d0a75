"""Export of recordpress's own arrays through the Arrow C data interface."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.arrow cimport ArrowArray, ArrowSchema
from recordpress.columns._roundtrip_loss cimport loss


cdef class Field:
    cdef readonly str name
    cdef readonly str format
    cdef readonly bint nullable
    cdef readonly tuple children   # of Field


# One Arrow array: its buffers point into the memory of its chunk.
ctypedef struct array_data:
    int64_t length
    int64_t null_count
    int64_t n_buffers
    const void** buffers
    int64_t n_children
    array_data* children


# One record batch, with a reference count: every exported ArrowArray holds a reference, so that a consumer can keep one
# column and release the others.
ctypedef struct chunk_data:
    int64_t references
    int64_t rows
    int64_t n_columns
    array_data* columns
    int64_t n_blocks
    pooled* blocks       # owned memory
    loss lost
    int64_t input_shown  # bytes of the input that views refer to
    void* owner          # a Python object that buffers point into (an InputView), or NULL


cdef chunk_data* chunk_new(int64_t n_columns, int64_t most_blocks) noexcept nogil    # NULL: out of memory
cdef bint array_init(array_data* array, int64_t length, int64_t n_buffers, int64_t n_children) noexcept nogil
cdef void chunk_drop(chunk_data* chunk) noexcept nogil


# Rows of a chunk, starting at `offset`.
ctypedef struct part:
    chunk_data* chunk
    int64_t offset
    int64_t rows


cdef enum:
    EVERY_COLUMN = -1


# `metadata`: the schema's metadata in the interface's encoding, or None
cdef object schema_capsule(object field, bytes metadata=*)
cdef object array_capsule(const part* p, int64_t column)
cdef object stream_capsule(object field, int64_t column, const part* parts, int64_t n_parts, bytes metadata=*)
cdef part* parts_copy(const part* parts, int64_t n) except NULL

# Exports the part as a struct array. Returns 0, or ENOMEM with `out` released.
cdef int export_part(const part* p, ArrowArray* out) noexcept nogil
cdef int export_schema(object field, ArrowSchema* out) except -1
cdef void destroy_stream_capsule(object capsule) noexcept
