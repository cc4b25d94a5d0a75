"""write_columns: Arrow columns -> a record set. `_read` does the reverse.

    capsule ─► schema ─► column_type of each column        once
    array   ─► column of each ─► ROWS rows at a time ─► set_writer

All of this runs without the GIL, and so do the calls of the stream that exports the arrays. Given batches are found

    by columns   rows that agree in producerId ... isControl, and whose sequences are consecutive, form a batch;
                 with baseOffset, rows with equal values, which must agree
    by a table   the batches of the table, one after another, each with the number of rows in its header

In both cases, rows are compared one by one; without given batches, they are not.
"""

from libc.stdint cimport INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, INT64_MAX, int16_t, int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from recordpress._arguments cimport flag_of, integer_of
from recordpress._buffers cimport pooled, pooled_free
from recordpress._c.arrow cimport ArrowArray
from recordpress._c.run cimport rp_rows
from recordpress._c.wire cimport (
    RP_ARROW_LAYOUT, RP_BATCHES_LEFT, RP_BATCHES_RECORDS, RP_BATCH_COLUMNS, RP_BATCH_HEADER, RP_BATCH_SEQUENCE,
    RP_BATCH_TIMESTAMP_TYPE, RP_BATCH_VALUE, RP_CODEC_MASK, RP_CONTROL, RP_LOG_APPEND_TIME, RP_OFFSET_NULL, RP_OK,
    RP_PLUGGABLE, RP_TRANSACTIONAL, rp_error, rp_fail, rp_record, rp_sequence_add,
)
from recordpress._status cimport check
from recordpress.codecs.codec cimport CODEC_ROWS, codec_table, row_of
from recordpress.codecs.table cimport CodecTable, level_of, name_of, table_of
from recordpress.columns._arrow_in cimport ABSENT, ArrowSource, extent_of, is_null, number_of
from recordpress.columns._roundtrip_loss cimport refuse_lost
from recordpress.columns.column_rows cimport (
    BASE_OFFSET, IS_CONTROL, IS_TRANSACTIONAL, N_BATCH_COLUMNS, PARTITION_LEADER_EPOCH, PRODUCER_EPOCH, PRODUCER_ID,
    ROWS, SEQUENCE, columns_of, fill_rows, has_null_rows, input_columns, input_types, offset_at, plain_rows, types_of,
)
from recordpress.columns.header_table cimport BatchTable
from recordpress.record.encode cimport (
    MAX_SET_SIZE, NO_TIMESTAMP, batch_options, keep_header, options_of, signature_with_options,
)
from recordpress.record.header cimport header_row
from recordpress.record.rows cimport RECORD_OVERHEAD
from recordpress.record.set_writer cimport (
    raise_row, set_writer, writer_empty, writer_end, writer_expect, writer_free, writer_next, writer_next_at,
    writer_open, writer_result, writer_rows, writer_run,
)

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

# State for columns that show the batch of a row.
ctypedef struct column_batches:
    batch_options options                 # of the call; a column replaces its option
    bint has_base_offset                           # there is a baseOffset column
    bint has_timestamp_type                            # timestampType decides whether the rows' batch can be written
    bint open
    int64_t[N_BATCH_COLUMNS] current          # the header of the open batch, as the columns have it
    int64_t first_offset                  # base offset of that batch, to which its sequence belongs
    int64_t last_offset                   # of the previous row


# State for a table that has the header of every batch.
ctypedef struct table_batches:
    const header_row* batches
    int64_t n
    int64_t next
    int64_t left                          # records still to come of the batch before `next`
    bint wrapper                          # that batch has no count: its records end with its last offset
    const codec_table* codecs
    int[CODEC_ROWS] levels                # of the codecs, by their rows
    int* rows                             # the codec of each batch


# --- by columns -----------------------------------------------------------------------------------------------

cdef void values_at(const column_batches* b, const input_columns* c, int64_t row, int64_t* values) noexcept nogil:
    """Set `values` to the header of a row's batch. Null becomes -1, which means no value, or False."""
    cdef int i
    values[PRODUCER_ID] = b.options.producer_id
    values[PRODUCER_EPOCH] = b.options.producer_epoch
    values[SEQUENCE] = b.options.base_sequence
    values[PARTITION_LEADER_EPOCH] = b.options.partition_leader_epoch
    values[IS_TRANSACTIONAL] = (b.options.attributes & RP_TRANSACTIONAL) != 0
    values[IS_CONTROL] = 0
    values[BASE_OFFSET] = -1
    for i in range(N_BATCH_COLUMNS):
        if c.batch[i].kind == ABSENT:
            continue
        values[i] = 0 if i == IS_TRANSACTIONAL or i == IS_CONTROL else -1
        if not is_null(&c.batch[i], row):
            values[i] = number_of(&c.batch[i], row)


cdef int64_t sequence_at(const column_batches* b, int64_t offset) noexcept nogil:
    """Return the sequence of a record of the open batch."""
    if b.current[SEQUENCE] < 0:
        return b.current[SEQUENCE]
    return rp_sequence_add(<int32_t>b.current[SEQUENCE],
                           <int32_t>((<uint64_t>offset - <uint64_t>b.first_offset) & INT32_MAX))


cdef bint agrees(const column_batches* b, const input_columns* c, const int64_t* values, int64_t offset) noexcept nogil:
    """Return whether a row's header fields agree with the open batch."""
    cdef int i
    for i in range(N_BATCH_COLUMNS):
        if i != SEQUENCE and values[i] != b.current[i]:
            return False
    return c.batch[SEQUENCE].kind == ABSENT or values[SEQUENCE] == sequence_at(b, offset)


cdef bint belongs(const column_batches* b, const input_columns* c, const int64_t* values,
                  int64_t offset) noexcept nogil:
    """Return whether a row is in the open batch."""
    if not b.open:
        return False
    return values[BASE_OFFSET] == b.current[BASE_OFFSET] if b.has_base_offset else agrees(b, c, values, offset)


cdef int check_row(const column_batches* b, const input_columns* c, int64_t row, const int64_t* values, int64_t offset,
                   rp_error* err) noexcept nogil:
    """Check that the row agrees with its batch, and that the batch can be written."""
    cdef int64_t timestamp_type
    if not agrees(b, c, values, offset):
        return rp_fail(err, RP_BATCH_COLUMNS, -1, b.current[BASE_OFFSET], 0)
    if b.has_timestamp_type and b.has_base_offset and not is_null(&c.timestamp_type, row):
        timestamp_type = number_of(&c.timestamp_type, row)
        if timestamp_type:
            return rp_fail(err, RP_BATCH_TIMESTAMP_TYPE, -1, timestamp_type, 0)
    return RP_OK


cdef int check_range(int64_t value, int64_t least, int64_t most, rp_error* err) noexcept nogil:
    return RP_OK if least <= value <= most else rp_fail(err, RP_BATCH_VALUE, -1, value, most)


cdef int check_sequence(const column_batches* b, const int64_t* values, int64_t offset, int64_t sequence,
                        rp_error* err) noexcept nogil:
    """Refuse a batch that seems to have lost its last records: its producer's next batch continues neither its offsets
    nor its sequences."""
    cdef int64_t expected
    if not b.open or not b.has_base_offset or b.current[SEQUENCE] < 0 or sequence < 0:
        return RP_OK
    if values[BASE_OFFSET] == b.last_offset + 1:
        return RP_OK
    if values[PRODUCER_ID] != b.current[PRODUCER_ID] or values[PRODUCER_EPOCH] != b.current[PRODUCER_EPOCH]:
        return RP_OK
    expected = rp_sequence_add(<int32_t>sequence_at(b, b.last_offset), 1)
    if sequence != expected:
        return rp_fail(err, RP_BATCH_SEQUENCE, -1, sequence, sequence_at(b, b.last_offset))
    return RP_OK


cdef int begin(set_writer* w, column_batches* b, const input_columns* c, const int64_t* values, int64_t offset,
               rp_error* err) noexcept nogil:
    """Begin the batch of a row."""
    cdef batch_options o = b.options
    cdef int64_t base = values[BASE_OFFSET] if b.has_base_offset else offset
    cdef int64_t sequence = values[SEQUENCE]
    if b.has_base_offset and base < 0:
        return rp_fail(err, RP_OFFSET_NULL, -1, 0, 0)
    if (check_range(values[PRODUCER_EPOCH], INT16_MIN, INT16_MAX, err)
            or check_range(sequence, INT32_MIN, INT32_MAX, err)
            or check_range(values[PARTITION_LEADER_EPOCH], INT32_MIN, INT32_MAX, err)):
        return err.status
    if c.batch[SEQUENCE].kind == ABSENT and b.open and sequence >= 0:
        sequence = sequence_at(b, base)  # the argument is the sequence of the first record of all
    elif c.batch[SEQUENCE].kind != ABSENT and sequence >= 0:
        sequence = <int64_t>((<uint64_t>sequence - (<uint64_t>offset - <uint64_t>base)) & INT32_MAX)
    if check_sequence(b, values, offset, sequence, err):
        return err.status
    o.producer_id = values[PRODUCER_ID]
    o.producer_epoch = <int16_t>values[PRODUCER_EPOCH]
    o.base_sequence = <int32_t>sequence
    o.partition_leader_epoch = <int32_t>values[PARTITION_LEADER_EPOCH]
    o.attributes &= ~(RP_TRANSACTIONAL | RP_CONTROL)
    o.attributes |= RP_TRANSACTIONAL if values[IS_TRANSACTIONAL] else 0
    o.attributes |= RP_CONTROL if values[IS_CONTROL] else 0
    memcpy(b.current, values, sizeof(b.current))
    b.open, b.current[SEQUENCE], b.first_offset = True, sequence, base
    return writer_next_at(w, &o, base, err) if b.has_base_offset else writer_next(w, &o, err)


cdef int write_array_by_columns(set_writer* w, column_batches* b, const input_types* types, const ArrowArray* array,
                                int64_t base_offset, pooled* scratch, rp_error* err) noexcept nogil:
    """Write the rows of one array. On an error w.rows is the number of the row that breaks the rule."""
    cdef input_columns c
    cdef rp_record rows[ROWS]
    cdef int64_t[N_BATCH_COLUMNS] values
    cdef int64_t start = 0, n, most = ROWS, offset
    if columns_of(&c, types, array):
        return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
    while start < array.length:
        n = 0
        while n < most and start + n < array.length:
            if offset_at(&c, start + n, base_offset + w.rows + n, &offset, err):
                break
            values_at(b, &c, start + n, values)
            if not belongs(b, &c, values, offset) and (n or begin(w, b, &c, values, offset, err)):
                break
            if check_row(b, &c, start + n, values, offset, err):
                break
            b.last_offset = offset
            n += 1
        if n == 0:
            return err.status
        n = fill_rows(&c, start, n, base_offset + w.rows, rows, &most, scratch, err)
        if n == 0 or writer_rows(w, rows, n, err):
            return err.status
        start += n
    return RP_OK


# --- by a table -----------------------------------------------------------------------------------------------

cdef void options_from(batch_options* o, const header_row* r, const table_batches* t) noexcept nogil:
    """Set the encoder's options from a header."""
    o.magic = r.magic
    o.codec = t.rows[r - t.batches]
    o.level = t.levels[o.codec]
    o.codecs = t.codecs
    o.attributes = r.attributes
    keep_header(o, r)
    o.log_append_time = r.max_timestamp
    o.delete_horizon_ms = r.base_timestamp if r.magic == 2 else NO_TIMESTAMP


cdef int end_batch(set_writer* w, table_batches* t, rp_error* err) noexcept nogil:
    cdef const header_row* r
    if t.next == 0:
        return RP_OK
    r = &t.batches[t.next - 1]
    if t.left:
        return rp_fail(err, RP_BATCHES_RECORDS, -1, t.next - 1, 0)
    t.wrapper = False
    return writer_end(w, r.last_offset, r.max_timestamp, err)


cdef int next_batch(set_writer* w, table_batches* t, rp_error* err) noexcept nogil:
    """Begin the next batch, and write it whole if it has no records."""
    cdef const header_row* r = &t.batches[t.next]
    cdef batch_options o
    options_from(&o, r, t)
    t.next += 1
    t.wrapper = r.magic < 2 and o.codec != 0
    t.left = 0 if t.wrapper else r.records_count
    if r.magic < 2:
        return writer_next(w, &o, err)
    if writer_next_at(w, &o, r.base_offset, err):
        return err.status
    # batches are taken as they are: they may overlap
    w.batch.encoder.last_offset = <int64_t>(<uint64_t>r.base_offset - 1)
    if r.records_count:
        return RP_OK
    return writer_empty(w, r.last_offset, r.max_timestamp, r.size > RP_BATCH_HEADER, err)


cdef int batch_with_records(set_writer* w, table_batches* t, int64_t offset, rp_error* err) noexcept nogil:
    """Begin the batch that a row of this offset belongs to, if it is not open."""
    if t.left or (t.wrapper and offset <= t.batches[t.next - 1].last_offset):
        return RP_OK
    if end_batch(w, t, err):
        return err.status
    while t.next < t.n:
        if next_batch(w, t, err):
            return err.status
        if t.batches[t.next - 1].magic < 2:
            w.batch.encoder.last_offset = <int64_t>(<uint64_t>offset - 1)
        if t.left or t.wrapper:
            return RP_OK
    return rp_fail(err, RP_BATCHES_LEFT, -1, t.n, 0)


cdef int64_t rows_of_batch(const table_batches* t, const input_columns* c, int64_t start, int64_t most) noexcept nogil:
    """Return how many rows from `start`, at most `most`, belong to the open batch; 0 if the first row does not."""
    cdef const header_row* r = &t.batches[t.next - 1]
    cdef int64_t n = 0, offset
    if not t.wrapper:
        most = min(most, t.left)
    while n < most and not is_null(&c.offset, start + n):
        offset = number_of(&c.offset, start + n)
        if offset > r.last_offset or (r.magic == 2 and offset < r.base_offset):
            break
        n += 1
    return n


cdef void hide_times(const header_row* r, rp_record* rows, int64_t n) noexcept nogil:
    """Replace timestamps with the base timestamp under LogAppendTime, where a record's own timestamp cannot be read."""
    cdef int64_t i
    if r.magic == 2 and r.attributes & RP_LOG_APPEND_TIME:
        for i in range(n):
            rows[i].timestamp = r.base_timestamp


cdef int write_array_by_table(set_writer* w, table_batches* t, const input_types* types, const ArrowArray* array,
                              pooled* scratch, rp_error* err) noexcept nogil:
    """Write the rows of one array. On an error w.rows is the number of the row that breaks the rule."""
    cdef input_columns c
    cdef rp_record rows[ROWS]
    cdef int64_t start = 0, n, most = ROWS, offset
    if columns_of(&c, types, array):
        return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
    while start < array.length:
        if offset_at(&c, start, 0, &offset, err) or batch_with_records(w, t, offset, err):
            return err.status
        n = rows_of_batch(t, &c, start, min(most, array.length - start))
        if n == 0:
            return rp_fail(err, RP_BATCHES_RECORDS, -1, t.next - 1, 0)
        n = fill_rows(&c, start, n, 0, rows, &most, scratch, err)
        if n == 0:
            return err.status
        hide_times(&t.batches[t.next - 1], rows, n)
        if writer_rows(w, rows, n, err):
            return err.status
        start += n
        t.left -= 0 if t.wrapper else n
    return RP_OK


cdef int end_of_table(set_writer* w, table_batches* t, rp_error* err) noexcept nogil:
    """End the open batch after the last row, and write the remaining batches, which must have no records."""
    if end_batch(w, t, err):
        return err.status
    while t.next < t.n:
        if next_batch(w, t, err):
            return err.status
        if t.left or t.wrapper:
            return rp_fail(err, RP_BATCHES_RECORDS, -1, t.next - 1, 0)
    return RP_OK


# How a call writes its arrays.
ctypedef struct way:
    int64_t base_offset
    bint by_columns
    bint by_table
    column_batches columns
    table_batches table


cdef size_t expected_size(const input_columns* c, int64_t n) noexcept nogil:
    """Estimate the bytes of records in n rows; the bytes of views are unknown without a pass over them."""
    return n * RECORD_OVERHEAD + extent_of(&c.key, n) + extent_of(&c.value, n)


cdef int write_array(set_writer* w, const input_types* types, const ArrowArray* array, int64_t base_offset,
                     pooled* scratch, rp_error* err) noexcept nogil:
    cdef input_columns c
    cdef rp_rows plain
    cdef bint is_plain
    cdef rp_record rows[ROWS]
    cdef int64_t start = 0, n, most = ROWS
    if columns_of(&c, types, array):
        return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
    if array.length == 0:
        return RP_OK
    if writer_expect(w, expected_size(&c, array.length), err):
        return err.status
    is_plain = w.batch.encoder.options.magic == 2 and plain_rows(&c, &plain)
    if is_plain:
        most = 1  # rows that begin a batch, or break a rule
        plain.first_offset = <int64_t>(<uint64_t>base_offset + <uint64_t>w.rows)
    while True:
        if is_plain:
            start = writer_run(w, &plain, start, array.length)
        if start == array.length:
            break
        n = fill_rows(&c, start, min(array.length - start, most), base_offset + w.rows, rows, &most, scratch, err)
        if n == 0 or writer_rows(w, rows, n, err):
            return err.status
        start += n
    return RP_OK


cdef int write_one(set_writer* w, way* how, const input_types* types, const ArrowArray* array, pooled* scratch,
                   rp_error* err) noexcept nogil:
    if how.by_table:
        return write_array_by_table(w, &how.table, types, array, scratch, err)
    if how.by_columns:
        return write_array_by_columns(w, &how.columns, types, array, how.base_offset, scratch, err)
    return write_array(w, types, array, how.base_offset, scratch, err)


cdef int write_source(set_writer* w, ArrowSource source, way* how, const input_types* types,
                      pooled* scratch) except -1:
    cdef rp_error err
    cdef int status
    cdef const ArrowArray* array = source.next()
    while array != NULL:
        if has_null_rows(array):
            raise InvalidArgumentError("a row of data is null", field="data")
        with nogil:
            status = write_one(w, how, types, array, scratch, &err)
        if status:
            raise_row(w, &err)
        array = source.next()
    if how.by_table:
        with nogil:
            status = end_of_table(w, &how.table, &err)
        check(status, &err)
    return 0


# --- arguments --------------------------------------------------------------------------------------------------

cdef int refuse_both(str argument, str column) except -1:
    raise InvalidArgumentError(f"{argument} and {column} cannot be combined", field=argument)


cdef int check_columns(const batch_options* o, const input_types* types, object base_offset) except -1:
    """Raise an error for an argument that repeats a column."""
    if base_offset is not None and types.offset.kind != ABSENT:
        refuse_both("base_offset", "an offset column")
    if not types.any_batch:
        return 0
    if o.magic < 2:
        raise InvalidArgumentError(f"magic {o.magic} has no batch headers: omit the columns producerId to baseOffset, "
                                   "or pass batches=", field="magic")
    if o.producer_id != -1 and types.batch[PRODUCER_ID].kind != ABSENT:
        refuse_both("producer_id", "a producerId column")
    if o.producer_epoch != -1 and types.batch[PRODUCER_EPOCH].kind != ABSENT:
        refuse_both("producer_epoch", "a producerEpoch column")
    if o.base_sequence != -1 and types.batch[SEQUENCE].kind != ABSENT:
        refuse_both("base_sequence", "a sequence column")
    if o.partition_leader_epoch != -1 and types.batch[PARTITION_LEADER_EPOCH].kind != ABSENT:
        refuse_both("partition_leader_epoch", "a partitionLeaderEpoch column")
    if o.attributes & RP_TRANSACTIONAL and types.batch[IS_TRANSACTIONAL].kind != ABSENT:
        refuse_both("is_transactional", "an isTransactional column")
    return 0


cdef int check_alone(const batch_options* o, object base_offset, object timestamp_type) except -1:
    """Raise an error for an argument that repeats the headers of `batches`."""
    for name, given in (("magic", o.magic != 2), ("compression_type", o.codec != 0),
                        ("base_offset", base_offset is not None), ("timestamp_type", timestamp_type is not None),
                        ("log_append_time", o.log_append_time != -1), ("producer_id", o.producer_id != -1),
                        ("producer_epoch", o.producer_epoch != -1), ("base_sequence", o.base_sequence != -1),
                        ("partition_leader_epoch", o.partition_leader_epoch != -1),
                        ("is_transactional", o.attributes & RP_TRANSACTIONAL),
                        ("delete_horizon_ms", o.delete_horizon_ms != -1)):
        if given:
            raise InvalidArgumentError(f"with batches=, each batch has its own {name}: omit it", field=name)
    return 0


cdef int open_table(table_batches* t, BatchTable batches, object level, CodecTable codecs) except -1:
    """Take the headers of `batches`, each with a codec that can be written."""
    cdef int64_t i
    cdef int id
    t.codecs = &codecs.rows
    t.batches, t.n = <const header_row*>batches._rows.rows.data, batches._rows.n
    t.rows = <int*>malloc(<size_t>max(t.n, 1) * sizeof(int))
    if t.rows == NULL:
        raise MemoryError
    ids = codecs.ids
    for i in range(t.n):
        id = t.batches[i].attributes & RP_CODEC_MASK
        if id == RP_PLUGGABLE:
            id = ids.get((<const char*>&t.batches[i].compression_type[0]).decode("ascii"), id)
        t.rows[i] = id
    for id in {t.rows[i] for i in range(t.n)}:
        if row_of(&codecs.rows, id) == NULL:
            raise InvalidArgumentError(f"batches has a batch of compression type {name_of(codecs, id)}, whose codec "
                                       "is not available", field="batches")
        t.levels[id] = level_of(row_of(&codecs.rows, id), level if id else None)
    return 0


cdef int use_columns(set_writer* w, way* how, const input_types* types, object timestamp_type) except -1:
    """Write by the columns of batch headers, if data has any."""
    how.by_columns = types.any_batch
    how.columns.options = w.batch.encoder.options
    how.columns.has_base_offset = types.batch[BASE_OFFSET].kind != ABSENT
    how.columns.has_timestamp_type = timestamp_type is None and types.timestamp_type.kind != ABSENT
    w.has_timestamp_type = how.columns.has_timestamp_type and not how.columns.has_base_offset
    if how.columns.has_base_offset:
        w.batch_bytes, w.batch_records = MAX_SET_SIZE, INT32_MAX
    return 0


cdef int use_table(set_writer* w, way* how, const input_types* types) except -1:
    if types.offset.kind == ABSENT:
        raise InvalidArgumentError("with batches=, data needs an offset column", field="data")
    how.by_table = True
    w.batch_bytes, w.batch_records = MAX_SET_SIZE, INT32_MAX
    return 0


def write_columns(data, compression_type="none", level=None, *, magic=2, base_offset=None, batch_bytes=1 << 20,
                  batch_records=None, batches=None, coerce_timestamps=False, codecs=None, **options):
    """Write records from Arrow columns.

    The output of `read_columns` can be written back as it is. With all its columns, ``control=True`` and the set's
    codec, reading and writing is the identity on v2 sets whose batches hold records, have CreateTime and end with their
    last record, if they have one codec and no delete horizon. Every other set is refused if its columns have
    ``baseOffset``: pass its `batch_table`, or omit that column.

    Parameters
    ----------
    data : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        A table, record batch or struct array (pyarrow, polars, pandas, duckdb, `recordpress.Columns`). It has these
        columns, at least key or value:

        - ``offset`` int64: kept, so it must increase; without it, offsets are counted from base_offset
        - ``timestamp`` timestamp[s, ms, us or ns] with a time zone, or int64 (ms since the epoch); null is -1, none
        - ``timestampType`` int32 or int8: 1 puts a record into a batch with LogAppendTime, which has its timestamp;
          null is 0
        - ``key``, ``value`` binary, large_binary, binary_view, or a string type; nullable
        - ``headers`` list or large_list of struct<key: string, value: binary>, or map; null means no headers

        It may have columns from the batch header. If one of these changes from one record to the next, a new batch
        begins; null is -1 or False:

        - ``producerId``, ``producerEpoch``, ``partitionLeaderEpoch``: ints
        - ``sequence``: an int, which increases with the offsets inside a batch
        - ``isTransactional``, ``isControl``: bool
        - ``baseOffset``: an int. Records with the same value form one batch, of any size, and must agree in the columns
          above. LogAppendTime, records of magic 0, and a producer's batch after which both offsets and sequences are
          missing are refused: the headers of such batches cannot be derived from their records. `Columns`, and
          pyarrow's tables of them, know more about the batches that they were read from, from their schema's metadata:
          if the columns do not hold all of the headers, they are refused, and the message names the first batch and
          the loss. polars, pandas and streams of several results (`Log.read`) lose this metadata, and
          ``pyarrow.concat_tables`` keeps only that of its first table; its result is written as its columns
          say. So write the results of `iter_columns` one by one, or pass ``batches``.

    compression_type, level, magic, codecs
        As for `BatchBuilder`.
    base_offset : int | None
        Offset of the first record, for data without an offset column. Default: 0.
    batch_bytes : int | None
        Maximum uncompressed size of a batch in bytes, including its header. A batch ends before the record that would
        exceed it; a single larger record gets a separate batch. None: no limit.
    batch_records : int | None
        Maximum number of records in a batch. None: no limit.
    batches : BatchTable | None
        The headers, from `batch_table`, of all batches that data was read from: each batch is written again with its
        magic, codec, offsets, timestamps and flags, even without records. Then data needs all records, including
        control records, and its offset column; its columns of the batch header are ignored, and level is the only other
        option. Two things are lost, because neither headers nor columns hold them: the timestamps that producers set
        under LogAppendTime, and the numbering of inner messages in v0/v1 wrappers.
    coerce_timestamps : bool
        Round timestamps down to milliseconds, and read timestamps without a time zone as UTC. False: both are refused,
        because something would be lost or guessed.
    **options
        `recordpress.typing.BatchOptions`, as for `BatchBuilder`: timestamp_type (None: from the timestampType column),
        log_append_time, producer_id, producer_epoch, base_sequence (of the first record; later batches continue it),
        partition_leader_epoch, is_transactional, delete_horizon_ms. No option may repeat a column.

    Returns
    -------
    bytes
        A record set; b"" if there are no rows. A batch also ends before an offset more than 2^31-1 above its base.

    Raises
    ------
    InvalidArgumentError
        A column is unknown, offsets do not increase, a timestamp is negative, or as for `BatchBuilder`; the message
        names the record. Columns with ``baseOffset`` cannot reproduce the batches that they were read from.
    ArgumentTypeError
        A column or an argument has the wrong type.

    Examples
    --------
    >>> import recordpress, pyarrow
    >>> table = pyarrow.table({"key": [b"k", None], "value": ["a", "b"]})
    >>> data = recordpress.write_columns(table, "lz4", base_offset=100)
    >>> [(record.offset, record.key, record.value) for batch in recordpress.read_batches(data) for record in batch]
    [(100, b'k', b'a'), (101, None, b'b')]

    Read the set, and write it again with a level of its codec:

    >>> columns = recordpress.read_columns(data, control=True)
    >>> again = recordpress.write_columns(columns, level=9, batches=recordpress.batch_table(data))
    >>> recordpress.batch_table(again)["compressionType"].to_pylist()
    ['lz4']
    """
    cdef set_writer w
    cdef input_types types
    cdef pooled scratch
    cdef way how
    cdef ArrowSource source = ArrowSource()
    cdef CodecTable table = table_of(codecs)
    memset(&w, 0, sizeof(w))
    memset(&scratch, 0, sizeof(scratch))
    memset(&how, 0, sizeof(how))
    try:
        if base_offset is not None:
            how.base_offset = integer_of(base_offset, "base_offset", 0, INT64_MAX)
        coerce = flag_of(coerce_timestamps, "coerce_timestamps")
        options_of(&w.batch.encoder.options, write_columns, magic, compression_type,
                   None if batches is not None else level, table, False, options)
        timestamp_type = options.get("timestamp_type")
        if batches is not None:
            if not isinstance(batches, BatchTable):
                raise ArgumentTypeError(f"batches must be a recordpress.BatchTable, not {type(batches).__name__}",
                                        field="batches")
            check_alone(&w.batch.encoder.options, base_offset, timestamp_type)
            open_table(&how.table, batches, level, table)
            w.mixed = True
        writer_open(&w, batch_bytes, batch_records)
        source.ask(data)  # the last call that runs the caller's code, which may still change its arrays
        types_of(&types, &source.schema, coerce)
        if batches is not None:
            use_table(&w, &how, &types)
        else:
            check_columns(&w.batch.encoder.options, &types, base_offset)
            if types.batch[BASE_OFFSET].kind != ABSENT:
                refuse_lost(&source.schema)
            use_columns(&w, &how, &types, timestamp_type)
        write_source(&w, source, &how, &types, &scratch)
        return writer_result(&w)
    finally:
        pooled_free(&scratch)
        free(how.table.rows)
        writer_free(&w)


write_columns.__text_signature__ = signature_with_options(write_columns)
