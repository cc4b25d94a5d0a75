"""Small batches that become one."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_source
from recordpress.record.open_batch cimport open_batch
from recordpress.record.recompress_batch cimport recompressor


# Of joined batches. Without a number of bytes none are joined.
ctypedef struct join_limits:
    int64_t bytes           # of records before compression, and the header
    int64_t records
    int64_t message_bytes   # of the finished batch (max.message.bytes)


# A batch that grows by whole batches of the source.
ctypedef struct pack:
    bint open
    open_batch batch
    int64_t most_records
    int64_t entries         # of the source that went in
    const uint8_t* start    # where they lie
    int64_t size
    uint64_t codecs         # theirs, one bit each
    int64_t next_offset
    size_t form_start       # where their canonical forms lie
    size_t form_end
    rp_batch first          # of them, which may remain alone
    bint settled            # one of them lost its producer, or what lay between them left the copy
    rp_source source
    pooled scratch          # its decompressed records


# Whether a batch may be joined with others at all, and whether it may follow those in an open pack.
cdef bint may_join(const rp_batch* batch) noexcept nogil
cdef bint follows(const pack* p, const rp_batch* batch) noexcept nogil

# A pack without records, for batches like this one.
cdef void pack_begin(pack* p, const recompressor* r, const rp_batch* batch, const join_limits* limits) noexcept nogil

# Takes all records of a batch, or none: `taken` is set to which.
cdef int pack_take(pack* p, const uint8_t* entry, const rp_batch* batch, const rp_source* source, bint* taken,
                   rp_error* err) noexcept nogil

cdef void pack_free(pack* p) noexcept nogil
