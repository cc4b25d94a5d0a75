"""The output of a stream: its steps append to it, and `_stream` hands it to the caller as bytes.

Up to 1 MiB is collected in the context's scratch memory, whose pages are warm, and is then copied. Larger output goes
straight into the result, which malloc grows by remapping its pages: it is in memory only once.
"""

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from recordpress._c.wire cimport RP_OK, rp_error
from recordpress.codecs.codec cimport codec_stream

cdef int output_grow(codec_stream* s, size_t more, rp_error* err) noexcept nogil
cdef bytes output_taken(codec_stream* s)
cdef void output_drop(codec_stream* s) noexcept


cdef inline int output_room(codec_stream* s, size_t more, rp_error* err) noexcept nogil:
    """Make room for `more` bytes after s.out.size."""
    if s.out.data != NULL and s.out.capacity - s.out.size >= more:
        return RP_OK
    return output_grow(s, more, err)


cdef inline int give(codec_stream* s, const uint8_t* data, size_t size, rp_error* err) noexcept nogil:
    """Append `size` bytes to the output."""
    if size > 0:
        if output_room(s, size, err) != RP_OK:
            return err.status
        memcpy(s.out.data + s.out.size, data, size)
        s.out.size += size
    return RP_OK
