"""Decode a run of entries into chunks: the work of one thread, without the GIL."""

from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch, rp_error
from recordpress._threads cimport task
from recordpress.columns._arrow_out cimport chunk_data
from recordpress.columns._gather cimport builder
from recordpress.columns._plan cimport failure, plan

# Copies the bytes of the input that the chunk's views refer to: it needs the input no longer.
cdef int release_input(const plan* p, chunk_data* chunk, rp_error* err) noexcept nogil

# Zero except for `task`, `plan`, `batches`, `reached` and `n` before it runs, and for `open` and `rest` of a run that
# does not begin its chunk or does not end it.
ctypedef struct run:
    task task
    const plan* plan
    const rp_batch* batches
    const int64_t* reached   # the offset after the entries before each of them
    int64_t n
    builder* open            # where the rows go on that earlier runs gathered; NULL: this run alone makes its chunks
    int64_t rest             # bytes of entries that later runs are to add to it; 0: the chunk ends here
    chunk_data** chunks      # of the good entries: up to the first bad one, or all if plan.skip
    int64_t n_chunks
    failure* failures        # of the entries that were wrong, in their order
    int64_t n_failures
    const rp_batch* went_back  # plan.ascends: the v0/v1 wrapper whose offsets go back, where the rows end; or NULL
    bint no_memory           # nothing else holds then

cdef void decode_run(task* self) noexcept nogil

cdef void run_free(run* r) noexcept nogil
