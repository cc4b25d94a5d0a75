"""One row per batch, from headers only."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error
from recordpress.codecs.codec cimport codec_table
from recordpress.columns._columns cimport ArrowRows, Columns
from recordpress.record.header cimport NAME_ROOM


cdef struct header_rows:
    pooled rows                # of `header_row`
    int64_t n
    int codec                  # the codec of codec_name; most sets have one codec
    char codec_name[NAME_ROOM]


cdef int add_row(header_rows* to, const rp_batch* batch, const codec_table* codecs, int id,
                 rp_error* err) noexcept nogil


cdef class BatchTable(ArrowRows):
    cdef header_rows _rows
    cdef Columns _arrow           # the same rows as Arrow columns, once requested
    cdef readonly int64_t valid_bytes
    cdef readonly int64_t trailing_bytes

    cdef Columns _columns(self)
    cdef Columns _turned(self)


cdef BatchTable new_table()
