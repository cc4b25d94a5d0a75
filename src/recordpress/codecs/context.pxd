"""Codec contexts, created once and reused.

A call takes a context, works without the GIL, and returns it: there are as many contexts as calls ever ran at once.
Creating a library's state takes up to 10 us, and its memory is cold, so keeping it gains more than any tuning.
"""

from libc.stdint cimport uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.threads cimport pthread_t
from recordpress._c.wire cimport rp_error
from recordpress.codecs.codec cimport CODEC_ROWS, codec, codec_table

cdef struct codec_context:
    codec_context* next
    pthread_t thread            # the last that used the context
    const codec_table* codecs    # of the call that has the context
    pooled scratch               # decompressed records of one batch, or record bytes before compression
    size_t ignored               # bytes after the end of the last payload that was decompressed
    bint ends                    # Kafka's reader takes the output of decompress_prefix for all, and reports no error
    void* states[CODEC_ROWS]     # one slot per row, for that row alone

cdef codec_context* context_acquire(const codec_table* codecs) noexcept nogil    # NULL: out of memory

cdef void context_release(codec_context* context) noexcept nogil

# To join two payloads of one codec, call join_begin(), append the second to the first, and call join_end(). To restore
# the first instead, call join_undo().
ctypedef struct payload_join:
    size_t at            # where the second begins
    size_t tail_size
    uint8_t tail[8]      # the bytes that were at the end of the first

# In each call, `codec_id` is a row number; the status is RP_CODEC_ID if the context's table has no such row. The
# payload is everything after a batch's header: the payload of a plug-in begins with the plug-in's name.

# Appends the decompressed payload to `out`, at most `cap` bytes; the status is RP_OUTPUT_CAP if it is larger.
# On an error out.size does not change. With magic 0, lz4 accepts any header checksum; only magic 2 has providers.
cdef int decompress_payload(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                            pooled* out, size_t cap, rp_error* err) noexcept nogil

# The same, but on an error `out` keeps what Kafka's streaming reader would have returned before the error.
cdef int decompress_prefix(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                           pooled* out, size_t cap, rp_error* err) noexcept nogil

# Appends the compressed payload to `out`. level: LEVEL_DEFAULT or a result of level_of.
cdef int compress_payload(codec_context* context, int codec_id, int level, int magic, const uint8_t* src, size_t size,
                          pooled* out, rp_error* err) noexcept nogil

# The same with a given row. counted: a records count decides whether the output is complete. On an error, `out` keeps
# the units before the error.
cdef int decompress_with(const codec* row, codec_context* context, bint counted, int magic, const uint8_t* src,
                         size_t size, pooled* out, size_t cap, rp_error* err) noexcept nogil

cdef int compress_with(const codec* row, codec_context* context, int level, int magic, const uint8_t* src, size_t size,
                       pooled* out, rp_error* err) noexcept nogil

# The maximum number of bytes that compress_payload appends for `size` bytes; 0 if there is no such row.
cdef size_t payload_bound(const codec_table* codecs, int codec_id, size_t size) noexcept nogil

cdef bint joins(const codec_table* codecs, int codec_id) noexcept nogil

cdef bint join_begin(const codec_table* codecs, int codec_id, pooled* out, payload_join* join) noexcept nogil

cdef void join_end(const codec_table* codecs, int codec_id, pooled* out, const payload_join* join) noexcept nogil

cdef void join_undo(pooled* out, const payload_join* join) noexcept nogil
