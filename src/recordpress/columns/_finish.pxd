"""Turn a builder into a chunk."""

from recordpress._c.wire cimport rp_error
from recordpress.columns._arrow_out cimport chunk_data
from recordpress.columns._gather cimport builder
from recordpress.columns._plan cimport plan


# Copies the bytes of the input that the chunk's views refer to: it needs the input no longer.
cdef int release_input(const plan* p, chunk_data* chunk, rp_error* err) noexcept nogil

# The builder's rows as a record batch; the builder is empty afterwards. NULL: out of memory.
cdef chunk_data* finish_chunk(const plan* p, builder* b, rp_error* err) noexcept nogil
