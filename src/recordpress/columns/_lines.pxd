"""Rows of columns as lines of text."""

from libc.stdint cimport int64_t

from recordpress._buffers cimport pooled
from recordpress.columns._arrow_out cimport array_data, part
from recordpress.columns._columns cimport Columns
from recordpress.columns._text cimport shown_as
from recordpress.columns._values cimport value_kind


# A column: how it is read, and what comes before its values.
ctypedef struct text_column:
    value_kind kind
    int64_t number
    const char* before
    size_t before_size


# A value of a JSON line that is not the same in all rows of a part, and where in `heads` what comes before it begins.
ctypedef struct json_cell:
    value_kind kind
    const array_data* array
    size_t head
    size_t head_size


# A row of a part.
ctypedef struct place:
    int64_t part
    int64_t row


# What is being written, and how.
ctypedef struct writer:
    pooled out
    pooled scratch
    shown_as form
    int (*line)(writer* w, const part* p, int64_t i) noexcept nogil
    int (*begin)(writer* w, const part* p) noexcept nogil      # of a part, or NULL
    text_column* columns
    int64_t n_columns
    json_cell* cells        # of the part that is being written; the last has no value
    int64_t n_cells
    pooled heads            # each of whole BLOCKs
    bint metadata
    bint contents
    const part* parts
    int64_t n_parts
    place at                # the next row


cdef int put_lines(writer* w, size_t most) noexcept nogil


cdef class Lines:
    cdef writer w
    cdef str kind           # json, csv or dump
    cdef list before        # keeps what `w.columns` points to
    cdef Columns columns

    cdef list _before(self, list names)
    cdef int start(self, Columns columns) except -1
    cdef int stop(self) except -1


cdef Columns checked(object columns)
