"""write_columns: Arrow columns -> a record set.

    capsule ─► schema ─► column_type of each column        once
    array   ─► column of each ─► ROWS rows at a time ─► set_writer

All of this runs without the GIL, and so do the calls of the stream that gives the arrays.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from recordpress._arguments cimport flag_of, integer_of
from recordpress._buffers cimport pooled, pooled_free
from recordpress._c.arrow cimport ArrowArray
from recordpress._c.wire cimport (
    RP_ARROW_LAYOUT, RP_CODEC_MASK, RP_OK, RP_PLUGGABLE, RP_TRANSACTIONAL, rp_error, rp_fail, rp_record,
)
from recordpress._status cimport check
from recordpress.codecs.codec cimport row_of
from recordpress.codecs.table cimport CodecTable, level_of, name_of, table_of
from recordpress.columns._arrow_in cimport ABSENT, extent_of
from recordpress.columns._arrow_source cimport ArrowSource
from recordpress.columns._input cimport (
    BASE_OFFSET, IS_TRANSACTIONAL, PARTITION_LEADER_EPOCH, PRODUCER_EPOCH, PRODUCER_ID, SEQUENCE, columns_of,
    has_null_rows, input_columns, input_types, types_of,
)
from recordpress.columns._rows cimport ROWS, fill_rows
from recordpress.columns.header_table cimport BatchTable
from recordpress.record.header cimport header_row
from recordpress.columns._roundtrip_loss cimport refuse_lost
from recordpress.columns._write_batches cimport (
    column_batches, end_of_table, table_batches, write_array_by_columns, write_array_by_table,
)
from recordpress.record.encode cimport MAX_SET_SIZE, batch_options, options_of, signature_with_options
from recordpress.record.set_writer cimport (
    raise_row, set_writer, writer_expect, writer_free, writer_open, writer_result, writer_rows,
)

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

cdef enum:
    RECORD_OVERHEAD = 16   # of most records, beyond key, value and headers


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
    cdef rp_record rows[ROWS]
    cdef int64_t start = 0, n, most = ROWS
    if columns_of(&c, types, array):
        return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
    if array.length == 0:
        return RP_OK
    if writer_expect(w, expected_size(&c, array.length), err):
        return err.status
    while start < array.length:
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
    raise InvalidArgumentError(f"give either {argument} or {column}", field=argument)


cdef int check_columns(const batch_options* o, const input_types* types, object base_offset) except -1:
    """Raise an error for an argument that repeats a column."""
    if base_offset is not None and types.offset.kind != ABSENT:
        refuse_both("base_offset", "an offset column")
    if not types.any_batch:
        return 0
    if o.magic < 2:
        raise InvalidArgumentError(f"magic {o.magic} has no batch headers: leave the columns producerId to baseOffset "
                                   "out, or give batches=", field="magic")
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
            raise InvalidArgumentError(f"batches has a batch of compression type {name_of(codecs, id)}, for which "
                                       "there is no codec", field="batches")
        t.levels[id] = level_of(row_of(&codecs.rows, id), level if id else None)
    return 0


cdef int use_columns(set_writer* w, way* how, const input_types* types, object timestamp_type) except -1:
    """Write by the columns of batch headers, where there are any."""
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
    ``baseOffset``: pass its `batch_table`, or leave that column out.

    Parameters
    ----------
    data : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        A table, record batch or struct array (pyarrow, polars, pandas, duckdb, `recordpress.Columns`). Its columns,
        key or value at least:

        - ``offset`` int64: kept, so it must increase; without it, offsets are counted from base_offset
        - ``timestamp`` timestamp[s, ms, us or ns] with a time zone, or int64 (ms since the epoch); null is -1, none
        - ``timestampType`` int32 or int8: 1 puts a record into a batch with LogAppendTime, which has its timestamp;
          null is 0
        - ``key``, ``value`` binary, large_binary, binary_view, or a string type; nullable
        - ``headers`` list or large_list of struct<key: string, value: binary>, or map; null means no headers

        And from the batch header. If one of these changes from a record to the next, another batch begins; null is -1
        or False:

        - ``producerId``, ``producerEpoch``, ``partitionLeaderEpoch``: ints
        - ``sequence``: an int, which counts on with the offsets inside a batch
        - ``isTransactional``, ``isControl``: bool
        - ``baseOffset``: an int. Records that have the same make one batch, of any size, and must agree in the columns
          above. Refused are LogAppendTime, records of magic 0, and a producer's batch after which both offsets and
          sequences are missing: the headers of such batches cannot be derived from their records. `Columns` and
          pyarrow's tables of them know more of the batches they were read from, by the metadata of their schema: if
          the columns do not hold all of the headers, they are refused, and the message names the first batch and what
          would be lost. polars, pandas and streams of several results (`Log.read`) lose this metadata, and
          ``pyarrow.concat_tables`` keeps that of its first table only; its result is written as its columns
          say. So write the results of `iter_columns` one by one, or pass ``batches``.

    compression_type, level, magic, codecs
        As for `BatchBuilder`.
    base_offset : int | None
        Offset of the first record without an offset column. Default: 0.
    batch_bytes : int | None
        Here: maximum size of a batch in bytes, uncompressed, header included. A batch ends before the record that would
        make it larger; a single larger record makes a separate batch. None: no limit.
    batch_records : int | None
        Most records of a batch. None: no limit.
    batches : BatchTable | None
        The headers of all batches that data was read from, by `batch_table`: each is written again with its magic,
        codec, offsets, timestamps and flags, batches without records too. Then data needs all records, control records
        included, and its offset column; its columns of the batch header are ignored, and level is the only other
        option. Two things are lost, as neither headers nor columns hold them: the timestamps that producers set under
        LogAppendTime, and the numbering of inner messages in v0/v1 wrappers.
    coerce_timestamps : bool
        Round timestamps down to milliseconds, and take those without a time zone as UTC. False: both are refused,
        because something would be lost or guessed.
    **options
        `recordpress.typing.BatchOptions`, as for `BatchBuilder`: timestamp_type (None: the one in the timestampType
        column), log_append_time, producer_id, producer_epoch, base_sequence (the first record's; later batches
        count on), partition_leader_epoch, is_transactional, delete_horizon_ms. No option may repeat a column.

    Returns
    -------
    bytes
        A record set; b"" for no rows. A batch also ends before an offset more than 2^31-1 above its base.

    Raises
    ------
    InvalidArgumentError
        An unknown column, offsets that do not increase, a negative timestamp, and what `BatchBuilder` refuses; the
        message says which record. Columns with ``baseOffset`` that cannot give back the batches they were read from.
    ArgumentTypeError
        A column or an argument of another type.

    Examples
    --------
    >>> import recordpress, pyarrow
    >>> table = pyarrow.table({"key": [b"k", None], "value": ["a", "b"]})
    >>> data = recordpress.write_columns(table, "lz4", base_offset=100)
    >>> [(record.offset, record.key, record.value) for batch in recordpress.read_batches(data) for record in batch]
    [(100, b'k', b'a'), (101, None, b'b')]

    Read, and written again with another codec's level:

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
        source.ask(data)  # last of all that runs the caller's code: its arrays are still the caller's there
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
