"""Find the bytes, numbers and nulls of each column in foreign Arrow arrays, to read rows from them."""

from libc.stdint cimport INT32_MAX, int16_t, int32_t, int64_t, int8_t, uint64_t, uint8_t
from libc.string cimport memcpy

from recordpress._c.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema
from recordpress._c.wire cimport RP_VIEW_INLINED, rp_field

cdef class ArrowSource:
    cdef ArrowSchema schema
    cdef ArrowArrayStream stream    # release NULL: there is only one array
    cdef ArrowArray array           # that array, or the stream's newest; release NULL: empty
    cdef bint fresh                 # the only array has not been requested yet

    cdef int ask(self, object data) except -1
    cdef int take_stream(self, object capsule) except -1
    cdef int take_array(self, object capsules) except -1
    cdef int check(self, int code) except -1
    cdef const ArrowArray* next(self) except? NULL

cdef enum column_kind:
    ABSENT        # no such column
    NULLS         # of Arrow's type null
    BOOL
    INT8
    INT16
    INT32
    INT64
    BINARY        # also string
    LARGE_BINARY
    BINARY_VIEW
    LIST          # also map
    LARGE_LIST
    STRUCT        # only its validity

# A column's type, from its schema.
ctypedef struct column_type:
    column_kind kind
    int64_t child               # number among its parent's children
    int64_t per_ms              # timestamps: units per millisecond; 0: seconds
    bint exact                  # timestamps: fractions of a millisecond are refused

# A column of one array.
ctypedef struct column:
    column_kind kind
    int64_t per_ms
    bint exact
    int64_t at                  # position of row 0 in the buffers
    const uint8_t* validity     # NULL: nothing is null
    const uint8_t* index        # numbers, offsets or views
    const uint8_t* data
    const uint8_t** view_data   # BINARY_VIEW: its data buffers, their number and sizes
    int64_t view_buffers
    const uint8_t* view_sizes

cdef int type_of(const ArrowSchema* schema, int64_t child, column_type* t) except -1

cdef int column_of(const ArrowArray* parent, const column_type* t, column* c) noexcept nogil

cdef int column_here(const ArrowArray* array, column_kind kind, column* c) noexcept nogil

cdef size_t extent_of(const column* c, int64_t rows) noexcept nogil

# Foreign buffers may lie at any address: numbers are copied out of them, which compiles to one load.
cdef inline int32_t load_i32(const uint8_t* numbers, int64_t i) noexcept nogil:
    cdef int32_t number
    memcpy(&number, numbers + 4 * i, 4)
    return number

cdef inline int64_t load_i64(const uint8_t* numbers, int64_t i) noexcept nogil:
    cdef int64_t number
    memcpy(&number, numbers + 8 * i, 8)
    return number

cdef inline int64_t difference(int64_t end, int64_t start) noexcept nogil:
    """Subtract two foreign offsets, and wrap around, because they may have any value."""
    return <int64_t>(<uint64_t>end - <uint64_t>start)

cdef inline bint is_null(const column* c, int64_t row) noexcept nogil:
    cdef int64_t i = c.at + row
    return c.validity != NULL and not c.validity[i >> 3] >> (i & 7) & 1

cdef inline bint field_of(const column* c, column_kind kind, int64_t row, rp_field* f) noexcept nogil:
    """Find the bytes of a row; return False if the array's offsets contradict each other, or the row is larger than any
    field of a record (f.size is its size). kind is c.kind, as a constant in the caller's loop."""
    cdef int64_t start, i = c.at + row
    f.data, f.size = NULL, -1
    if kind <= NULLS or is_null(c, row):
        return True
    if kind == BINARY:
        start = load_i32(c.index, i)
        f.size = <int64_t>load_i32(c.index, i + 1) - start
    elif kind == LARGE_BINARY:
        start = load_i64(c.index, i)
        f.size = difference(load_i64(c.index, i + 1), start)
    else:
        return view_of(c, c.index + 16 * i, f)
    if start < 0 or <uint64_t>f.size > INT32_MAX:
        return False
    f.data = c.data + start
    return True

cdef inline bint view_of(const column* c, const uint8_t* view, rp_field* f) noexcept nogil:
    """Find the bytes of a view. A view holds their number, then either up to 12 bytes, or the first four bytes, a
    buffer's number and a position in that buffer."""
    cdef int32_t buffer, start
    f.size = load_i32(view, 0)
    if f.size <= RP_VIEW_INLINED:
        f.data = view + 4
        return f.size >= 0
    buffer, start = load_i32(view, 2), load_i32(view, 3)
    if not 0 <= buffer < c.view_buffers or start < 0 or start + f.size > load_i64(c.view_sizes, buffer):
        return False
    f.data = c.view_data[buffer]
    if f.data == NULL:
        return False
    f.data += start
    return True

cdef inline bint range_of(const column* c, int64_t row, int64_t* start, int64_t* end) noexcept nogil:
    """Find the elements of a LIST or LARGE_LIST row; a null row is empty. Return False as field_of does."""
    cdef int64_t i = c.at + row
    start[0] = end[0] = 0
    if c.kind <= NULLS or is_null(c, row):
        return True
    if c.kind == LIST:
        start[0], end[0] = load_i32(c.index, i), load_i32(c.index, i + 1)
    else:
        start[0], end[0] = load_i64(c.index, i), load_i64(c.index, i + 1)
    return 0 <= start[0] <= end[0]

cdef inline int64_t number_of(const column* c, int64_t row) noexcept nogil:
    cdef int64_t i = c.at + row
    cdef int16_t number
    if c.kind == INT64:
        return load_i64(c.index, i)
    if c.kind == INT32:
        return load_i32(c.index, i)
    if c.kind == INT16:
        memcpy(&number, c.index + 2 * i, 2)
        return number
    if c.kind == INT8:
        return (<const int8_t*>c.index)[i]
    return c.index[i >> 3] >> (i & 7) & 1
