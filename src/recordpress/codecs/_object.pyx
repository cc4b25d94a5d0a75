"""A codec that the caller brings as a Python object: see CodecRegistry.register.

It is not trusted with memory: it gets bytes its own objects, and its result is measured before it is copied.
Its exceptions cross code without the GIL as a number (see `note_cause`) and become the cause of ours.
"""

from cpython.buffer cimport Py_buffer, PyBuffer_Release
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from recordpress._buffers cimport acquire, pooled
from recordpress._c.wire cimport (
    RP_CODEC_COMPRESS, RP_CODEC_DECOMPRESS, RP_CODEC_EXPANDS, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_OUTPUT_FULL,
    rp_error, rp_fail,
)
from recordpress._status cimport note_cause
from recordpress.codecs._output cimport output_room
from recordpress.codecs._registry cimport Plugin
from recordpress.codecs.codec cimport append, codec, codec_stream, level_or_default, progress, size_range

cdef enum:
    # How much larger than its input a result may be. Any format needs less for data that cannot be compressed.
    BOUND_FACTOR = 2
    BOUND_MORE = 1024
    # The room to begin with; if that is too little, the codec is called a second time.
    GUESS_FACTOR = 8
    GUESS_LEAST = 1 << 16


cdef int failed(rp_error* err, int status, Plugin plugin, object exception) noexcept:
    if isinstance(exception, MemoryError):
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    return rp_fail(err, status, 0 if status == RP_CODEC_DECOMPRESS else -1, note_cause(exception, plugin.name), 0)


cdef void object_expect(const codec* row, const uint8_t* src, size_t size, size_range* expected) noexcept nogil:
    """Expect an unknown size."""
    expected.least = 0
    expected.most = max(<size_t>GUESS_FACTOR * size, <size_t>GUESS_LEAST)
    expected.sure = False
    expected.first.size = 0


cdef inline Plugin plugin_of(const codec* row):
    return <Plugin>row.object


cdef int take_result(object result, uint8_t* dst, size_t capacity, size_t* size) except -1:
    """Copy the result to dst if there is room; gives its size."""
    cdef Py_buffer view
    acquire(result, &view, "the codec's result")
    size[0] = <size_t>view.len
    if 0 < size[0] <= capacity:
        memcpy(dst, view.buf, size[0])
    PyBuffer_Release(&view)
    return 0


cdef int object_decode(const codec* row, void** state, int magic, const uint8_t* src, size_t size, uint8_t* dst,
                       size_t capacity, progress* at, rp_error* err) noexcept nogil:
    cdef size_t given = 0
    with gil:
        try:
            take_result(plugin_of(row).decompressed(src[:size], at.cap), dst, capacity, &given)
        except BaseException as exception:
            return failed(err, RP_CODEC_DECOMPRESS, plugin_of(row), exception)
    if given > capacity:
        at.wanted = given
        return rp_fail(err, RP_OUTPUT_FULL, 0, 0, <int64_t>capacity)
    at.consumed = size
    at.produced = given
    return RP_OK


cdef bint object_prefix(void** state, const uint8_t* src, size_t size, pooled* out, size_t start,
                        size_t cap) noexcept nogil:
    """Return False: a damaged payload has no intact prefix."""
    out.size = start
    return False


cdef size_t object_bound(size_t size) noexcept nogil:
    return BOUND_FACTOR * size + BOUND_MORE


cdef int object_encode(const codec* row, void** state, int level, int magic, bint raw, const uint8_t* src, size_t size,
                       uint8_t* dst, size_t capacity, size_t* produced, rp_error* err) noexcept nogil:
    with gil:
        try:
            take_result(plugin_of(row).compressed(src[:size], level_or_default(row, level)), dst, object_bound(size),
                        produced)
        except BaseException as exception:
            return failed(err, RP_CODEC_COMPRESS, plugin_of(row), exception)
    if produced[0] > object_bound(size):
        return rp_fail(err, RP_CODEC_EXPANDS, -1, <int64_t>produced[0], <int64_t>object_bound(size))
    return RP_OK


# --- in chunks: they wait until the end ------------------------------------------------------------------------------

cdef int object_step(codec_stream* s, const uint8_t* src, size_t size, rp_error* err) noexcept nogil:
    return append(&s.pending, src, size, err)


cdef int object_compress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef size_t produced = 0
    if (output_room(s, object_bound(s.pending.size), err) != RP_OK
            or object_encode(s.row, s.shared, s.level, s.magic, False, s.pending.data, s.pending.size,
                             s.out.data + s.out.size, s.out.capacity - s.out.size, &produced, err) != RP_OK):
        return err.status
    s.out.size += produced
    return RP_OK


cdef int object_decompress_end(codec_stream* s, rp_error* err) noexcept nogil:
    cdef progress at
    cdef size_range expected
    cdef int status
    memset(&at, 0, sizeof(progress))
    at.cap = s.left
    object_expect(s.row, s.pending.data, s.pending.size, &expected)
    at.wanted = min(expected.most, s.left)
    while True:
        if output_room(s, at.wanted, err) != RP_OK:
            return err.status
        status = object_decode(s.row, s.shared, s.magic, s.pending.data, s.pending.size, s.out.data + s.out.size,
                               min(s.out.capacity - s.out.size, s.left), &at, err)
        if status != RP_OUTPUT_FULL:
            break
        if at.wanted > s.left:
            return rp_fail(err, RP_OUTPUT_CAP, -1, 0, <int64_t>s.max_size)
    s.out.size += at.produced
    s.left -= at.produced
    return status


cdef bint object_complete(const codec_stream* s) noexcept nogil:
    return True


cdef void object_row(codec* row, Plugin plugin) noexcept:
    """Fill the row except for its ids, names and levels."""
    row.least_magic = 2   # a plug-in is for record batches
    row.object = <void*>plugin
    row.expect = object_expect
    row.decode = object_decode
    row.prefix = object_prefix
    row.bound = object_bound
    row.encode = object_encode
    row.compressor.step = object_step
    row.compressor.end = object_compress_end
    row.decompressor.step = object_step
    row.decompressor.end = object_decompress_end
    row.decompressor.complete = object_complete
