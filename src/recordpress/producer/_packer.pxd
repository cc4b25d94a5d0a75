"""Cutting records into batches whose compressed size is the largest that a limit allows.

Nobody knows the size of compressed records before they are compressed. So a batch is cut where the ratio of what was
compressed just before says, and settled then, by what the codec allows:

    blocks (snappy, lz4)       whole blocks are compressed once and kept; only the last one or two are tried, with
                               other numbers of records. The payload is the same as that of one call.
    streams in parts (zstd)    what was compressed stays, and its size is known; only if a part goes over the limit, all
                               of it is compressed again
    streams that join, and     a first stream ends a little below the limit and is kept; the rest is a second one. Its
    a limit of LARGE or more   start without history costs less than a hundredth of so large a batch
    streams that can be cut    a few records more than fit are compressed, and the stream is shortened (gzip)
    others                     all records are compressed again, by the ratio that the try before has shown

A batch is done when it fills FILLED of the limit, or when one record more does not fit.
"""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error, rp_record
from recordpress.codecs.codec cimport codec
from recordpress.codecs.context cimport codec_context
from recordpress.record.encode cimport batch_encoder
from recordpress.record.open_batch cimport open_batch


ctypedef struct mark:
    size_t end            # of the record, in `records`
    int64_t offset
    int64_t timestamp


# Records of the open batch, as many as one call of the codec took: n of them, `raw` bytes, compressed to `size`.
ctypedef struct attempt:
    int64_t n
    size_t raw
    size_t size


ctypedef struct packer:
    open_batch batch      # its records are more than it will take
    size_t limit          # maximum size of a payload
    codec_context* context
    size_t unit           # codec.join_unit
    const codec* row
    bint parts            # the batch is compressed in parts, which are in `base`
    bint joins            # streams may be joined
    bint cuts             # a payload that is too large can be shortened
    bint whole            # but not in this batch: a record more may fit if they are not
    bint ended            # no more records follow, or none that the batch's header can hold
    pooled moved
    pooled marks          # of the batch's records
    int64_t n
    pooled base           # a payload of the first base_raw bytes, to which tries are joined
    size_t base_raw
    bint exact            # base must not grow further
    pooled best           # the largest payload that fits
    pooled trial
    attempt fit           # n 0: none yet
    attempt over          # the smallest that does not fit; n INT64_MAX: none yet
    int tries
    double ratio          # compressed to raw bytes, as expected
    double slope          # the same of what was compressed last
    double deviation      # of the ratios of batches from what was expected of them
    bint learned          # `ratio` is that of a batch
    size_t wanted         # record bytes that pack_settle needs
    int64_t first_offset  # of the first batch, to which base_sequence belongs
    int base_sequence
    bint begun            # there was a batch
    bint from_zero        # every batch begins at offset 0


cdef int pack_open(packer* p, int64_t limit) noexcept nogil
cdef void pack_free(packer* p) noexcept nogil

# Write rows to the open batch; returns how many it took. Fewer than n: *err has the status of the next one, or RP_OK if
# it belongs to a batch after this one.
cdef int64_t pack_rows(packer* p, const rp_record* rows, int64_t n, rp_error* err) noexcept nogil

cdef enum:
    SETTLED        # p.fit and p.best are the batch
    WANTING        # more records are needed, up to p.wanted bytes, or `ended`
    TOO_LARGE      # the first record does not fit alone; p.over.size is the size of its payload
    FAILED

cdef int pack_settle(packer* p, rp_error* err) noexcept nogil

# The encoder's state for the first p.fit.n records, which batch_finish writes.
cdef void pack_header(packer* p, batch_encoder* e) noexcept nogil

# Begin the next batch with the records that are left.
cdef int pack_next(packer* p, rp_error* err) noexcept nogil
