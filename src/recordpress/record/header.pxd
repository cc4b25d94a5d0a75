"""The header of an entry: as an object, and as a row of a table."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_CONTROL, RP_DELETE_HORIZON, RP_TRANSACTIONAL, rp_batch, rp_batch_last_offset,
    rp_batch_timestamp_type,
)


cdef enum:
    NAME_ROOM = 16  # |S16 of FIELDS in header.pyx; the longest name of Kafka's codecs has six bytes


# A row as NumPy sees it. `FIELDS` in header.pyx describes it field by field.
cdef packed struct header_row:
    int64_t position
    int64_t size
    int8_t magic
    char compression_type[NAME_ROOM]   # with a zero at its end
    int16_t attributes
    int64_t base_offset
    int64_t last_offset
    int32_t records_count
    int64_t base_timestamp
    int64_t max_timestamp
    int8_t timestamp_type
    int32_t partition_leader_epoch
    int64_t producer_id
    int16_t producer_epoch
    int32_t base_sequence
    uint8_t is_transactional
    uint8_t is_control
    uint8_t has_delete_horizon
    uint32_t crc


cdef inline bint has_bit(const rp_batch* b, int bit) noexcept nogil:
    """Return whether a bit of the attributes is set that only v2 batches have."""
    return b.magic == 2 and (b.attributes & bit) != 0


cdef inline void fill_row(header_row* row, const rp_batch* b, const char* codec_name) noexcept nogil:
    """Fill a row; `codec_name` has `NAME_ROOM` bytes."""
    memcpy(row.compression_type, codec_name, NAME_ROOM)
    row.position = b.position
    row.size = b.size
    row.magic = b.magic
    row.attributes = b.attributes
    row.base_offset = b.base_offset   # the header of a v0/v1 wrapper has only its last offset
    row.last_offset = rp_batch_last_offset(b)
    row.records_count = b.records_count
    row.base_timestamp = b.base_timestamp
    row.max_timestamp = b.max_timestamp
    row.timestamp_type = <int8_t>rp_batch_timestamp_type(b)
    row.partition_leader_epoch = b.partition_leader_epoch
    row.producer_id = b.producer_id
    row.producer_epoch = b.producer_epoch
    row.base_sequence = b.base_sequence
    row.is_transactional = has_bit(b, RP_TRANSACTIONAL)
    row.is_control = has_bit(b, RP_CONTROL)
    row.has_delete_horizon = has_bit(b, RP_DELETE_HORIZON)
    row.crc = b.crc


cdef inline bint is_same_header(const rp_batch* a, const rp_batch* b) noexcept nogil:
    """Return whether all but size, checksum and codec are equal."""
    return (a.magic == b.magic and a.base_offset == b.base_offset and a.last_offset_delta == b.last_offset_delta
            and a.base_timestamp == b.base_timestamp and a.max_timestamp == b.max_timestamp
            and a.producer_id == b.producer_id and a.producer_epoch == b.producer_epoch
            and a.base_sequence == b.base_sequence and a.partition_leader_epoch == b.partition_leader_epoch
            and a.records_count == b.records_count
            and a.attributes & ~RP_CODEC_MASK == b.attributes & ~RP_CODEC_MASK)


cdef class BatchHeader:
    cdef rp_batch _header


cdef BatchHeader header_of(const rp_batch* batch)
