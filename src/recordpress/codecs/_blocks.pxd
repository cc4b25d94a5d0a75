"""Streams of blocks: the common part of snappy and lz4 when payloads come in chunks."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memmove

from recordpress._c.wire cimport RP_OK, RP_OUTPUT_CAP, RP_OUTPUT_FULL, rp_error, rp_fail
from recordpress.codecs._output cimport output_room
from recordpress.codecs.codec cimport append, codec_stream, progress, size_range

# Compresses `size` bytes and appends their blocks to s.out.
ctypedef int (*write_blocks)(codec_stream*, const uint8_t* src, size_t size, rp_error*) noexcept nogil


cdef inline int compress_blocks(codec_stream* s, size_t block, write_blocks write, const uint8_t* src, size_t size,
                                rp_error* err) noexcept nogil:
    """Write all full blocks; keep the rest in s.pending."""
    cdef size_t missing = block - s.pending.size, whole
    if s.pending.size > 0:
        if size < missing:
            return append(&s.pending, src, size, err)
        if append(&s.pending, src, missing, err) != RP_OK:
            return err.status
        src += missing
        size -= missing
        if write(s, s.pending.data, s.pending.size, err) != RP_OK:
            return err.status
        s.pending.size = 0
    whole = size // block * block
    if whole > 0 and write(s, src, whole, err) != RP_OK:
        return err.status
    return append(&s.pending, src + whole, size - whole, err) if size > whole else RP_OK


cdef inline int decode_blocks(codec_stream* s, size_t header, progress* at, rp_error* err) noexcept nogil:
    """Decode the blocks after the stream's `header` bytes in s.pending; return the decoder's status."""
    cdef size_range expected
    cdef size_t room
    cdef int status
    s.row.expect(s.row, s.pending.data, s.pending.size, &expected)
    at.consumed = header
    at.produced = at.wanted = 0
    at.cap = s.left
    at.ended = at.counted = False
    at.unit.size = 0
    if expected.least > s.left:
        return rp_fail(err, RP_OUTPUT_CAP, -1, 0, <int64_t>s.max_size)
    room = min(expected.most, s.left)
    if output_room(s, room, err) != RP_OK:
        return err.status
    status = s.row.decode(s.row, s.shared, s.magic, s.pending.data, s.pending.size, s.out.data + s.out.size, room,
                          at, err)
    if status == RP_OUTPUT_FULL:
        status = rp_fail(err, RP_OUTPUT_CAP, -1, 0, <int64_t>s.max_size)
    s.out.size += at.produced
    s.left -= at.produced
    s.ended = at.ended
    return status


cdef inline int decompress_blocks(codec_stream* s, size_t header, int cut, rp_error* err) noexcept nogil:
    """Decode complete blocks and remove them from s.pending, but keep the header there. `cut` is the decoder's
    status if input is missing."""
    cdef progress at
    cdef int status = decode_blocks(s, header, &at, err)
    if status != RP_OK and status != cut:
        return status
    if s.ended:
        header = 0
    s.pending.size -= at.consumed - header
    s.base += <int64_t>(at.consumed - header)
    if at.consumed > header:
        memmove(s.pending.data + header, s.pending.data + at.consumed, s.pending.size - header)
    return RP_OK
