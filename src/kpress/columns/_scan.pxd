"""Which entries of a record set a call wants, by header alone."""

from libc.stdint cimport int64_t

from kpress._c.wire cimport kp_batch
from kpress.columns._plan cimport failure, plan


ctypedef struct batch_list:
    kp_batch* batches
    int64_t n
    int64_t capacity
    int64_t end          # where the scan stopped: bytes of whole entries


ctypedef struct aborted_transaction:
    int64_t producer_id
    int64_t first_offset


# Which producers' transactions are aborted at the point of the scan (CompletedFetch, spec record-formats 12).
ctypedef struct isolation:
    aborted_transaction* aborted   # by first_offset
    int64_t n_aborted
    int64_t next                   # the first one that the scan has not reached
    int64_t* producers             # with an aborted transaction open: room for n_aborted
    int64_t n_producers


# The headers of the asked entries from `start` on, until about `stop_after` bytes were passed.
cdef int scan(const plan* p, int64_t start, int64_t stop_after, isolation* state, batch_list* list,
              failure* f) noexcept nogil
