"""include/recordpress/run.h: runs of records -> an open batch."""

from libc.stdint cimport int64_t, uint8_t

from recordpress._c.wire cimport rp_record


cdef extern from "recordpress/run.h" nogil:
    ctypedef struct rp_run:
        int64_t base_offset
        int64_t base_timestamp
        int64_t last_offset
        int64_t max_timestamp
        int64_t offset_of_max_timestamp
    ctypedef struct rp_bytes_column:
        const uint8_t* ends
        const uint8_t* data
        const uint8_t* validity
        int64_t bit
        bint wide
    ctypedef struct rp_rows:
        const rp_record* rows
        rp_bytes_column key
        rp_bytes_column value
        const uint8_t* timestamps
        const uint8_t* offsets
        int64_t first_offset
    int64_t rp_run_write(rp_run*, const rp_rows*, int64_t row, int64_t end, uint8_t** to, const uint8_t* limit)
