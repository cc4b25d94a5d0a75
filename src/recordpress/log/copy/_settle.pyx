"""Entries of producers that a copy changes or omits; see _settle.pxd."""

from libc.stdint cimport int16_t, int64_t, uint8_t

from recordpress._buffers cimport pooled_reserve_more
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_CODEC_MASK, RP_CONTROL, RP_CRC_OFFSET, RP_LOG_APPEND_TIME, RP_OK,
    RP_TRANSACTIONAL, rp_batch_write, rp_load_be16, rp_store_be32,
)
from recordpress.checksum cimport crc32c_update


cdef mark mark_of(const marks* m, const rp_batch* batch) noexcept nogil:
    cdef int64_t low = 0, high = m.count, middle
    while low < high:
        middle = (low + high) // 2
        if m.offsets[middle] < batch.base_offset:
            low = middle + 1
        else:
            high = middle
    if low == m.count or m.offsets[low] != batch.base_offset or batch.magic != 2:
        return MARK_NONE
    return <mark>m.kinds[low]


cdef bint settle(const marks* m, mark found, rp_batch* batch) noexcept nogil:
    if not m.settles or found != MARK_NONE or batch.magic != 2 or batch.attributes & RP_CONTROL:
        return False
    if batch.producer_id < 0 or batch.base_offset >= m.below:
        return False
    forget_producer(batch)
    return True


cdef void forget_producer(rp_batch* batch) noexcept nogil:
    batch.producer_id = -1
    batch.producer_epoch = -1
    batch.base_sequence = -1
    batch.attributes &= ~RP_TRANSACTIONAL


cdef void settle_written(const rp_batch* batch, uint8_t* entry, size_t size) noexcept nogil:
    cdef rp_batch written = batch[0]
    cdef int codec = rp_load_be16(entry + RP_ATTRIBUTES_OFFSET) & RP_CODEC_MASK  # of a header that we wrote
    written.size = <int64_t>size
    written.attributes = <int16_t>((batch.attributes & ~RP_CODEC_MASK) | codec)
    write_header(&written, entry)


cdef void write_header(const rp_batch* batch, uint8_t* entry) noexcept nogil:
    cdef size_t covered = <size_t>(batch.size - RP_ATTRIBUTES_OFFSET)
    rp_batch_write(entry, batch)
    rp_store_be32(entry + RP_CRC_OFFSET, crc32c_update(0, entry + RP_ATTRIBUTES_OFFSET, covered))


cdef int append_empty(rp_batch* batch, pooled* out, rp_error* err) noexcept nogil:
    """Write a batch without records as the log cleaner does (DefaultRecordBatch.writeEmptyHeader), without a
    producer."""
    if pooled_reserve_more(out, RP_BATCH_HEADER, err) != RP_OK:
        return err.status
    forget_producer(batch)
    batch.size = RP_BATCH_HEADER
    batch.attributes &= RP_LOG_APPEND_TIME
    batch.base_timestamp = -1
    batch.records_count = 0
    write_header(batch, out.data + out.size)
    out.size += RP_BATCH_HEADER
    return RP_OK
