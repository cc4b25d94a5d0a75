"""Codec contexts, created once and used again.

A call takes a context, works without the GIL, and gives it back: there are as many as threads ever worked at once.
Creating a library's state takes up to 10 us, and its memory is cold, so keeping one gains more than any tuning.
"""

from recordpress._buffers cimport pooled
from recordpress._c.threads cimport pthread_t
from recordpress.codecs.codec cimport CODEC_ROWS, codec_table


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
