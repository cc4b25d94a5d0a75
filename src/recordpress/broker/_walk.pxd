"""The records of one batch, checked as they are read: with decompression, one pass over them."""

from libc.stdint cimport uint8_t

from recordpress._c.wire cimport rp_batch
from recordpress.broker._check cimport validator
from recordpress.codecs.context cimport codec_context

# Checks the records of v.batch, an entry of v.data; hands them to the builder if v.writing. 0 or Kafka's error code.
# `skips`: as Kafka's skipKeyValueIterator, where the batch is compressed.
# `counts`: record offsets are compared with v.expected, which continues from batch to batch.
cdef int walk(validator* v, bint skips, bint counts) noexcept nogil

# The same once more, without the checks: v.writing is set, and v.batch was walked before.
cdef int write_again(validator* v) noexcept nogil

# Reads all fields of the records of v.batch, an uncompressed one, and checks nothing else.
cdef int walk_fields(validator* v) noexcept nogil

# Whether an entry inside a wrapper is too small for a message, before the place where the wrapper's payload is damaged.
cdef bint has_small_entry(codec_context* context, const rp_batch* batch, const uint8_t* entry,
                          size_t cap) noexcept nogil
