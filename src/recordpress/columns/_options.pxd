"""The options of a call that reads columns, checked once."""

from libc.stdint cimport int64_t

from recordpress.codecs.table cimport CodecTable
from recordpress.columns._plan cimport plan
from recordpress.columns._select_batches cimport aborted_transaction, walk


cdef class Options:
    cdef plan plan
    cdef CodecTable codecs
    cdef tuple fields                    # the result's, of Field
    cdef int threads
    cdef bint complete
    cdef bint ignores_header_checksum                  # lz4_header_checksum="ignore"
    cdef aborted_transaction* aborted    # by first_offset
    cdef int64_t n_aborted

    # A walk that begins at `position`.
    cdef int begin(self, walk* w, int64_t position) except -1
    cdef _ask_columns(self, columns, binary_format, timestamp_format)
    cdef _set_aborted(self, transactions)

    @staticmethod
    cdef Options make(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                      end_timestamp, control, aborted_transactions, threads, complete, max_decompressed_bytes,
                      max_message_bytes, chunk_bytes, codecs, lz4_header_checksum)
