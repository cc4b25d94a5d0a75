"""An entry of a record set with another codec; nothing else in it changes."""

from libc.stdint cimport uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_source
from recordpress.codecs.context cimport codec_context

# The target codec, the output, and the current entry.
ctypedef struct recompressor:
    int codec
    int least_magic          # the lowest magic that has the codec
    int level
    size_t cap               # on the decompressed size of an entry
    codec_context* context
    pooled out
    rp_batch batch

# In each, `entry` is the first byte of the entry that r.batch was read from.


# Check that the entry's magic has the codec (RP_CODEC_MAGIC), and return whether the entry is copied as it is.
cdef int check_codec(const recompressor* r, rp_error* err) noexcept nogil

cdef bint is_kept(const recompressor* r, const uint8_t* entry) noexcept nogil

# Check all checksums of the entry and open it; decompressed records replace the content of `scratch`.
cdef int open_entry(const recompressor* r, const uint8_t* entry, pooled* scratch, rp_source* source,
                    rp_error* err) noexcept nogil

# Append the records of an open entry to r.out, with the target codec.
cdef int recompress_source(recompressor* r, const uint8_t* entry, const rp_source* source, rp_error* err) noexcept nogil
