"""Records from a caller, as rows to write: the base of all sources, and sequences of Python objects."""

from cpython.bytes cimport PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_Check
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport INT32_MAX, INT64_MAX, int64_t, uint64_t, uint8_t

from recordpress._arguments cimport integer_of, shown, time_of, tuple_of
from recordpress._buffers cimport InputView, pooled_free, pooled_reserve_more
from recordpress._c.python cimport BORROWS, PySequence_Fast_ITEMS, item_at
from recordpress._c.wire cimport (
    rp_error, rp_field, rp_field_size, rp_field_write, rp_record, rp_varlong_size, rp_varlong_write,
)
from recordpress._status cimport check
from recordpress.record.encode cimport NO_TIMESTAMP

from recordpress.errors import ArgumentTypeError, InvalidArgumentError, RecordpressError

cdef int append_field(pooled* out, const rp_field* f) except -1:
    cdef rp_error err
    if f.size > INT32_MAX:
        raise InvalidArgumentError(f"a header field of {f.size} bytes is larger than 2147483647", field="headers")
    check(pooled_reserve_more(out, rp_field_size(f.size), &err), &err)
    out.size = rp_field_write(out.data + out.size, f) - out.data
    return 0


cdef int append_header_key(pooled* out, object key, Py_ssize_t i) except -1:
    cdef rp_field f
    cdef Py_ssize_t size
    if not isinstance(key, str):
        raise ArgumentTypeError(f"the key of header {i} must be str, not {type(key).__name__}", field="headers")
    try:
        f.data = <const uint8_t*>PyUnicode_AsUTF8AndSize(key, &size)
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"the key of header {i} must be UTF-8 text: {error}", field="headers") from None
    f.size = size
    return append_field(out, &f)


cdef int append_header_value(pooled* out, object value, Py_ssize_t i) except -1:
    cdef rp_field f
    cdef InputView view
    if not bytes_field(value, &f):
        view = InputView(value, f"the value of header {i}", "headers")
        f.data, f.size = view.data, view.size
    return append_field(out, &f)


cdef int encode_headers(object headers, pooled* out) except -1:
    """Append headerCount and the headers to `out`, if there are any."""
    cdef rp_error err
    cdef Py_ssize_t count, i
    if PyDict_Check(headers):
        headers = headers.items()
    headers = tuple_of(headers, "headers", "(str, bytes or None) pairs")
    count = len(headers)
    if count == 0:
        return 0
    check(pooled_reserve_more(out, rp_varlong_size(count), &err), &err)
    out.size = rp_varlong_write(out.data + out.size, count) - out.data
    for i, header in enumerate(headers):
        try:
            key, value = header
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"header {i} must be a (str, bytes or None) pair, not {shown(header)}",
                                    field="headers") from error
        append_header_key(out, key, i)
        append_header_value(out, value, i)
    return 0


# --- rows ------------------------------------------------------------------------------------------------------------

cdef enum:
    MOST_BORROWED = 1 << 21     # bytes of records that are written with the GIL: 3 ms if they are all empty, else less


cdef class RowSource:
    """A source of rows, whose pointers are valid until the next call."""

    cdef int64_t next(self, rp_record* rows, int64_t most) except -1:
        return 0


cdef class RecordRows(RowSource):
    """The arguments of a call. Lists are copied, because nothing may change them while they are read without the GIL.
    With `borrow`, lists of bytes, None and int are not copied: a copy counts two references to each object, a quarter
    of the time of writing. The GIL is then held, and no code of the caller may run, until all rows are written."""

    def __cinit__(self, values, keys, timestamps, headers, offsets, base_offset, borrow=False):
        borrow = BORROWS and borrow and headers is None and offsets is None
        self.values = sequence_of(values, "values", None, borrow)
        self.count = len(self.values)
        self.copies = []
        if keys is not None:
            self.keys = sequence_of(keys, "keys", self.count, borrow)
        if headers is not None:
            self.headers = sequence_of(headers, "headers", self.count, False)
        if offsets is not None:
            self.offsets = sequence_of(offsets, "offsets", self.count, False)
        if isinstance(timestamps, str) or not hasattr(type(timestamps), "__iter__"):  # one time for all records
            self.timestamp = NO_TIMESTAMP if timestamps is None else time_of(timestamps, "timestamps", NO_TIMESTAMP,
                                                                             INT64_MAX)
        else:
            self.timestamps = sequence_of(timestamps, "timestamps", self.count, borrow)
        if base_offset is not None:
            if offsets is not None:
                raise InvalidArgumentError("base_offset and offsets cannot be combined", field="base_offset")
            self.base_offset = integer_of(base_offset, "base_offset", 0, INT64_MAX)
        self.settle(borrow)

    def __dealloc__(self):
        pooled_free(&self.header_bytes)

    cdef int64_t next(self, rp_record* rows, int64_t most) except -1:
        cdef Py_ssize_t n = min(self.count - self.taken, most)
        self.copies.clear()
        try:
            self.fill(rows, self.taken, n)
        except RecordpressError as error:
            error.message = f"record {self.at}: {error.message}"
            raise
        self.taken += n
        return n

    cdef size_t expected(self):
        return self.count * RECORD_OVERHEAD + self.size_of_fields

    cdef int settle(self, bint borrow) except -1:
        """Copy lists unless they can be borrowed; check their lengths, which may have changed during conversions."""
        cdef bint plain = borrow
        self.size_of_fields = bytes_in(self.values, &plain) + bytes_in(self.keys, &plain)
        self.is_borrowed = plain and self.expected() <= MOST_BORROWED and are_numbers(self.timestamps)
        if not self.is_borrowed:
            self.values = tuple(self.values)
            self.keys = None if self.keys is None else tuple(self.keys)
            self.timestamps = None if self.timestamps is None else tuple(self.timestamps)
        for name, column in (("values", self.values), ("keys", self.keys), ("timestamps", self.timestamps)):
            if column is not None and len(column) != self.count:
                raise InvalidArgumentError(f"{name} had {self.count} elements, and then {len(column)}", field=name)
        return 0

    cdef int fill(self, rp_record* rows, Py_ssize_t start, Py_ssize_t n) except -1:
        """Fill n rows, beginning with number `start`."""
        cdef Py_ssize_t i
        cdef PyObject** items
        cdef int64_t offset = <int64_t>(<uint64_t>self.base_offset + <uint64_t>start)
        for i in range(n):
            rows[i].key.data, rows[i].key.size = NULL, -1
            rows[i].headers.size = 0
            rows[i].timestamp = self.timestamp
            rows[i].offset = <int64_t>(<uint64_t>offset + <uint64_t>i)  # an overflow is rejected later
        self.fill_fields(&rows[0].value, self.values, start, n)
        if self.keys is not None:
            self.fill_fields(&rows[0].key, self.keys, start, n)
        if self.timestamps is not None:
            items = PySequence_Fast_ITEMS(self.timestamps)
            for i in range(n):
                self.at = start + i
                rows[i].timestamp = time_of(<object>item_at(items, start + i), "timestamps", NO_TIMESTAMP, INT64_MAX)
        if self.offsets is not None:
            for i in range(n):
                self.at = start + i
                rows[i].offset = integer_of(self.offsets[start + i], "offsets", 0, INT64_MAX)
        if self.headers is not None:
            self.fill_headers(rows, start, n)
        return 0

    cdef int fill_fields(self, rp_field* f, object column, Py_ssize_t start, Py_ssize_t n) except -1:
        """Fill one field of n rows; `f` points to that field in the first row."""
        cdef PyObject** items = PySequence_Fast_ITEMS(column)
        cdef Py_ssize_t i
        for i in range(start, start + n):
            if not bytes_field(<object>item_at(items, i), f):
                self.at = i
                self.fill_copy(f, column[i], "keys" if column is self.keys else "values")
            f = <rp_field*>(<uint8_t*>f + sizeof(rp_record))
        return 0

    cdef int fill_copy(self, rp_field* f, object value, str name) except -1:
        cdef InputView view = InputView(value, f"each of {name}", name)
        cdef bytes copy = view.data[:view.size]
        self.copies.append(copy)
        bytes_field(copy, f)
        return 0

    cdef int fill_headers(self, rp_record* rows, Py_ssize_t start, Py_ssize_t n) except -1:
        cdef Py_ssize_t i
        cdef size_t before
        cdef const uint8_t* at
        self.header_bytes.size = 0
        for i in range(n):
            self.at = start + i
            headers = self.headers[start + i]
            if headers is None:
                continue
            before = self.header_bytes.size
            encode_headers(headers, &self.header_bytes)
            rows[i].headers.size = self.header_bytes.size - before
        at = self.header_bytes.data
        for i in range(n):
            rows[i].headers.data = at
            at += rows[i].headers.size
        return 0


cdef object sequence_of(object values, str name, object count, bint borrow):
    """Return a tuple, or the caller's list if it may be borrowed."""
    result = values if borrow and PyList_CheckExact(values) else tuple_of(values, name, "one element per record")
    if count is not None and len(result) != count:
        raise InvalidArgumentError(f"{len(result)} {name} for {count} values", field=name)
    return result


cdef size_t bytes_in(object column, bint* plain):
    """Return the total size of a column's bytes; clear `plain` if an element is neither bytes nor None."""
    cdef size_t total = 0
    cdef Py_ssize_t i
    if column is None:
        return 0
    cdef PyObject** items = PySequence_Fast_ITEMS(column)
    for i in range(len(column)):
        if PyBytes_CheckExact(<object>item_at(items, i)):
            total += PyBytes_GET_SIZE(<object>item_at(items, i))
        elif <object>item_at(items, i) is not None:
            plain[0] = False
    return total


cdef bint are_numbers(object column):
    """Return whether each element is an int, whose value can be read without a call."""
    cdef Py_ssize_t i
    if column is None:
        return True
    cdef PyObject** items = PySequence_Fast_ITEMS(column)
    for i in range(len(column)):
        if not PyLong_CheckExact(<object>item_at(items, i)):
            return False
    return True
