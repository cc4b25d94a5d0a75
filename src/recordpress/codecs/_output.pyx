"""The output of streams: see `_output.pxd`."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.ref cimport Py_DECREF, Py_XDECREF
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from recordpress._buffers cimport pooled, pooled_reserve_more
from recordpress._c.python cimport Py_SET_SIZE, PyBytes_New, PyBytes_Resize
from recordpress._c.wire cimport RP_NO_MEMORY, RP_OK, rp_error, rp_fail
from recordpress.codecs.codec cimport codec_stream

cdef enum:
    # The size of a batch at Kafka's default max.message.bytes.
    SMALL_OUTPUT = 1 << 20
    RATIO_MOST = 64   # an estimate is at most this many times what was seen; chosen, not measured
    MARGIN = 16       # an estimate is larger by a 16th; chosen, not measured
    # Unused room of more than a quarter is freed. Less is kept: it costs no page, and malloc puts the next result of
    # this size in memory that was touched before only if the previous result was not smaller.
    SLACK = 4


cdef int output_grow(codec_stream* s, size_t more, rp_error* err) noexcept nogil:
    if s.result == NULL and s.out.size + more <= SMALL_OUTPUT:
        return pooled_reserve_more(s.out, more, err)
    with gil:
        try:
            grow_result(s, capacity_for(s, s.out.size + more))
        except MemoryError:
            return rp_fail(err, RP_NO_MEMORY, -1, 0, <int64_t>more)
    return RP_OK


cdef size_t capacity_for(const codec_stream* s, size_t size) noexcept nogil:
    """Return the room for `size` bytes and for the rest of the chunk, at the compression ratio of its beginning."""
    cdef double ratio = <double>s.piece / <double>s.handed if s.handed > 0 else 1
    if ratio > 1:
        ratio = min(ratio, <double>RATIO_MOST) * (1 + 1.0 / MARGIN)
    return max(<size_t>(<double>size * ratio), 2 * s.out.size)


cdef int grow_result(codec_stream* s, size_t capacity) except -1:
    """Continue in a result with room for `capacity` bytes. Unused room costs no memory: its pages stay untouched."""
    cdef pooled* small = s.out
    if s.result == NULL:
        s.result = PyBytes_New(NULL, <Py_ssize_t>capacity)
        if small.size > 0:
            memcpy(PyBytes_AS_STRING(<object>s.result), small.data, small.size)
        s.large.size = small.size
        small.size = 0
        s.out = &s.large
    else:
        s.large.data = NULL  # if the resize fails, the result is gone
        PyBytes_Resize(&s.result, <Py_ssize_t>capacity)
    s.large.data = <uint8_t*>PyBytes_AS_STRING(<object>s.result)
    s.large.capacity = capacity
    return 0


cdef bytes output_taken(codec_stream* s):
    """Return all the output, and pass its ownership to the caller."""
    if s.result == NULL:
        taken = PyBytes_FromStringAndSize(<char*>s.out.data, <Py_ssize_t>s.out.size)
        s.out.size = 0
        return taken
    if s.large.capacity - s.large.size > s.large.capacity // SLACK:
        PyBytes_Resize(&s.result, <Py_ssize_t>s.large.size)
    else:
        Py_SET_SIZE(s.result, <Py_ssize_t>s.large.size)
        s.large.data[s.large.size] = 0  # bytes end with a zero, which their size does not count
    taken = <bytes>s.result
    Py_DECREF(taken)
    s.result = NULL
    output_drop(s)
    return taken


cdef void output_drop(codec_stream* s) noexcept:
    """Discard the output of a step that failed or of a stream that is freed."""
    Py_XDECREF(s.result)
    s.result = NULL
    memset(&s.large, 0, sizeof(pooled))
    s.out = s.small
    s.small.size = 0
