"""Decode a run of entries into chunks: the work of one thread, without the GIL."""

from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch, rp_error
from recordpress._threads cimport task
from recordpress.columns._arrow_out cimport chunk_data
from recordpress.columns._gather cimport builder
from recordpress.columns._plan cimport failure, plan

# Copies the bytes of the input that the chunk's views refer to, so that the chunk no longer needs the input.
cdef int release_input(const plan* p, chunk_data* chunk, rp_error* err) noexcept nogil

# Before it runs, all fields are zero except `task`, `plan`, `batches`, `reached` and `n`, and `open` or `rest` if the
# run does not begin its chunk or does not end it.
ctypedef struct run:
    task task
    const plan* plan
    const rp_batch* batches
    const int64_t* reached   # for each entry, the offset after the entries before it
    int64_t n
    builder* open            # rows of earlier runs, to which this run adds; NULL: this run alone builds its chunks
    int64_t rest             # bytes of entries that later runs will add to the chunk; 0: the chunk ends here
    chunk_data** chunks      # of the good entries: up to the first bad entry, or all if plan.skip
    int64_t n_chunks
    failure* failures        # of the bad entries, in order
    int64_t n_failures
    const rp_batch* went_back  # plan.ascends: the v0/v1 wrapper whose offsets go back, where the rows end; or NULL
    bint no_memory           # if set, the other results are invalid

cdef void decode_run(task* self) noexcept nogil

cdef void run_free(run* r) noexcept nogil
