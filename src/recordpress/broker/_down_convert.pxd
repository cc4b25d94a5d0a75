"""Batches of a log in an older magic, for a fetch."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error
from recordpress.codecs.context cimport codec_context
from recordpress.record.change_magic cimport LOST_KINDS, converter


cdef enum:
    # A result other than RP_OK and Kafka's error codes: out of memory, or the cap on decompressed bytes.
    DOWN_OURS = 1000


ctypedef struct down_counts:
    int64_t batches             # that were converted
    int64_t records
    int64_t copied              # batches that were old enough
    int64_t control_batches     # dropped
    int64_t early_records       # dropped: before the offset that was requested
    int64_t temporary_bytes     # as RecordValidationStats has them
    int64_t lost[LOST_KINDS]


# Zero except for `converter.magic`, `data`, `size`, `first_offset`, `cap`, `context` and the flags before the first
# call.
ctypedef struct down_conversion:
    converter converter
    const uint8_t* data
    int64_t size
    int64_t first_offset
    size_t cap
    bint zstd                   # the broker knows of it
    bint drops_headers          # of records; else they are an error
    bint merges                 # all records become one batch, under the codec of the first one
    bint began                  # that batch
    int64_t counted             # what lies before this position in `data` was counted already where it is lost
    codec_context* context
    pooled out
    down_counts counts
    rp_batch batch              # at hand, for an error
    rp_error error

# The next complete entry by the rules of FileLogInputStream, which does not look at the magic: position, size and magic
# of it. RP_OK, RP_END or CORRUPT_MESSAGE.
cdef int entry_at(down_conversion* d, int64_t position, rp_batch* b) noexcept nogil

# Appends the entries that begin in [start, end) to d.out, as RecordsUtil.downConvert converts them; on an error d.out
# and d.counts are as they were.
cdef int down_convert(down_conversion* d, int64_t start, int64_t end) noexcept nogil

cdef void down_conversion_free(down_conversion* d) noexcept nogil
