"""The records of one batch, checked as they are read: with decompression, one pass over them."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from recordpress._c.wire cimport rp_batch, rp_record, rp_source
from recordpress.broker._check cimport validator
from recordpress.codecs.context cimport codec_context

# From here on records go to a builder at v.next_offset. The level is one that level_of returned.
cdef int begin_rebuild(validator* v, int level) except -1

# Whether the builder took all records, and can be closed.
cdef int check_written(validator* v) noexcept nogil

# The finished set.
cdef bytes end_rebuild(validator* v)

cdef void free_rebuild(validator* v) noexcept

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
