"""The input of write_columns: its columns by name."""

from libc.stdint cimport int64_t
from libc.string cimport memset, strcmp, strlen, strncmp

from recordpress._c.arrow cimport ArrowArray, ArrowSchema
from recordpress.columns._arrow_in cimport (
    ABSENT, BINARY, BINARY_VIEW, BOOL, INT8, INT16, INT32, INT64, LARGE_BINARY, LARGE_LIST, LIST, NULLS, STRUCT, column,
    column_here, column_of, column_type, is_null, type_of,
)
from recordpress.columns.catalogue cimport (
    HEADERS, KEY, OFFSET, PRODUCER_ID as CATALOGUED_PRODUCER_ID, TIMESTAMP, TIMESTAMP_TYPE, VALUE,
)

from recordpress.columns.catalogue import NAMES
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef dict NUMBERS = {name: number for number, name in enumerate(NAMES)}

# Sets of kinds, a bit for each.
cdef enum:
    BYTES = 1 << NULLS | 1 << BINARY | 1 << LARGE_BINARY | 1 << BINARY_VIEW
    INTS = 1 << INT8 | 1 << INT16 | 1 << INT32 | 1 << INT64
    LISTS = 1 << LIST | 1 << LARGE_LIST | 1 << NULLS

# In the order of the catalogue, which has the names.
cdef tuple ACCEPTED = (
    "int64",
    "timestamp or int64 (ms)",
    "int32 or int8",
    "binary, large_binary, binary_view or a string type",
    "binary, large_binary, binary_view or a string type",
    "list or large_list of struct<key: string, value: binary>, or map<string, binary>",
    "int64 or a smaller int",
    "int16 or another int",
    "int32 or another int",
    "int32 or another int",
    "bool",
    "bool",
    "int64 or a smaller int",
)


# --- schema ---------------------------------------------------------------------------------------------------

cdef bytes name_of(const ArrowSchema* schema):
    return schema.name if schema.name != NULL else b""


cdef str format_of(const ArrowSchema* schema):
    return (<bytes>schema.format).decode("utf-8", "replace")


cdef int refuse_type(str name, const ArrowSchema* schema) except -1:
    raise ArgumentTypeError(f"column {name} must be {ACCEPTED[NUMBERS[name]]}, not of Arrow format "
                            f"{format_of(schema)!r}", field=name)


cdef int check_type(str name, const ArrowSchema* schema, const column_type* t, int kinds) except -1:
    return 0 if 1 << t.kind & kinds else refuse_type(name, schema)


cdef int header_types(input_types* types, const ArrowSchema* schema) except -1:
    """Find the types inside a list of headers. The fields of a map are known by position: their names are not fixed."""
    cdef const ArrowSchema* item
    cdef int64_t i
    if schema.n_children != 1 or schema.children[0].format != b"+s" or schema.children[0].n_children != 2:
        refuse_type("headers", schema)
    item = schema.children[0]
    for i in range(2):
        name = (b"key", b"value")[i] if schema.format == b"+m" else name_of(item.children[i])
        if name == b"key":
            type_of(item.children[i], i, &types.header_key)
        elif name == b"value":
            type_of(item.children[i], i, &types.header_value)
    if not (1 << types.header_key.kind & BYTES and 1 << types.header_value.kind & BYTES):
        refuse_type("headers", schema)
    return 0


cdef int batch_type(input_types* types, str name, const ArrowSchema* schema, int64_t i) except -1:
    cdef int number = <int>NUMBERS[name] - CATALOGUED_PRODUCER_ID
    type_of(schema, i, &types.batch[number])
    types.any_batch = True
    return check_type(name, schema, &types.batch[number],
                      1 << BOOL if number == IS_TRANSACTIONAL or number == IS_CONTROL else INTS)


cdef int refuse_loss(column_type* t, const ArrowSchema* schema) except -1:
    t.exact = True
    if strncmp(schema.format, "ts", 2) == 0 and strlen(schema.format) == 4:  # "tsm:UTC" continues after the colon
        raise InvalidArgumentError("column timestamp has no time zone, but Kafka's times are UTC: set one, or let "
                                   "coerce_timestamps=True take it for UTC", field="timestamp")
    return 0


cdef int column_types(input_types* types, const ArrowSchema* child, int64_t i, str name,
                      bint coerce_timestamps) except -1:
    """Find the type of child i of the schema."""
    cdef int number = NUMBERS.get(name, -1)
    if number < 0:
        raise InvalidArgumentError(f"column {name!r} is not one of {', '.join(NAMES)}", field=name)
    if number == OFFSET:
        type_of(child, i, &types.offset)
        return check_type(name, child, &types.offset, 1 << INT64)
    if number == TIMESTAMP:
        type_of(child, i, &types.timestamp)
        check_type(name, child, &types.timestamp, 1 << INT64 | 1 << NULLS)
        return 0 if coerce_timestamps else refuse_loss(&types.timestamp, child)
    if number == TIMESTAMP_TYPE:
        type_of(child, i, &types.timestamp_type)
        return check_type(name, child, &types.timestamp_type, 1 << INT32 | 1 << INT8)
    if number == KEY:
        type_of(child, i, &types.key)
        return check_type(name, child, &types.key, BYTES)
    if number == VALUE:
        type_of(child, i, &types.value)
        return check_type(name, child, &types.value, BYTES)
    if number == HEADERS:
        type_of(child, i, &types.headers)
        check_type(name, child, &types.headers, LISTS)
        return 0 if types.headers.kind == NULLS else header_types(types, child)
    return batch_type(types, name, child, i)


cdef int types_of(input_types* types, const ArrowSchema* schema, bint coerce_timestamps) except -1:
    cdef int64_t i
    memset(types, 0, sizeof(input_types))
    if strcmp(schema.format, "+s"):
        raise ArgumentTypeError("data must be a table, a record batch or a struct array, with the columns "
                                f"{', '.join(NAMES)}; not of Arrow format {format_of(schema)!r}", field="data")
    names = [name_of(schema.children[i]) for i in range(schema.n_children)]
    if len(set(names)) < len(names):
        raise InvalidArgumentError("data has a duplicate column", field="data")
    for i in range(schema.n_children):
        column_types(types, schema.children[i], i, (<bytes>names[i]).decode("utf-8", "replace"), coerce_timestamps)
    if types.key.kind == ABSENT and types.value.kind == ABSENT:
        raise InvalidArgumentError("data has neither a key nor a value column", field="data")
    return 0


# --- one array ------------------------------------------------------------------------------------------------

cdef int header_columns(input_columns* c, const input_types* types, const ArrowArray* array) noexcept nogil:
    cdef const ArrowArray* items
    if types.headers.kind == ABSENT or types.headers.kind == NULLS:
        return 0
    items = array.children[types.headers.child]
    if items.n_children != 1 or items.children == NULL or items.children[0] == NULL:
        return -1
    items = items.children[0]
    c.header_items = items.length
    return (column_here(items, STRUCT, &c.header)
            or column_of(items, &types.header_key, &c.header_key)
            or column_of(items, &types.header_value, &c.header_value))


cdef int columns_of(input_columns* c, const input_types* types, const ArrowArray* array) noexcept nogil:
    """Find the columns of the array; not 0: its lengths contradict each other."""
    memset(c, 0, sizeof(input_columns))
    return (column_of(array, &types.offset, &c.offset)
            or column_of(array, &types.timestamp, &c.timestamp)
            or column_of(array, &types.timestamp_type, &c.timestamp_type)
            or column_of(array, &types.key, &c.key)
            or column_of(array, &types.value, &c.value)
            or column_of(array, &types.headers, &c.headers)
            or header_columns(c, types, array)
            or batch_columns(c, types, array))


cdef int batch_columns(input_columns* c, const input_types* types, const ArrowArray* array) noexcept nogil:
    cdef int i
    if types.any_batch:
        for i in range(N_BATCH_COLUMNS):
            if column_of(array, &types.batch[i], &c.batch[i]):
                return -1
    return 0


cdef bint has_null_rows(const ArrowArray* array) noexcept nogil:
    """Return whether a row is null as a whole."""
    cdef column rows
    cdef int64_t i
    if array.null_count >= 0 or column_here(array, STRUCT, &rows):  # -1: not counted yet
        return array.null_count > 0
    if rows.validity == NULL:
        return False
    for i in range(array.length):
        if is_null(&rows, i):
            return True
    return False
