"""How BatchBuilder keeps its limit with a codec, whose output is not known in advance. At any time

    header + proven + payload_bound(records after proven)  <=  limit

where `proven` is a payload that holds all records but the last ones (none, at first). As long as this holds with a new
record, the record is taken at once. If it would not, the records after `proven` are compressed as a separate stream
and joined to it; if that is too large too, all records are compressed again, and become `proven` if they fit. Only a
record that does not fit even then is refused. So every batch can be finished within the limit. build() compresses the
whole, and takes the joined payload only if nothing else fits.
"""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error
from recordpress.record.open_batch cimport open_batch


ctypedef struct exact_limit:
    int64_t size         # maximum size of the finished batch
    pooled proven        # a payload of the first proven_size record bytes
    size_t proven_size
    bint proven_whole    # proven is one stream, not several joined
    pooled trial


cdef void limit_free(exact_limit* limit) noexcept nogil

# MemoryRecordsBuilder.estimatedBytesWritten: the size of the batch, by the ratio that is expected of its records.
cdef int64_t expected_size(float ratio, const open_batch* b) noexcept nogil

# The argument estimated_compression_ratio.
cdef float ratio_of(object value) except? -1

# Whether a batch with `payload` bytes after its header keeps the limit.
cdef bint limit_keeps(const exact_limit* limit, const open_batch* b, size_t payload) noexcept nogil

# The maximum number of bytes of payload that the first `size` record bytes can need.
cdef size_t most_payload(const exact_limit* limit, const open_batch* b, size_t size) noexcept nogil

# RP_OK: all records, compressed, keep the limit, and are proven. Else BATCH_FULL or an error.
cdef int prove(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil

# Leaves all records compressed in limit.proven, as one stream if that keeps the limit. Returns a status.
cdef int finish_payload(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil
