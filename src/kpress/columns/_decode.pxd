"""From a run of entries to chunks: the work of one thread, without the GIL."""

from libc.stdint cimport int64_t

from kpress._c.wire cimport kp_batch
from kpress.columns._arrow_out cimport chunk_data
from kpress.columns._plan cimport failure, plan
from kpress._threads cimport task


# Zero but for `task`, `plan`, `batches` and `n` before it runs.
ctypedef struct run:
    task task
    const plan* plan
    const kp_batch* batches
    int64_t n
    chunk_data** chunks      # of the entries that were good: those before the first that is wrong, or all if plan.skip
    int64_t n_chunks
    failure* failures        # of the entries that were wrong, in their order
    int64_t n_failures
    bint no_memory           # nothing else holds then


cdef void decode_run(task* self) noexcept nogil
cdef void run_free(run* r) noexcept nogil
