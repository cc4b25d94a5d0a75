"""none: the bytes as they are."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from recordpress._c.wire cimport RP_NONE, RP_OK, RP_OUTPUT_FULL, rp_error, rp_fail
from recordpress.codecs._output cimport give
from recordpress.codecs.codec cimport codec, codec_stream, progress, size_range, spend


cdef inline void none_expect(const codec* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    expected.least = expected.most = size
    expected.sure = True


cdef inline int none_decode(const codec* row, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                            size_t capacity, progress* at, rp_error* err) noexcept nogil:
    if size > capacity:
        return rp_fail(err, RP_OUTPUT_FULL, 0, 0, <int64_t>capacity)
    if size > 0:
        memcpy(dst, src, size)
    at.consumed = at.produced = size
    return RP_OK


cdef inline size_t none_bound(size_t size) noexcept nogil:
    return size


cdef inline int none_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src,
                            size_t size, uint8_t* dst, size_t capacity, size_t* produced,
                            rp_error* err) noexcept nogil:
    if size > 0:
        memcpy(dst, src, size)
    produced[0] = size
    return RP_OK


cdef inline int none_compress(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    return give(s, src, size, err)


cdef inline int none_decompress(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    return give(s, src, size, err) if spend(s, size, err) == RP_OK else err.status


cdef inline int none_end(codec_stream* s, rp_error* err) noexcept nogil:
    return RP_OK


cdef inline bint none_complete(const codec_stream* s) noexcept nogil:
    return True


cdef inline void none_row(codec* row) noexcept:
    row.id = RP_NONE
    row.name = "none"
    row.gil_kept = 1 << 14
    row.expect = none_expect
    row.decode = none_decode
    row.bound = none_bound
    row.encode = none_encode
    row.joins = True
    row.compressor.step = none_compress
    row.compressor.end = none_end
    row.decompressor.step = none_decompress
    row.decompressor.end = none_end
    row.decompressor.complete = none_complete
