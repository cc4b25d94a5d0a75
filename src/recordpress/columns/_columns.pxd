"""Columns: Arrow arrays that recordpress made, as Python sees them."""

from libc.stdint cimport int64_t

from recordpress.columns._arrow_out cimport chunk_data, part
from recordpress.columns._values cimport value_kind


cdef class ArrowRows:
    cdef object consumed(self, consumer)


cdef class Columns(ArrowRows):
    cdef tuple _fields            # of Field
    cdef part* _parts
    cdef int64_t _n_parts
    cdef readonly int64_t num_rows
    cdef readonly int64_t valid_bytes      # see read_columns
    cdef readonly int64_t trailing_bytes
    cdef list ignored_header_errors           # errors that the caller lets pass; None without one

    cdef object _struct(self)
    cdef bytes _metadata(self)
    cdef Columns _sliced(self, int64_t start, int64_t rows)

    @staticmethod
    cdef Columns make(tuple fields, chunk_data** chunks, int64_t n_chunks)

    @staticmethod
    cdef Columns of_parts(tuple fields, part* parts, int64_t n_parts)


cdef class Column:
    cdef Columns _columns
    cdef int64_t _number
    cdef object _field
    cdef value_kind _kind

    cdef object _at(self, int64_t row)

    @staticmethod
    cdef Column make(Columns columns, int64_t number)


# (first row, number of rows) of a slice as pyarrow has it
cdef object bounds_of(object start, object length, int64_t rows)
