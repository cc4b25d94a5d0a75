"""Find the bytes, numbers and nulls of each column in foreign Arrow arrays, to read rows. `_arrow_out` exports ours.

The arrays come from outside, so everything that can be checked is checked. The interface has no sizes of buffers: an
offset beyond the end of its data is the only error that goes unnoticed.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int64_t
from libc.string cimport memset

from recordpress._c.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema

import os

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef enum:
    # Far more than a table of records needs. A larger schema is damaged, or contains itself.
    MOST_FIELDS = 10000
    MOST_LEVELS = 64


cdef int contradiction(str what) except -1:
    raise InvalidArgumentError(f"the Arrow schema of data is inconsistent: {what}", field="data")


cdef int check_schema(const ArrowSchema* schema, int levels, int64_t* fields) except -1:
    """Check that the schema can be walked: every pointer is set, and no field was released."""
    cdef int64_t i
    fields[0] += 1
    if schema == NULL or schema.release == NULL:
        contradiction("a field is missing or was released")
    if schema.format == NULL:
        contradiction("a field has no format")
    if levels == 0 or not 0 <= schema.n_children <= MOST_FIELDS - fields[0]:
        contradiction("it has too many fields, or a negative number of them")
    if schema.n_children and schema.children == NULL:
        contradiction("a field's children are missing")
    for i in range(schema.n_children):
        check_schema(schema.children[i], levels - 1, fields)
    return 0


cdef int check_capsule(object capsule, const char* name, str method) except -1:
    if not PyCapsule_IsValid(capsule, name):
        raise ArgumentTypeError(f"{method} of data must return a capsule named {name.decode()!r}, "
                                f"not {type(capsule).__name__} {capsule!r:.60}", field="data")
    return 0


cdef int check_owned(bint owned) except -1:
    if not owned:
        raise InvalidArgumentError("the Arrow capsules of data were already consumed, and can be used only once",
                                   field="data")
    return 0


cdef object array_of(object data, bint streams):
    """Return the capsules of one array, which pyarrow exports for a record batch in a third of a stream's time; None if
    data has only a stream, or several arrays."""
    if not hasattr(type(data), "__arrow_c_array__"):
        return None
    try:
        return data.__arrow_c_array__()
    except Exception:
        if not streams:
            raise
        return None


# --- the content of the caller's capsules, moved and owned here ------------------------------------------------------

# A consumer of the interface may move a struct out of its capsule. Code that later requests the same capsule, a
# callback for instance, finds it empty, and cannot release memory that is still being read.

cdef class ArrowSource:
    """The arrays of the caller's data, in order."""

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)
        if self.schema.release != NULL:
            self.schema.release(&self.schema)
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    cdef int ask(self, object data) except -1:
        """Take the capsules of `data`; this runs the caller's code."""
        cdef bint streams = hasattr(type(data), "__arrow_c_stream__")
        if not streams and not hasattr(type(data), "__arrow_c_array__"):
            raise ArgumentTypeError("data must be Arrow data, with __arrow_c_array__ or __arrow_c_stream__ (such as a "
                                    f"pyarrow, polars or pandas table), not {type(data).__name__}", field="data")
        array = array_of(data, streams)
        if array is None and streams:
            self.take_stream(data.__arrow_c_stream__())
        else:
            self.take_array(array)
        cdef int64_t fields = 0
        return check_schema(&self.schema, MOST_LEVELS, &fields)

    cdef int take_stream(self, object capsule) except -1:
        check_capsule(capsule, "arrow_array_stream", "__arrow_c_stream__")
        cdef ArrowArrayStream* given = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
        check_owned(given.release != NULL)
        self.stream = given[0]
        given.release = NULL
        if self.stream.get_schema == NULL or self.stream.get_next == NULL:
            raise InvalidArgumentError("the Arrow stream of data has no get_schema or no get_next", field="data")
        cdef int code = self.stream.get_schema(&self.stream, &self.schema)
        if code:
            self.schema.release = NULL
        return self.check(code)

    cdef int take_array(self, object capsules) except -1:
        if not isinstance(capsules, tuple) or len(capsules) != 2:
            raise ArgumentTypeError("__arrow_c_array__ of data must return a tuple of two capsules, "
                                    f"not {type(capsules).__name__} {capsules!r:.60}", field="data")
        check_capsule(capsules[0], "arrow_schema", "__arrow_c_array__")
        check_capsule(capsules[1], "arrow_array", "__arrow_c_array__")
        cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsules[0], "arrow_schema")
        cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsules[1], "arrow_array")
        check_owned(schema.release != NULL and array.release != NULL)
        self.schema = schema[0]
        schema.release = NULL
        self.array = array[0]
        array.release = NULL
        self.fresh = True
        return 0

    cdef int check(self, int code) except -1:
        cdef const char* text = NULL
        if code == 0:
            return 0
        if self.stream.release != NULL and self.stream.get_last_error != NULL:
            text = self.stream.get_last_error(&self.stream)
        reason = text.decode("utf-8", "replace") if text != NULL else os.strerror(code)
        raise InvalidArgumentError(f"the Arrow stream failed: {reason}", field="data")

    cdef const ArrowArray* next(self) except? NULL:
        """Release the previous array and return the next; return NULL at the end."""
        cdef int code
        if self.fresh:
            self.fresh = False
            return &self.array
        if self.array.release != NULL:
            self.array.release(&self.array)
        memset(&self.array, 0, sizeof(ArrowArray))
        if self.stream.release == NULL:
            return NULL
        with nogil:
            code = self.stream.get_next(&self.stream, &self.array)
        if code:
            self.array.release = NULL
        self.check(code)
        return &self.array if self.array.release != NULL else NULL


# format string of the Arrow C data interface -> how it is read
cdef dict KINDS = {
    b"n": NULLS, b"b": BOOL, b"c": INT8, b"s": INT16, b"i": INT32, b"l": INT64,
    b"z": BINARY, b"u": BINARY, b"Z": LARGE_BINARY, b"U": LARGE_BINARY, b"vz": BINARY_VIEW, b"vu": BINARY_VIEW,
    b"+l": LIST, b"+m": LIST, b"+L": LARGE_LIST,
}
cdef dict UNITS_PER_MS = {b"tss:": 0, b"tsm:": 1, b"tsu:": 1000, b"tsn:": 1000000}

# Maximum number of rows of one array, including its offset: more would overflow the address of a row.
cdef int64_t MOST_ROWS = 1 << 58

cdef uint8_t[1] NOTHING   # data of columns without any


cdef int type_of(const ArrowSchema* schema, int64_t child, column_type* t) except -1:
    """Determine how to read a column of this schema; ABSENT if its type is not supported."""
    cdef bytes text = schema.format
    t.child = child
    t.per_ms = UNITS_PER_MS.get(text[:4], 1)
    t.kind = INT64 if text[:4] in UNITS_PER_MS else KINDS.get(text, ABSENT)
    if schema.dictionary != NULL:
        t.kind = ABSENT
    return 0


cdef int64_t buffers_of(column_kind kind) noexcept nogil:
    """Return the minimum number of buffers of the layout."""
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
    """Return whether the children can be accessed; each child is checked later."""
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
    """Fill `c` from the array itself; return -1 if its lengths or buffers contradict each other."""
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
        if c.data == NULL:  # some producers export NULL if all rows are empty
            c.data = NOTHING
            return 0 if has_no_bytes(c, array.length) else -1
    return 0


cdef int column_of(const ArrowArray* parent, const column_type* t, column* c) noexcept nogil:
    """Fill `c` from a struct array's child, so that row 0 is the parent's; return -1 if lengths or buffers disagree."""
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
    """Return the number of bytes of the first `rows` rows if the layout shows it without a pass, else 0; a hint,
    because rows are checked when they are read."""
    cdef int64_t size = 0
    if c.index == NULL:
        return 0
    if c.kind == BINARY:
        size = <int64_t>load_i32(c.index, c.at + rows) - load_i32(c.index, c.at)
    elif c.kind == LARGE_BINARY:
        size = difference(load_i64(c.index, c.at + rows), load_i64(c.index, c.at))
    return <size_t>size if 0 <= size < MOST_ROWS else 0
