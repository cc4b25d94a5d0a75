"""write_columns: Arrow columns -> a record set.

    capsule ─► schema ─► column_type of each column        once
    array   ─► column of each ─► 256 rows at a time ─► _set_writer

Rows are filled column by column, so that the choice of a layout is made once for 256 values. All of it, and the
calls of the stream that gives the arrays, run without the GIL.
"""

import os

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t
from libc.string cimport memset

from kpress._arguments cimport integer_of
from kpress._buffers cimport pooled, pooled_free, pooled_reserve_more
from kpress._c.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema
from kpress._c.wire cimport (
    KP_ARROW_LAYOUT,
    KP_HEADER_KEY_NULL,
    KP_OFFSET_NULL,
    KP_OK,
    KP_TIMESTAMP_SECONDS,
    KP_VARLONG_MAX,
    kp_error,
    kp_fail,
    kp_field_write,
    kp_varlong_write,
)
from kpress.columns._arrow_in cimport (
    ABSENT,
    BINARY,
    BINARY_VIEW,
    INT8,
    INT32,
    INT64,
    LARGE_BINARY,
    LARGE_LIST,
    LIST,
    NULLS,
    STRUCT,
    column,
    column_here,
    column_kind,
    column_of,
    column_type,
    extent_of,
    field_of,
    is_null,
    number_of,
    range_of,
    type_of,
)
from kpress.record.encode cimport CREATE_TIME, NO_TIMESTAMP, field, options_of, record_row
from kpress.record.set_writer cimport (
    raise_row,
    set_writer,
    writer_expect,
    writer_free,
    writer_open,
    writer_result,
    writer_rows,
)

from kpress.errors import ArgumentTypeError, InvalidArgumentError

cdef enum:
    ROWS = 256
    RECORD_OVERHEAD = 16   # of most records, beyond key, value and headers

cdef tuple BYTES = (NULLS, BINARY, LARGE_BINARY, BINARY_VIEW)

cdef dict ACCEPTED = {
    "offset": "int64",
    "timestamp": "timestamp or int64 (ms)",
    "timestampType": "int32 or int8",
    "key": "binary, large_binary, binary_view or a string type",
    "value": "binary, large_binary, binary_view or a string type",
    "headers": "list or large_list of struct<key: string, value: binary>, or map<string, binary>",
}


# What the schema says of the input.
ctypedef struct input_types:
    column_type offset
    column_type timestamp
    column_type timestamp_type
    column_type key
    column_type value
    column_type headers
    column_type header          # the struct inside
    column_type header_key
    column_type header_value


# Where the columns of one array lie.
ctypedef struct input_columns:
    column offset
    column timestamp
    column timestamp_type
    column key
    column value
    column headers
    column header
    column header_key
    column header_value
    int64_t header_items        # their number


# --- schema ---------------------------------------------------------------------------------------------------

cdef bytes name_of(const ArrowSchema* schema):
    return schema.name if schema.name != NULL else b""


cdef int refuse_type(str name, const ArrowSchema* schema) except -1:
    raise ArgumentTypeError(f"column {name} must be {ACCEPTED[name]}, not of Arrow format {schema.format.decode()!r}",
                            field=name)


cdef int check_type(str name, const ArrowSchema* schema, const column_type* t, tuple kinds) except -1:
    return 0 if t.kind in kinds else refuse_type(name, schema)


cdef int header_types(input_types* types, const ArrowSchema* schema) except -1:
    """The types inside a list of headers."""
    cdef const ArrowSchema* item = schema.children[0]
    cdef int64_t i
    types.header.kind = STRUCT
    for i in range(item.n_children):
        if name_of(item.children[i]) == b"key":
            type_of(item.children[i], i, &types.header_key)
        elif name_of(item.children[i]) == b"value":
            type_of(item.children[i], i, &types.header_value)
    if item.n_children != 2 or types.header_key.kind not in BYTES or types.header_value.kind not in BYTES:
        refuse_type("headers", schema)
    return 0


cdef int column_types(input_types* types, const ArrowSchema* schema, int64_t i) except -1:
    """Child i of the schema."""
    cdef const ArrowSchema* child = schema.children[i]
    cdef str name = name_of(child).decode("utf-8", "replace")
    if name == "offset":
        type_of(child, i, &types.offset)
        return check_type(name, child, &types.offset, (INT64,))
    if name == "timestamp":
        type_of(child, i, &types.timestamp)
        return check_type(name, child, &types.timestamp, (INT64, NULLS))
    if name == "timestampType":
        type_of(child, i, &types.timestamp_type)
        return check_type(name, child, &types.timestamp_type, (INT32, INT8))
    if name == "key":
        type_of(child, i, &types.key)
        return check_type(name, child, &types.key, BYTES)
    if name == "value":
        type_of(child, i, &types.value)
        return check_type(name, child, &types.value, BYTES)
    if name == "headers":
        type_of(child, i, &types.headers)
        check_type(name, child, &types.headers, (LIST, LARGE_LIST, NULLS))
        return 0 if types.headers.kind == NULLS else header_types(types, child)
    raise InvalidArgumentError(f"column {name!r} is not one of {', '.join(ACCEPTED)}", field=name)


cdef int types_of(input_types* types, const ArrowSchema* schema) except -1:
    cdef int64_t i
    memset(types, 0, sizeof(input_types))
    if schema.format != b"+s":
        raise ArgumentTypeError("data must be a table, a record batch or a struct array, with the columns "
                                f"{', '.join(ACCEPTED)}; not of Arrow format {schema.format.decode()!r}", field="data")
    names = [name_of(schema.children[i]) for i in range(schema.n_children)]
    if len(set(names)) < len(names):
        raise InvalidArgumentError("data has a column twice", field="data")
    for i in range(schema.n_children):
        column_types(types, schema, i)
    if types.key.kind == ABSENT and types.value.kind == ABSENT:
        raise InvalidArgumentError("data has neither a key nor a value column", field="data")
    return 0


# --- one array ------------------------------------------------------------------------------------------------

cdef int header_columns(input_columns* c, const input_types* types, const ArrowArray* array) noexcept nogil:
    cdef const ArrowArray* items
    if types.headers.kind == ABSENT or types.headers.kind == NULLS:
        return 0
    if array.children[types.headers.child].n_children != 1:
        return -1
    items = array.children[types.headers.child].children[0]
    c.header_items = items.length
    return (column_here(items, STRUCT, &c.header)
            or column_of(items, &types.header_key, &c.header_key)
            or column_of(items, &types.header_value, &c.header_value))


cdef int columns_of(input_columns* c, const input_types* types, const ArrowArray* array) noexcept nogil:
    """Where the columns of the array lie; not 0: its lengths contradict each other."""
    c.header_items = 0
    return (column_of(array, &types.offset, &c.offset)
            or column_of(array, &types.timestamp, &c.timestamp)
            or column_of(array, &types.timestamp_type, &c.timestamp_type)
            or column_of(array, &types.key, &c.key)
            or column_of(array, &types.value, &c.value)
            or column_of(array, &types.headers, &c.headers)
            or header_columns(c, types, array))


cdef size_t expected_size(const input_columns* c, int64_t n) noexcept nogil:
    """About how many bytes of records n rows give. Views say nothing of it without a pass over them."""
    return n * RECORD_OVERHEAD + extent_of(&c.key, n) + extent_of(&c.value, n)


# --- rows -----------------------------------------------------------------------------------------------------

cdef inline bint fill_kind(const column* c, column_kind kind, int64_t start, int64_t n, field* f) noexcept nogil:
    """f: a field of the first row."""
    cdef column here = c[0]  # a copy that no store can change: it stays in registers
    cdef bint good = True
    cdef int64_t i
    for i in range(start, start + n):
        good &= field_of(&here, kind, i, f)
        f = <field*>(<uint8_t*>f + sizeof(record_row))
    return good


cdef bint fill_fields(const column* c, int64_t start, int64_t n, field* f) noexcept nogil:
    """The layout is a constant in each of these loops."""
    if c.kind == BINARY:
        return fill_kind(c, BINARY, start, n, f)
    if c.kind == LARGE_BINARY:
        return fill_kind(c, LARGE_BINARY, start, n, f)
    if c.kind == BINARY_VIEW:
        return fill_kind(c, BINARY_VIEW, start, n, f)
    return fill_kind(c, NULLS, start, n, f)


cdef int64_t ms_of(int64_t time, int64_t per_ms) noexcept nogil:
    """Rounded down. What is negative stays so, but only -1 ms is -1, which stands for no timestamp."""
    if time >= 0:
        return time // per_ms
    return NO_TIMESTAMP if time == -per_ms else min(time // per_ms, NO_TIMESTAMP - 1)


cdef int fill_timestamps(const column* c, int64_t start, int64_t n, record_row* rows, kp_error* err) noexcept nogil:
    cdef column here = c[0]
    cdef int64_t i, time
    for i in range(n):
        rows[i].timestamp = NO_TIMESTAMP
        if here.kind <= NULLS or is_null(&here, start + i):
            continue
        time = (<const int64_t*>here.index)[here.at + start + i]
        if here.per_ms == 1:
            rows[i].timestamp = time
        elif here.per_ms > 1:
            rows[i].timestamp = ms_of(time, here.per_ms)
        elif -(INT64_MAX // 1000) <= time <= INT64_MAX // 1000:
            rows[i].timestamp = time * 1000
        else:
            return kp_fail(err, KP_TIMESTAMP_SECONDS, -1, time, 0)
    return KP_OK


cdef int fill_offsets(const column* c, int64_t start, int64_t n, int64_t base, record_row* rows,
                      kp_error* err) noexcept nogil:
    """base: offset of row `start` where there is no such column."""
    cdef column here = c[0]
    cdef int64_t i
    for i in range(n):
        if here.kind == ABSENT:
            rows[i].offset = base + i
        elif is_null(&here, start + i):
            return kp_fail(err, KP_OFFSET_NULL, -1, 0, 0)
        else:
            rows[i].offset = number_of(&here, start + i)
    return KP_OK


cdef int encode_row_headers(const input_columns* c, int64_t row, pooled* out, kp_error* err) noexcept nogil:
    """Append headerCount and the headers of a row to `out`, nothing where it has none."""
    cdef int64_t i, first, end
    cdef field key, value
    if not range_of(&c.headers, row, &first, &end) or end > c.header_items:
        return kp_fail(err, KP_ARROW_LAYOUT, -1, 0, 0)
    if first == end:
        return KP_OK
    if pooled_reserve_more(out, KP_VARLONG_MAX, err):
        return err.status
    out.size = kp_varlong_write(out.data + out.size, end - first) - out.data
    for i in range(first, end):
        if not (field_of(&c.header_key, c.header_key.kind, i, &key)
                and field_of(&c.header_value, c.header_value.kind, i, &value)):
            return kp_fail(err, KP_ARROW_LAYOUT, -1, 0, 0)
        if key.size < 0 or is_null(&c.header, i):
            return kp_fail(err, KP_HEADER_KEY_NULL, -1, 0, 0)
        if pooled_reserve_more(out, 2 * KP_VARLONG_MAX + key.size + max(value.size, 0), err):
            return err.status
        out.size = kp_field_write(out.data + out.size, key.data, key.size) - out.data
        out.size = kp_field_write(out.data + out.size, value.data, value.size) - out.data
    return KP_OK


cdef int fill_headers(const input_columns* c, int64_t start, int64_t n, record_row* rows, pooled* scratch,
                      kp_error* err) noexcept nogil:
    cdef int64_t i
    cdef size_t before
    cdef const uint8_t* at
    for i in range(n):
        rows[i].headers.size = 0
    if c.headers.kind <= NULLS:
        return KP_OK
    scratch.size = 0
    for i in range(n):
        before = scratch.size
        if encode_row_headers(c, start + i, scratch, err):
            return err.status
        rows[i].headers.size = <int64_t>(scratch.size - before)
    at = scratch.data  # it stays where it is from here on
    for i in range(n):
        rows[i].headers.data = at
        at += rows[i].headers.size
    return KP_OK


cdef int fill_rows(const input_columns* c, int64_t start, int64_t n, int64_t base, record_row* rows, pooled* scratch,
                   kp_error* err) noexcept nogil:
    cdef int64_t i
    if not (fill_fields(&c.key, start, n, &rows[0].key) and fill_fields(&c.value, start, n, &rows[0].value)):
        return kp_fail(err, KP_ARROW_LAYOUT, -1, 0, 0)
    if c.timestamp_type.kind != ABSENT:
        for i in range(n):
            rows[i].timestamp_type = CREATE_TIME
            if not is_null(&c.timestamp_type, start + i):
                rows[i].timestamp_type = <int32_t>number_of(&c.timestamp_type, start + i)
    if fill_offsets(&c.offset, start, n, base, rows, err) or fill_timestamps(&c.timestamp, start, n, rows, err):
        return err.status
    return fill_headers(c, start, n, rows, scratch, err)


# --- the whole ------------------------------------------------------------------------------------------------

cdef int write_array(set_writer* w, const input_types* types, const ArrowArray* array, int64_t base_offset,
                     pooled* scratch, kp_error* err) noexcept nogil:
    cdef input_columns c
    cdef record_row rows[ROWS]
    cdef int64_t start = 0, n, window = ROWS
    if columns_of(&c, types, array):
        return kp_fail(err, KP_ARROW_LAYOUT, -1, 0, 0)
    if array.length == 0:
        return KP_OK
    if writer_expect(w, expected_size(&c, array.length), err):
        return err.status
    while start < array.length:
        n = min(array.length - start, window)
        if fill_rows(&c, start, n, base_offset + w.rows, rows, scratch, err):
            if n == 1:
                return err.status
            window = 1  # row by row up to the one that is wrong: then w.rows is its number
            continue
        if writer_rows(w, rows, n, err):
            return err.status
        start += n
    return KP_OK


cdef class _ArrowSource:
    """The capsules of the caller's data; they own the structs and release them."""

    cdef object schema_capsule
    cdef object data_capsule
    cdef ArrowSchema stream_schema      # of a stream: ours to release
    cdef const ArrowSchema* schema
    cdef ArrowArray* array              # NULL: a stream
    cdef ArrowArrayStream* stream
    cdef ArrowArray chunk               # of a stream: ours to release

    def __cinit__(self, data):
        if hasattr(type(data), "__arrow_c_stream__"):  # first: what is of several record batches has only this
            self.data_capsule = data.__arrow_c_stream__()
            self.stream = <ArrowArrayStream*>PyCapsule_GetPointer(self.data_capsule, "arrow_array_stream")
            self.check_owned(self.stream.release != NULL)
            self.check(self.stream.get_schema(self.stream, &self.stream_schema))
            self.schema = &self.stream_schema
        elif hasattr(type(data), "__arrow_c_array__"):
            self.schema_capsule, self.data_capsule = data.__arrow_c_array__()
            self.schema = <const ArrowSchema*>PyCapsule_GetPointer(self.schema_capsule, "arrow_schema")
            self.array = <ArrowArray*>PyCapsule_GetPointer(self.data_capsule, "arrow_array")
            self.check_owned(self.schema.release != NULL and self.array.release != NULL)
        else:
            raise ArgumentTypeError("data must have __arrow_c_array__ or __arrow_c_stream__ (a pyarrow, polars or "
                                    f"pandas table, a kpress.Columns), not be {type(data).__name__}", field="data")

    def __dealloc__(self):
        self.release_chunk()
        if self.stream_schema.release != NULL:
            self.stream_schema.release(&self.stream_schema)

    cdef void release_chunk(self) noexcept:
        if self.chunk.release != NULL:
            self.chunk.release(&self.chunk)
        self.chunk.release = NULL

    cdef int check_owned(self, bint owned) except -1:
        if not owned:
            raise InvalidArgumentError("data gave Arrow capsules that another consumer has emptied: they serve once",
                                       field="data")
        return 0

    cdef int check(self, int code) except -1:
        cdef const char* text
        if code == 0:
            return 0
        text = self.stream.get_last_error(self.stream)
        reason = text.decode("utf-8", "replace") if text != NULL else os.strerror(code)
        raise InvalidArgumentError(f"the Arrow stream failed: {reason}", field="data")

    cdef const ArrowArray* next(self) except? NULL:
        """The next array; NULL at the end."""
        cdef int code
        cdef ArrowArray* array = self.array
        if self.stream == NULL:
            self.array = NULL
            return array
        self.release_chunk()
        with nogil:
            code = self.stream.get_next(self.stream, &self.chunk)
        self.check(code)
        return &self.chunk if self.chunk.release != NULL else NULL


cdef bint has_null_rows(const ArrowArray* array) noexcept nogil:
    cdef column rows
    cdef int64_t i
    if array.null_count >= 0 or column_here(array, STRUCT, &rows):  # -1: nobody counted them yet
        return array.null_count > 0
    for i in range(array.length):
        if is_null(&rows, i):
            return True
    return False


cdef int write_source(set_writer* w, _ArrowSource source, const input_types* types, int64_t base_offset,
                      pooled* scratch) except -1:
    cdef kp_error err
    cdef int status
    cdef const ArrowArray* array = source.next()
    while array != NULL:
        if has_null_rows(array):
            raise InvalidArgumentError("a row of data is null as a whole", field="data")
        with nogil:
            status = write_array(w, types, array, base_offset, scratch, &err)
        if status:
            raise_row(w, &err)
        array = source.next()
    return 0


cdef int64_t first_offset(const input_types* types, object base_offset) except -1:
    if base_offset is None:
        return 0
    if types.offset.kind != ABSENT:
        raise InvalidArgumentError("give either base_offset or an offset column", field="base_offset")
    return integer_of(base_offset, "base_offset", 0, INT64_MAX)


def write_columns(data, *, compression_type="none", level=None, magic=2, base_offset=None, batch_bytes=1 << 20,
                  batch_records=None, timestamp_type=None, log_append_time=-1, producer_id=-1, producer_epoch=-1,
                  base_sequence=-1, partition_leader_epoch=-1, is_transactional=False, delete_horizon_ms=None):
    """Write records that lie in Arrow columns.

    Parameters
    ----------
    data : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        A table, record batch or struct array (pyarrow, polars, pandas, duckdb, `kpress.Columns`). Its columns,
        key or value at least:

        - ``offset`` int64: kept, so it must increase; without it, offsets are counted from base_offset
        - ``timestamp`` timestamp[s, ms, us or ns] or int64 (ms since the epoch): rounded down to ms; null is -1, none
        - ``timestampType`` int32 or int8: 1 puts a record into a batch with LogAppendTime, which has its timestamp;
          null is 0
        - ``key``, ``value`` binary, large_binary, binary_view, or a string type; nullable
        - ``headers`` list or large_list of struct<key: string, value: binary>, or map; null is none

    base_offset : int | None
        Offset of the first record where there is no offset column. None: 0.
    batch_bytes : int | None
        Cut a batch before the record with which it would be larger, uncompressed, header included; a single
        record that is larger makes a batch of its own. None: do not cut.
    batch_records : int | None
        Most records of a batch. None: do not cut.
    timestamp_type : int | None
        0 CreateTime or 1 LogAppendTime for all records. None: what the timestampType column says, else CreateTime.
    compression_type, level, magic, log_append_time, producer_id, producer_epoch, base_sequence, \
partition_leader_epoch, is_transactional, delete_horizon_ms
        As for `BatchBuilder`. base_sequence is the first record's; later batches count on.

    Returns
    -------
    bytes
        A record set; b"" for no rows. A batch is also cut where an offset would be more than 2^31-1 above its base.

    Raises
    ------
    InvalidArgumentError
        An unknown column, offsets that do not increase, a negative timestamp, and what `BatchBuilder` refuses; the
        message says which record.
    ArgumentTypeError
        A column or an argument of another type.

    Examples
    --------
    >>> import kpress, pyarrow
    >>> table = pyarrow.table({"key": [b"k", None], "value": ["a", "b"]})
    >>> data = kpress.write_columns(table, compression_type="lz4", base_offset=100)
    >>> [(record.offset, record.key, record.value) for batch in kpress.read_batches(data) for record in batch]
    [(100, b'k', b'a'), (101, None, b'b')]
    """
    cdef set_writer w
    cdef input_types types
    cdef pooled scratch
    cdef _ArrowSource source = _ArrowSource(data)
    memset(&w, 0, sizeof(w))
    memset(&scratch, 0, sizeof(scratch))
    try:
        types_of(&types, source.schema)
        options_of(&w.encoder.options, magic, compression_type, level,
                   0 if timestamp_type is None else timestamp_type, log_append_time, producer_id, producer_epoch,
                   base_sequence, partition_leader_epoch, is_transactional, False, delete_horizon_ms)
        w.typed = timestamp_type is None and types.timestamp_type.kind != ABSENT
        writer_open(&w, batch_bytes, batch_records)
        write_source(&w, source, &types, first_offset(&types, base_offset), &scratch)
        return writer_result(&w)
    finally:
        pooled_free(&scratch)
        writer_free(&w)
