"""Arrays that kpress made, handed out through the Arrow C data interface (no pyarrow needed).

https://arrow.apache.org/docs/format/CDataInterface.html and .../CDataInterface/PyCapsuleInterface.html
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF
from libc.errno cimport ENOMEM
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset, strlen

from kpress._buffers cimport pooled, pooled_free
from kpress._c.python cimport Py_IsInitialized
from kpress._c.arrow cimport ARROW_FLAG_NULLABLE, ArrowArray, ArrowArrayStream, ArrowSchema
from kpress._c.wire cimport kp_ref_drop, kp_ref_take

from kpress.errors import InvalidArgumentError


class Field:
    """A column's name, its Arrow format string, whether it may be null, and the fields inside it."""

    __slots__ = ("children", "format", "name", "nullable")

    def __init__(self, name, format, nullable=False, children=()):
        self.name = name
        self.format = format
        self.nullable = nullable
        self.children = children


class _NotOneArray(InvalidArgumentError, AttributeError):
    """hasattr() says False."""


# --- chunks -----------------------------------------------------------------------------------------------

cdef chunk_data* chunk_new(int64_t n_columns, int64_t most_blocks) noexcept nogil:
    cdef chunk_data* chunk = <chunk_data*>calloc(1, sizeof(chunk_data))
    if chunk == NULL:
        return NULL
    chunk.references = 1
    chunk.columns = <array_data*>calloc(<size_t>n_columns + 1, sizeof(array_data))
    chunk.blocks = <pooled*>calloc(<size_t>most_blocks + 1, sizeof(pooled))
    if chunk.columns == NULL or chunk.blocks == NULL:
        chunk_drop(chunk)
        return NULL
    chunk.n_columns = n_columns
    return chunk


cdef bint array_init(array_data* array, int64_t length, int64_t n_buffers, int64_t n_children) noexcept nogil:
    """Room for the buffers and children of a zeroed array; False: out of memory."""
    array.length = length
    array.buffers = <const void**>calloc(<size_t>n_buffers + 1, sizeof(void*))
    array.children = <array_data*>calloc(<size_t>n_children + 1, sizeof(array_data))
    if array.buffers == NULL or array.children == NULL:
        return False
    array.n_buffers = n_buffers
    array.n_children = n_children
    return True


cdef void array_clear(array_data* array) noexcept nogil:
    cdef int64_t i
    for i in range(array.n_children):
        array_clear(&array.children[i])
    free(array.children)
    free(array.buffers)


cdef void chunk_drop(chunk_data* chunk) noexcept nogil:
    if chunk == NULL or kp_ref_drop(&chunk.references) > 0:
        return
    cdef int64_t i
    for i in range(chunk.n_columns):
        array_clear(&chunk.columns[i])
    for i in range(chunk.n_blocks):
        pooled_free(&chunk.blocks[i])
    free(chunk.columns)
    free(chunk.blocks)
    if chunk.owner != NULL and Py_IsInitialized():  # a consumer may outlive the interpreter and its objects
        with gil:
            Py_DECREF(<object>chunk.owner)
    free(chunk)


# --- arrays -----------------------------------------------------------------------------------------------

cdef int export_array(chunk_data* chunk, const array_data* data, ArrowArray* out) noexcept nogil:
    """An ArrowArray over `data` that holds a reference to its chunk. 0, or ENOMEM with `out` released."""
    memset(out, 0, sizeof(ArrowArray))
    out.buffers = data.buffers
    kp_ref_take(&chunk.references)
    out.private_data = chunk
    out.release = release_array
    out.length = data.length
    out.null_count = data.null_count
    out.n_buffers = data.n_buffers
    if export_children(chunk, data.children, data.n_children, out) == 0:
        return 0
    out.release(out)
    return ENOMEM


cdef int export_children(chunk_data* chunk, const array_data* children, int64_t n, ArrowArray* out) noexcept nogil:
    cdef int64_t i
    if n == 0:
        return 0
    out.children = <ArrowArray**>calloc(<size_t>n, sizeof(ArrowArray*))
    if out.children == NULL:
        return ENOMEM
    for i in range(n):
        out.children[i] = <ArrowArray*>calloc(1, sizeof(ArrowArray))
        if out.children[i] == NULL:
            return ENOMEM
        out.n_children = i + 1
        if export_array(chunk, &children[i], out.children[i]):
            return ENOMEM
    return 0


cdef void release_array(ArrowArray* array) noexcept nogil:
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:  # NULL: the consumer moved it out
            array.children[i].release(array.children[i])
        free(array.children[i])
    free(array.children)
    array.release = NULL
    chunk_drop(<chunk_data*>array.private_data)


cdef const void* NO_VALIDITY[1]
NO_VALIDITY[0] = NULL


cdef int export_chunk(chunk_data* chunk, ArrowArray* out) noexcept nogil:
    """The chunk as a struct array, which is how the interface spells a record batch."""
    cdef array_data root
    memset(&root, 0, sizeof(array_data))
    root.length = chunk.rows
    root.n_buffers = 1
    root.buffers = NO_VALIDITY
    root.n_children = chunk.n_columns
    root.children = chunk.columns
    return export_array(chunk, &root, out)


# --- schemas ----------------------------------------------------------------------------------------------

cdef char* copy_text(object text) except NULL:
    cdef bytes encoded = text.encode()
    cdef size_t size = <size_t>len(encoded) + 1
    cdef char* copy = <char*>malloc(size)
    if copy == NULL:
        raise MemoryError()
    memcpy(copy, <const char*>encoded, size)
    return copy


cdef int export_schema(object field, ArrowSchema* out) except -1:
    memset(out, 0, sizeof(ArrowSchema))
    out.release = release_schema
    out.format = copy_text(field.format)
    out.name = copy_text(field.name)
    out.flags = ARROW_FLAG_NULLABLE if field.nullable else 0
    if field.children:
        out.children = <ArrowSchema**>calloc(<size_t>len(field.children), sizeof(ArrowSchema*))
        if out.children == NULL:
            raise MemoryError()
    for child in field.children:
        out.children[out.n_children] = <ArrowSchema*>calloc(1, sizeof(ArrowSchema))
        if out.children[out.n_children] == NULL:
            raise MemoryError()
        out.n_children += 1
        export_schema(child, out.children[out.n_children - 1])
    return 0


cdef void release_schema(ArrowSchema* schema) noexcept nogil:
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children[i].release != NULL:
            schema.children[i].release(schema.children[i])
        free(schema.children[i])
    free(schema.children)
    free(<void*>schema.format)
    free(<void*>schema.name)
    schema.release = NULL


cdef void destroy_schema_capsule(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void destroy_array_capsule(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef object schema_capsule(object field):
    cdef ArrowSchema* schema = <ArrowSchema*>calloc(1, sizeof(ArrowSchema))
    if schema == NULL:
        raise MemoryError()
    capsule = PyCapsule_New(schema, "arrow_schema", destroy_schema_capsule)
    export_schema(field, schema)
    return capsule


# --- streams ----------------------------------------------------------------------------------------------

ctypedef struct stream_data:
    ArrowSchema schema        # a deep copy is made for every get_schema
    int64_t n_chunks
    int64_t next
    chunk_data** chunks       # a reference each


cdef int copy_schema(const ArrowSchema* schema, ArrowSchema* out) noexcept nogil:
    cdef int64_t i
    cdef size_t n_format = strlen(schema.format) + 1, n_name = strlen(schema.name) + 1
    memset(out, 0, sizeof(ArrowSchema))
    out.release = release_schema
    out.flags = schema.flags
    out.format = <char*>malloc(n_format)
    out.name = <char*>malloc(n_name)
    out.children = <ArrowSchema**>calloc(<size_t>schema.n_children + 1, sizeof(ArrowSchema*))
    if out.format == NULL or out.name == NULL or out.children == NULL:
        return ENOMEM
    memcpy(<void*>out.format, schema.format, n_format)
    memcpy(<void*>out.name, schema.name, n_name)
    for i in range(schema.n_children):
        out.children[i] = <ArrowSchema*>calloc(1, sizeof(ArrowSchema))
        if out.children[i] == NULL:
            return ENOMEM
        out.n_children = i + 1
        if copy_schema(schema.children[i], out.children[i]):
            return ENOMEM
    return 0


cdef int stream_get_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept nogil:
    if copy_schema(&(<stream_data*>stream.private_data).schema, out) == 0:
        return 0
    out.release(out)
    return ENOMEM


cdef int stream_get_next(ArrowArrayStream* stream, ArrowArray* out) noexcept nogil:
    cdef stream_data* data = <stream_data*>stream.private_data
    memset(out, 0, sizeof(ArrowArray))
    if data.next == data.n_chunks:
        return 0  # a released array ends the stream
    data.next += 1
    return export_chunk(data.chunks[data.next - 1], out)


cdef const char* stream_get_last_error(ArrowArrayStream* stream) noexcept nogil:
    return "out of memory"  # nothing else can fail: every chunk is there before the stream is


cdef void stream_release(ArrowArrayStream* stream) noexcept nogil:
    cdef stream_data* data = <stream_data*>stream.private_data
    cdef int64_t i
    for i in range(data.n_chunks):
        chunk_drop(data.chunks[i])
    free(data.chunks)
    if data.schema.release != NULL:
        data.schema.release(&data.schema)
    free(data)
    stream.release = NULL


cdef void destroy_stream_capsule(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


cdef class Columns:
    """Records as Arrow columns: one or more record batches that share a schema.

    What `read_columns`, `iter_columns` and `batch_table` return. It goes to any Arrow consumer through the
    PyCapsule interface, without a copy: ``pyarrow.table(columns)``, ``polars.DataFrame(columns)``,
    ``pandas.DataFrame.from_arrow(columns)``, ``duckdb.from_arrow(columns)``. Its memory goes back to the pool
    of kpress when the last consumer lets go of it.

    Iterating gives the record batches, each a `Columns` of its own.

    Attributes
    ----------
    num_rows : int
    column_names : list[str]

    Examples
    --------
    >>> import kpress
    >>> columns = kpress.read_columns(kpress.write_records([b"a", b"b"]), ["offset", "value"])
    >>> columns
    <kpress.Columns: 2 rows of offset, value>
    """

    def __cinit__(self):
        self._fields = ()
        self._chunks = NULL
        self._n_chunks = 0

    def __init__(self):
        raise TypeError("Columns are made by read_columns, iter_columns and batch_table")

    @staticmethod
    cdef Columns make(tuple fields, chunk_data** chunks, int64_t n_chunks):
        """Takes over the array of chunks and a reference to each."""
        cdef Columns self = Columns.__new__(Columns)
        cdef int64_t i
        self._fields = fields
        self._chunks = chunks
        self._n_chunks = n_chunks
        for i in range(n_chunks):
            self.num_rows += chunks[i].rows
        return self

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self._n_chunks):
            chunk_drop(self._chunks[i])
        free(self._chunks)

    @property
    def column_names(self):
        return [field.name for field in self._fields]

    def __len__(self):
        return self.num_rows

    def __repr__(self):
        return f"<kpress.Columns: {self.num_rows} rows of {', '.join(self.column_names)}>"

    def __iter__(self):
        cdef int64_t i
        for i in range(self._n_chunks):
            yield self._only(i)

    cdef Columns _only(self, int64_t i):
        cdef chunk_data** one = <chunk_data**>malloc(sizeof(chunk_data*))
        if one == NULL:
            raise MemoryError()
        one[0] = self._chunks[i]
        kp_ref_take(&one[0].references)
        return Columns.make(self._fields, one, 1)

    def __arrow_c_schema__(self):
        """The schema as an ``arrow_schema`` capsule: a struct with a child for every column."""
        return schema_capsule(Field("", "+s", False, self._fields))

    @property
    def __arrow_c_array__(self):
        """A method that gives (``arrow_schema``, ``arrow_array``) capsules; only a result of one record batch has it.
        Consumers look whether it is there (polars: first of all), so several record batches are not without it.

        Raises
        ------
        InvalidArgumentError
            Also an AttributeError. There are several record batches (a result over 2 GiB, or threads > 1): take the
            stream.
        """
        self._only_chunk()
        return self._array

    cdef chunk_data* _only_chunk(self) except NULL:
        if self._n_chunks != 1:
            raise _NotOneArray(f"{self._n_chunks} record batches are not one array: take the stream "
                               "(__arrow_c_stream__), or iterate over them")
        return self._chunks[0]

    def _array(self, requested_schema=None):
        cdef chunk_data* chunk = self._only_chunk()
        cdef ArrowArray* array = <ArrowArray*>calloc(1, sizeof(ArrowArray))
        if array == NULL:
            raise MemoryError()
        capsule = PyCapsule_New(array, "arrow_array", destroy_array_capsule)
        if export_chunk(chunk, array):
            raise MemoryError()
        return self.__arrow_c_schema__(), capsule

    def __arrow_c_stream__(self, requested_schema=None):
        """An ``arrow_array_stream`` capsule over all record batches. requested_schema is not acted on: the
        interface lets a producer give its own."""
        cdef ArrowArrayStream* stream = <ArrowArrayStream*>calloc(1, sizeof(ArrowArrayStream))
        if stream == NULL:
            raise MemoryError()
        capsule = PyCapsule_New(stream, "arrow_array_stream", destroy_stream_capsule)
        cdef stream_data* data = <stream_data*>calloc(1, sizeof(stream_data))
        cdef int64_t i
        if data == NULL:
            raise MemoryError()
        stream.private_data = data
        stream.get_schema = stream_get_schema
        stream.get_next = stream_get_next
        stream.get_last_error = stream_get_last_error
        stream.release = stream_release
        export_schema(Field("", "+s", False, self._fields), &data.schema)
        data.chunks = <chunk_data**>malloc(sizeof(chunk_data*) * <size_t>(self._n_chunks + 1))
        if data.chunks == NULL:
            raise MemoryError()
        for i in range(self._n_chunks):
            data.chunks[i] = self._chunks[i]
            kp_ref_take(&data.chunks[i].references)
        data.n_chunks = self._n_chunks
        return capsule
