"""What a broker changes in an entry without reading its records (org.apache.kafka.common.record.MutableRecordBatch).

The checksum is patched, so that the rest of the entry is not read; one that was wrong stays wrong.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from kpress._c.wire cimport (
    KP_ATTRIBUTES_OFFSET, KP_CODEC_MASK, KP_CONTROL, KP_CRC_OFFSET, KP_DELETE_HORIZON, KP_LOG_APPEND_TIME,
    KP_MAX_TIMESTAMP_OFFSET, KP_MESSAGE_ATTRIBUTES_OFFSET, KP_MESSAGE_CRC_OFFSET, KP_TRANSACTIONAL, kp_batch,
    kp_batch_timestamp_type, kp_store_be16, kp_store_be32, kp_store_be64,
)
from kpress.checksum cimport crc32_patched, crc32c_patched

cdef enum:
    # attributes, lastOffsetDelta, baseTimestamp and maxTimestamp of a v2 header; of a message, attributes and timestamp
    STAMP_SIZE = 22
    MESSAGE_STAMP_SIZE = 9
    KEPT_ATTRIBUTES = KP_CODEC_MASK | KP_TRANSACTIONAL | KP_CONTROL | KP_DELETE_HORIZON


# setMaxTimestamp of an entry of magic 1 or 2, whose header `b` is; nothing is done where it says the same already.
# Attribute bits that Kafka does not know are cleared.
cdef inline void set_max_timestamp(uint8_t* entry, const kp_batch* b, int timestamp_type, int64_t time) noexcept nogil:
    cdef uint8_t changed[STAMP_SIZE]
    cdef size_t at, size
    if timestamp_type == kp_batch_timestamp_type(b) and time == b.max_timestamp:
        return
    if b.magic == 2:
        at, size = KP_ATTRIBUTES_OFFSET, STAMP_SIZE
        memcpy(changed, entry + at, size)
        kp_store_be16(changed, b.attributes & KEPT_ATTRIBUTES | timestamp_type * KP_LOG_APPEND_TIME)
        kp_store_be64(changed + KP_MAX_TIMESTAMP_OFFSET - at, <uint64_t>time)
        kp_store_be32(entry + KP_CRC_OFFSET,
                      crc32c_patched(b.crc, entry + at, changed, size, <uint64_t>b.size - at - size))
    else:
        at, size = KP_MESSAGE_ATTRIBUTES_OFFSET, MESSAGE_STAMP_SIZE
        changed[0] = <uint8_t>(b.attributes & KP_CODEC_MASK | timestamp_type * KP_LOG_APPEND_TIME)
        kp_store_be64(changed + 1, <uint64_t>time)
        kp_store_be32(entry + KP_MESSAGE_CRC_OFFSET,
                      crc32_patched(b.crc, entry + at, changed, size, <uint64_t>b.size - at - size))
    memcpy(entry + at, changed, size)
