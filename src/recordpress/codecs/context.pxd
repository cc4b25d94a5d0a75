"""Codec contexts, created once and used again.

A call takes a context, works without the GIL, and gives it back: there are as many as threads ever worked at once.
Creating a library's state takes up to 10 us, and its memory is cold, so keeping one gains more than any tuning.
"""

from libc.stdint cimport uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.threads cimport pthread_t
from recordpress._c.wire cimport rp_error
from recordpress.codecs.codec cimport CODEC_ROWS, codec, codec_table

cdef struct codec_context:
    codec_context* next
    pthread_t thread            # the last that had the context
    const codec_table* codecs    # of the call that has the context
    pooled scratch               # decompressed records of one batch, or record bytes before compression
    size_t ignored               # bytes at the end of the last payload that was decompressed, which are not part of it
    bint ends                    # Kafka's reader takes what decompress_prefix gave of it for all, and sees no error
    void* states[CODEC_ROWS]     # one slot per row, for that row alone

cdef codec_context* context_acquire(const codec_table* codecs) noexcept nogil    # NULL: out of memory

cdef void context_release(codec_context* context) noexcept nogil

# Two payloads of one codec become one where join_begin() comes before the second is appended to the first, and
# join_end() after it. join_undo() makes the first whole again in place of join_end().
ctypedef struct payload_join:
    size_t at            # where the second begins
    size_t tail_size
    uint8_t tail[8]      # what was at the end of the first

# In each, `codec_id` is the number of a row; one that the context's table does not have is RP_CODEC_ID. The payload is
# all that comes after a batch's header: that of a plug-in begins with its name.

# Appends the decompressed payload to `out` (whose size grows), at most `cap` bytes; RP_OUTPUT_CAP beyond it.
# On an error out.size is as it was. magic matters to lz4 alone: 0 takes any header checksum.
cdef int decompress_payload(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                            pooled* out, size_t cap, rp_error* err) noexcept nogil

# The same, but on an error `out` keeps what Kafka's streaming reader would have handed out before it.
cdef int decompress_prefix(codec_context* context, int codec_id, int magic, const uint8_t* src, size_t size,
                           pooled* out, size_t cap, rp_error* err) noexcept nogil

# Appends the compressed payload to `out`. level: LEVEL_DEFAULT or one that level_of returned.
cdef int compress_payload(codec_context* context, int codec_id, int level, int magic, const uint8_t* src, size_t size,
                          pooled* out, rp_error* err) noexcept nogil

# The same by a row. counted: a records count decides whether the output is complete. On an error `out` keeps the units
# before it.
cdef int decompress_with(const codec* row, codec_context* context, bint counted, int magic, const uint8_t* src,
                         size_t size, pooled* out, size_t cap, rp_error* err) noexcept nogil

cdef int compress_with(const codec* row, codec_context* context, int level, int magic, const uint8_t* src, size_t size,
                       pooled* out, rp_error* err) noexcept nogil

# The maximum number of bytes that compress_payload appends for `size` bytes; 0 without a row.
cdef size_t payload_bound(const codec_table* codecs, int codec_id, size_t size) noexcept nogil

cdef bint joins(const codec_table* codecs, int codec_id) noexcept nogil

cdef bint join_begin(const codec_table* codecs, int codec_id, pooled* out, payload_join* join) noexcept nogil

cdef void join_end(const codec_table* codecs, int codec_id, pooled* out, const payload_join* join) noexcept nogil

cdef void join_undo(pooled* out, const payload_join* join) noexcept nogil
