"""Selection of a record set's entries by header alone."""

from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch
from recordpress.columns._plan cimport failure, plan


ctypedef struct aborted_transaction:
    int64_t producer_id
    int64_t first_offset


# Which producers' transactions are aborted at a point of the walk (CompletedFetch.consumeAbortedTransactionsUpTo).
ctypedef struct isolation:
    const aborted_transaction* aborted   # by first_offset; not owned
    int64_t n_aborted
    int64_t next                         # the first transaction that the walk has not reached
    aborted_transaction* open            # of producers with an open aborted transaction: room for n_aborted
    int64_t n_open


cdef enum:
    MORE        # there are entries left
    AT_END      # no complete entry follows
    AT_BOUND    # entries follow that the plan's last_offset omits
    GOES_BACK   # an entry follows that begins before the end of an earlier entry


cdef enum:
    BAD_HEADER = -1   # the magic of a listed entry that is too small for its header: decoding it reports the error


# The progress of a walk.
ctypedef struct walk:
    int64_t position       # in the plan's data: all entries before it were passed
    int64_t next_offset    # after the last entry that was passed; valid if `any` entry was
    bint any
    int state
    isolation isolation


ctypedef struct batch_list:
    rp_batch* batches
    int64_t* reached       # the walk's next_offset before each batch
    int64_t n
    int64_t capacity


# Walks over about `stop_after` bytes of entries, at least one, and lists the headers of the requested entries.
# An error leaves the walk before the bad entry.
cdef int scan(const plan* p, walk* w, int64_t stop_after, batch_list* list, failure* f) noexcept nogil

# Returns the error that the beginning of the entry f.batch shows, of which only the first `there` bytes are in the
# plan's data; RP_OK if it shows no error.
cdef int refuse_early(const plan* p, int64_t there, failure* f) noexcept nogil

# Copies a walk, with separate memory. Returns RP_OK or RP_NO_MEMORY.
cdef int walk_copy(walk* to, const walk* w) noexcept nogil
cdef void walk_free(walk* w) noexcept nogil
