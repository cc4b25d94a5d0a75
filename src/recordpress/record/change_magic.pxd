"""Records of one magic in a batch of another."""

from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch, rp_error, rp_record
from recordpress.codecs.context cimport codec_context
from recordpress.record.open_batch cimport open_batch


# Fields that an older magic lacks; in the order of LOST.
cdef enum:
    LOST_HEADERS
    LOST_TIMESTAMPS
    LOST_PRODUCERS
    LOST_TRANSACTIONS
    LOST_MARKERS
    LOST_LEADER_EPOCHS
    LOST_DELETE_HORIZONS
    LOST_EMPTY_BATCHES
    LOST_RECORD_ATTRIBUTES
    LOST_KINDS


# Before the first batch, all zero except for `magic`, the target.
ctypedef struct converter:
    int magic
    open_batch batch
    int64_t lost[LOST_KINDS]


# Count the header fields of a v2 batch that no older magic has, for `records` of its records.
cdef void count_lost_header(converter* c, const rp_batch* batch, int64_t records) noexcept nogil

# Keep the fields of a record of `batch` that the target magic has, and count the others.
cdef void drop_fields(converter* c, const rp_batch* batch, rp_record* row) noexcept nogil

# Begin the batch in the target magic, at its first record; batch_add and batch_close do the rest, by the rules of
# MemoryRecordsBuilder. Return RP_CODEC_MAGIC if the target magic does not have the codec.
cdef int convert_begin(converter* c, const rp_record* first, codec_context* context, int codec, int level,
                       rp_error* err) noexcept nogil
