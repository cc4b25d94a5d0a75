"""Records of one batch, checked as they are read: one pass, including decompression."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from recordpress._c.wire cimport rp_batch, rp_record, rp_source
from recordpress.broker._check cimport validator
from recordpress.codecs.context cimport codec_context

# Begin to pass records to a builder at v.next_offset. The level is a result of level_of.
cdef int begin_rebuild(validator* v, int level) except -1

# Check that the builder accepted all records and can be closed: return 0 or Kafka's error code.
cdef int check_written(validator* v) noexcept nogil

# Return the finished set.
cdef bytes end_rebuild(validator* v)

cdef void free_rebuild(validator* v) noexcept

# Check the records of v.batch, an entry of v.data, and pass them to the builder if v.writing; return 0 or Kafka's error
# code. `skips`: read a compressed batch as Kafka's skipKeyValueIterator does.
# `counts`: compare record offsets with v.expected, which continues from batch to batch.
cdef int walk(validator* v, bint skips, bint counts) noexcept nogil

# Read v.batch, which was walked before, again without the checks, and pass its records to the builder.
cdef int write_again(validator* v) noexcept nogil

# Read all fields of the records of v.batch, which is uncompressed, and check nothing else.
cdef int walk_fields(validator* v) noexcept nogil

# Return whether a wrapper holds an entry that is too small for a message, before any damage in its payload.
cdef bint has_small_entry(codec_context* context, const rp_batch* batch, const uint8_t* entry,
                          size_t cap) noexcept nogil
