"""An entry of a record set with another codec; nothing else in it changes."""

from libc.stdint cimport uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_source
from recordpress.codecs.context cimport codec_context

# What is wanted, where the result grows, and the entry at hand.
ctypedef struct recompressor:
    int codec
    int least_magic          # that the codec's row needs
    int level
    size_t cap               # on the decompressed size of an entry
    codec_context* context
    pooled out
    rp_batch batch

# In each, `entry` is the first byte of the entry that r.batch was read from.


# Whether the codec exists for the entry's magic (RP_CODEC_MAGIC), and whether the entry has it already.
cdef int check_codec(const recompressor* r, rp_error* err) noexcept nogil

cdef bint is_kept(const recompressor* r, const uint8_t* entry) noexcept nogil

# Compares all checksums of the entry and opens it; decompressed records take the place of what is in `scratch`.
cdef int open_entry(const recompressor* r, const uint8_t* entry, pooled* scratch, rp_source* source,
                    rp_error* err) noexcept nogil

# Appends the records of an open entry to r.out, with the wanted codec.
cdef int recompress_source(recompressor* r, const uint8_t* entry, const rp_source* source, rp_error* err) noexcept nogil
