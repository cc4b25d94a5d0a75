"""The canonical form of records, and its digest. docs/digest.md specifies both for other implementations."""

from libc.stdint cimport int64_t, uint8_t

from kpress._buffers cimport pooled
from kpress._c.wire cimport kp_batch, kp_error, kp_record, kp_source
from kpress._c.xxhash cimport XXH3_state_t
from kpress.codecs.codec cimport codec_table
from kpress.codecs.context cimport codec_context


# Appends the canonical form of every record of an entry from an offset on, and adds their number to `records`. The
# source is open; all of its records are read by the rules of the other readers.
cdef int canonical_records(pooled* out, const kp_batch* batch, const kp_source* source, int64_t start_offset,
                           int64_t* records, kp_error* err) noexcept nogil


# The same of one record of a batch.
cdef int canonical_record(pooled* out, const kp_batch* batch, const kp_record* r, kp_error* err) noexcept nogil


cdef bint is_control(const kp_batch* batch) noexcept nogil


cdef class RecordDigest:
    cdef XXH3_state_t* state
    cdef readonly int64_t records
    cdef readonly int64_t control_records
    cdef bint busy

    cdef int _refuse_busy(self) except -1

    # Goes on with so many records in canonical form, some of them control records.
    cdef void add(self, const uint8_t* data, size_t size, int64_t records, int64_t control_records) noexcept nogil
