"""The records of one batch, checked as they are read: with decompression, one pass over them."""

from recordpress.broker._check cimport validator

# Checks the records of v.batch, an entry of v.data; hands them to the builder if v.writing. 0 or Kafka's error code.
# `skips`: as Kafka's skipKeyValueIterator, where the batch is compressed.
# `counts`: record offsets are compared with v.expected, which continues from batch to batch.
cdef int walk(validator* v, bint skips, bint counts) noexcept nogil

# The same once more, without the checks: v.writing is set, and v.batch was walked before.
cdef int write_again(validator* v) noexcept nogil

# Reads all fields of the records of v.batch, an uncompressed one, and checks nothing else.
cdef int walk_fields(validator* v) noexcept nogil
