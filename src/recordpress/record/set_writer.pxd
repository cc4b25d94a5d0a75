"""Rows -> a record set of as many batches as they need -> one bytes object."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.run cimport rp_rows
from recordpress._c.wire cimport rp_error, rp_record
from recordpress.codecs.context cimport codec_context
from recordpress.record.encode cimport batch_options
from recordpress.record.open_batch cimport open_batch


ctypedef struct set_writer:
    open_batch batch          # without a codec its records are the whole set, whose memory is `result`
    int64_t batch_bytes       # maximum uncompressed size of a batch, header included
    int64_t batch_records     # maximum number of records in a batch
    int64_t rows              # written so far
    int64_t first_row         # since the options last changed, and its offset: base_sequence belongs to it
    int64_t first_offset
    int32_t base_sequence
    bint has_base_offset      # the next batch has base_offset, and ends at writer_next or writer_end
    bint begun                # the batch at base_offset has begun
    int64_t base_offset
    bint has_timestamp_type   # each row has its own timestamp type
    bint mixed                # batches may have different codecs, or none: all of them go through a context
    size_t start              # where the records of the open batch begin
    const uint8_t* taken      # records of the open batch that lie elsewhere: see writer_take
    size_t taken_size
    PyObject* result
    codec_context* context    # with a codec: its scratch is the memory of the open batch's records
    pooled out                # with a codec: the record set


cdef int writer_open(set_writer* w, object batch_bytes, object batch_records) except -1
cdef int writer_expect(set_writer* w, size_t size, rp_error* err) noexcept nogil
cdef int writer_next(set_writer* w, const batch_options* options, rp_error* err) noexcept nogil
cdef int writer_next_at(set_writer* w, const batch_options* options, int64_t base_offset, rp_error* err) noexcept nogil
cdef int writer_end(set_writer* w, int64_t last_offset, int64_t max_timestamp, rp_error* err) noexcept nogil
cdef int writer_empty(set_writer* w, int64_t last_offset, int64_t max_timestamp, bint payload,
                      rp_error* err) noexcept nogil
cdef int writer_rows(set_writer* w, const rp_record* rows, int64_t n, rp_error* err) noexcept nogil

# Write the rows from `row` to `end`, up to the first row that needs writer_rows; return the number of this row.
cdef int64_t writer_run(set_writer* w, const rp_rows* rows, int64_t row, int64_t end) noexcept nogil

# Take, instead of rows, the `count` records of the batch of magic 2 that writer_next_at announced, encoded as at its
# base offset. Their bytes must not move until the batch is closed.
cdef void writer_take(set_writer* w, const uint8_t* records, size_t size, int32_t count, int64_t base_timestamp,
                      int64_t max_timestamp) noexcept nogil
cdef int raise_row(const set_writer* w, const rp_error* err) except -1
cdef bytes writer_result(set_writer* w)
cdef void writer_free(set_writer* w) noexcept
