"""Rows that match a search: one comparison per row, and Python objects only for the matches."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp

from recordpress._buffers cimport InputView
from recordpress.columns._arrow_out cimport array_data, part
from recordpress.columns._columns cimport (
    BINARY, STRING, Columns, bytes_slice, is_valid_at, kind_of, slice_at, value_kind,
)

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

# The bytes to look for; data NULL: anything matches.
ctypedef struct wanted:
    const uint8_t* data
    size_t size


ctypedef struct search:
    int64_t key_column
    int64_t value_column
    int64_t headers_column
    value_kind key_kind
    value_kind value_kind
    wanted key
    wanted value
    wanted header
    wanted header_value


cdef bint is_equal(bytes_slice found, const wanted* to) noexcept nogil:
    return found.size >= 0 and <size_t>found.size == to.size and memcmp(found.data, to.data, to.size) == 0


cdef bint contains(bytes_slice found, const wanted* part_of) noexcept nogil:
    """Return whether `found` contains the bytes; compare at each occurrence of their first byte."""
    cdef const uint8_t* p = found.data
    cdef const uint8_t* last
    if found.size < 0 or <size_t>found.size < part_of.size:
        return False
    if not part_of.size:
        return True
    last = p + found.size - part_of.size
    while p <= last:
        p = <const uint8_t*>memchr(p, part_of.data[0], <size_t>(last - p) + 1)
        if p == NULL:
            return False
        if memcmp(p, part_of.data, part_of.size) == 0:
            return True
        p += 1
    return False


cdef bint has_header(const array_data* a, int64_t i, const wanted* name, const wanted* value) noexcept nogil:
    cdef const int32_t* ends = <const int32_t*>a.buffers[1]
    cdef const array_data* pair = &a.children[0]
    cdef int64_t n
    if not is_valid_at(a, i):
        return False
    for n in range(ends[i], ends[i + 1]):
        if is_equal(slice_at(&pair.children[0], STRING, n), name):
            if value.data == NULL or is_equal(slice_at(&pair.children[1], BINARY, n), value):
                return True
    return False


cdef bint is_match(const search* s, const part* p, int64_t i) noexcept nogil:
    cdef const array_data* columns = p.chunk.columns
    if s.key.data != NULL and not is_equal(slice_at(&columns[s.key_column], s.key_kind, i), &s.key):
        return False
    if s.value.data != NULL and not contains(slice_at(&columns[s.value_column], s.value_kind, i), &s.value):
        return False
    return s.header.data == NULL or has_header(&columns[s.headers_column], i, &s.header, &s.header_value)


cdef int64_t find_rows(const search* s, const part* parts, int64_t n_parts, int64_t* rows) noexcept nogil:
    """Write the numbers of matching rows; return their count."""
    cdef int64_t n, i, number = 0, found = 0
    for n in range(n_parts):
        for i in range(parts[n].offset, parts[n].offset + parts[n].rows):
            if is_match(s, &parts[n], i):
                rows[found] = number
                found += 1
            number += 1
    return found


cdef list runs_of(const int64_t* rows, int64_t n):
    """Return (first row, number of rows) for each run of consecutive rows."""
    cdef int64_t i = 0, start
    runs = []
    while i < n:
        start = i
        i += 1
        while i < n and rows[i] == rows[i - 1] + 1:
            i += 1
        runs.append((rows[start], i - start))
    return runs


cdef wanted wanted_of(InputView view) noexcept:
    cdef wanted found
    found.data, found.size = NULL, 0
    if view is not None:
        found.data, found.size = view.data, <size_t>view.size
        if found.data == NULL:
            found.data = b""
    return found


cdef InputView view_of(object data, str name):
    return None if data is None else InputView(data, name)


def matching_rows(columns, *, key=None, value_contains=None, header=None, header_value=None):
    """Return the rows that match all given conditions."""
    cdef search s
    cdef Columns rows
    cdef int64_t* found
    cdef int64_t n
    if not isinstance(columns, Columns):
        raise ArgumentTypeError(f"columns must be recordpress.Columns, not {type(columns).__name__}", field="columns")
    rows = columns
    fields = {field.name: (number, field.format) for number, field in enumerate(rows._fields)}
    for name, given in (("key", key), ("value", value_contains), ("headers", header)):
        if given is not None and name not in fields:
            raise InvalidArgumentError(f"columns must have {name}", field="columns")
    if header_value is not None and header is None:
        raise InvalidArgumentError("header_value needs header", field="header_value")
    if header is not None and not isinstance(header, str):
        raise ArgumentTypeError(f"header must be str, not {type(header).__name__}", field="header")
    views = [view_of(key, "key"), view_of(value_contains, "value_contains"),
             view_of(None if header is None else header.encode(), "header"), view_of(header_value, "header_value")]
    s.key, s.value, s.header, s.header_value = (wanted_of(views[0]), wanted_of(views[1]), wanted_of(views[2]),
                                                wanted_of(views[3]))
    s.key_column, key_format = fields.get("key", (0, "z"))
    s.value_column, value_format = fields.get("value", (0, "z"))
    s.headers_column = fields.get("headers", (0, ""))[0]
    s.key_kind, s.value_kind = kind_of(key_format), kind_of(value_format)
    found = <int64_t*>malloc(sizeof(int64_t) * <size_t>(rows.num_rows + 1))
    if found == NULL:
        raise MemoryError()
    try:
        with nogil:
            n = find_rows(&s, rows._parts, rows._n_parts, found)
        return runs_of(found, n)
    finally:
        free(found)
