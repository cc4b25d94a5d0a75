"""Payload <-> record bytes for the record layer. Where memory comes from, how it grows and where it ends are decided
here for all codecs."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memmove, memset

from recordpress._buffers cimport pooled, pooled_reserve
from recordpress._c.wire cimport RP_CODEC_ID, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_OUTPUT_FULL, rp_error, rp_fail
from recordpress.codecs.codec cimport append, codec, codec_table, progress, row_of, size_range
from recordpress.codecs.context cimport codec_context

cdef enum:
    GROWN_FROM = 4096   # least room for output that is larger than its headers say


cdef int decompress_units(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                          pooled* out, size_t cap, rp_error* err) noexcept nogil:
    """Call decompress_payload(), but keep in `out` the members, chunks, blocks or frames before an error."""
    cdef const codec* row = row_of(context.codecs, codec_id)
    cdef int status
    if row == NULL or size < row.head_size:
        return rp_fail(err, RP_CODEC_ID, -1, codec_id, 0)
    status = decompress_with(row, context, True, magic, src + row.head_size, size - row.head_size, out, cap, err)
    if status != RP_OK and err.position >= 0:
        err.position += <int64_t>row.head_size
    return status


cdef int decompress_with(const codec* row, codec_context* context, bint counted, int magic, const uint8_t* src,
                         size_t size, pooled* out, size_t cap, rp_error* err) noexcept nogil:
    cdef size_t start = out.size, room
    cdef size_range expected
    cdef progress at
    cdef int status
    row.expect(row, src, size, &expected)
    if expected.least > cap:
        return rp_fail(err, RP_OUTPUT_CAP, 0, 0, <int64_t>cap)
    room = min(expected.most, cap)
    memset(&at, 0, sizeof(progress))
    at.unit = expected.first
    at.cap = cap
    at.counted = counted
    while True:
        if pooled_reserve(out, start + room, err) != RP_OK:
            return err.status
        room = min(out.capacity - start, cap)
        status = row.decode(row, &context.states[row.id], magic, src, size, out.data + start, room, &at, err)
        out.size = start + at.produced
        if status != RP_OUTPUT_FULL:
            context.ignored = size - at.consumed
            return status
        if room == cap:
            return rp_fail(err, RP_OUTPUT_CAP, <int64_t>at.consumed, 0, <int64_t>cap)
        room = min(cap, max(max(2 * room, at.wanted), <size_t>GROWN_FROM))


cdef int decompress_payload(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                            pooled* out, size_t cap, rp_error* err) noexcept nogil:
    cdef size_t start = out.size
    if decompress_units(context, codec_id, magic, src, size, out, cap, err) == RP_OK:
        return RP_OK
    out.size = start
    return err.status


cdef int decompress_prefix(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                           pooled* out, size_t cap, rp_error* err) noexcept nogil:
    cdef const codec* row = row_of(context.codecs, codec_id)
    cdef size_t start = out.size
    cdef int status = decompress_units(context, codec_id, magic, src, size, out, cap, err)
    context.ends = False
    if status == RP_OK or status == RP_CODEC_ID or status == RP_NO_MEMORY or status == RP_OUTPUT_CAP:
        return status
    if row.prefix != NULL:
        context.ends = row.prefix(&context.states[codec_id], src + row.head_size, size - row.head_size, out, start,
                                  cap)
    return status


cdef size_t payload_bound(const codec_table* codecs, int codec_id, size_t size) noexcept nogil:
    cdef const codec* row = row_of(codecs, codec_id)
    return row.head_size + row.bound(size) if row != NULL else 0


cdef int compress_payload(codec_context* context, int codec_id, int level, int magic, const uint8_t* src, size_t size,
                          pooled* out, rp_error* err) noexcept nogil:
    cdef const codec* row = row_of(context.codecs, codec_id)
    if row == NULL:
        return rp_fail(err, RP_CODEC_ID, -1, codec_id, 0)
    cdef size_t start = out.size
    if row.head_size > 0 and append(out, row.head, row.head_size, err) != RP_OK:
        return err.status
    if compress_with(row, context, level, magic, src, size, out, err) != RP_OK:
        out.size = start
        return err.status
    return RP_OK


cdef int compress_with(const codec* row, codec_context* context, int level, int magic, const uint8_t* src, size_t size,
                       pooled* out, rp_error* err) noexcept nogil:
    cdef size_t produced = 0
    if pooled_reserve(out, out.size + row.bound(size), err) != RP_OK:
        return err.status
    if row.encode(row, &context.states[row.id], level, magic, False, src, size, out.data + out.size,
                  out.capacity - out.size, &produced, err) != RP_OK:
        return err.status
    out.size += produced
    return RP_OK


# --- joining payloads --------------------------------------------------------------------------------------------

cdef bint joins(const codec_table* codecs, int codec_id) noexcept nogil:
    cdef const codec* row = row_of(codecs, codec_id)
    return row != NULL and row.joins


cdef bint join_begin(const codec_table* codecs, int codec_id, pooled* out, payload_join* join) noexcept nogil:
    """Begin to join payloads; return False if the codec's payloads cannot be joined."""
    cdef const codec* row = row_of(codecs, codec_id)
    if row == NULL or not row.joins:
        return False
    join.tail_size = row.join_tail
    out.size -= row.join_tail
    join.at = out.size
    memcpy(join.tail, out.data + join.at, row.join_tail)
    return True


cdef void join_end(const codec_table* codecs, int codec_id, pooled* out, const payload_join* join) noexcept nogil:
    cdef size_t head = row_of(codecs, codec_id).join_head
    if head > 0:
        out.size -= head
        memmove(out.data + join.at, out.data + join.at + head, out.size - join.at)


cdef void join_undo(pooled* out, const payload_join* join) noexcept nogil:
    memcpy(out.data + join.at, join.tail, join.tail_size)
    out.size = join.at + join.tail_size
