"""Foreign Arrow arrays, from which rows are read: where each column's bytes, numbers and nulls are.

The arrays come from outside, so everything that can be checked is checked. The interface gives no sizes of buffers: an
offset beyond the end of its data is the one error that cannot be seen.
"""

from libc.stdint cimport int64_t
from libc.string cimport memset

# format string of the Arrow C data interface -> how it is read
cdef dict KINDS = {
    b"n": NULLS, b"b": BOOL, b"c": INT8, b"s": INT16, b"i": INT32, b"l": INT64,
    b"z": BINARY, b"u": BINARY, b"Z": LARGE_BINARY, b"U": LARGE_BINARY, b"vz": BINARY_VIEW, b"vu": BINARY_VIEW,
    b"+l": LIST, b"+m": LIST, b"+L": LARGE_LIST,
}
cdef dict UNITS_PER_MS = {b"tss:": 0, b"tsm:": 1, b"tsu:": 1000, b"tsn:": 1000000}

# Rows of one array, offset included: a number beyond it would overflow the address of a row.
cdef int64_t MOST_ROWS = 1 << 58

cdef uint8_t[1] NOTHING   # data of columns that have none


cdef int type_of(const ArrowSchema* schema, int64_t child, column_type* t) except -1:
    """Find how a column of this schema is read; ABSENT: its type is not supported."""
    cdef bytes text = schema.format
    t.child = child
    t.per_ms = UNITS_PER_MS.get(text[:4], 1)
    t.kind = INT64 if text[:4] in UNITS_PER_MS else KINDS.get(text, ABSENT)
    if schema.dictionary != NULL:
        t.kind = ABSENT
    return 0


cdef int64_t buffers_of(column_kind kind) noexcept nogil:
    """Return the minimum number of buffers that the layout has."""
    if kind == NULLS:
        return 0
    if kind == STRUCT:
        return 1
    return 3 if kind == BINARY or kind == LARGE_BINARY or kind == BINARY_VIEW else 2


cdef bint lengths_agree(const ArrowArray* array, column_kind kind) noexcept nogil:
    if array == NULL or array.release == NULL or array.offset < 0 or array.length < 0:
        return False
    if array.offset > MOST_ROWS or array.length > MOST_ROWS - array.offset:
        return False
    return array.n_buffers >= buffers_of(kind) and (array.n_buffers == 0 or array.buffers != NULL)


cdef bint children_agree(const ArrowArray* array) noexcept nogil:
    """Return whether the children can be read; the rest is checked for each of them."""
    return array.n_children >= 0 and (array.n_children == 0 or array.children != NULL)


cdef bint has_no_bytes(const column* c, int64_t rows) noexcept nogil:
    """Return whether all rows of a column are empty, by its offsets."""
    cdef int64_t i
    for i in range(rows):
        if c.kind == BINARY and load_i32(c.index, c.at + i) != load_i32(c.index, c.at + i + 1):
            return False
        if c.kind == LARGE_BINARY and load_i64(c.index, c.at + i) != load_i64(c.index, c.at + i + 1):
            return False
    return True


cdef int column_here(const ArrowArray* array, column_kind kind, column* c) noexcept nogil:
    """Return the array itself as a column; -1: its lengths or buffers contradict each other."""
    memset(c, 0, sizeof(column))
    c.kind = kind
    if not lengths_agree(array, kind):
        return -1
    c.at = array.offset
    if kind == NULLS or array.length == 0:
        return 0
    if array.null_count != 0:
        c.validity = <const uint8_t*>array.buffers[0]
    if array.null_count > 0 and c.validity == NULL:
        return -1
    if kind == STRUCT:
        return 0
    c.index = <const uint8_t*>array.buffers[1]
    if c.index == NULL:
        return -1
    if kind == BINARY_VIEW:
        c.view_data = <const uint8_t**>array.buffers + 2
        c.view_buffers = array.n_buffers - 3
        c.view_sizes = <const uint8_t*>array.buffers[array.n_buffers - 1]
        return -1 if c.view_buffers and c.view_sizes == NULL else 0
    if kind == BINARY or kind == LARGE_BINARY:
        c.data = <const uint8_t*>array.buffers[2]
        if c.data == NULL:  # some producers give NULL if all rows are empty
            c.data = NOTHING
            return 0 if has_no_bytes(c, array.length) else -1
    return 0


cdef int column_of(const ArrowArray* parent, const column_type* t, column* c) noexcept nogil:
    """Return a child of a struct array, whose row 0 is the parent's; -1 as above."""
    cdef const ArrowArray* array
    memset(c, 0, sizeof(column))
    if t.kind == ABSENT:
        return 0
    if not lengths_agree(parent, NULLS) or not children_agree(parent) or t.child >= parent.n_children:
        return -1
    array = parent.children[t.child]
    if column_here(array, t.kind, c) or array.length - parent.offset < parent.length:
        return -1
    c.per_ms = t.per_ms
    c.exact = t.exact
    c.at += parent.offset
    return 0


cdef size_t extent_of(const column* c, int64_t rows) noexcept nogil:
    """Return the bytes of that many rows if the layout shows them without a pass, else 0; a hint, because rows are
    checked when read."""
    cdef int64_t size = 0
    if c.index == NULL:
        return 0
    if c.kind == BINARY:
        size = <int64_t>load_i32(c.index, c.at + rows) - load_i32(c.index, c.at)
    elif c.kind == LARGE_BINARY:
        size = difference(load_i64(c.index, c.at + rows), load_i64(c.index, c.at))
    return <size_t>size if 0 <= size < MOST_ROWS else 0
