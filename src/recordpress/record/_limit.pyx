"""The exact limit of a compressed batch; _limit.pxd explains how it is kept."""

from libc.float cimport FLT_MAX
from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled, pooled_free
from recordpress._c.wire cimport RP_CODEC_EXPANDS, RP_NO_MEMORY, RP_OK, rp_error, rp_fail
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.payload cimport (
    compress_payload,
    join_begin,
    join_end,
    join_undo,
    joins,
    payload_bound,
    payload_join,
)
from recordpress.record.encode cimport MAX_SET_SIZE, batch_options, header_size, least_size

from recordpress.errors import ArgumentTypeError, InvalidArgumentError


cdef void limit_free(exact_limit* limit) noexcept nogil:
    pooled_free(&limit.proven)
    pooled_free(&limit.trial)


cdef bint limit_keeps(const exact_limit* limit, const batch_options* options, size_t payload) noexcept nogil:
    return <int64_t>(header_size(options) + payload) <= limit.size


cdef size_t most_payload(const exact_limit* limit, const batch_options* options, size_t size) noexcept nogil:
    if not joins(options.codecs, options.codec):
        return payload_bound(options.codecs, options.codec, size)
    return limit.proven.size + payload_bound(options.codecs, options.codec, size - limit.proven_size)


cdef int compress_from(const batch_options* options, const pooled* records, size_t start, pooled* out,
                       rp_error* err) noexcept nogil:
    """Append the compressed record bytes from `start` on to `out`."""
    cdef codec_context* context = context_acquire(options.codecs)
    cdef int status
    if context == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    status = compress_payload(context, options.codec, options.level, options.magic, records.data + start,
                              records.size - start, out, err)
    context_release(context)
    return status


cdef bint join_tail(exact_limit* limit, const batch_options* options, const pooled* records, payload_join* join,
                    rp_error* err, int* status) noexcept nogil:
    """Compress the records after `proven` and join them to it: readers take both for one stream. False: this codec
    cannot join."""
    if not join_begin(options.codecs, options.codec, &limit.proven, join):
        return False
    status[0] = compress_from(options, records, limit.proven_size, &limit.proven, err)
    if status[0] == RP_OK:
        join_end(options.codecs, options.codec, &limit.proven, join)
    return True


cdef bint prove_tail(exact_limit* limit, const batch_options* options, const pooled* records, rp_error* err,
                     int* status) noexcept nogil:
    """Whether the records after `proven`, compressed as a separate stream, fit after it."""
    cdef payload_join join
    if limit.proven_size == 0 or not join_tail(limit, options, records, &join, err, status):
        return False
    if status[0] == RP_OK and limit_keeps(limit, options, limit.proven.size):
        limit.proven_size = records.size
        limit.proven_whole = False
        return True
    join_undo(&limit.proven, &join)
    return False


cdef bint prove_whole(exact_limit* limit, const batch_options* options, const pooled* records, rp_error* err,
                      int* status) noexcept nogil:
    """Whether all records, compressed as one stream, fit."""
    if status[0]:
        return False
    limit.trial.size = 0
    status[0] = compress_from(options, records, 0, &limit.trial, err)
    if status[0] or not limit_keeps(limit, options, limit.trial.size):
        return False
    limit.proven, limit.trial = limit.trial, limit.proven
    limit.proven_size = records.size
    limit.proven_whole = True
    return True


cdef bint prove(exact_limit* limit, const batch_options* options, const pooled* records, rp_error* err,
                int* status) noexcept nogil:
    status[0] = RP_OK
    return (prove_tail(limit, options, records, err, status)
            or prove_whole(limit, options, records, err, status))


cdef int finish_payload(exact_limit* limit, const batch_options* options, const pooled* records,
                        rp_error* err) noexcept nogil:
    cdef payload_join join
    cdef int status = RP_OK
    if limit.proven_whole and limit.proven_size == records.size:
        return RP_OK
    if prove_whole(limit, options, records, err, &status) or status or limit.proven_size == records.size:
        return status
    if not join_tail(limit, options, records, &join, err, &status):  # a codec that gave more than its bound
        return rp_fail(err, RP_CODEC_EXPANDS, -1, <int64_t>limit.trial.size, limit.size)
    return status


cdef int64_t expected_size(float ratio, const batch_options* options, size_t records) noexcept nogil:
    cdef int64_t expected = <int64_t>records
    cdef float factor = <float>1.05  # MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR
    cdef float estimate
    if options.codec:  # in float32, step by step, as Java computes it; a cast to int stops at its largest value
        estimate = <float>records * ratio
        estimate = estimate * factor
        expected = MAX_SET_SIZE if estimate >= <float>MAX_SET_SIZE else <int64_t>estimate
    return <int64_t>least_size(options) + expected


cdef float ratio_of(object value) except? -1:
    cdef str name = "estimated_compression_ratio"
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        raise ArgumentTypeError(f"{name} must be a float or None, not {type(value).__name__}", field=name)
    try:
        number = float(value)
    except TypeError as error:  # a NumPy array has a __float__, but only one of a single number can use it
        raise ArgumentTypeError(f"{name} must be a float or None: {error}", field=name) from error
    except OverflowError as error:
        raise InvalidArgumentError(f"{name} must be a float: {error}", field=name) from error
    if not 0 <= number <= FLT_MAX:
        raise InvalidArgumentError(f"{name} must be 0 or more and a float32, not {number}", field=name)
    return <float>number
