"""Columns: recordpress's own Arrow arrays, as Python objects."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from recordpress._arguments cimport integer_of
from recordpress._c.wire cimport RP_VIEW_INLINED
from recordpress._sealed cimport seal
from recordpress.columns._arrow_out cimport (
    EVERY_COLUMN, array_capsule, array_data, chunk_drop, parts_copy, schema_capsule, stream_capsule,
)
from recordpress.columns._roundtrip_loss cimport loss, loss_of_both, metadata_of

from recordpress.columns._arrow_out import Field
from recordpress.errors import ArgumentTypeError, InvalidArgumentError, NotFoundError

# --- values and their sizes ------------------------------------------------------------------------------------------

# For a look at the data, or for use without an Arrow library: a consumer of the Arrow protocol is far faster.

cdef dict KINDS = {
    "b": BOOL, "c": INT8, "s": INT16, "i": INT32, "I": UINT32, "l": INT64, "z": BINARY, "Z": LARGE_BINARY,
    "vz": BINARY_VIEW, "u": STRING, "tsm:UTC": TIMESTAMP_MS, "tsu:UTC": TIMESTAMP_US, "+l": HEADERS,
}
cdef int64_t[13] WIDTHS  # bytes of a row in the first buffer after the validity
WIDTHS[:] = [0, 1, 2, 4, 4, 8, 4, 8, 16, 4, 8, 8, 4]


cdef value_kind kind_of(str format) except *:
    return KINDS[format]


cdef object value_at(const array_data* a, value_kind kind, int64_t i):
    """Return the value of row i: None, bool, int, str, bytes, a datetime in UTC, or a list of headers as in
    `Record`."""
    if not is_valid_at(a, i):
        return None
    if kind == BOOL:
        return number_at(a, kind, i) == 1
    if kind <= INT64:
        return number_at(a, kind, i)
    if kind == TIMESTAMP_MS or kind == TIMESTAMP_US:
        return datetime_of(number_at(a, kind, i), 1000 if kind == TIMESTAMP_MS else 1)
    if kind == HEADERS:
        return headers_at(a, i)
    cdef bytes value = bytes_at(a, kind, i)
    return value.decode("utf-8", "replace") if kind == STRING else value


cdef bytes bytes_at(const array_data* a, value_kind kind, int64_t i):
    cdef bytes_slice found = slice_at(a, kind, i)
    return PyBytes_FromStringAndSize(<const char*>found.data, found.size)


cdef list headers_at(const array_data* a, int64_t i):
    cdef const int32_t* ends = <const int32_t*>a.buffers[1]
    cdef const array_data* pair = &a.children[0]
    cdef int64_t n
    return [(value_at(&pair.children[0], STRING, n), value_at(&pair.children[1], BINARY, n))
            for n in range(ends[i], ends[i + 1])]


cdef object datetime_of(int64_t time, int64_t micros):
    from datetime import UTC, datetime, timedelta

    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time * <object>micros)
    except OverflowError:
        unit = "ms" if micros == 1000 else "us"
        raise InvalidArgumentError(f"timestamp {time} {unit} is outside the years 1 to 9999 that a datetime can hold: "
                                   "use the column as Arrow data", field="timestamp") from None


cdef int64_t bytes_of(const array_data* a, value_kind kind, int64_t start, int64_t rows) noexcept nogil:
    """Return the number of bytes that the rows take in the array's buffers, counted as pyarrow does."""
    cdef int64_t size = WIDTHS[<int>kind] * rows if kind != BOOL else (rows + 7) >> 3
    cdef int64_t i, first, last
    cdef const int32_t* views
    if a.buffers[0] != NULL:
        size += (rows + 7) >> 3
    if kind == BINARY_VIEW:
        views = <const int32_t*>a.buffers[1] + 4 * start
        for i in range(rows):
            size += views[4 * i] if views[4 * i] > RP_VIEW_INLINED else 0
    elif kind == LARGE_BINARY:
        size += (<const int64_t*>a.buffers[1])[start + rows] - (<const int64_t*>a.buffers[1])[start]
    elif kind == BINARY or kind == STRING:
        size += (<const int32_t*>a.buffers[1])[start + rows] - (<const int32_t*>a.buffers[1])[start]
    elif kind == HEADERS:
        first, last = (<const int32_t*>a.buffers[1])[start], (<const int32_t*>a.buffers[1])[start + rows]
        size += bytes_of(&a.children[0].children[0], STRING, first, last - first)
        size += bytes_of(&a.children[0].children[1], BINARY, first, last - first)
    return size


# --- rows and columns ------------------------------------------------------------------------------------------------

cdef str UNKNOWN = "?"

cdef enum:
    SHOWN_VALUES = 3       # a column's repr fits a line of a terminal
    SHOWN_CHARACTERS = 40


class _NotOneArray(InvalidArgumentError, AttributeError):
    """Error that is also an AttributeError, so that hasattr() returns False."""


cdef object shown(object value):
    """Return the value's repr, truncated."""
    if isinstance(value, bytes):
        value = value[:SHOWN_CHARACTERS]
    text = str(value) if hasattr(value, "isoformat") else repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS - 3]}..."


cdef object bounds_of(object start, object length, int64_t rows):
    """Return (first row, number of rows) of a slice in pyarrow's form."""
    cdef int64_t first = min(integer_of(start, "offset", 0, INT64_MAX), rows)
    if length is None:
        return first, rows - first
    return first, min(integer_of(length, "length", 0, INT64_MAX), rows - first)


cdef object rows_of(object key, int64_t rows):
    """Return (first row, number of rows) of a Python slice."""
    start, stop, step = key.indices(rows)
    if step != 1:
        raise InvalidArgumentError(f"a slice must have a step of 1, not {step}", field="key")
    return start, max(stop - start, 0)


cdef class ArrowRows:
    """The rows in another library's form, through an Arrow stream."""

    cdef object consumed(self, consumer):
        """Return the object that a consumer of streams creates from the rows."""
        return consumer(self)

    def to_pyarrow(self):
        """Return the rows as a pyarrow table.

        Returns
        -------
        pyarrow.Table

        Examples
        --------
        >>> import recordpress
        >>> recordpress.read_columns(recordpress.write_records([b"a"]), ["value"]).to_pyarrow().to_pydict()
        {'value': [b'a']}
        """
        import pyarrow

        return self.consumed(pyarrow.table)

    def to_pandas(self):
        """Return the rows as a pandas frame. pandas needs pyarrow for this.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import recordpress
        >>> recordpress.read_columns(recordpress.write_records([b"a"]), ["value"]).to_pandas().shape
        (1, 1)
        """
        return self.to_pyarrow().to_pandas()

    def to_polars(self):
        """Return the rows as a polars frame.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import recordpress
        >>> recordpress.read_columns(recordpress.write_records([b"a"]), ["value"]).to_polars().shape
        (1, 1)
        """
        import polars

        return self.consumed(polars.DataFrame)


cdef class Columns(ArrowRows):
    """Records as Arrow columns: one or more record batches that share a schema.

    `read_columns` returns one object and `iter_columns` yields several. ``columns["value"]`` is one column. Any Arrow
    consumer takes all columns through the PyCapsule interface, without a copy: ``pyarrow.table(columns)``,
    ``polars.DataFrame(columns)``, ``duckdb.from_arrow(columns)``, or `to_pyarrow`, `to_polars` and `to_pandas`. The
    memory returns to recordpress's pool when the last consumer releases it.

    ``len(columns)`` is the number of rows. Iteration yields the record batches, each as a `Columns`.

    Attributes
    ----------
    num_rows : int
    shape : (int, int)
        Number of rows and of columns.
    column_names : list[str]
    schema : tuple of fields, each with name, type and nullable
    nbytes : int
        Bytes of the rows in memory.
    lz4_header_errors : list of DecompressionError
        Wrong header checksums of LZ4 frames that ``lz4_header_checksum="ignore"`` accepted, each with its place. Only
        the whole result has the list: it is empty for a slice.

    Examples
    --------
    >>> import recordpress
    >>> columns = recordpress.read_columns(recordpress.write_records([b"a", b"b"]), ["offset", "value"])
    >>> columns
    <recordpress.Columns: 2 rows
      offset: int64 not null = 0, 1
      value: binary = b'a', b'b'>
    >>> columns["value"].to_pylist(), columns[1:]["offset"].to_pylist(), columns.nbytes
    ([b'a', b'b'], [1], 26)
    """

    def __init__(self):
        raise ArgumentTypeError("Columns cannot be created directly: use read_columns or iter_columns")

    @staticmethod
    cdef Columns make(tuple fields, chunk_data** chunks, int64_t n_chunks):
        """Take ownership of the array of chunks, and of a reference to each chunk."""
        cdef part* parts = <part*>malloc(sizeof(part) * <size_t>(n_chunks + 1))
        cdef int64_t i
        if parts == NULL:
            for i in range(n_chunks):
                chunk_drop(chunks[i])
            free(chunks)
            raise MemoryError()
        for i in range(n_chunks):
            parts[i].chunk, parts[i].offset, parts[i].rows = chunks[i], 0, chunks[i].rows
        free(chunks)
        return Columns.of_parts(fields, parts, n_chunks)

    @staticmethod
    cdef Columns of_parts(tuple fields, part* parts, int64_t n_parts):
        """Take ownership of the array of parts, and of a reference to the chunk of each part."""
        cdef Columns self = Columns.__new__(Columns)
        cdef int64_t i
        self._fields = fields
        self._parts = parts
        self._n_parts = n_parts
        for i in range(n_parts):
            self.num_rows += parts[i].rows
        return self

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self._n_parts):
            chunk_drop(self._parts[i].chunk)
        free(self._parts)

    @property
    def shape(self):
        return self.num_rows, len(self._fields)

    @property
    def column_names(self):
        return [field.name for field in self._fields]

    @property
    def schema(self):
        return self._fields

    @property
    def lz4_header_errors(self):
        return self.ignored_header_errors or []

    @property
    def nbytes(self):
        return sum(Column.make(self, i).nbytes for i in range(len(self._fields)))

    def __len__(self):
        return self.num_rows

    def __repr__(self):
        lines = [f"<recordpress.Columns: {self.num_rows} row{'s' * (self.num_rows != 1)}"]
        for i in range(len(self._fields)):
            lines.append(f"  {self._fields[i]!r} = {Column.make(self, i)._shown()}")
        return "\n".join(lines) + ">"

    def _repr_html_(self):
        from recordpress._html import MOST_ROWS, html_table

        rows = zip(*(Column.make(self, i)._first(MOST_ROWS) for i in range(len(self._fields))))
        caption = "rows" if self.num_rows > MOST_ROWS else f"{self.num_rows} row{'s' * (self.num_rows != 1)}"
        return html_table(caption, self.column_names, rows, self.num_rows)

    def to_pydict(self):
        """Return a list of Python objects for each column.

        Returns
        -------
        dict of str to list

        Examples
        --------
        >>> import recordpress
        >>> recordpress.read_columns(recordpress.write_records([b"a", b"b"]), ["offset", "value"]).to_pydict()
        {'offset': [0, 1], 'value': [b'a', b'b']}
        """
        return {field.name: Column.make(self, i).to_pylist() for i, field in enumerate(self._fields)}

    def __iter__(self):
        cdef int64_t i
        for i in range(self._n_parts):
            yield Columns.of_parts(self._fields, parts_copy(&self._parts[i], 1), 1)

    def __getitem__(self, key):
        """Return a column by its name, or rows by a slice."""
        if isinstance(key, slice):
            start, rows = rows_of(key, self.num_rows)
            return self._sliced(start, rows)
        if not isinstance(key, str):
            raise ArgumentTypeError("columns are selected by name, rows by a slice, "
                                    f"not by {type(key).__name__}", field="key")
        if key not in self.column_names:
            raise NotFoundError(f"no column {key!r}; the columns are {', '.join(self.column_names)}", field="key")
        return Column.make(self, self.column_names.index(key))

    def slice(self, offset=0, length=None):
        """Return the rows that start at `offset`, without a copy.

        Parameters
        ----------
        offset : int
        length : int | None
            Maximum number of rows. None: all remaining rows.

        Returns
        -------
        Columns

        Examples
        --------
        >>> import recordpress
        >>> columns = recordpress.read_columns(recordpress.write_records([b"a", b"b", b"c"]))
        >>> columns.slice(1, 1)["value"].to_pylist()
        [b'b']
        """
        start, rows = bounds_of(offset, length, self.num_rows)
        return self._sliced(start, rows)

    cdef Columns _sliced(self, int64_t start, int64_t rows):
        """Return a slice without empty parts, but with at least one part."""
        cdef part* parts = <part*>malloc(sizeof(part) * <size_t>(self._n_parts + 1))
        cdef part* copy
        cdef int64_t i, n = 0
        if parts == NULL:
            raise MemoryError()
        for i in range(self._n_parts):
            parts[n] = self._parts[i]
            parts[n].offset += min(start, parts[n].rows)
            parts[n].rows = min(parts[n].rows - min(start, parts[n].rows), rows)
            start -= min(start, self._parts[i].rows)
            rows -= parts[n].rows
            n += parts[n].rows > 0 or (n == 0 and i == self._n_parts - 1)
        try:
            copy = parts_copy(parts, n)
        finally:
            free(parts)
        return Columns.of_parts(self._fields, copy, n)

    def __array__(self, dtype=None, copy=None):
        """Raise an error: NumPy has no mixed tables, but pandas requests an array from an unknown object."""
        raise ArgumentTypeError("Columns cannot be converted to a NumPy array: use to_pandas() for a frame, "
                                "to_pyarrow()[name].to_numpy() for one column", field="columns")

    def __arrow_c_schema__(self):
        """Return the schema as an ``arrow_schema`` capsule: a struct with a child for every column."""
        return schema_capsule(self._struct(), self._metadata())

    cdef object _struct(self):
        return Field("", "+s", False, self._fields)

    cdef bytes _metadata(self):
        cdef loss lost
        cdef int64_t i
        memset(&lost, 0, sizeof(loss))
        for i in range(self._n_parts):
            lost = loss_of_both(&lost, &self._parts[i].chunk.lost)
        return metadata_of(&lost)

    @property
    def __arrow_c_array__(self):
        """A method that returns (``arrow_schema``, ``arrow_array``) capsules, only for a result of one record batch.
        Consumers check whether it exists (polars does so first), so it must not exist for several record batches.

        Raises
        ------
        InvalidArgumentError
            There are several record batches (a result over 2 GiB, or threads > 1): use the stream. The error is also
            an AttributeError.
        """
        check_one(self)
        return self._array

    def _array(self, requested_schema=None):
        check_one(self)
        return self.__arrow_c_schema__(), array_capsule(self._parts, EVERY_COLUMN)

    def __arrow_c_stream__(self, requested_schema=None):
        """Return an ``arrow_array_stream`` capsule over all record batches. requested_schema is ignored: the interface
        allows a producer to export its own schema."""
        return stream_capsule(self._struct(), EVERY_COLUMN, self._parts, self._n_parts, self._metadata())


cdef int check_one(Columns columns) except -1:
    if columns._n_parts != 1:
        raise _NotOneArray(f"{columns._n_parts} record batches are not one array: use the stream "
                           "(__arrow_c_stream__), or iterate over them")
    return 0


cdef class Column:
    """One column of a `Columns`, by ``columns[name]``.

    It supports len(), indexes (``column[0]``, ``column[-1]``), slices, and iteration over Python objects: None, bool,
    int, str, bytes, an aware datetime, or a list of (key, value) for headers. For more than a look, pass it to an Arrow
    library: ``pyarrow.chunked_array(column)``, ``polars.Series(column)``.

    Attributes
    ----------
    name : str
    type : str
        Its Arrow type, as pyarrow writes it.
    nbytes : int
        Bytes of its rows in memory.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a", None], headers=[[("h", b"x")], None])
    >>> columns = recordpress.read_columns(data)
    >>> columns["value"]
    <recordpress.Column: 2 rows of value: binary = b'a', None>
    >>> columns["value"][-1], list(columns["offset"]), columns["headers"].to_pylist()
    (None, [0, 1], [[('h', b'x')], []])
    """

    def __init__(self):
        raise ArgumentTypeError("Column cannot be created directly: use columns[name]")

    @staticmethod
    cdef Column make(Columns columns, int64_t number):
        cdef Column self = Column.__new__(Column)
        self._columns = columns
        self._number = number
        self._field = columns._fields[number]
        self._kind = kind_of(self._field.format)
        return self

    @property
    def name(self):
        return self._field.name

    @property
    def type(self):
        return self._field.type

    @property
    def nbytes(self):
        cdef Columns columns = self._columns
        cdef int64_t i, size = 0
        for i in range(columns._n_parts):
            size += bytes_of(&columns._parts[i].chunk.columns[self._number], self._kind, columns._parts[i].offset,
                             columns._parts[i].rows)
        return size

    def __len__(self):
        return self._columns.num_rows

    def __repr__(self):
        rows = len(self)
        return f"<recordpress.Column: {rows} row{'s' * (rows != 1)} of {self._field!r} = {self._shown()}>"

    def _first(self, most):
        """Return the first values, with `UNKNOWN` for a time that no datetime can hold."""
        cdef int64_t i
        values = []
        for i in range(min(<int64_t>most, self._columns.num_rows)):
            try:
                values.append(self._at(i))
            except InvalidArgumentError:
                values.append(UNKNOWN)
        return values

    def _shown(self):
        """Return the first values, as text."""
        texts = ["?" if value is UNKNOWN else shown(value) for value in self._first(SHOWN_VALUES)]
        return ", ".join(texts) + (", ..." if self._columns.num_rows > SHOWN_VALUES else "")

    cdef object _at(self, int64_t row):
        cdef Columns columns = self._columns
        cdef int64_t i
        for i in range(columns._n_parts):
            if row < columns._parts[i].rows:
                return value_at(&columns._parts[i].chunk.columns[self._number], self._kind,
                                columns._parts[i].offset + row)
            row -= columns._parts[i].rows

    def __getitem__(self, key):
        """Return a value by its row, or rows by a slice."""
        cdef int64_t rows = len(self)
        cdef int64_t row
        if isinstance(key, slice):
            return Column.make(self._columns[key], self._number)
        row = integer_of(key, "key", -INT64_MAX, INT64_MAX)
        if not -rows <= row < rows:
            raise NotFoundError(f"no row {key} in {rows} rows", field="key")
        return self._at(row if row >= 0 else row + rows)

    def __iter__(self):
        cdef Columns columns = self._columns
        cdef int64_t i, row
        for i in range(columns._n_parts):
            for row in range(columns._parts[i].offset, columns._parts[i].offset + columns._parts[i].rows):
                yield value_at(&columns._parts[i].chunk.columns[self._number], self._kind, row)

    def to_pylist(self):
        """Return all values as a list of Python objects.

        Returns
        -------
        list
            None, bool, int, str, bytes, aware datetimes, or, for headers, a list of (key, value) for each record.

        Raises
        ------
        InvalidArgumentError
            A time is outside the years 1 to 9999.

        Examples
        --------
        >>> import recordpress
        >>> recordpress.read_columns(recordpress.write_records([b"a", None]))["value"].to_pylist()
        [b'a', None]
        """
        return list(self)

    def slice(self, offset=0, length=None):
        """Return at most `length` rows that start at `offset`, without a copy.

        Parameters
        ----------
        offset : int
        length : int | None
            Maximum number of rows. None: all remaining rows.

        Returns
        -------
        Column

        Examples
        --------
        >>> import recordpress
        >>> recordpress.read_columns(recordpress.write_records([b"a", b"b"]))["value"].slice(1).to_pylist()
        [b'b']
        """
        return Column.make(self._columns.slice(offset, length), self._number)

    def __arrow_c_schema__(self):
        """Return the type as an ``arrow_schema`` capsule."""
        return schema_capsule(self._field)

    @property
    def __arrow_c_array__(self):
        """A method as in `Columns`; only a column of one record batch has it."""
        check_one(self._columns)
        return self._array

    def _array(self, requested_schema=None):
        check_one(self._columns)
        return self.__arrow_c_schema__(), array_capsule(self._columns._parts, self._number)

    def __arrow_c_stream__(self, requested_schema=None):
        """Return an ``arrow_array_stream`` capsule over the column's arrays, one per record batch."""
        cdef Columns columns = self._columns
        return stream_capsule(self._field, self._number, columns._parts, columns._n_parts)


seal(Columns, "read_columns and iter_columns")
seal(Column, "columns[name]")
