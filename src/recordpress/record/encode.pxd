"""A batch being written, for magic 0, 1 and 2, shared by the builder, lists and columns.

    options_of                                    arguments from Python -> batch_options
    batch_begin                                   an open batch at a base offset
    record_check, offset_delta_fits               may this record follow?
    record_size, record_room                      its bytes in this batch, and an upper bound
    record_write                                  writes the record, and collects the fields of the header
    batch_finish                                  header and checksum around record bytes that are in place
    write_around                                  the same around a copy of record bytes

Nothing here allocates: the callers own the memory. Its layout, with H = header_size():

    | H bytes hole | record bytes, or their compressed payload |

H is 61 (v2), 26 or 34 (v0/v1 wrapper), 0 (v0/v1 without codec: its records are separate entries).
Source: org.apache.kafka.common.record.MemoryRecordsBuilder.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, int16_t, int32_t, int64_t, uint8_t, uint64_t

from recordpress._c.wire cimport (
    RP_BATCH_HEADER,
    RP_HEADERS_MAGIC,
    RP_LOG_APPEND_TIME,
    RP_MESSAGE_CRC_OFFSET,
    RP_OFFSET_BASE,
    RP_OFFSET_ORDER,
    RP_OK,
    RP_RECORD_OVERHEAD_MAX,
    RP_TIMESTAMP_NEGATIVE,
    rp_batch,
    rp_error,
    rp_fail,
    rp_field,
    rp_message_size,
    rp_message_write,
    rp_record,
    rp_record_size,
    rp_record_write,
    rp_store_be32,
    rp_wrapper_size,
)
from recordpress.checksum cimport crc32_update
from recordpress.codecs.codec cimport codec_table
from recordpress.codecs.table cimport CodecTable
from recordpress.record.header cimport header_row

cdef enum:
    NO_TIMESTAMP = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1
    MAX_SET_SIZE = 2147483647   # Java's buffers and the batchLength field end there
    JAVA_RECORD_OVERHEAD = 21   # DefaultRecord.MAX_RECORD_OVERHEAD, by which Kafka estimates sizes


# The options that all batches of one call share.
ctypedef struct batch_options:
    int magic
    const codec_table* codecs   # the caller keeps it alive
    int codec                   # the row
    int level
    int16_t attributes          # codec and flags as a v2 header has them
    int16_t producer_epoch
    int32_t base_sequence       # of the first batch
    int32_t partition_leader_epoch
    int64_t producer_id
    int64_t log_append_time     # used if attributes have RP_LOG_APPEND_TIME
    int64_t delete_horizon_ms   # or another timestamp that a v2 header has as its base; -1: none


ctypedef fused header_fields:
    rp_batch
    header_row


# Copy the producer's fields and the leader epoch from another batch's header.
cdef inline void keep_header(batch_options* o, const header_fields* h) noexcept nogil:
    o.producer_id = h.producer_id
    o.producer_epoch = h.producer_epoch
    o.base_sequence = h.base_sequence
    o.partition_leader_epoch = h.partition_leader_epoch


ctypedef struct batch_encoder:
    batch_options options
    int64_t base_offset
    int64_t last_offset         # base_offset - 1 before the first record
    int64_t base_timestamp
    int64_t max_timestamp
    int64_t offset_of_max_timestamp
    int64_t records_count


# Options of a batch without a producer, a leader epoch or LogAppendTime.
cdef void plain_options(batch_options* o, int magic, const codec_table* codecs, int codec, int level) noexcept nogil

# Fill `o` by the rules of MemoryRecordsBuilder from the arguments of `call`, the function or class that was called.
# `given` holds the keywords that are not parameters of `call`: the options in recordpress.typing.BatchOptions, and
# others, which are rejected. Java's checks on close happen here, too, because nothing changes later.
cdef int options_of(batch_options* o, object call, object magic, object compression_type, object level,
                    CodecTable codecs, object is_control, dict given) except -1

# The same in steps, for callers whose parameters are the options: BatchBuilder, which is created for each batch.
cdef int begin_options(batch_options* o, object magic, object compression_type, object level, CodecTable codecs,
                       object is_control) except -1
cdef int take_producer(batch_options* o, object producer_id, object producer_epoch, object base_sequence,
                       object partition_leader_epoch, object is_transactional) except -1
cdef int take_times(batch_options* o, object timestamp_type, object log_append_time,
                    object delete_horizon_ms) except -1
cdef int finish_options(const batch_options* o, CodecTable codecs) except -1

# Return the __text_signature__ of a function that takes **options, with each option by name, for inspect and help.
cdef str signature_with_options(object function)

cdef size_t header_size(const batch_options* options) noexcept nogil
cdef size_t least_size(const batch_options* options) noexcept nogil
cdef int64_t batch_max_timestamp(const batch_encoder* e) noexcept nogil
cdef void batch_begin(batch_encoder* e, int64_t base_offset) noexcept nogil
cdef void batch_finish(const batch_encoder* e, uint8_t* start, size_t size) noexcept nogil
cdef void write_around(const batch_encoder* e, const uint8_t* payload, size_t size, uint8_t* start) noexcept nogil


cdef inline int record_check(const batch_encoder* e, const rp_record* row, rp_error* err) noexcept nogil:
    """Check the rules of appending, except the rule for the offset delta (MemoryRecordsBuilder.appendWithOffset)."""
    if row.offset <= e.last_offset:
        if e.records_count == 0 and row.offset < e.base_offset:
            return rp_fail(err, RP_OFFSET_BASE, -1, row.offset, e.base_offset)
        return rp_fail(err, RP_OFFSET_ORDER, -1, row.offset, e.last_offset)
    if row.timestamp < 0 and row.timestamp != NO_TIMESTAMP:
        return rp_fail(err, RP_TIMESTAMP_NEGATIVE, -1, row.timestamp, 0)
    if row.headers.size and e.options.magic < 2:
        return rp_fail(err, RP_HEADERS_MAGIC, -1, e.options.magic, 0)
    return RP_OK


cdef inline bint offset_delta_fits(const batch_encoder* e, const rp_record* row) noexcept nogil:
    """Return whether the offset delta fits its field, which bounds the records count too."""
    return <uint64_t>row.offset - <uint64_t>e.base_offset <= <uint64_t>INT32_MAX


cdef inline int64_t max_last_offset(int64_t base_offset) noexcept nogil:
    return base_offset + INT32_MAX if base_offset <= INT64_MAX - INT32_MAX else INT64_MAX


cdef inline int64_t timestamp_base(const batch_encoder* e, const rp_record* row) noexcept nogil:
    """Return the base of the record's timestampDelta: the first record's timestamp, or the delete horizon."""
    if e.records_count == 0 and e.options.delete_horizon_ms == NO_TIMESTAMP:
        return row.timestamp
    return e.base_timestamp


cdef inline size_t record_size(const batch_encoder* e, const rp_record* row) noexcept nogil:
    """Return the number of bytes that the record takes."""
    if e.options.magic < 2:
        return rp_message_size(e.options.magic, row.key.size, row.value.size)
    return rp_record_size(row, e.base_offset, timestamp_base(e, row))


cdef inline size_t record_room(const rp_record* row) noexcept nogil:
    """Return the room that record_write needs: at least record_size, and much faster to compute."""
    return RP_RECORD_OVERHEAD_MAX + max(row.key.size, 0) + max(row.value.size, 0) + row.headers.size


cdef inline uint8_t* message_write(batch_encoder* e, const rp_record* row, uint8_t* p) noexcept nogil:
    """Write a v0/v1 message, as an entry or inside a wrapper, where v1 counts offsets from the batch's base."""
    cdef rp_record message = row[0]
    if e.options.attributes & RP_LOG_APPEND_TIME:
        message.timestamp = e.options.log_append_time
    cdef int64_t base = e.base_offset if e.options.magic == 1 and e.options.codec else 0
    cdef uint8_t* end = rp_message_write(p, &message, e.options.magic, e.options.attributes & RP_LOG_APPEND_TIME, base)
    rp_store_be32(p + RP_MESSAGE_CRC_OFFSET, crc32_update(0, p + 16, end - p - 16))
    return end


cdef inline uint8_t* record_write(batch_encoder* e, const rp_record* row, uint8_t* p) noexcept nogil:
    """Write the record at p, which has record_room() bytes, and return the end."""
    cdef int64_t timestamp = row.timestamp
    e.base_timestamp = timestamp_base(e, row)
    if e.options.magic == 2:
        p = rp_record_write(p, row, e.base_offset, e.base_timestamp)
    else:
        p = message_write(e, row, p)
        if e.options.attributes & RP_LOG_APPEND_TIME:
            timestamp = e.options.log_append_time
    if timestamp > e.max_timestamp and e.options.magic:
        e.max_timestamp = timestamp
        e.offset_of_max_timestamp = row.offset
    e.last_offset = row.offset
    e.records_count += 1
    return p
