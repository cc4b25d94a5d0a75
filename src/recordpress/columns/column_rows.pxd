"""The rows of Arrow columns, for modules that form batches themselves."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.arrow cimport ArrowArray, ArrowSchema
from recordpress._c.run cimport rp_rows
from recordpress._c.wire cimport rp_error, rp_record
from recordpress.columns._arrow_in cimport ArrowSource, column, column_type
from recordpress.record.rows cimport RowSource

# The columns with fields of batch headers, in the order of the catalogue.
cdef enum:
    PRODUCER_ID, PRODUCER_EPOCH, SEQUENCE, PARTITION_LEADER_EPOCH, IS_TRANSACTIONAL, IS_CONTROL, BASE_OFFSET
    N_BATCH_COLUMNS

# The types of the input, from its schema.
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
    bint any_batch              # whether any of these columns exists

# The columns of one array, in place.
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
    int64_t header_items        # number of headers in the array
    column[N_BATCH_COLUMNS] batch

cdef int types_of(input_types* types, const ArrowSchema* schema, bint coerce_timestamps) except -1

cdef int columns_of(input_columns* c, const input_types* types, const ArrowArray* array) noexcept nogil

cdef bint has_null_rows(const ArrowArray* array) noexcept nogil

cdef enum:
    ROWS = 256   # filled at a time: few enough to stay in the cache, enough to make the calls cheap

# Fill `n` rows starting at `start`; return how many were filled. `base` is the offset of the first row, for input
# without an offset column; headers go to `scratch`. If a row is wrong, only the first row is filled, and `most`, the
# caller's limit of `n`, becomes 1: the wrong row's number is then the number of rows before it. 0: the first is wrong.
cdef int64_t fill_rows(const input_columns* c, int64_t start, int64_t n, int64_t base, rp_record* rows, int64_t* most,
                       pooled* scratch, rp_error* err) noexcept nogil

# Describe the rows of usual columns: binary without headers, times and offsets without nulls. Return False for other
# columns.
cdef bint plain_rows(const input_columns* c, rp_rows* rows) noexcept nogil

cdef int offset_at(const input_columns* c, int64_t row, int64_t otherwise, int64_t* offset,
                   rp_error* err) noexcept nogil

cdef class ColumnRows(RowSource):
    cdef ArrowSource source
    cdef input_types types
    cdef input_columns columns     # of the array that is being read
    cdef const ArrowArray* array   # NULL before the first array and after the last
    cdef int64_t start             # the next row in it
    cdef int64_t base_offset
    cdef int64_t most              # 1 after a wrong row was found, so that the error names it
    cdef pooled scratch            # headers of the rows that were returned
    cdef bint ended
    cdef bint numbered             # there is an offset column

    cdef int next_array(self) except -1
    cdef int refuse_append_time(self, const rp_record* rows, int64_t n) except -1
