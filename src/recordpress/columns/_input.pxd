"""The input of write_columns: its columns by name."""

from libc.stdint cimport int64_t

from recordpress._c.arrow cimport ArrowArray, ArrowSchema
from recordpress.columns._arrow_in cimport column, column_type


# The columns with fields of batch headers, in the order of the catalogue.
cdef enum:
    PRODUCER_ID, PRODUCER_EPOCH, SEQUENCE, PARTITION_LEADER_EPOCH, IS_TRANSACTIONAL, IS_CONTROL, BASE_OFFSET
    N_BATCH_COLUMNS


# The input by its schema.
ctypedef struct input_types:
    column_type offset
    column_type timestamp
    column_type timestamp_type
    column_type key
    column_type value
    column_type headers
    column_type header_key
    column_type header_value
    column_type[N_BATCH_COLUMNS] batch
    bint any_batch              # whether one of these is there


# Where the columns of one array lie.
ctypedef struct input_columns:
    column offset
    column timestamp
    column timestamp_type
    column key
    column value
    column headers
    column header
    column header_key
    column header_value
    int64_t header_items        # their number
    column[N_BATCH_COLUMNS] batch


cdef int types_of(input_types* types, const ArrowSchema* schema, bint coerce_timestamps) except -1
cdef int columns_of(input_columns* c, const input_types* types, const ArrowArray* array) noexcept nogil
cdef bint has_null_rows(const ArrowArray* array) noexcept nogil
