"""write_columns with given batches: by columns of their headers, or by a table of them."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.arrow cimport ArrowArray
from recordpress._c.wire cimport rp_error
from recordpress.codecs.codec cimport CODEC_ROWS, codec_table
from recordpress.columns._input cimport N_BATCH_COLUMNS, input_types
from recordpress.record.header cimport header_row
from recordpress.record.encode cimport batch_options
from recordpress.record.set_writer cimport set_writer


# For columns that show the batch of a row.
ctypedef struct column_batches:
    batch_options options                 # of the call; columns replace theirs
    bint has_base_offset                           # there is a baseOffset column
    bint has_timestamp_type                            # timestampType decides whether the rows' batch can be written
    bint open
    int64_t[N_BATCH_COLUMNS] current          # the header of the open batch, as the columns have it
    int64_t first_offset                  # its base, to which its sequence belongs
    int64_t last_offset                   # of the row before


# Where a table has the header of every batch.
ctypedef struct table_batches:
    const header_row* batches
    int64_t n
    int64_t next
    int64_t left                          # records of the batch before `next` that are to come
    bint wrapper                          # it has no count: the records end with its last offset
    const codec_table* codecs
    int[CODEC_ROWS] levels                # of the codecs, by their rows
    int* rows                             # the codec of each batch


cdef int write_array_by_columns(set_writer* w, column_batches* b, const input_types* types, const ArrowArray* array,
                                int64_t base_offset, pooled* scratch, rp_error* err) noexcept nogil
cdef int write_array_by_table(set_writer* w, table_batches* t, const input_types* types, const ArrowArray* array,
                              pooled* scratch, rp_error* err) noexcept nogil
cdef int end_of_table(set_writer* w, table_batches* t, rp_error* err) noexcept nogil
