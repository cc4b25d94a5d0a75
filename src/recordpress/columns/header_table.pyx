"""One row per batch, from headers only: nothing is decompressed."""

cimport cython
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset, strlen

from recordpress._arguments cimport flag_of
from recordpress._buffers cimport InputView, pooled, pooled_free, pooled_reserve
from recordpress._c.wire cimport (
    RP_CUT_ENTRY, RP_END, RP_OK, RP_PLUGGABLE, rp_batch, rp_batch_codec, rp_batch_next, rp_error, rp_fail,
)
from recordpress._sealed cimport seal
from recordpress._status cimport check, place, place_at
from recordpress.codecs.codec cimport codec, codec_at, codec_table, row_of
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.columns._arrow_out cimport array_data, array_init, chunk_data, chunk_drop, chunk_new
from recordpress.columns._columns cimport Columns, bounds_of, rows_of
from recordpress.record.header cimport BatchHeader, NAME_ROOM, fill_row, header_row

from recordpress.columns._arrow_out import Field
from recordpress.errors import ArgumentTypeError
from recordpress.record.header import FIELDS


cdef const char* PLUGGABLE = "pluggable"


cdef void put_name(const codec_table* codecs, int id, char* name) noexcept nogil:
    """Write the codec's name, padded with zeros; for an unknown codec, write its id, a digit."""
    cdef const codec* row = row_of(codecs, id)
    memset(name, 0, NAME_ROOM)
    if id == RP_PLUGGABLE or row != NULL and strlen(row.name) >= NAME_ROOM:
        memcpy(name, PLUGGABLE, strlen(PLUGGABLE))
    elif row == NULL:
        name[0] = <char>(48 + id)
    else:
        memcpy(name, row.name, strlen(row.name))


cdef int add_row(header_rows* to, const rp_batch* batch, const codec_table* codecs, int id,
                 rp_error* err) noexcept nogil:
    cdef size_t size = <size_t>to.n * sizeof(header_row)
    cdef int status
    to.rows.size = size
    if size + sizeof(header_row) > to.rows.capacity:
        status = pooled_reserve(&to.rows, 2 * size + 1024 * sizeof(header_row), err)  # 1024: chosen, not measured
        if status != RP_OK:
            return status
    if to.n == 0 or id != to.codec:
        put_name(codecs, id, to.codec_name)
        to.codec = id
    fill_row(<header_row*>to.rows.data + to.n, batch, to.codec_name)
    to.n += 1
    return RP_OK


cdef int scan(const uint8_t* data, int64_t size, const codec_table* codecs, header_rows* rows, int64_t* position,
              rp_error* err) noexcept nogil:
    """Scan headers; set `position` to the number of bytes of complete entries so far."""
    cdef rp_batch batch
    cdef int status
    while True:
        status = rp_batch_next(data, size, position[0], INT32_MAX, &batch, err)
        if status == RP_OK:
            status = add_row(rows, &batch, codecs, codec_at(codecs, data + position[0], &batch), err)
        if status != RP_OK:
            return status
        position[0] += batch.size


@cython.no_gc  # nothing in the object refers back to it
cdef class BatchTable(ArrowRows):
    """One row per batch, from `batch_table`: an Arrow producer and a NumPy structured array.

    ``table["lastOffset"]`` is one column, as in a `Columns`. Iteration yields a dict per batch.

    Attributes
    ----------
    num_rows : int
    column_names : list[str]
    schema : tuple of fields, each with name, type and nullable
    nbytes : int
        Bytes of the rows as Arrow columns.
    valid_bytes : int
        Bytes of the complete entries of the record set.
    trailing_bytes : int
        Bytes of a truncated entry after the complete entries.

    Examples
    --------
    >>> import recordpress
    >>> table = recordpress.batch_table(recordpress.write_records([b"a", b"b"], compression_type="lz4"))
    >>> table
    <recordpress.BatchTable: 1 batch, offsets 0 to 1, lz4>
    >>> table["recordsCount"].to_pylist(), [row["magic"] for row in table]
    ([2], [2])
    """

    def __init__(self):
        raise ArgumentTypeError("BatchTable cannot be created directly: use batch_table")

    def __dealloc__(self):
        pooled_free(&self._rows.rows)

    @property
    def num_rows(self):
        return self._rows.n

    def __len__(self):
        return self._rows.n

    def __repr__(self):
        cdef const header_row* first
        cdef const header_row* last
        if self.num_rows == 0:
            return "<recordpress.BatchTable: 0 batches>"
        first = <header_row*>self._rows.rows.data
        last = first + self._rows.n - 1
        return (f"<recordpress.BatchTable: {self.num_rows} batch{'es' * (self.num_rows > 1)}, offsets "
                f"{first.base_offset} to {last.last_offset}, {', '.join(dict.fromkeys(self['compressionType']))}>")

    def _repr_html_(self):
        return self._columns()._repr_html_()

    def __getitem__(self, key):
        """Return a column by its name, or rows by a slice."""
        if isinstance(key, slice):
            return self.slice(*rows_of(key, self.num_rows))
        return self._columns()[key]

    def __iter__(self):
        for row in zip(*(self[name] for name in self.column_names)):
            yield dict(zip(self.column_names, row))

    @property
    def column_names(self):
        return [name for name, _, _, _ in FIELDS]

    @property
    def schema(self):
        return self._columns().schema

    @property
    def nbytes(self):
        return self._columns().nbytes

    def slice(self, offset=0, length=None):
        """Return a copy of at most `length` rows that start at `offset`.

        Parameters
        ----------
        offset : int
        length : int | None
            Maximum number of rows. None: all remaining rows.

        Returns
        -------
        BatchTable

        Examples
        --------
        >>> import recordpress
        >>> len(recordpress.batch_table(recordpress.write_records([b"a", b"b"], batch_records=1)).slice(1))
        1
        """
        cdef BatchTable part = BatchTable.__new__(BatchTable)
        cdef rp_error err
        cdef size_t start, size
        first, part._rows.n = bounds_of(offset, length, self._rows.n)
        start, size = first, <size_t>part._rows.n * sizeof(header_row)
        check(pooled_reserve(&part._rows.rows, size, &err), &err)
        memcpy(part._rows.rows.data, self._rows.rows.data + start * sizeof(header_row), size)
        return part

    @property
    def __array_interface__(self):
        """NumPy's array interface: ``numpy.asarray(table)`` returns a read-only array, without a copy."""
        return {"version": 3, "shape": (self.num_rows,), "typestr": f"|V{sizeof(header_row)}",
                "descr": [(name, dtype) for name, dtype, _, _ in FIELDS], "data": (<size_t>self._rows.rows.data, True)}

    def to_numpy(self):
        """Return the rows as a NumPy structured array, which shares the table's memory.

        Timestamps are int64 milliseconds. -1 means no value, also for recordsCount.

        Returns
        -------
        numpy.ndarray
        """
        import numpy

        return numpy.asarray(self)

    def __arrow_c_schema__(self):
        return self._columns().__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema=None):
        return self._columns().__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._columns().__arrow_c_stream__(requested_schema)

    @cython.critical_section
    cdef Columns _columns(self):
        """Return the rows as Arrow columns."""
        if self._arrow is None:
            self._arrow = self._turned()
        return self._arrow

    cdef Columns _turned(self):
        cdef chunk_data** chunks = <chunk_data**>malloc(sizeof(chunk_data*))
        cdef chunk_data* chunk = chunk_new(<int64_t>len(FIELDS), 4 * <int64_t>len(FIELDS))
        if chunks == NULL or chunk == NULL:
            free(chunks)
            chunk_drop(chunk)
            raise MemoryError()
        chunks[0] = chunk
        chunk.rows = self._rows.n
        cdef int column
        cdef size_t at = 0
        fields = []
        for column, (name, dtype, format, null) in enumerate(FIELDS):
            width = int(dtype[2:])
            if format == "u":
                done = texts_of(chunk, &chunk.columns[column], <header_row*>self._rows.rows.data, self._rows.n)
            elif format == "b":
                done = bits_of(chunk, &chunk.columns[column], self._rows.rows.data + at, self.num_rows)
            else:
                done = values_of(chunk, &chunk.columns[column], self._rows.rows.data + at, <size_t>width, self._rows.n,
                                 null is not None)
            if not done:
                free(chunks)
                chunk_drop(chunk)
                raise MemoryError()
            at += <size_t>width
            fields.append(Field(name, format, null is not None))
        return Columns.make(tuple(fields), chunks, 1)


cdef uint8_t* buffer_of(chunk_data* chunk, size_t size) noexcept nogil:
    """Return zeroed memory that the chunk owns; NULL if out of memory."""
    cdef rp_error ignored
    cdef pooled* block = &chunk.blocks[chunk.n_blocks]
    if pooled_reserve(block, size, &ignored) != RP_OK:
        return NULL
    memset(block.data, 0, size)
    chunk.n_blocks += 1
    return block.data


cdef bint values_of(chunk_data* chunk, array_data* a, const uint8_t* at, size_t width, int64_t n,
                    bint nullable) noexcept nogil:
    """Fill a fixed-width column from the rows; in a nullable column, all ones (-1) become null."""
    cdef uint8_t* values = buffer_of(chunk, width * <size_t>n)
    cdef uint8_t* validity = buffer_of(chunk, <size_t>(n + 7) >> 3)
    cdef int64_t i, minus_one = -1
    if values == NULL or validity == NULL or not array_init(a, n, 2, 0):
        return False
    for i in range(n):
        memcpy(values + <size_t>i * width, at + <size_t>i * sizeof(header_row), width)
        if nullable and memcmp(at + <size_t>i * sizeof(header_row), &minus_one, width) == 0:
            a.null_count += 1
        else:
            validity[i >> 3] |= 1 << (i & 7)
    a.buffers[0] = validity if a.null_count else NULL
    a.buffers[1] = values
    return True


cdef bint bits_of(chunk_data* chunk, array_data* a, const uint8_t* at, int64_t n) noexcept nogil:
    cdef uint8_t* bits = buffer_of(chunk, <size_t>(n + 7) >> 3)
    cdef int64_t i
    if bits == NULL or not array_init(a, n, 2, 0):
        return False
    for i in range(n):
        bits[i >> 3] |= (at[<size_t>i * sizeof(header_row)] != 0) << (i & 7)
    a.buffers[1] = bits
    return True


cdef bint texts_of(chunk_data* chunk, array_data* a, const header_row* rows, int64_t n) noexcept nogil:
    """Fill a string column with the names of the codecs."""
    cdef int32_t* ends = <int32_t*>buffer_of(chunk, 4 * <size_t>(n + 1))
    cdef char* text = <char*>buffer_of(chunk, sizeof(rows[0].compression_type) * <size_t>n)
    cdef const char* name
    cdef int64_t i
    cdef size_t size
    if ends == NULL or text == NULL or not array_init(a, n, 3, 0):
        return False
    for i in range(n):
        name = <const char*>&rows[i].compression_type[0]
        size = strlen(name)
        memcpy(text + ends[i], name, size)
        ends[i + 1] = ends[i] + <int32_t>size
    a.buffers[1] = ends
    a.buffers[2] = text
    return True


seal(BatchTable, "batch_table")


cdef BatchTable new_table():
    return BatchTable.__new__(BatchTable)


def headers_table(headers):
    """Return the table of `BatchHeader` objects; plug-ins have no name in it."""
    cdef BatchTable table = new_table()
    cdef CodecTable own = table_of(None)
    cdef BatchHeader header
    cdef rp_error err
    for header in headers:
        check(add_row(&table._rows, &header._header, &own.rows, rp_batch_codec(&header._header), &err), &err)
    return table


def batch_table(data, *, complete=False, codecs=None):
    """Return the headers of all entries of a record set, one row per batch, without decompression or CRC checks.

    Parameters
    ----------
    data : bytes-like
        Record set.
    complete : bool
        A truncated last entry raises CorruptRecordError. If False, it is omitted; `trailing_bytes` has its size.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's; names of up to 15 characters are shown. Other plug-ins are
        ``pluggable``; `Batch.plugin_name` has the name of each.

    Returns
    -------
    BatchTable
        An Arrow producer (``pyarrow.table(t)``, ``polars.DataFrame(t)``) and a NumPy structured array
        (``t.to_numpy()``). Columns: position, size (bytes), magic, compressionType, attributes, baseOffset (of a
        v0/v1 wrapper: its last offset, the only offset in the header), lastOffset, recordsCount (null for a
        wrapper), baseTimestamp, maxTimestamp (ms), timestampType, partitionLeaderEpoch, producerId,
        producerEpoch, baseSequence, isTransactional, isControl, hasDeleteHorizon, crc.

    Raises
    ------
    CorruptRecordError
        A size is impossible, or a magic is not 0, 1 or 2; with complete=True, also a truncated last entry.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a"])
    >>> data += recordpress.write_records([b"b", b"c"], base_offset=1, compression_type="zstd")
    >>> rows = recordpress.batch_table(data).to_numpy()
    >>> rows["compressionType"].tolist(), rows["recordsCount"].tolist()
    ([b'none', b'zstd'], [1, 2])
    """
    cdef BatchTable table = new_table()
    cdef InputView view = InputView(data)
    cdef CodecTable own = table_of(codecs)
    cdef rp_error err
    cdef place at
    cdef bint whole = flag_of(complete, "complete")
    cdef int status
    with nogil:
        status = scan(view.data, view.size, &own.rows, &table._rows, &table.valid_bytes, &err)
    table.trailing_bytes = view.size - table.valid_bytes
    if status == RP_END and whole and table.trailing_bytes:
        status = rp_fail(&err, RP_CUT_ENTRY, -1, table.trailing_bytes, 0)
    if status != RP_END:
        at = place_at(table.valid_bytes)
        check(status, &err, &at)
    return table
