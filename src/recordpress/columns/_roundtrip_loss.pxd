"""Facts about batches that columns do not hold."""

from libc.stdint cimport int64_t

from recordpress._c.arrow cimport ArrowSchema
from recordpress._c.wire cimport rp_batch


cdef enum:
    NOTHING, MAGIC, NO_RECORDS, APPEND_TIME, DELETE_HORIZON, ATTRIBUTES, CODEC, LAST_OFFSET, BASE_SEQUENCE
    BASE_TIMESTAMP, MAX_TIMESTAMP


# The first loss of a chunk; zero before its first batch.
ctypedef struct loss:
    int what
    int codec          # 1 + the codec of the first batch
    int64_t batch      # the offset of the batch with the loss; if nothing is lost, of the first batch
    int64_t stored     # the value in the batch
    int64_t held       # the value in the columns


# Notes the first loss of a batch; `offsets` and `timestamps` are NULL if not all of its records are there.
cdef void note_batch(loss* lost, const rp_batch* batch, int codec, const int64_t* offsets, const int64_t* timestamps,
                     int64_t rows, int64_t per_ms) noexcept nogil

# Returns the first loss of two chunks, of which `later` follows
cdef loss loss_of_both(const loss* lost, const loss* later) noexcept nogil

# Returns the loss as schema metadata of the C data interface, for write_columns; None if nothing is lost
cdef bytes metadata_of(const loss* lost)

# Raises if the metadata shows a loss
cdef int refuse_lost(const ArrowSchema* schema) except -1
