"""One row per batch, from headers only."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t

from recordpress._buffers cimport pooled
from recordpress.columns._columns cimport ArrowRows, Columns


cdef enum:
    NAME_ROOM = 16


# A row as NumPy sees it.
cdef packed struct row:
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


cdef class BatchTable(ArrowRows):
    cdef pooled _rows             # of `row`
    cdef Columns _arrow           # the same as Arrow columns, once they were asked for
    cdef readonly int64_t num_rows
    cdef readonly int64_t valid_bytes
    cdef readonly int64_t trailing_bytes

    cdef Columns _columns(self)
    cdef Columns _turned(self)
