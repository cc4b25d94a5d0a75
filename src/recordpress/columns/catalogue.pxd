"""The columns that records can be read into: one row each.

A new column needs a number, a row in catalogue.pyx and, if its values come from the batch header, the function that
reads them from the header.
"""

from libc.stdint cimport int64_t

from recordpress._c.wire cimport rp_batch, rp_source

# In the order of the catalogue.
cdef enum:
    OFFSET, TIMESTAMP, TIMESTAMP_TYPE, KEY, VALUE, HEADERS, PRODUCER_ID, PRODUCER_EPOCH, SEQUENCE
    PARTITION_LEADER_EPOCH, IS_TRANSACTIONAL, IS_CONTROL, BASE_OFFSET, N_COLUMNS


# How a column's rows are gathered.
cdef enum:
    BY_RECORD     # rp_gather writes them record by record, values of `width` bytes
    AS_BINARY     # the same, into rows and data of the layout that was requested
    AS_HEADERS    # in a second pass over the records: list<struct>
    BY_BATCH      # all records of a batch have the value of `of_batch`; width 0: a bit


ctypedef struct column:
    const char* name
    const char* format   # Arrow format; NULL: an option decides
    int width            # bytes per row; for AS_HEADERS, bytes of the list's ends
    int gathered
    int64_t (*of_batch)(const rp_batch* batch, const rp_source* source) noexcept nogil


cdef const column* column_of(int number) noexcept nogil
