"""Results as one Arrow stream, which reads them on request; and columns that hold the same value in every row.

::

    iterator of Columns ──► with_constants ──► stream_of ──► ArrowArrayStream: get_next requests the next Columns
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_Fetch, PyErr_Restore, PyErr_SetInterrupt
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EINVAL, EIO, ENOMEM
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from recordpress._buffers cimport pooled, pooled_reserve
from recordpress._c.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema
from recordpress._c.python cimport Py_IsInitialized
from recordpress._c.wire cimport rp_error
from recordpress._status cimport check
from recordpress.columns._arrow_out cimport (
    array_data, array_init, chunk_data, chunk_drop, chunk_new, destroy_stream_capsule, export_part, export_schema, part,
    parts_copy,
)
from recordpress.columns._columns cimport ArrowRows, Columns

from recordpress.columns._arrow_out import Field
from recordpress.errors import (
    ArgumentTypeError, CorruptRecordError, InvalidArgumentError, InvalidRecordError, OutputTooLargeError,
)

_CONSTANTS = {str: "u", int: "i"}

cdef object MADE = object()  # the argument with which this module creates its classes


# --- columns of one value -----------------------------------------------------------------------------------

cdef uint8_t* block_of(chunk_data* chunk, size_t size) except NULL:
    """Return zeroed memory that the chunk owns."""
    cdef rp_error err
    cdef pooled* block = &chunk.blocks[chunk.n_blocks]
    check(pooled_reserve(block, max(size, <size_t>1), &err), &err)
    memset(block.data, 0, size)
    chunk.n_blocks += 1
    return block.data


cdef int share(const array_data* source, array_data* to) except -1:
    """Give `to` the same buffers as `source`."""
    cdef int64_t i
    if not array_init(to, source.length, source.n_buffers, source.n_children):
        raise MemoryError()
    to.null_count = source.null_count
    memcpy(<void*>to.buffers, source.buffers, sizeof(void*) * <size_t>source.n_buffers)
    for i in range(source.n_children):
        share(&source.children[i], &to.children[i])
    return 0


cdef int fill_text(chunk_data* chunk, array_data* to, object value, int64_t rows) except -1:
    cdef bytes text = b"" if value is None else value.encode()
    cdef int64_t size = len(text), i
    cdef const char* bytes_of_text = text
    cdef int32_t* ends
    cdef uint8_t* data
    if size * rows > INT32_MAX:
        raise OutputTooLargeError(f"{rows} rows of {size} bytes do not fit in a string column")
    if not array_init(to, rows, 3, 0):
        raise MemoryError()
    ends = <int32_t*>block_of(chunk, 4 * <size_t>(rows + 1))
    data = block_of(chunk, <size_t>(size * rows))
    for i in range(rows):
        memcpy(data + i * size, bytes_of_text, <size_t>size)
        ends[i + 1] = <int32_t>((i + 1) * size)
    to.buffers[1] = ends
    to.buffers[2] = data
    return 0


cdef int fill_number(chunk_data* chunk, array_data* to, object value, int64_t rows) except -1:
    cdef int32_t number = 0 if value is None else value
    cdef int32_t* values
    cdef int64_t i
    if not array_init(to, rows, 2, 0):
        raise MemoryError()
    values = <int32_t*>block_of(chunk, 4 * <size_t>rows)
    for i in range(rows):
        values[i] = number
    to.buffers[1] = values
    return 0


cdef int fill(chunk_data* chunk, array_data* to, object format, object value, int64_t rows) except -1:
    if format == "u":
        fill_text(chunk, to, value, rows)
    else:
        fill_number(chunk, to, value, rows)
    if value is None:
        to.null_count = rows
        to.buffers[0] = block_of(chunk, <size_t>(rows + 7) >> 3)
    return 0


cdef class FilledRows:
    """The memory of constants, for up to `rows` rows; every user holds a reference."""

    cdef chunk_data* chunk
    cdef int64_t rows

    def __cinit__(self, made=None):
        if made is not MADE:
            raise ArgumentTypeError("FilledRows cannot be created directly: ConstantColumns creates it")

    def __dealloc__(self):
        chunk_drop(self.chunk)

    @staticmethod
    cdef FilledRows make(dict constants, int64_t rows):
        cdef FilledRows filled = FilledRows.__new__(FilledRows, MADE)
        cdef int64_t i = 0
        filled.chunk = chunk_new(len(constants), 3 * <int64_t>len(constants))
        if filled.chunk == NULL:
            raise MemoryError()
        for kind, value in constants.values():
            fill(filled.chunk, &filled.chunk.columns[i], _CONSTANTS[kind], value, rows)
            i += 1
        filled.rows = rows
        return filled


cdef class ConstantColumns:
    """Columns that have one value in every row, for many results; their memory is filled once, and shared."""

    cdef dict constants  # a copy, which never changes: its order is that of the columns in memory
    cdef FilledRows filled

    def __cinit__(self, constants):
        self.constants = dict(constants)

    @cython.critical_section
    cdef FilledRows of(self, int64_t rows):
        """Return memory for at least `rows` rows; results of a stream are of similar size, so it seldom grows."""
        if self.filled is None or self.filled.rows < rows:
            self.filled = FilledRows.make(self.constants, rows)
        return self.filled


cdef chunk_data* joined(Columns columns, const part* p, list places, ConstantColumns constants) except NULL:
    """Return a chunk of the columns' arrays and of constants (negative numbers), in the order of `places`."""
    cdef FilledRows filled = constants.of(p.chunk.rows)
    cdef chunk_data* chunk = chunk_new(len(places), 0)
    cdef int64_t number, i = 0
    if chunk == NULL:
        raise MemoryError()
    try:
        for number in places:
            if number < 0:
                share(&filled.chunk.columns[-1 - number], &chunk.columns[i])
                chunk.columns[i].length = p.chunk.rows
                if chunk.columns[i].null_count:
                    chunk.columns[i].null_count = p.chunk.rows
            else:
                share(&p.chunk.columns[number], &chunk.columns[i])
            i += 1
    except BaseException:
        chunk_drop(chunk)
        raise
    owners = (columns, filled)  # which own the memory of the shared buffers
    Py_INCREF(owners)
    chunk.owner = <void*>owners
    chunk.rows = p.chunk.rows
    chunk.lost = p.chunk.lost
    return chunk


def constant_field(name, kind):
    """Return the field of a column that `with_constants` adds."""
    return Field(name, _CONSTANTS[kind], True)


def with_constants(Columns columns not None, names, constants):
    """Return columns, and constants that have the same value in every row, in the order of `names`."""
    cdef part* parts
    cdef int64_t i, n = columns._n_parts
    cdef ConstantColumns filling = (
        constants if isinstance(constants, ConstantColumns) else ConstantColumns(constants)
    )
    known = {field.name: number for number, field in enumerate(columns._fields)}
    known_constants = {name: number for number, name in enumerate(filling.constants)}
    places, fields = [], []
    for name in names:
        if name in known_constants:
            places.append(-1 - known_constants[name])
            fields.append(constant_field(name, filling.constants[name][0]))
        else:
            places.append(known[name])
            fields.append(columns._fields[known[name]])
    parts = <part*>malloc(sizeof(part) * <size_t>(n + 1))
    if parts == NULL:
        raise MemoryError()
    for i in range(n):
        parts[i] = columns._parts[i]
        parts[i].chunk = NULL
    result = Columns.of_parts(tuple(fields), parts, n)
    for i in range(n):
        parts[i].chunk = joined(columns, &columns._parts[i], places, filling)
    return result


def concat(results):
    """Return the rows of all results, one after the other."""
    cdef Columns columns
    cdef part* parts
    cdef part* copy
    cdef int64_t n = 0, i
    results = tuple(results)
    if not results or any(result.column_names != results[0].column_names for result in results):
        raise InvalidArgumentError("there must be at least one result, and all results must have the same columns",
                                   field="results")
    for columns in results:
        n += columns._n_parts
    parts = <part*>malloc(sizeof(part) * <size_t>(n + 1))
    if parts == NULL:
        raise MemoryError()
    n = 0
    for columns in results:
        for i in range(columns._n_parts):
            parts[n] = columns._parts[i]
            n += 1
    try:
        copy = parts_copy(parts, n)
    finally:
        free(parts)
    return Columns.of_parts((<Columns>results[0])._fields, copy, n)


# --- streams ------------------------------------------------------------------------------------------------

cdef class ResultStream:
    """The state of an ArrowArrayStream: the iterator, and the result that is being exported."""

    cdef ArrowSchema schema
    cdef object results
    cdef object close
    cdef object field
    cdef Columns current
    cdef int64_t next
    cdef bytes error
    cdef list errors  # receives the exceptions, for the caller of a consumer; may be None

    def __cinit__(self, made=None):
        if made is not MADE:
            raise ArgumentTypeError("ResultStream cannot be created directly: use stream_of")
        self.error = b"out of memory"  # the only failure without an exception

    cdef const part* next_part(self) except? NULL:
        """Return the next part; NULL at the end."""
        cdef const part* found
        while self.current is None or self.next == self.current._n_parts:
            self.current = None
            self.next = 0
            result = next(self.results, None)
            if result is None:
                return NULL
            self.current = result
        found = &self.current._parts[self.next]
        self.next += 1
        return found

    cdef int failed(self, error) noexcept:
        """Keep the error's text for the consumer; return a number for the kind of error."""
        self.error = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace")
        if self.errors is not None and isinstance(error, Exception):
            self.errors.append(error)
        if isinstance(error, KeyboardInterrupt):
            PyErr_SetInterrupt()  # the consumer's caller is interrupted when the consumer returns
        if isinstance(error, MemoryError):
            return ENOMEM
        return EINVAL if isinstance(error, (CorruptRecordError, InvalidRecordError)) else EIO


cdef int results_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    cdef ResultStream state = <ResultStream>stream.private_data
    try:
        export_schema(state.field, out)
    except BaseException as error:
        return state.failed(error)
    return 0


cdef int results_next(ArrowArrayStream* stream, ArrowArray* out) noexcept with gil:
    cdef ResultStream state = <ResultStream>stream.private_data
    cdef const part* p
    memset(out, 0, sizeof(ArrowArray))
    try:
        p = state.next_part()
        if p == NULL:
            return 0  # a released array ends the stream
        return export_part(p, out)
    except BaseException as error:
        return state.failed(error)


cdef const char* results_error(ArrowArrayStream* stream) noexcept with gil:
    cdef ResultStream state = <ResultStream>stream.private_data
    return PyBytes_AS_STRING(state.error)


cdef void results_release(ArrowArrayStream* stream) noexcept nogil:
    stream.release = NULL
    if not Py_IsInitialized():  # a consumer may outlive the interpreter and its objects
        return
    with gil:
        results_drop(stream)


cdef void results_drop(ArrowArrayStream* stream) noexcept:
    """Free the stream. An exception may be set: pyarrow releases a stream while it raises the stream's error."""
    cdef ResultStream state = <ResultStream>stream.private_data
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    stream.private_data = NULL
    PyErr_Fetch(&kind, &value, &trace)
    Py_DECREF(state)
    try:
        state.close()
    except BaseException as error:  # the consumer no longer accepts errors
        state.failed(error)
    PyErr_Restore(kind, value, trace)


def stream_of(fields, results, close):
    """Return an ``arrow_array_stream`` capsule of results that are read when the consumer requests them."""
    cdef ResultStream state = ResultStream.__new__(ResultStream, MADE)
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>calloc(1, sizeof(ArrowArrayStream))
    if stream == NULL:
        raise MemoryError()
    capsule = PyCapsule_New(stream, "arrow_array_stream", destroy_stream_capsule)
    state.field = Field("", "+s", False, tuple(fields))
    state.results = iter(results)
    state.close = close
    Py_INCREF(state)
    stream.private_data = <void*>state
    stream.get_schema = results_schema
    stream.get_next = results_next
    stream.get_last_error = results_error
    stream.release = results_release
    return capsule


class _Noted:
    """Rows whose next stream notes the exception that ends it."""

    def __init__(self, rows, errors):
        self.rows = rows
        self.errors = errors

    def __arrow_c_stream__(self, requested_schema=None):
        capsule = self.rows.__arrow_c_stream__(requested_schema)
        stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
        (<ResultStream>stream.private_data).errors = self.errors
        return capsule


cdef class StreamedRows(ArrowRows):
    """Rows for `stream_of`: an error is raised unchanged, with its attributes."""

    cdef object consumed(self, consumer):
        errors = []
        try:
            return consumer(_Noted(self, errors))
        except Exception:
            if not errors:
                raise
        raise errors[0]
