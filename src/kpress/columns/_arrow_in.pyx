"""Arrow arrays as rows are read from them: where each column's bytes, numbers and nulls lie."""

from libc.string cimport memset

# format string of the Arrow C data interface -> how it is read
cdef dict KINDS = {
    b"n": NULLS, b"c": INT8, b"i": INT32, b"l": INT64,
    b"z": BINARY, b"u": BINARY, b"Z": LARGE_BINARY, b"U": LARGE_BINARY, b"vz": BINARY_VIEW, b"vu": BINARY_VIEW,
    b"+l": LIST, b"+m": LIST, b"+L": LARGE_LIST,
}
cdef dict UNITS_PER_MS = {b"tss:": 0, b"tsm:": 1, b"tsu:": 1000, b"tsn:": 1000000}


cdef int type_of(const ArrowSchema* schema, int64_t child, column_type* t) except -1:
    """How a column of this schema is read; ABSENT: it is of no type that is read at all."""
    cdef bytes text = schema.format
    t.child = child
    t.per_ms = UNITS_PER_MS.get(text[:4], 1)
    t.kind = INT64 if text[:4] in UNITS_PER_MS else KINDS.get(text, ABSENT)
    if schema.dictionary != NULL:
        t.kind = ABSENT
    return 0


cdef int64_t buffers_of(column_kind kind) noexcept nogil:
    """Buffers that the layout has at least."""
    if kind == NULLS:
        return 0
    if kind == STRUCT:
        return 1
    return 3 if kind == BINARY or kind == LARGE_BINARY or kind == BINARY_VIEW else 2


cdef int column_here(const ArrowArray* array, column_kind kind, column* c) noexcept nogil:
    """The array itself as a column; -1: its lengths contradict each other."""
    memset(c, 0, sizeof(column))
    c.kind = kind
    c.at = array.offset
    if array.offset < 0 or array.length < 0 or array.n_buffers < buffers_of(kind):
        return -1
    if kind == NULLS or array.length == 0:
        return 0
    if array.null_count != 0:
        c.validity = <const uint8_t*>array.buffers[0]
    if kind == STRUCT:
        return 0
    c.index = <const uint8_t*>array.buffers[1]
    if kind == BINARY or kind == LARGE_BINARY:
        c.data = <const uint8_t*>array.buffers[2]
    if kind == BINARY_VIEW:
        c.view_data = <const uint8_t**>array.buffers + 2
        c.view_buffers = array.n_buffers - 3
        c.view_sizes = <const int64_t*>array.buffers[array.n_buffers - 1]
    return 0 if c.index != NULL else -1


cdef int column_of(const ArrowArray* parent, const column_type* t, column* c) noexcept nogil:
    """A child of a struct array, whose row 0 is the parent's; -1 as above."""
    cdef const ArrowArray* array
    memset(c, 0, sizeof(column))
    if t.kind == ABSENT:
        return 0
    if t.child >= parent.n_children or parent.offset < 0:
        return -1
    array = parent.children[t.child]
    if array.length < parent.offset + parent.length or column_here(array, t.kind, c):
        return -1
    c.per_ms = t.per_ms
    c.at += parent.offset
    return 0


cdef size_t extent_of(const column* c, int64_t rows) noexcept nogil:
    """Bytes of that many rows, where the layout tells without a pass over them; else 0."""
    cdef int64_t size = 0
    if c.index == NULL:
        return 0
    if c.kind == BINARY:
        size = (<const int32_t*>c.index)[c.at + rows] - (<const int32_t*>c.index)[c.at]
    elif c.kind == LARGE_BINARY:
        size = (<const int64_t*>c.index)[c.at + rows] - (<const int64_t*>c.index)[c.at]
    return <size_t>max(size, 0)
