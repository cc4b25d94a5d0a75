"""Rules for one batch and one record: see the .pxd."""

from libc.string cimport memcpy

from recordpress._buffers cimport pooled_reserve_more
from recordpress._c.wire cimport RP_CONTROL, RP_OK, RP_TRANSACTIONAL
from recordpress.broker._error_codes cimport INVALID_RECORD, INVALID_TIMESTAMP, UNSUPPORTED_FOR_MESSAGE_FORMAT


cdef int refuse(validator* v, int code, int helpful, const char* refusal) noexcept nogil:
    """Reject the set without a list of record errors, as an exception does."""
    v.error_code = helpful if v.helpful else code
    v.refusal = refusal
    v.errors_count = 0
    return v.error_code


cdef int refuse_records(validator* v, int code, const char* refusal) noexcept nogil:
    """Reject the set with the list of record errors."""
    cdef int64_t count = v.errors_count
    refuse(v, code, code, refusal)
    v.errors_count = count
    return code


cdef int refuse_by_header(validator* v, const char* refusal) noexcept nogil:
    return refuse(v, INVALID_RECORD, INVALID_RECORD, refusal)


cdef int check_client_batch(validator* v) noexcept nogil:
    cdef const rp_batch* b = &v.batch
    if b.magic == 2 and v.rules & COUNTS_FREE:
        if b.records_count == 0:
            return refuse_by_header(v, b"RECORD_COUNT")
        if b.attributes & RP_CONTROL:
            return refuse_by_header(v, b"CONTROL_BATCH")
    elif b.magic == 2:
        if b.last_offset_delta < 0:
            return refuse_by_header(v, b"OFFSET_RANGE")
        if b.records_count <= 0:
            return refuse_by_header(v, b"RECORD_COUNT")
        if b.records_count != <int64_t>b.last_offset_delta + 1:
            return refuse_by_header(v, b"COUNT_AND_OFFSETS")
        if b.attributes & RP_CONTROL:
            return refuse_by_header(v, b"CONTROL_BATCH")
    if b.producer_id >= 0 and b.base_sequence < 0:
        return refuse_by_header(v, b"NO_SEQUENCE")
    return 0


cdef int check_batch(validator* v) noexcept nogil:
    cdef const rp_batch* b = &v.batch
    v.err.status = RP_OK
    if b.magic != v.first.magic and not v.rules & ANY_ENTRIES:
        return refuse_by_header(v, b"MIXED_MAGIC")
    if v.is_client and check_client_batch(v):
        return v.error_code
    if v.target_magic < 2 and b.magic == 2:
        if b.attributes & RP_TRANSACTIONAL:
            return refuse(v, UNSUPPORTED_FOR_MESSAGE_FORMAT, UNSUPPORTED_FOR_MESSAGE_FORMAT, b"TRANSACTIONAL_MAGIC")
        if b.producer_id >= 0:
            return refuse(v, UNSUPPORTED_FOR_MESSAGE_FORMAT, UNSUPPORTED_FOR_MESSAGE_FORMAT, b"IDEMPOTENT_MAGIC")
    return 0


cdef bint is_out_of_range(const validator* v, int64_t timestamp) noexcept nogil:
    """Return whether a timestamp is rejected: Java's difference wraps for extreme timestamps, which are accepted unless
    v.helpful is set."""
    if v.helpful:
        return True  # it is below least_timestamp or above most_timestamp
    cdef int64_t ahead = <int64_t>(<uint64_t>timestamp - <uint64_t>v.now_ms)
    cdef int64_t behind = <int64_t>(<uint64_t>v.now_ms - <uint64_t>timestamp)
    return behind > v.before_max_ms or ahead > v.after_max_ms


cdef int reject(validator* v, const rejected* record) noexcept nogil:
    if pooled_reserve_more(&v.errors, sizeof(rejected), &v.err) != RP_OK:
        return v.err.status
    memcpy(v.errors.data + v.errors.size, record, sizeof(rejected))
    v.errors.size += sizeof(rejected)
    v.errors_count += 1
    if record.kind == OUT_OF_RANGE or record.kind == SET_BY_CLIENT:
        v.has_timestamp_error = True
    return RP_OK


cdef int check_rejected(validator* v) noexcept nogil:
    cdef const rejected* first = <const rejected*>v.errors.data
    cdef int64_t i = 0
    if v.errors_count == 0:
        return 0
    v.err.status = RP_OK
    if v.rules & FIRST_ERROR:
        v.errors_count = 1
        v.has_timestamp_error = first.kind == OUT_OF_RANGE or first.kind == SET_BY_CLIENT
    if not v.has_timestamp_error:
        return refuse_records(v, INVALID_RECORD, b"NULL_KEY" if first.kind == NULL_KEY else b"OFFSETS_REFUSED"
                              if first.kind == WRONG_OFFSET else b"RECORD_MAGIC")
    while first[i].kind != OUT_OF_RANGE and first[i].kind != SET_BY_CLIENT:
        i += 1
    return refuse_records(v, INVALID_TIMESTAMP,
                          b"TIMESTAMP_RANGE" if first[i].kind == OUT_OF_RANGE else b"LOG_APPEND_TIME_BY_CLIENT")
