"""Rules for one batch and one record, and the validator's state between batches.

Source: org.apache.kafka.storage.internals.log.LogValidator: validateBatch, validateRecord, processRecordErrors.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_batch, rp_error, rp_source
from recordpress.codecs.context cimport codec_context
from recordpress.record.set_writer cimport set_writer

cdef enum:
    NO_TIMESTAMP = -1
    FAILED = 1000   # not a broker's answer: v.err must be raised

    # Reasons to rebuild, as bits: the first members of Reason, in the same order.
    CODEC_DIFFERS = 1
    MAGIC_CONVERSION = 2
    TARGET_V0 = 4
    NON_SEQUENTIAL_INNER_OFFSETS = 8

    # Findings, as bits: the members of Finding, in the same order.
    POISONED = 1
    UNSEEN_OFFSETS = 2
    BAD_LZ4_HEADER_CHECKSUM = 4
    TRAILING_BYTES = 8
    UNKNOWN_ATTRIBUTES = 16
    NEGATIVE_TIMESTAMPS = 32

    # Differences of older brokers, as bits of `rules`: _validator.RULES has their names, _versions their sources.
    ANY_ENTRIES = 1        # entries of any magic are accepted, also several compressed entries
    COUNTS_FREE = 2        # a batch's count and last offset need not match; only a count of 0 is rejected
    OFFSETS_REFUSED = 4    # wrong inner offsets are an error
    FIRST_ERROR = 8        # the first rejected record ends the check
    WHOLE_RECORDS = 16     # keys, values and headers are read even if the batch is kept
    STRICT_LENGTHS = 32    # a record's length is compared with its fields, even if they are skipped
    TYPE_OF_ALL = 64       # LogAppendTime is rejected regardless of the timestamp
    ZSTD_TAIL = 128        # up to four bytes after the last frame are ignored

    # Errors of a rejected record, after which the other records of its batch are still checked.
    NO_ERROR = 0
    WRONG_MAGIC
    NULL_KEY
    OUT_OF_RANGE
    SET_BY_CLIENT   # LogAppendTime
    WRONG_OFFSET


ctypedef struct rejected:
    int64_t index         # in its batch
    int64_t offset
    int64_t timestamp
    int64_t key_size      # -1: null
    int64_t value_size
    uint32_t crc          # of a message, and its attributes
    int attributes
    int magic
    int kind


# The first records of a batch, which were checked and are valid.
ctypedef struct passed:
    int32_t count
    const uint8_t* at       # the record after them; NULL: the first record
    int64_t most            # timestamps
    int64_t least


ctypedef struct validator:
    # arguments
    const uint8_t* data
    int64_t size
    int source_codec, target_codec, target_magic
    bint log_append_time, compacted, is_client, helpful
    int rules
    int32_t leader_epoch
    int64_t now_ms, before_max_ms, after_max_ms
    int64_t least_timestamp, most_timestamp   # the bounds around now_ms, within int64_t
    int64_t start_offset    # of the first stored record; next_offset is that of the next record
    int64_t next_offset
    size_t cap
    int64_t max_record_bytes   # in a compressed batch; 0: lengths are not limited, as before 4.4
    codec_context* context

    # results
    int error_code
    const char* refusal     # the name of a Reason
    rp_error err            # the details, if the status is not RP_OK
    rp_batch first
    rp_batch batch          # the current batch, and its records
    rp_source source
    passed passed
    int64_t records         # so far; `expected` is the offset that the next record should have
    int64_t expected
    int64_t batch_max_timestamp
    int64_t max_timestamp
    int64_t max_timestamp_offset     # the last offset of the earliest batch with max_timestamp
    int64_t max_entry_size
    int64_t least_timestamp_seen
    int reasons, findings
    pooled errors           # rejected[]
    int64_t errors_count
    bint has_timestamp_error
    bint skips              # see walk

    # a rebuild
    bint writing
    bint fails_late         # the builder's errors count only after all records were checked
    set_writer writer
    rp_error write_err      # the reason why the builder rejected a record
    pooled headers          # of a record, written again


# Reject the set with Kafka's error code and the name of a Reason. `helpful` is a code that describes the cause better.
cdef int refuse(validator* v, int code, int helpful, const char* refusal) noexcept nogil

# validateBatch for v.batch: return 0 or the error code.
cdef int check_batch(validator* v) noexcept nogil

# Note a record error.
cdef int reject(validator* v, const rejected* record) noexcept nogil

# processRecordErrors, at the end of a batch: return 0 or the error code.
cdef int check_rejected(validator* v) noexcept nogil

cdef bint is_out_of_range(const validator* v, int64_t timestamp) noexcept nogil


cdef inline int record_error(const validator* v, bint by_client, bint has_key, int64_t timestamp) noexcept nogil:
    """Return the error of validateKey or validateTimestamp. by_client: the batch is marked LogAppendTime."""
    if v.compacted and not has_key:
        return NULL_KEY
    if not v.log_append_time and timestamp != NO_TIMESTAMP:
        if timestamp < v.least_timestamp or timestamp > v.most_timestamp:
            if is_out_of_range(v, timestamp):
                return OUT_OF_RANGE
        if not v.rules & TYPE_OF_ALL:
            return NO_ERROR
    return SET_BY_CLIENT if by_client else NO_ERROR
