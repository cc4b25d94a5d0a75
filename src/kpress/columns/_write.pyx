"""write_columns: Arrow columns -> a record set.

    capsule ─► schema ─► column_type of each column        once
    array   ─► column of each ─► 256 rows at a time ─► _set_writer

Rows are filled column by column, so that the choice of a layout is made once for 256 values. All of it, and the
calls of the stream that gives the arrays, run without the GIL.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from kpress._arguments cimport integer_of
from kpress._buffers cimport pooled, pooled_free, pooled_reserve_more
from kpress._c.arrow cimport ArrowArray
from kpress._c.wire cimport (
    KP_ARROW_LAYOUT, KP_HEADER_KEY_NULL, KP_OFFSET_NULL, KP_OK, KP_SET_SIZE, KP_TIMESTAMP_SECONDS, KP_VARLONG_MAX,
    kp_error, kp_fail, kp_field_write, kp_varlong_write,
)
from kpress.codecs.table cimport CodecTable, table_of
from kpress.columns._arrow_in cimport (
    ABSENT, BINARY, BINARY_VIEW, LARGE_BINARY, NULLS, column, column_kind, extent_of, field_of, is_null, load_i64,
    number_of, range_of,
)
from kpress.columns._arrow_source cimport ArrowSource
from kpress.columns._input cimport columns_of, has_null_rows, input_columns, input_types, types_of
from kpress.record.encode cimport CREATE_TIME, LOG_APPEND_TIME, MAX_SET_SIZE, NO_TIMESTAMP, field, options_of, record_row
from kpress.record.set_writer cimport (
    raise_row,
    set_writer,
    writer_expect,
    writer_free,
    writer_open,
    writer_result,
    writer_rows,
)

from kpress.errors import InvalidArgumentError

cdef enum:
    ROWS = 256
    RECORD_OVERHEAD = 16   # of most records, beyond key, value and headers


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
        time = load_i64(here.index, here.at + start + i)
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
            rows[i].offset = <int64_t>(<uint64_t>base + <uint64_t>i)  # where it wraps, record_check refuses it
        elif is_null(&here, start + i):
            return kp_fail(err, KP_OFFSET_NULL, -1, 0, 0)
        else:
            rows[i].offset = number_of(&here, start + i)
    return KP_OK


cdef int fail_field(int64_t size, kp_error* err) noexcept nogil:
    """What field_of refused."""
    if size > MAX_SET_SIZE:
        return kp_fail(err, KP_SET_SIZE, -1, size, MAX_SET_SIZE)
    return kp_fail(err, KP_ARROW_LAYOUT, -1, 0, 0)


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
        if not field_of(&c.header_key, c.header_key.kind, i, &key):
            return fail_field(key.size, err)
        if not field_of(&c.header_value, c.header_value.kind, i, &value):
            return fail_field(value.size, err)
        if key.size < 0 or is_null(&c.header, i):
            return kp_fail(err, KP_HEADER_KEY_NULL, -1, 0, 0)
        if pooled_reserve_more(out, 2 * KP_VARLONG_MAX + key.size + max(value.size, 0), err):
            return err.status
        out.size = kp_field_write(out.data + out.size, &key) - out.data
        out.size = kp_field_write(out.data + out.size, &value) - out.data
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


cdef int write_source(set_writer* w, ArrowSource source, const input_types* types, int64_t base_offset,
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


cdef int check_offsets(const input_types* types, object base_offset) except -1:
    if base_offset is not None and types.offset.kind != ABSENT:
        raise InvalidArgumentError("give either base_offset or an offset column", field="base_offset")
    return 0


def write_columns(data, *, compression_type="none", level=None, magic=2, base_offset=None, batch_bytes=1 << 20,
                  batch_records=None, timestamp_type=None, log_append_time=-1, producer_id=-1, producer_epoch=-1,
                  base_sequence=-1, partition_leader_epoch=-1, is_transactional=False, delete_horizon_ms=None,
                  codecs=None):
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
partition_leader_epoch, is_transactional, delete_horizon_ms, codecs
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
    cdef ArrowSource source = ArrowSource()
    cdef int64_t first_offset = 0
    cdef CodecTable table = table_of(codecs)
    memset(&w, 0, sizeof(w))
    memset(&scratch, 0, sizeof(scratch))
    try:
        if base_offset is not None:
            first_offset = integer_of(base_offset, "base_offset", 0, INT64_MAX)
        options_of(&w.encoder.options, magic, compression_type, level,
                   0 if timestamp_type is None else timestamp_type, log_append_time, producer_id, producer_epoch,
                   base_sequence, partition_leader_epoch, is_transactional, False, delete_horizon_ms, table)
        writer_open(&w, batch_bytes, batch_records)
        source.ask(data)  # last of all that runs the caller's code: its arrays are still the caller's there
        types_of(&types, &source.schema)
        check_offsets(&types, base_offset)
        w.typed = timestamp_type is None and types.timestamp_type.kind != ABSENT
        write_source(&w, source, &types, first_offset, &scratch)
        return writer_result(&w)
    finally:
        pooled_free(&scratch)
        writer_free(&w)
