"""From a builder to a chunk."""

from recordpress._c.wire cimport rp_error
from recordpress.columns._arrow_out cimport chunk_data
from recordpress.columns._gather cimport builder
from recordpress.columns._plan cimport plan


# The builder's rows as a record batch; the builder is empty afterwards. NULL: out of memory.
cdef chunk_data* finish_chunk(const plan* p, builder* b, rp_error* err) noexcept nogil
