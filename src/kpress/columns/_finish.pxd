"""From a builder to a chunk."""

from kpress._c.wire cimport kp_error
from kpress.columns._arrow_out cimport chunk_data
from kpress.columns._gather cimport builder
from kpress.columns._plan cimport plan


# The builder's rows as a record batch; the builder is empty afterwards. NULL: out of memory.
cdef chunk_data* finish_chunk(const plan* p, builder* b, kp_error* err) noexcept nogil
