"""Small batches that become one."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_source
from recordpress.record.open_batch cimport open_batch
from recordpress.record.recompress_batch cimport recompressor


# Limits of joined batches. If `bytes` is 0, no batches are joined.
ctypedef struct join_limits:
    int64_t bytes           # of records before compression, and the header
    int64_t records
    int64_t message_bytes   # of the finished batch (max.message.bytes)


# A batch that grows by whole batches of the source.
ctypedef struct joined_batch:
    bint open
    open_batch batch
    int64_t most_records
    int64_t entries         # number of source entries in the joined batch
    const uint8_t* start    # where these entries lie
    int64_t size
    uint64_t codecs         # of these entries, one bit per codec
    int64_t next_offset
    size_t form_start       # where their canonical forms lie
    size_t form_end
    rp_batch first          # the first entry, which may remain alone
    bint settled            # an entry lost its producer, or entries in between were omitted
    rp_source source
    pooled scratch          # decompressed records of the first entry


# Whether a batch may be joined with others at all, and whether it may follow those in an open joined batch.
cdef bint may_join(const rp_batch* batch) noexcept nogil
cdef bint follows(const joined_batch* p, const rp_batch* batch) noexcept nogil

# Begins a joined batch without records, for batches like this one.
cdef void join_begin(joined_batch* p, const recompressor* r, const rp_batch* batch,
                     const join_limits* limits) noexcept nogil

# Takes all records of a batch, or none; `taken` is set to whether it took them.
cdef int join_take(joined_batch* p, const uint8_t* entry, const rp_batch* batch, const rp_source* source, bint* taken,
                   rp_error* err) noexcept nogil

cdef void join_free(joined_batch* p) noexcept nogil
