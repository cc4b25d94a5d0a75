"""A codec or a checksum over each value of an Arrow column, without a Python object per value."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from recordpress._arguments cimport choice_of, integer_of
from recordpress._buffers cimport pooled, pooled_free, pooled_reserve_more
from recordpress._c.arrow cimport ArrowArray
from recordpress._c.wire cimport (
    RP_ARROW_LAYOUT, RP_CODEC_DECOMPRESS, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, rp_error, rp_fail, rp_field,
)
from recordpress._status cimport check, error_of
from recordpress.checksum cimport crc32c_update
from recordpress.codecs.codec cimport codec
from recordpress.codecs.context cimport codec_context, compress_with, context_acquire, context_release, decompress_with
from recordpress.codecs.table cimport CodecTable, DictionarySet, codec_of, dictionaries_of, level_of, row_with, table_of
from recordpress.columns._arrow_in cimport (
    BINARY, BINARY_VIEW, LARGE_BINARY, NULLS, ArrowSource, column, column_here, column_kind, column_type, field_of,
    type_of,
)
from recordpress.columns._arrow_out cimport array_init, chunk_data, chunk_drop, chunk_new
from recordpress.columns._columns cimport Column, Columns

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.columns._arrow_out import Field
from recordpress.errors import ArgumentTypeError, InvalidArgumentError, OutputTooLargeError, RecordpressError

cdef dict ON_CORRUPT = {"raise": False, "null": True}

cdef enum:
    STEP = 1 << 20      # bytes of values between two checks for signals
    CRC_STEP = 1 << 24  # the same for checksums, which are fast
    SHRINKS = 4         # about the compression ratio of a value; a higher ratio gets its room later
    MISSES = -1         # the row needs a dictionary that was not looked up yet


cdef class ValueSource(ArrowSource):
    """A column of the caller's values, one array after another."""

    cdef column_kind kind

    cdef int open(self, object data) except -1:
        """Take the capsules of `data`, which must be a column of values; this runs the caller's code."""
        cdef column_type type
        self.ask(data)
        type_of(&self.schema, 0, &type)
        if type.kind not in (NULLS, BINARY, LARGE_BINARY, BINARY_VIEW):
            format = self.schema.format.decode("utf-8", "replace")
            raise ArgumentTypeError("data must be a column of binary, large_binary, binary_view or a string type, "
                                    f"not of Arrow format {format!r}", field="data")
        self.kind = type.kind
        return 0

    cdef int64_t next_values(self, column* values) except -2:
        """Return the number of rows of the next array; -1 if there are no more arrays."""
        cdef const ArrowArray* array = self.next()
        if array == NULL:
            return -1
        if column_here(array, self.kind, values):
            raise InvalidArgumentError("an Arrow array's lengths or offsets contradict each other", field="data")
        return array.length


cdef class ValueColumn:
    """A new column with one row for each of the caller's values."""

    cdef pooled validity
    cdef pooled data
    cdef int64_t rows
    cdef int64_t null_count

    def __dealloc__(self):
        pooled_free(&self.validity)
        pooled_free(&self.data)

    cdef Column run(self, object data):
        """Read all arrays of the caller's data."""
        cdef ValueSource source = ValueSource.__new__(ValueSource)
        cdef column values
        cdef int64_t rows
        source.open(data)
        self.reserve(0)
        while True:
            rows = source.next_values(&values)
            if rows < 0:
                return self.finish()
            self.reserve(rows)
            self.add(&values, rows)

    cdef int reserve(self, int64_t more) except -1:
        """Make room for `more` further values."""
        cdef rp_error err
        cdef size_t before = self.validity.size, after = <size_t>(self.rows + more + 8) >> 3
        check(pooled_reserve_more(&self.validity, after - before, &err), &err)
        self.validity.size = after
        memset(self.validity.data + before, 0, after - before)
        return 0

    cdef int add(self, const column* values, int64_t n) except -1:
        raise NotImplementedError

    cdef Column finish(self):
        raise NotImplementedError

    cdef Column column_of(self, object field, pooled* ends):
        """Move the buffers to a column, which has `ends` if its values differ in size."""
        cdef pooled* blocks[3]
        cdef int i, n = 2 if ends == NULL else 3
        cdef chunk_data** chunks = <chunk_data**>malloc(sizeof(chunk_data*))
        cdef chunk_data* chunk = chunk_new(1, n)
        if chunks == NULL or chunk == NULL or not array_init(&chunk.columns[0], self.rows, n, 0):
            free(chunks)
            chunk_drop(chunk)
            raise MemoryError
        chunks[0] = chunk
        chunk.rows = self.rows
        chunk.n_blocks = n
        chunk.columns[0].null_count = self.null_count
        blocks[0], blocks[1], blocks[n - 1] = &self.validity, ends, &self.data
        for i in range(n):
            chunk.blocks[i] = blocks[i][0]
            chunk.columns[0].buffers[i] = blocks[i].data if i or self.null_count else NULL
            memset(blocks[i], 0, sizeof(pooled))
        return Column.make(Columns.make((field,), chunks, 1), 0)


cdef class ByValue(ValueColumn):
    """A column of the results of a codec."""

    cdef const codec* row
    cdef codec_context* context
    cdef DictionarySet known   # None: no dictionaries
    cdef bint learns           # there are dictionaries
    cdef bint packs
    cdef bint nulls            # a value that cannot be read becomes null
    cdef int level
    cdef size_t cap
    cdef pooled ends           # 0, then the end of each value
    cdef int64_t sought        # the row whose dictionaries were looked up
    cdef rp_field missed       # the value of that row

    def __cinit__(self):
        self.sought = -1

    def __dealloc__(self):
        context_release(self.context)
        pooled_free(&self.ends)

    cdef int begin(self, CodecTable codecs, const codec* row) except -1:
        self.row = row
        self.context = context_acquire(&codecs.rows)
        if self.context == NULL:
            raise MemoryError
        return 0

    cdef int reserve(self, int64_t more) except -1:
        cdef rp_error err
        ValueColumn.reserve(self, more)
        self.ends.size = 4 * <size_t>(self.rows + 1) if self.ends.data != NULL else 0
        check(pooled_reserve_more(&self.ends, 4 * <size_t>(self.rows + more + 1) - self.ends.size, &err), &err)
        check(pooled_reserve_more(&self.data, 1, &err), &err)
        (<int32_t*>self.ends.data)[self.rows] = <int32_t>self.data.size
        return 0

    cdef int add(self, const column* values, int64_t n) except -1:
        cdef int64_t i = 0
        cdef int status
        cdef rp_error err
        while i < n:
            with nogil:
                status = self.add_some(values, &i, n, &err)
            PyErr_CheckSignals()
            if status == MISSES:
                self.sought = self.rows
                self.known.learn(self.missed.data, <size_t>self.missed.size)
            elif status != RP_OK:
                self.fail(error_of(&err), &err)
                i += 1
        return 0

    cdef int add_some(self, const column* values, int64_t* i, int64_t n, rp_error* err) noexcept nogil:
        """Add rows starting at i, until there is work that needs the GIL."""
        cdef int64_t seen = 0
        cdef int status
        cdef rp_field f
        while i[0] < n and seen < STEP:
            if not field_of(values, values.kind, i[0], &f):
                return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
            status = self.add_value(&f, err)
            if status != RP_OK:
                return status
            i[0] += 1
            seen += 64 + max(f.size, <int64_t>0)
        return RP_OK

    cdef int add_value(self, const rp_field* f, rp_error* err) noexcept nogil:
        cdef size_t before = self.data.size
        cdef int status = RP_OK
        if f.size >= 0:
            if self.learns and self.sought != self.rows and self.known.misses(f.data, <size_t>f.size):
                self.missed = f[0]
                return MISSES
            status = self.apply_codec(f, err)
            if self.data.size > <size_t>INT32_MAX:
                status = rp_fail(err, RP_OUTPUT_CAP, -1, 0, INT32_MAX)
            if status != RP_OK:
                self.data.size = before
                # a plug-in may have raised an interrupt
                if not self.nulls or status == RP_NO_MEMORY or status == RP_CODEC_DECOMPRESS or self.is_full(err):
                    return status
        if f.size < 0 or status != RP_OK:
            self.add_null()
            return RP_OK
        self.validity.data[self.rows >> 3] |= 1 << (self.rows & 7)
        self.end_row()
        return RP_OK

    cdef void add_null(self) noexcept nogil:
        self.null_count += 1
        self.end_row()

    cdef void end_row(self) noexcept nogil:
        self.rows += 1
        (<int32_t*>self.ends.data)[self.rows] = <int32_t>self.data.size

    cdef int apply_codec(self, const rp_field* f, rp_error* err) noexcept nogil:
        cdef size_t likely = self.row.bound(<size_t>f.size) if self.packs else SHRINKS * <size_t>f.size
        if pooled_reserve_more(&self.data, likely, err) != RP_OK:  # so that the block grows by doubling
            return err.status
        if self.packs:
            return compress_with(self.row, self.context, self.level, 2, f.data, <size_t>f.size, &self.data, err)
        return decompress_with(self.row, self.context, False, 2, f.data, <size_t>f.size, &self.data, self.left(), err)

    cdef size_t left(self) noexcept nogil:
        """Return the maximum size of the next value."""
        return min(self.cap, <size_t>INT32_MAX - self.data.size)

    cdef bint is_full(self, const rp_error* err) noexcept nogil:
        """Return whether the column, and not the value, has become too large."""
        return err.status == RP_OUTPUT_CAP and err.limit != <int64_t>self.cap

    cdef int fail(self, object error, const rp_error* err) except -1:
        """Raise the error, unless it comes from a plug-in and makes the value null."""
        if err.status == RP_CODEC_DECOMPRESS and self.nulls and isinstance(error, RecordpressError):
            self.add_null()
            return 0
        if self.is_full(err):
            raise OutputTooLargeError(f"row {self.rows}: the values of one column take more than {INT32_MAX} bytes: "
                                      "pass fewer rows per call", field="data")
        if isinstance(error, RecordpressError):
            error.message = f"row {self.rows}: {error.message}"
            error.args = (error.message,)
        raise error

    cdef Column finish(self):
        return self.column_of(Field("value", "z", True), &self.ends)


cdef class ValueChecksums(ValueColumn):
    """A column of the checksums of values."""

    cdef int reserve(self, int64_t more) except -1:
        cdef rp_error err
        ValueColumn.reserve(self, more)
        self.data.size = 8 * <size_t>self.rows
        check(pooled_reserve_more(&self.data, 8 * <size_t>(more + 1), &err), &err)
        return 0

    cdef int add(self, const column* values, int64_t n) except -1:
        cdef int64_t done = 0
        cdef rp_error err
        cdef int status
        while done < n:
            with nogil:
                status = self.add_some(values, &done, n, &err)
            if status != RP_OK:
                raise error_of(&err)
            PyErr_CheckSignals()
        return 0

    cdef int add_some(self, const column* values, int64_t* done, int64_t rows, rp_error* err) noexcept nogil:
        """Add rows starting at `done`, until it is time to check for signals."""
        cdef int64_t* numbers = <int64_t*>self.data.data
        cdef int64_t seen = 0
        cdef rp_field f
        while done[0] < rows and seen < CRC_STEP:
            if not field_of(values, values.kind, done[0], &f):
                return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
            if f.size < 0:
                numbers[self.rows] = 0
                self.null_count += 1
            else:
                numbers[self.rows] = crc32c_update(0, <const uint8_t*>f.data, <size_t>f.size)
                self.validity.data[self.rows >> 3] |= 1 << (self.rows & 7)
            self.rows += 1
            done[0] += 1
            seen += 64 + max(f.size, <int64_t>0)
        return RP_OK

    cdef Column finish(self):
        return self.column_of(Field("crc", "l", True), NULL)


def compress_values(data, compression_type, level=None, *, dictionary=None, codecs=None):
    """Compress each value of a column separately.

    Parameters
    ----------
    data : Arrow array, or stream of arrays
        A column of pyarrow, polars or `read_columns`, of type binary, large_binary, binary_view or a string type.
    compression_type, level, dictionary, codecs
        As in :func:`compress`.

    Returns
    -------
    Column
        binary, one row for each value; null for a null value. At most 2147483647 bytes in all.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is invalid, or an Arrow array is inconsistent.
    OutputTooLargeError
        The result would be larger than one Arrow array of binary can be.

    Notes
    -----
    No Python object is created per value, and the GIL is released. The values equal the results of :func:`compress`.

    Examples
    --------
    >>> import recordpress
    >>> columns = recordpress.read_columns(recordpress.write_records([b"value %d of many" % n for n in range(1000)]))
    >>> dictionary = recordpress.dictionaries.train_values(columns["value"].to_pylist(), 512)
    >>> small = recordpress.compress_values(columns["value"], "zstd", dictionary=dictionary)
    >>> recordpress.decompress_values(small, "zstd", dictionaries=dictionary)[7]
    b'value 7 of many'
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef ByValue work = ByValue.__new__(ByValue)
    work.packs = True
    work.level = level_of(row, level)
    if dictionary is not None:
        row = row_with(row, dictionary, "dictionary")
    work.begin(table, row)
    return work.run(data)


def decompress_values(data, compression_type, max_decompressed_bytes=DEFAULT_MAX_SIZE, *, dictionaries=None,
                      on_corrupt="raise", codecs=None):
    """Decompress each value of a column.

    Parameters
    ----------
    data : Arrow array, or stream of arrays
        As in :func:`compress_values`.
    compression_type, dictionaries, codecs
        As in :func:`decompress`.
    max_decompressed_bytes : int
        Maximum size of one decompressed value in bytes, 0 to 2147483647; 64 MiB by default.
    on_corrupt : {"raise", "null"}
        How to treat a value that cannot be read. "null" also applies to a value that is larger than
        max_decompressed_bytes or needs a dictionary that was not given.

    Returns
    -------
    Column
        binary, one row for each value; null for a null value. At most 2147483647 bytes in all.

    Raises
    ------
    DecompressionError
        A value cannot be read. The message has the number of its row; `position` is the byte in the value.
    OutputTooLargeError
        A value is larger than max_decompressed_bytes, or the result is larger than one Arrow array of binary can be.
    InvalidArgumentError, ArgumentTypeError
        As in :func:`compress_values`.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([recordpress.compress(b"text", "gzip"), None, b"?"])
    >>> small = recordpress.read_columns(data)["value"]
    >>> recordpress.decompress_values(small, "gzip", on_corrupt="null").to_pylist()
    [b'text', None, None]
    """
    cdef CodecTable table = table_of(codecs)
    cdef const codec* row = codec_of(table, compression_type)
    cdef ByValue work = ByValue.__new__(ByValue)
    work.cap = <size_t>integer_of(max_decompressed_bytes, "max_decompressed_bytes", 0, INT32_MAX)
    work.nulls = choice_of("on_corrupt", on_corrupt, ON_CORRUPT)
    if dictionaries is not None:
        work.known = dictionaries_of(row, dictionaries)
        work.learns = True
        row = &work.known.row
    work.begin(table, row)
    return work.run(data)


def crc32c_values(data):
    """Compute the CRC-32C of each value of a column.

    Parameters
    ----------
    data : Arrow array, or stream of arrays
        A column of pyarrow, polars or `read_columns`, of type binary, large_binary, binary_view or a string type.

    Returns
    -------
    Column
        int64, 0 to 2**32 - 1, one row for each value; null for a null value. RFC 3720, appendix B.4, defines CRC-32C
        (Castagnoli's polynomial).

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument is invalid, or an Arrow array is inconsistent.

    Notes
    -----
    No Python object is created per value, and the GIL is released. The checksums equal the results of :func:`crc32c`.

    Examples
    --------
    >>> import recordpress, pyarrow
    >>> recordpress.crc32c_values(pyarrow.array([b"123456789", None])).to_pylist() == [0xE3069283, None]
    True
    """
    cdef ValueChecksums work = ValueChecksums.__new__(ValueChecksums)
    return work.run(data)
