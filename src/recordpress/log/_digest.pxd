"""The canonical form of records, and its digest. docs/digest.md specifies both for other implementations."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_record, rp_source
from recordpress._c.xxhash cimport XXH3_state_t
from recordpress.codecs.codec cimport codec_table
from recordpress.codecs.context cimport codec_context


# Append the canonical form of every record of an entry in a range of offsets, and add their number to `records`. The
# source is open; all of its records are read by the rules of the other readers.
cdef int canonical_records(pooled* out, const rp_batch* batch, const rp_source* source, int64_t start_offset,
                           int64_t last_offset, int64_t* records, rp_error* err) noexcept nogil


# Append the canonical form of one record of a batch.
cdef int canonical_record(pooled* out, const rp_batch* batch, const rp_record* r, rp_error* err) noexcept nogil


cdef bint is_control(const rp_batch* batch) noexcept nogil


cdef class RecordDigest:
    cdef XXH3_state_t* state
    cdef readonly int64_t records
    cdef readonly int64_t control_records
    cdef bint busy

    cdef int _refuse_busy(self) except -1

    # Add this many records in canonical form, some of which are control records.
    cdef void add(self, const uint8_t* data, size_t size, int64_t records, int64_t control_records) noexcept nogil
