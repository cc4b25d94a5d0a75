"""A window: a part of a record set whose headers were read, the entries to decode, and the results."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport InputView
from recordpress._threads cimport Threads
from recordpress.codecs.table cimport CodecTable
from recordpress.columns._columns cimport Columns
from recordpress.columns._decode cimport run
from recordpress.columns._gather cimport builder
from recordpress.columns._plan cimport plan
from recordpress.columns._select_batches cimport aborted_transaction, batch_list, walk

cdef class Options:
    cdef plan plan
    cdef CodecTable codecs
    cdef tuple fields                    # the result's Field objects
    cdef int threads
    cdef bint complete
    cdef bint ignores_header_checksum                  # lz4_header_checksum="ignore"
    cdef aborted_transaction* aborted    # by first_offset
    cdef int64_t n_aborted

    # Begin a walk at `position`.
    cdef int begin(self, walk* w, int64_t position) except -1
    cdef _ask_columns(self, columns, binary_format, timestamp_format)
    cdef _set_aborted(self, transactions)

    @staticmethod
    cdef Options make(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                      end_timestamp, control, aborted_transactions, threads, complete, max_decompressed_bytes,
                      max_message_bytes, chunk_bytes, codecs, lz4_header_checksum)

cdef class Window:
    cdef Options options
    cdef plan plan
    cdef InputView view
    cdef int64_t base            # where the view starts in the caller's data
    cdef object file             # name of the caller's file, or None
    cdef batch_list entries
    cdef walk end                # after the entries; positions count in the view
    cdef readonly object error   # after the entries: why the walk could not continue
    cdef int64_t trailing        # bytes of a truncated entry after the entries
    cdef run* runs
    cdef int64_t n_runs

    cdef read_headers(self, const walk* start, int64_t stop_after)
    cdef bint read_header(self, const walk* start, int64_t there) except -1
    cdef put(self, Threads threads, int64_t most_runs)
    cdef int put_part(self, Threads threads, builder* open, int64_t rest) except -1
    cdef bint goes_on(self)
    cdef wait(self, Threads threads)
    cdef list failures(self)
    cdef int64_t first_failure(self)
    cdef int64_t went_back(self)
    cdef Columns columns(self, int64_t input_bytes)
    cdef list ignored_header_errors(self)

cdef Window window_of(Options options, InputView view, int64_t size, int64_t base, object file)
