"""Changes of a broker to an entry without reading its records (org.apache.kafka.common.record.MutableRecordBatch).

The checksum is patched, so that the rest of the entry is not read; a wrong checksum remains wrong.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_CODEC_MASK, RP_CONTROL, RP_CRC_OFFSET, RP_DELETE_HORIZON, RP_LOG_APPEND_TIME,
    RP_MAX_TIMESTAMP_OFFSET, RP_MESSAGE_ATTRIBUTES_OFFSET, RP_MESSAGE_CRC_OFFSET, RP_TRANSACTIONAL, rp_batch,
    rp_batch_timestamp_type, rp_store_be16, rp_store_be32, rp_store_be64,
)
from recordpress.checksum cimport crc32_patched, crc32c_patched

cdef enum:
    # attributes, lastOffsetDelta, baseTimestamp and maxTimestamp of a v2 header; of a message, attributes and timestamp
    STAMP_SIZE = 22
    MESSAGE_STAMP_SIZE = 9
    KEPT_ATTRIBUTES = RP_CODEC_MASK | RP_TRANSACTIONAL | RP_CONTROL | RP_DELETE_HORIZON


# setMaxTimestamp of an entry of magic 1 or 2 with the header `b`; do nothing if neither type nor time changes.
# Attribute bits that Kafka does not know are cleared.
cdef inline void set_max_timestamp(uint8_t* entry, const rp_batch* b, int timestamp_type, int64_t time) noexcept nogil:
    cdef uint8_t changed[STAMP_SIZE]
    cdef size_t at, size
    if timestamp_type == rp_batch_timestamp_type(b) and time == b.max_timestamp:
        return
    if b.magic == 2:
        at, size = RP_ATTRIBUTES_OFFSET, STAMP_SIZE
        memcpy(changed, entry + at, size)
        rp_store_be16(changed, b.attributes & KEPT_ATTRIBUTES | timestamp_type * RP_LOG_APPEND_TIME)
        rp_store_be64(changed + RP_MAX_TIMESTAMP_OFFSET - at, <uint64_t>time)
        rp_store_be32(entry + RP_CRC_OFFSET,
                      crc32c_patched(b.crc, entry + at, changed, size, <uint64_t>b.size - at - size))
    else:
        at, size = RP_MESSAGE_ATTRIBUTES_OFFSET, MESSAGE_STAMP_SIZE
        changed[0] = <uint8_t>(b.attributes & RP_CODEC_MASK | timestamp_type * RP_LOG_APPEND_TIME)
        rp_store_be64(changed + 1, <uint64_t>time)
        rp_store_be32(entry + RP_MESSAGE_CRC_OFFSET,
                      crc32_patched(b.crc, entry + at, changed, size, <uint64_t>b.size - at - size))
    memcpy(entry + at, changed, size)
