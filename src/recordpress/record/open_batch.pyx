"""A batch being filled; see open_batch.pxd."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled_reserve_more
from recordpress._c.wire cimport RP_SET_SIZE
from recordpress.codecs.context cimport compress_payload
from recordpress.record.encode cimport MAX_SET_SIZE, batch_finish, header_size, record_size

cdef int add_by_size(open_batch* b, const rp_record* row, rp_error* err) noexcept nogil:
    if b.records.size >= b.most or b.records.size + record_size(&b.encoder, row) > b.most:
        return BATCH_FULL
    return batch_put(b, row, err)


cdef enum:
    SMALL = 64 << 10  # a larger batch gets memory for its whole limit at once, which avoids repeated copying
    LEAP = 4 << 20    # but no more than this at a time: untouched memory costs nothing


cdef size_t wanted_room(const open_batch* b, size_t room) noexcept nogil:
    """Return the number of bytes to make room for, if `room` bytes are needed now."""
    if b.records.capacity < SMALL or b.most < b.records.size:
        return room
    return max(room, min(b.most - b.records.size, <size_t>LEAP))


cdef int batch_put(open_batch* b, const rp_record* row, rp_error* err) noexcept nogil:
    cdef size_t room = record_room(row)
    cdef int status
    if b.records.capacity - b.records.size < room:
        if b.reserve != NULL:
            status = b.reserve(b, room, err)
        else:
            status = pooled_reserve_more(&b.records, wanted_room(b, room), err)
        if status != RP_OK:
            return status
        batch_limit(b, b.most)
    batch_write(b, row)
    return RP_OK


cdef int batch_close(const open_batch* b, codec_context* context, pooled* out, rp_error* err) noexcept nogil:
    return close_over(&b.encoder, b.records.data, b.records.size, context, out, err)


cdef int close_over(const batch_encoder* e, const uint8_t* records, size_t size, codec_context* context, pooled* out,
                    rp_error* err) noexcept nogil:
    cdef size_t start = out.size, header = header_size(&e.options)
    if pooled_reserve_more(out, header, err) != RP_OK:
        return err.status
    out.size += header
    if compress_payload(context, e.options.codec, e.options.level, e.options.magic, records, size, out, err) != RP_OK:
        return err.status
    if header and out.size - start > MAX_SET_SIZE:  # without a header, the messages are separate entries
        return rp_fail(err, RP_SET_SIZE, -1, <int64_t>(out.size - start), MAX_SET_SIZE)
    batch_finish(e, out.data + start, out.size - start)
    return RP_OK
