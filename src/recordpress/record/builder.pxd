"""BatchBuilder, for other rooms that fill batches."""

cimport cython
from cpython.list cimport PyList_GET_SIZE
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress._c.wire cimport rp_error, rp_record
from recordpress.codecs.table cimport CodecTable
from recordpress.record.open_batch cimport open_batch
from recordpress.record.rows cimport bytes_field, encode_headers, field_view  # noqa: also for those who fill records

ctypedef struct exact_limit:
    int64_t size         # maximum size of the finished batch
    pooled proven        # a payload of the first proven_size record bytes
    size_t proven_size
    bint proven_whole    # proven is one stream, not several joined
    pooled trial

cdef class BatchBuilder:
    cdef open_batch batch
    cdef CodecTable codecs
    cdef pooled headers       # encoded headers of the record that is being appended
    cdef exact_limit exact
    cdef float ratio          # of Kafka's estimate; negative: the limit is exact
    cdef int64_t write_limit  # the limit as it was requested
    cdef int64_t result_size  # bytes that build() returned; -1 before
    cdef int64_t payload_size
    cdef int state

    # The steps of append(): set the record's place and headers, and add the record if it fits.
    @cython.final
    cdef int set_place(self, rp_record* row, timestamp, offset) except -1

    @cython.final
    cdef inline int set_headers(self, rp_record* row, headers) except -1:
        row.headers.size = 0
        if headers is None or (type(headers) is tuple and PyTuple_GET_SIZE(headers) == 0) or (
                type(headers) is list and PyList_GET_SIZE(headers) == 0):
            return 0
        return self._encode_headers(row, headers)

    cdef int _encode_headers(self, rp_record* row, headers) except -1

    @cython.final
    cdef bint add(self, const rp_record* row) except -1

    # Return the size of the open batch by the estimate of Kafka's producer (MemoryRecordsBuilder.estimatedSizeInBytes).
    @cython.final
    cdef int64_t estimated_size(self) noexcept

    cdef void _free(self) noexcept
    cdef bint _append_views(self, value, key, timestamp, headers, offset) except -1

    @cython.final
    cdef bint _append(self, rp_record* row, timestamp, headers, offset) except -1

    cdef bint _add_beyond(self, const rp_record* row) except -1
    cdef bint _add_estimated(self, const rp_record* row, size_t size) except -1
    cdef bint _add_compressed(self, const rp_record* row, size_t size) except -1

    @cython.final
    cdef bint _surely_fits(self, size_t size) noexcept

    cdef bint _compressed_fits(self) except -1
    cdef const pooled* _payload(self) except NULL
    cdef int _close(self, bytes result) except -1
    cdef int64_t _add_rows(self, rp_record* rows, int64_t n, int64_t first) except -1
    cdef int _refuse_records(self) except -1
    cdef int _refuse_state(self) except -1
