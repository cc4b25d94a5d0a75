"""The exact limit of a compressed batch; _limit.pxd explains how it is kept."""

from libc.float cimport FLT_MAX
from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled, pooled_free
from recordpress._c.wire cimport RP_CODEC_EXPANDS, RP_NO_MEMORY, RP_OK, rp_error, rp_fail
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.codecs.payload cimport (
    compress_payload, join_begin, join_end, join_undo, joins, payload_bound, payload_join,
)
from recordpress.record.encode cimport MAX_SET_SIZE, batch_options, header_size, least_size
from recordpress.record.open_batch cimport BATCH_FULL, open_batch

from recordpress.errors import ArgumentTypeError, InvalidArgumentError


cdef void limit_free(exact_limit* limit) noexcept nogil:
    pooled_free(&limit.proven)
    pooled_free(&limit.trial)


cdef bint limit_keeps(const exact_limit* limit, const open_batch* b, size_t payload) noexcept nogil:
    return <int64_t>(header_size(&b.encoder.options) + payload) <= limit.size


cdef size_t most_payload(const exact_limit* limit, const open_batch* b, size_t size) noexcept nogil:
    cdef const batch_options* o = &b.encoder.options
    if not joins(o.codecs, o.codec):
        return payload_bound(o.codecs, o.codec, size)
    return limit.proven.size + payload_bound(o.codecs, o.codec, size - limit.proven_size)


cdef int compress_from(const open_batch* b, size_t start, pooled* out, rp_error* err) noexcept nogil:
    """Append the compressed record bytes from `start` on to `out`."""
    cdef const batch_options* o = &b.encoder.options
    cdef codec_context* context = context_acquire(o.codecs)
    cdef int status
    if context == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    status = compress_payload(context, o.codec, o.level, o.magic, b.records.data + start, b.records.size - start, out,
                              err)
    context_release(context)
    return status


cdef int join_tail(exact_limit* limit, const open_batch* b, payload_join* join, rp_error* err) noexcept nogil:
    """Compress the records after `proven` as a second stream that readers join; BATCH_FULL: this codec cannot."""
    cdef const batch_options* o = &b.encoder.options
    if not join_begin(o.codecs, o.codec, &limit.proven, join):
        return BATCH_FULL
    if compress_from(b, limit.proven_size, &limit.proven, err) != RP_OK:
        join_undo(&limit.proven, join)
        return err.status
    join_end(o.codecs, o.codec, &limit.proven, join)
    return RP_OK


cdef int prove_tail(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    """Return whether the records after `proven`, compressed as a separate stream, fit after it."""
    cdef payload_join join
    cdef int status = join_tail(limit, b, &join, err) if limit.proven_size else BATCH_FULL
    if status != RP_OK:
        return status
    if not limit_keeps(limit, b, limit.proven.size):
        join_undo(&limit.proven, &join)
        return BATCH_FULL
    limit.proven_size = b.records.size
    limit.proven_whole = False
    return RP_OK


cdef int prove_whole(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    """Return whether all records, compressed as one stream, fit."""
    limit.trial.size = 0
    if compress_from(b, 0, &limit.trial, err) != RP_OK:
        return err.status
    if not limit_keeps(limit, b, limit.trial.size):
        return BATCH_FULL
    limit.proven, limit.trial = limit.trial, limit.proven
    limit.proven_size = b.records.size
    limit.proven_whole = True
    return RP_OK


cdef int prove(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    cdef int status = prove_tail(limit, b, err)
    return prove_whole(limit, b, err) if status == BATCH_FULL else status


cdef int finish_payload(exact_limit* limit, const open_batch* b, rp_error* err) noexcept nogil:
    cdef payload_join join
    cdef int status
    if limit.proven_whole and limit.proven_size == b.records.size:
        return RP_OK
    status = prove_whole(limit, b, err)
    if status == BATCH_FULL and limit.proven_size != b.records.size:
        status = join_tail(limit, b, &join, err)
        if status == BATCH_FULL:  # a codec that gave more than its bound
            return rp_fail(err, RP_CODEC_EXPANDS, -1, <int64_t>limit.trial.size, limit.size)
    return RP_OK if status == BATCH_FULL else status


cdef int64_t expected_size(float ratio, const open_batch* b) noexcept nogil:
    cdef int64_t expected = <int64_t>b.records.size
    cdef float factor = <float>1.05  # MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR
    cdef float estimate
    if b.encoder.options.codec:  # in float32, step by step, as Java does; a cast to int stops at its largest value
        estimate = <float>b.records.size * ratio
        estimate = estimate * factor
        expected = MAX_SET_SIZE if estimate >= <float>MAX_SET_SIZE else <int64_t>estimate
    return <int64_t>least_size(&b.encoder.options) + expected


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
