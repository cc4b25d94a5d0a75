"""The rows of Arrow columns: records to write, here and in modules that form batches themselves.

The columns are found by name, and checked. Rows are filled column by column, so that the layout is chosen once for many
values. `_gather` does the reverse.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint64_t, uint8_t
from libc.string cimport memset, strcmp, strlen, strncmp

from recordpress._arguments cimport flag_of, integer_of
from recordpress._buffers cimport pooled, pooled_free, pooled_reserve_more
from recordpress._c.arrow cimport ArrowArray, ArrowSchema
from recordpress._c.run cimport rp_bytes_column, rp_rows
from recordpress._c.wire cimport (
    RP_ARROW_LAYOUT, RP_HEADER_KEY_NULL, RP_OFFSET_NULL, RP_OK, RP_SET_SIZE, RP_TIMESTAMP_PART, RP_TIMESTAMP_SECONDS,
    RP_VARLONG_MAX, rp_error, rp_fail, rp_field, rp_field_write, rp_record, rp_varlong_write,
)
from recordpress._status cimport error_of
from recordpress.columns._arrow_in cimport (
    ABSENT, BINARY, BINARY_VIEW, BOOL, INT16, INT32, INT64, INT8, LARGE_BINARY, LARGE_LIST, LIST, NULLS, STRUCT,
    ArrowSource, column, column_here, column_kind, column_of, column_type, field_of, is_null, load_i64, number_of,
    range_of, type_of,
)
from recordpress.columns.catalogue cimport (
    HEADERS, KEY, OFFSET, PRODUCER_ID as CATALOGUED_PRODUCER_ID, TIMESTAMP, TIMESTAMP_TYPE, VALUE,
)
from recordpress.record.encode cimport CREATE_TIME, LOG_APPEND_TIME, MAX_SET_SIZE, NO_TIMESTAMP

from recordpress.columns.catalogue import NAMES
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef dict NUMBERS = {name: number for number, name in enumerate(NAMES)}

# Sets of kinds, with a bit for each kind.
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
    """Find the types inside a list of headers. The fields of a map are found by position: their names are not fixed."""
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
        raise InvalidArgumentError("column timestamp has no time zone, but Kafka's times are UTC: set a time zone, or "
                                   "pass coerce_timestamps=True to read it as UTC", field="timestamp")
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
        raise ArgumentTypeError("data must be a table, a record batch or a struct array, with columns from "
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
    """Find the columns of the array; return nonzero if its lengths contradict each other."""
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


# --- rows ------------------------------------------------------------------------------------------------------------

cdef inline bint fill_kind(const column* c, column_kind kind, int64_t start, int64_t n, rp_field* f) noexcept nogil:
    """Fill n fields of one layout; f is a field of the first row."""
    cdef column here = c[0]  # a copy that no store can change: it stays in registers
    cdef bint good = True
    cdef int64_t i
    for i in range(start, start + n):
        good &= field_of(&here, kind, i, f)
        f = <rp_field*>(<uint8_t*>f + sizeof(rp_record))
    return good


cdef bint fill_fields(const column* c, int64_t start, int64_t n, rp_field* f) noexcept nogil:
    """Fill n fields. Each call passes a constant layout, so that its loop is compiled for that layout."""
    if c.kind == BINARY:
        return fill_kind(c, BINARY, start, n, f)
    if c.kind == LARGE_BINARY:
        return fill_kind(c, LARGE_BINARY, start, n, f)
    if c.kind == BINARY_VIEW:
        return fill_kind(c, BINARY_VIEW, start, n, f)
    return fill_kind(c, NULLS, start, n, f)


cdef int64_t ms_of(int64_t time, int64_t per_ms) noexcept nogil:
    """Round a time down to milliseconds. Negative times stay negative, but only -1 ms becomes -1, which means no
    timestamp."""
    if time >= 0:
        return time // per_ms
    return NO_TIMESTAMP if time == -per_ms else min(time // per_ms, NO_TIMESTAMP - 1)


cdef int fill_timestamps(const column* c, int64_t start, int64_t n, rp_record* rows, rp_error* err) noexcept nogil:
    cdef column here = c[0]
    cdef int64_t i, time
    if here.kind > NULLS and here.per_ms == 1 and here.validity == NULL:  # most columns: a loop without branches
        for i in range(n):
            rows[i].timestamp = load_i64(here.index, here.at + start + i)
        return RP_OK
    for i in range(n):
        rows[i].timestamp = NO_TIMESTAMP
        if here.kind <= NULLS or is_null(&here, start + i):
            continue
        time = load_i64(here.index, here.at + start + i)
        if here.per_ms == 1:
            rows[i].timestamp = time
        elif here.per_ms > 1:
            rows[i].timestamp = ms_of(time, here.per_ms)
            if here.exact and rows[i].timestamp * here.per_ms != time:
                return rp_fail(err, RP_TIMESTAMP_PART, -1, time, 0)
        elif -(INT64_MAX // 1000) <= time <= INT64_MAX // 1000:
            rows[i].timestamp = time * 1000
        else:
            return rp_fail(err, RP_TIMESTAMP_SECONDS, -1, time, 0)
    return RP_OK


cdef int fill_offsets(const column* c, int64_t start, int64_t n, int64_t base, rp_record* rows,
                      rp_error* err) noexcept nogil:
    """Fill n offsets; without an offset column, base is the offset of row `start`."""
    cdef column here = c[0]
    cdef int64_t i
    if here.kind == ABSENT:
        for i in range(n):
            rows[i].offset = <int64_t>(<uint64_t>base + <uint64_t>i)  # if it wraps, record_check refuses it
        return RP_OK
    if here.kind == INT64 and here.validity == NULL:
        for i in range(n):
            rows[i].offset = load_i64(here.index, here.at + start + i)
        return RP_OK
    for i in range(n):
        if is_null(&here, start + i):
            return rp_fail(err, RP_OFFSET_NULL, -1, 0, 0)
        else:
            rows[i].offset = number_of(&here, start + i)
    return RP_OK


cdef int fail_field(int64_t size, rp_error* err) noexcept nogil:
    """Set the error for a row that field_of refused."""
    if size > MAX_SET_SIZE:
        return rp_fail(err, RP_SET_SIZE, -1, size, MAX_SET_SIZE)
    return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)


cdef int encode_row_headers(const input_columns* c, int64_t row, pooled* out, rp_error* err) noexcept nogil:
    """Append headerCount and the headers of a row to `out`, or nothing if the row has no headers."""
    cdef int64_t i, first, end
    cdef rp_field key, value
    if not range_of(&c.headers, row, &first, &end) or end > c.header_items:
        return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
    if first == end:
        return RP_OK
    if pooled_reserve_more(out, RP_VARLONG_MAX, err):
        return err.status
    out.size = rp_varlong_write(out.data + out.size, end - first) - out.data
    for i in range(first, end):
        if not field_of(&c.header_key, c.header_key.kind, i, &key):
            return fail_field(key.size, err)
        if not field_of(&c.header_value, c.header_value.kind, i, &value):
            return fail_field(value.size, err)
        if key.size < 0 or is_null(&c.header, i):
            return rp_fail(err, RP_HEADER_KEY_NULL, -1, 0, 0)
        if pooled_reserve_more(out, 2 * RP_VARLONG_MAX + key.size + max(value.size, 0), err):
            return err.status
        out.size = rp_field_write(out.data + out.size, &key) - out.data
        out.size = rp_field_write(out.data + out.size, &value) - out.data
    return RP_OK


cdef int fill_headers(const input_columns* c, int64_t start, int64_t n, rp_record* rows, pooled* scratch,
                      rp_error* err) noexcept nogil:
    cdef int64_t i
    cdef size_t before
    cdef const uint8_t* at
    for i in range(n):
        rows[i].headers.size = 0
    if c.headers.kind <= NULLS:
        return RP_OK
    scratch.size = 0
    for i in range(n):
        before = scratch.size
        if encode_row_headers(c, start + i, scratch, err):
            return err.status
        rows[i].headers.size = <int64_t>(scratch.size - before)
    at = scratch.data  # it no longer moves
    for i in range(n):
        rows[i].headers.data = at
        at += rows[i].headers.size
    return RP_OK


cdef int offset_at(const input_columns* c, int64_t row, int64_t otherwise, int64_t* offset,
                   rp_error* err) noexcept nogil:
    """Set `offset` to the offset of a row; without an offset column, to `otherwise`."""
    offset[0] = otherwise
    if c.offset.kind == ABSENT:
        return RP_OK
    if is_null(&c.offset, row):
        return rp_fail(err, RP_OFFSET_NULL, -1, 0, 0)
    offset[0] = number_of(&c.offset, row)
    return RP_OK


cdef int fill_all(const input_columns* c, int64_t start, int64_t n, int64_t base, rp_record* rows, pooled* scratch,
                  rp_error* err) noexcept nogil:
    cdef int64_t i
    if not fill_fields(&c.key, start, n, &rows[0].key):
        return fail_field(rows[0].key.size, err)
    if not fill_fields(&c.value, start, n, &rows[0].value):
        return fail_field(rows[0].value.size, err)
    if c.timestamp_type.kind != ABSENT:
        for i in range(n):
            rows[i].timestamp_type = CREATE_TIME
            if not is_null(&c.timestamp_type, start + i):
                rows[i].timestamp_type = number_of(&c.timestamp_type, start + i) == LOG_APPEND_TIME
    if fill_offsets(&c.offset, start, n, base, rows, err) or fill_timestamps(&c.timestamp, start, n, rows, err):
        return err.status
    return fill_headers(c, start, n, rows, scratch, err)


cdef int64_t fill_rows(const input_columns* c, int64_t start, int64_t n, int64_t base, rp_record* rows, int64_t* most,
                       pooled* scratch, rp_error* err) noexcept nogil:
    if fill_all(c, start, n, base, rows, scratch, err) == RP_OK:
        return n
    if n == 1:
        return 0
    most[0] = 1
    return 1 if fill_all(c, start, 1, base, rows, scratch, err) == RP_OK else 0


cdef bint plain_bytes(const column* c, rp_bytes_column* b) noexcept nogil:
    b.wide = c.kind == LARGE_BINARY
    if c.kind > NULLS:
        b.ends = c.index + (8 if b.wide else 4) * c.at
        b.data, b.validity, b.bit = c.data, c.validity, c.at
    return c.kind <= NULLS or c.kind == BINARY or b.wide


cdef bint plain_numbers(const column* c, const uint8_t** numbers) noexcept nogil:
    if c.kind > NULLS:
        numbers[0] = c.index + 8 * c.at
    return c.kind <= NULLS or (c.kind == INT64 and c.validity == NULL)


cdef bint plain_rows(const input_columns* c, rp_rows* rows) noexcept nogil:
    memset(rows, 0, sizeof(rp_rows))
    if c.headers.kind > NULLS or c.timestamp_type.kind != ABSENT or c.offset.kind == NULLS:
        return False
    if c.timestamp.kind > NULLS and c.timestamp.per_ms != 1:
        return False
    if not plain_bytes(&c.key, &rows.key) or not plain_bytes(&c.value, &rows.value):
        return False
    if rows.key.ends == NULL:
        rows.key.wide = rows.value.wide
    if rows.value.ends != NULL and rows.value.wide != rows.key.wide:
        return False
    return plain_numbers(&c.timestamp, &rows.timestamps) and plain_numbers(&c.offset, &rows.offsets)


cdef class ColumnRows(RowSource):
    """Rows with the columns that write_columns accepts, except the columns that identify a record's batch."""

    def __cinit__(self, data, base_offset, coerce_timestamps):
        self.most = ROWS
        if base_offset is not None:
            self.base_offset = integer_of(base_offset, "base_offset", 0, INT64_MAX)
        coerce = flag_of(coerce_timestamps, "coerce_timestamps")
        self.source = ArrowSource()
        self.source.ask(data)
        types_of(&self.types, &self.source.schema, coerce)
        self.numbered = self.types.offset.kind != ABSENT
        if base_offset is not None and self.numbered:
            raise InvalidArgumentError("base_offset and an offset column cannot be combined", field="base_offset")
        if self.types.any_batch:
            raise InvalidArgumentError("columns of the batch header (producerId to baseOffset) fix where batches "
                                       "begin, which this call decides: omit them", field="data")

    def __dealloc__(self):
        pooled_free(&self.scratch)

    cdef int next_array(self) except -1:
        cdef rp_error err
        self.start = 0
        self.array = self.source.next()
        if self.array == NULL:
            self.ended = True
            return 0
        if has_null_rows(self.array):
            raise InvalidArgumentError("a row of data is null", field="data")
        if columns_of(&self.columns, &self.types, self.array):
            rp_fail(&err, RP_ARROW_LAYOUT, -1, 0, 0)
            raise error_of(&err)
        return 0

    cdef int64_t next(self, rp_record* rows, int64_t most) except -1:
        cdef rp_error err
        cdef int64_t n
        while not self.ended and (self.array == NULL or self.start == self.array.length):
            self.next_array()
        if self.ended:
            return 0
        n = min(min(self.array.length - self.start, most), self.most)
        with nogil:
            n = fill_rows(&self.columns, self.start, n, self.base_offset + self.taken, rows, &self.most, &self.scratch,
                          &err)
        if n == 0:
            error = error_of(&err)
            error.message = f"record {self.taken}: {error.message}"
            raise error
        if self.types.timestamp_type.kind != ABSENT:
            self.refuse_append_time(rows, n)
        self.start += n
        self.taken += n
        return n

    cdef int refuse_append_time(self, const rp_record* rows, int64_t n) except -1:
        """Reject LogAppendTime: a batch with it has one timestamp for all its records."""
        cdef int64_t i
        for i in range(n):
            if rows[i].timestamp_type == LOG_APPEND_TIME:
                raise InvalidArgumentError(f"record {self.taken + i}: its timestampType is LogAppendTime, which only "
                                           "brokers set", field="timestampType")
        return 0
