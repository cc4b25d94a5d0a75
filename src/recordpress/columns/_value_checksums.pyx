"""The checksum of each value of an Arrow column, without a Python object per value."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from recordpress._buffers cimport pooled, pooled_free, pooled_reserve_more
from recordpress._c.wire cimport RP_ARROW_LAYOUT, RP_OK, rp_error, rp_fail, rp_field
from recordpress._status cimport error_of
from recordpress.checksum cimport crc32c_update
from recordpress.columns._arrow_in cimport column, field_of
from recordpress.columns._arrow_out cimport array_data, array_init, chunk_data, chunk_drop, chunk_new
from recordpress.columns._columns cimport Column, Columns
from recordpress.columns._value_source cimport ValueSource

from recordpress.columns._arrow_out import Field

cdef tuple FIELDS = (Field("crc", "l", True),)

cdef enum:
    STEP = 1 << 24      # bytes of values after which signals are looked for


cdef class ValueChecksums:
    """The column that is made."""

    cdef pooled validity
    cdef pooled numbers
    cdef int64_t rows
    cdef int64_t null_count

    def __dealloc__(self):
        pooled_free(&self.validity)
        pooled_free(&self.numbers)

    cdef Column of(self, object data):
        cdef ValueSource source = ValueSource.__new__(ValueSource)
        cdef column values
        cdef int64_t rows, done
        cdef rp_error err
        cdef int status
        source.open(data)
        self.room(0)
        while True:
            rows = source.next_values(&values)
            if rows < 0:
                return self.made()
            self.room(rows)
            done = 0
            while done < rows:
                with nogil:
                    status = self.some(&values, &done, rows, &err)
                if status != RP_OK:
                    raise error_of(&err)
                PyErr_CheckSignals()

    cdef int room(self, int64_t more) except -1:
        """Make room for this many more values."""
        cdef rp_error err
        cdef size_t rows = <size_t>(self.rows + more), before = self.validity.size
        self.numbers.size = 8 * <size_t>self.rows
        if (pooled_reserve_more(&self.validity, ((rows + 8) >> 3) - before, &err) != RP_OK
                or pooled_reserve_more(&self.numbers, 8 * (rows + 1) - self.numbers.size, &err) != RP_OK):
            raise MemoryError
        self.validity.size = (rows + 8) >> 3
        memset(self.validity.data + before, 0, self.validity.size - before)
        return 0

    cdef int some(self, const column* values, int64_t* done, int64_t rows, rp_error* err) noexcept nogil:
        """Rows from `done` on, until signals should be looked for."""
        cdef int64_t* numbers = <int64_t*>self.numbers.data
        cdef int64_t seen = 0
        cdef rp_field f
        while done[0] < rows and seen < STEP:
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

    cdef Column made(self):
        cdef chunk_data** chunks = <chunk_data**>malloc(sizeof(chunk_data*))
        cdef chunk_data* chunk = chunk_new(1, 2)
        cdef array_data* array
        if chunks == NULL or chunk == NULL or not array_init(&chunk.columns[0], self.rows, 2, 0):
            free(chunks)
            chunk_drop(chunk)
            raise MemoryError
        chunks[0] = chunk
        chunk.rows = self.rows
        chunk.blocks[0], chunk.blocks[1] = self.validity, self.numbers
        chunk.n_blocks = 2
        array = &chunk.columns[0]
        array.null_count = self.null_count
        array.buffers[0] = self.validity.data if self.null_count else NULL
        array.buffers[1] = self.numbers.data
        memset(&self.validity, 0, sizeof(pooled))
        memset(&self.numbers, 0, sizeof(pooled))
        return Column.make(Columns.make(FIELDS, chunks, 1), 0)


def crc32c_values(data):
    """CRC-32C of each value of a column.

    Parameters
    ----------
    data : Arrow array, or stream of them
        Of binary, large_binary, binary_view or a string type: a column of pyarrow, polars or `read_columns`.

    Returns
    -------
    Column
        int64, 0 to 2**32 - 1, one row for each value; null where that is null. The function's source: RFC 3720,
        appendix B.4 (Castagnoli's polynomial).

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument that is not accepted, or an Arrow array that contradicts itself.

    Notes
    -----
    No Python object is made per value, and the GIL is released. The checksums equal the results of :func:`crc32c`.

    Examples
    --------
    >>> import recordpress, pyarrow
    >>> recordpress.crc32c_values(pyarrow.array([b"123456789", None])).to_pylist() == [0xE3069283, None]
    True
    """
    cdef ValueChecksums work = ValueChecksums.__new__(ValueChecksums)
    return work.of(data)
