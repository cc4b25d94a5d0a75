"""Export of recordpress's own arrays through the Arrow C data interface (no pyarrow needed). `_arrow_in` reads others.

https://arrow.apache.org/docs/format/CDataInterface.html and .../CDataInterface/PyCapsuleInterface.html
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF
from libc.errno cimport ENOMEM
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset, strlen

from recordpress._buffers cimport pooled, pooled_free
from recordpress._c.python cimport Py_IsInitialized
from recordpress._c.arrow cimport ARROW_FLAG_NULLABLE, ArrowArray, ArrowArrayStream, ArrowSchema
from recordpress._c.wire cimport rp_ref_drop, rp_ref_take


TYPES = {
    "b": "bool", "c": "int8", "s": "int16", "i": "int32", "I": "uint32", "l": "int64",
    "z": "binary", "Z": "large_binary", "vz": "binary_view", "u": "string",
    "tsm:UTC": "timestamp[ms, tz=UTC]", "tsu:UTC": "timestamp[us, tz=UTC]",
}


cdef class Field:
    """A column's name and type. It cannot be changed.

    Attributes
    ----------
    name : str
    type : str
        Its Arrow type, as pyarrow writes it.
    format : str
        Its Arrow type, as a format string of the C data interface.
    nullable : bool
    children : tuple of Field
        The fields inside a list or struct.

    Examples
    --------
    >>> import recordpress
    >>> recordpress.batch_table(b"").schema[7]
    recordsCount: int32
    """

    def __cinit__(self, str name not None, str format not None, bint nullable=False, tuple children not None=()):
        self.name = name
        self.format = format
        self.nullable = nullable
        self.children = children

    def __reduce__(self):
        return Field, (self.name, self.format, self.nullable, self.children)

    @property
    def type(self):
        inside = ", ".join(map(repr, self.children))
        if self.format == "+l":
            return f"list<{inside}>"
        return f"struct<{inside}>" if self.format == "+s" else TYPES[self.format]

    def __repr__(self):
        return f"{self.name}: {self.type}{'' if self.nullable else ' not null'}"

    def __arrow_c_schema__(self):
        """Return the type as an ``arrow_schema`` capsule."""
        return schema_capsule(self)


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
    """Allocate the buffers and children of a zeroed array; return False if out of memory."""
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
    if chunk == NULL or rp_ref_drop(&chunk.references) > 0:
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
    """Export `data` as an ArrowArray that holds a reference to its chunk; return 0, or ENOMEM with `out` released."""
    memset(out, 0, sizeof(ArrowArray))
    out.buffers = data.buffers
    rp_ref_take(&chunk.references)
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


cdef void narrow(ArrowArray* array, const part* p) noexcept nogil:
    """Restrict the array to the rows of the part."""
    if p.rows == array.length:
        return
    array.offset = p.offset if p.rows else 0
    array.length = p.rows
    if array.null_count:
        array.null_count = -1  # the nulls of these rows were not counted


cdef int export_column(const part* p, int64_t column, ArrowArray* out) noexcept nogil:
    """Export a column of the part; return 0, or ENOMEM with `out` released."""
    if export_array(p.chunk, &p.chunk.columns[column], out):
        return ENOMEM
    narrow(out, p)
    return 0


cdef int export_part(const part* p, ArrowArray* out) noexcept nogil:
    """Export the part as a struct array with the offset in its columns: importers of record batches refuse an offset in
    the struct."""
    cdef array_data root
    cdef int64_t i
    memset(&root, 0, sizeof(array_data))
    root.length = p.rows
    root.n_buffers = 1
    root.buffers = NO_VALIDITY
    root.n_children = p.chunk.n_columns
    root.children = p.chunk.columns
    if export_array(p.chunk, &root, out):
        return ENOMEM
    for i in range(out.n_children):
        narrow(out.children[i], p)
    return 0


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
    free(<void*>schema.metadata)
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


cdef int put_metadata(ArrowSchema* schema, const char* metadata, size_t size) noexcept nogil:
    if metadata == NULL:
        return 0
    schema.metadata = <char*>malloc(size)
    if schema.metadata == NULL:
        return ENOMEM
    memcpy(<void*>schema.metadata, metadata, size)
    return 0


cdef int export_with_metadata(object field, bytes metadata, ArrowSchema* out) except -1:
    export_schema(field, out)
    if metadata is not None and put_metadata(out, metadata, <size_t>len(metadata)):
        raise MemoryError()
    return 0


cdef object schema_capsule(object field, bytes metadata=None):
    """Return the field as an ``arrow_schema`` capsule."""
    cdef ArrowSchema* schema = <ArrowSchema*>calloc(1, sizeof(ArrowSchema))
    if schema == NULL:
        raise MemoryError()
    capsule = PyCapsule_New(schema, "arrow_schema", destroy_schema_capsule)
    export_with_metadata(field, metadata, schema)
    return capsule


cdef object array_capsule(const part* p, int64_t column):
    """Return a column of the part, or all of them (EVERY_COLUMN), as an ``arrow_array`` capsule."""
    cdef ArrowArray* array = <ArrowArray*>calloc(1, sizeof(ArrowArray))
    if array == NULL:
        raise MemoryError()
    capsule = PyCapsule_New(array, "arrow_array", destroy_array_capsule)
    if export_part(p, array) if column == EVERY_COLUMN else export_column(p, column, array):
        raise MemoryError()
    return capsule


# --- streams ----------------------------------------------------------------------------------------------

ctypedef struct stream_data:
    ArrowSchema schema        # get_schema returns deep copies
    size_t metadata_size
    int64_t column            # or EVERY_COLUMN
    int64_t n_parts
    int64_t next
    part* parts               # with a reference to the chunk of each part


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
    cdef const stream_data* data = <const stream_data*>stream.private_data
    if copy_schema(&data.schema, out) == 0 and put_metadata(out, data.schema.metadata, data.metadata_size) == 0:
        return 0
    out.release(out)
    return ENOMEM


cdef int stream_get_next(ArrowArrayStream* stream, ArrowArray* out) noexcept nogil:
    cdef stream_data* data = <stream_data*>stream.private_data
    memset(out, 0, sizeof(ArrowArray))
    if data.next == data.n_parts:
        return 0  # a released array ends the stream
    cdef const part* p = &data.parts[data.next]
    data.next += 1
    return export_part(p, out) if data.column == EVERY_COLUMN else export_column(p, data.column, out)


cdef const char* stream_get_last_error(ArrowArrayStream* stream) noexcept nogil:
    return "out of memory"  # nothing else can fail: every part exists before the stream does


cdef void stream_release(ArrowArrayStream* stream) noexcept nogil:
    cdef stream_data* data = <stream_data*>stream.private_data
    cdef int64_t i
    for i in range(data.n_parts):
        chunk_drop(data.parts[i].chunk)
    free(data.parts)
    if data.schema.release != NULL:
        data.schema.release(&data.schema)
    free(data)
    stream.release = NULL


cdef void destroy_stream_capsule(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


cdef object stream_capsule(object field, int64_t column, const part* parts, int64_t n_parts, bytes metadata=None):
    """Return a column of all parts, or all columns (EVERY_COLUMN), as an ``arrow_array_stream`` capsule."""
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>calloc(1, sizeof(ArrowArrayStream))
    if stream == NULL:
        raise MemoryError()
    capsule = PyCapsule_New(stream, "arrow_array_stream", destroy_stream_capsule)
    cdef stream_data* data = <stream_data*>calloc(1, sizeof(stream_data))
    if data == NULL:
        raise MemoryError()
    stream.private_data = data
    stream.get_schema = stream_get_schema
    stream.get_next = stream_get_next
    stream.get_last_error = stream_get_last_error
    stream.release = stream_release
    export_with_metadata(field, metadata, &data.schema)
    data.metadata_size = 0 if metadata is None else <size_t>len(metadata)
    data.column = column
    data.parts = parts_copy(parts, n_parts)
    data.n_parts = n_parts
    return capsule


cdef part* parts_copy(const part* parts, int64_t n) except NULL:
    """Return a copy of the parts, with a reference to the chunk of each part."""
    cdef part* copy = <part*>malloc(sizeof(part) * <size_t>(n + 1))
    cdef int64_t i
    if copy == NULL:
        raise MemoryError()
    for i in range(n):
        copy[i] = parts[i]
        rp_ref_take(&copy[i].chunk.references)
    return copy
