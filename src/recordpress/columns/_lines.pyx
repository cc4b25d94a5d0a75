"""Rows of columns as lines of text: JSON, CSV, and the lines that Kafka's DumpLogSegments prints for records.

Lines are written from the arrays themselves, without a Python object per record.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport PyObject
from libc.stdint cimport INT32_MAX, SIZE_MAX, int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from recordpress._arguments cimport choice_of, flag_of, integer_of
from recordpress._buffers cimport PooledBlock, pooled, pooled_free
from recordpress._c.python cimport references
from recordpress._c.wire cimport RP_OK
from recordpress._threads cimport Threads, task
from recordpress.columns._arrow_out cimport array_data, part
from recordpress.columns._columns cimport (
    BINARY, BINARY_VIEW, BOOL, HEADERS, INT32, INT64, LARGE_BINARY, STRING, TIMESTAMP_MS, TIMESTAMP_US, UINT32, Columns,
    bytes_slice, is_valid_at, kind_of, number_at, slice_at, value_kind,
)
from recordpress.columns._text cimport (
    AS_BASE64, AS_HEX, AS_JSON, AS_SIZE, AS_UTF8, put, put_csv_bytes, put_csv_quoted, put_json_bytes, put_json_text,
    put_number, put_utf8, room, shown_as,
)

from collections import deque

from recordpress.errors import ArgumentTypeError, InvalidArgumentError

# A column: how it is read, and the text before its values.
ctypedef struct text_column:
    value_kind kind
    int64_t number
    const char* before
    size_t before_size


# A value of a JSON line that is not the same in all rows of a part, and the place of the text before it in `heads`.
ctypedef struct json_cell:
    value_kind kind
    const array_data* array
    size_t head
    size_t head_size


# A row of a part.
ctypedef struct place:
    int64_t part
    int64_t row


# The rows that are being written, the form of their lines, and the text so far.
ctypedef struct writer:
    pooled out
    pooled scratch
    shown_as form
    int (*line)(writer* w, const part* p, int64_t i) noexcept nogil
    int (*begin)(writer* w, const part* p) noexcept nogil      # begins a part, or NULL
    text_column* columns
    int64_t n_columns
    json_cell* cells        # of the part that is being written; the last cell has no value
    int64_t n_cells
    pooled heads            # each with BLOCK bytes of padding
    bint metadata
    bint contents
    const part* parts
    int64_t n_parts
    place at                # the next row


_SHOWN_AS = {"utf8": AS_UTF8, "hex": AS_HEX, "base64": AS_BASE64, "json": AS_JSON, "size": AS_SIZE}


cdef enum:
    BLOCK = 32  # the widest usual register


# --- values of arrays ---------------------------------------------------------------------------------------------

cdef bint is_bytes(value_kind kind) noexcept nogil:
    return kind == BINARY or kind == LARGE_BINARY or kind == BINARY_VIEW


cdef bint is_time(value_kind kind) noexcept nogil:
    return kind == TIMESTAMP_MS or kind == TIMESTAMP_US


# --- JSON ---------------------------------------------------------------------------------------------------------

cdef int put_json_headers(pooled* out, shown_as form, const array_data* a, int64_t i) noexcept nogil:
    """Write headers as [[key, value], ...], and null as an empty list."""
    cdef const int32_t* ends = <const int32_t*>a.buffers[1]
    cdef const array_data* pair = &a.children[0]
    cdef bytes_slice key, value
    cdef int64_t n, first = ends[i]
    if ends[i + 1] == first:
        return put(out, b"[]", 2)
    if put(out, b"[", 1):
        return -1
    for n in range(first, ends[i + 1] if is_valid_at(a, i) else first):
        key = slice_at(&pair.children[0], STRING, n)
        value = slice_at(&pair.children[1], BINARY, n)
        if (n > first and put(out, b",", 1)) or put(out, b"[", 1):
            return -1
        if put_json_text(out, key.data, <size_t>key.size) or put(out, b",", 1):
            return -1
        if put_json_value(out, value, form) or put(out, b"]", 1):
            return -1
    return put(out, b"]", 1)


cdef int put_json_value(pooled* out, bytes_slice value, shown_as form) noexcept nogil:
    if value.size < 0:
        return put(out, b"null", 4)
    if form == AS_UTF8:
        return put_json_text(out, value.data, <size_t>value.size)
    return put_json_bytes(out, value.data, <size_t>value.size, form)


cdef int put_json_cell(pooled* out, shown_as form, const array_data* a, value_kind kind, int64_t i) noexcept nogil:
    cdef bytes_slice value
    if is_bytes(kind):
        return put_json_value(out, slice_at(a, kind, i), form)
    if kind == HEADERS:
        return put_json_headers(out, form, a, i)
    if not is_valid_at(a, i):
        return put(out, b"-1", 2) if is_time(kind) else put(out, b"null", 4)
    if kind == STRING:
        value = slice_at(a, kind, i)
        return put_json_text(out, value.data, <size_t>value.size)
    if kind == BOOL:
        return put(out, b"true", 4) if number_at(a, kind, i) else put(out, b"false", 5)
    return put_number(out, number_at(a, kind, i))


cdef bint is_one_text(const array_data* a, int64_t first, int64_t rows) noexcept nogil:
    cdef const int32_t* ends = <const int32_t*>a.buffers[1] + first
    cdef int32_t size = ends[1] - ends[0]
    cdef int64_t i
    cdef const char* texts
    for i in range(1, rows):
        if ends[i + 1] - ends[i] != size:
            return False
    texts = <const char*>a.buffers[2] + ends[0]
    return size == 0 or memcmp(texts, texts + size, <size_t>(size * (rows - 1))) == 0


cdef bint is_constant(const array_data* a, value_kind kind, int64_t first, int64_t rows) noexcept nogil:
    """Return whether all rows are known to have the same text (topic, partition, type, no headers); other texts are not
    compared."""
    cdef const char* values = <const char*>a.buffers[1]
    cdef const int32_t* ends = <const int32_t*>a.buffers[1]
    if rows < 2:
        return False
    if kind == HEADERS:
        return ends[first] == ends[first + rows]
    if a.buffers[0] != NULL:
        return a.null_count == a.length
    if kind == STRING:
        return is_one_text(a, first, rows)
    if kind == INT32 or kind == UINT32:
        return memcmp(values + 4 * first, values + 4 * first + 4, <size_t>(4 * (rows - 1))) == 0
    if kind == INT64 or is_time(kind):
        return memcmp(values + 8 * first, values + 8 * first + 8, <size_t>(8 * (rows - 1))) == 0
    return False


cdef int end_head(writer* w, size_t start, const array_data* array, value_kind kind) noexcept nogil:
    """End the text before a value."""
    cdef json_cell* cell = &w.cells[w.n_cells]
    cell.kind, cell.array, cell.head, cell.head_size = kind, array, start, w.heads.size - start
    w.n_cells += 1
    if room(&w.heads, BLOCK):
        return -1
    memset(w.heads.data + w.heads.size, 0, BLOCK)
    w.heads.size += BLOCK
    return RP_OK


cdef int begin_json(writer* w, const part* p) noexcept nogil:
    """Put texts that are the same in all rows before the next value."""
    cdef int64_t n
    cdef size_t start = 0
    cdef text_column* c
    cdef const array_data* a
    w.heads.size = 0
    w.n_cells = 0
    for n in range(w.n_columns):
        c = &w.columns[n]
        a = &p.chunk.columns[c.number]
        if put(&w.heads, c.before, c.before_size):
            return -1
        if is_constant(a, c.kind, p.offset, p.rows):
            if put_json_cell(&w.heads, w.form, a, c.kind, p.offset):
                return -1
        elif end_head(w, start, a, c.kind):
            return -1
        else:
            start = w.heads.size
    if put(&w.heads, b"}\n", 2):
        return -1
    return end_head(w, start, NULL, BOOL)


cdef inline int put_head(writer* w, const json_cell* cell) noexcept nogil:
    """Copy the text in steps of constant size, which compile to no call."""
    cdef size_t i = 0
    if room(&w.out, cell.head_size + BLOCK):
        return -1
    while i < cell.head_size:
        memcpy(w.out.data + w.out.size + i, w.heads.data + cell.head + i, BLOCK)
        i += BLOCK
    w.out.size += cell.head_size
    return RP_OK


cdef int json_line(writer* w, const part* p, int64_t i) noexcept nogil:
    cdef json_cell* cell
    cdef int64_t n
    for n in range(w.n_cells - 1):
        cell = &w.cells[n]
        if put_head(w, cell) or put_json_cell(&w.out, w.form, cell.array, cell.kind, i):
            return -1
    return put_head(w, &w.cells[w.n_cells - 1])


# --- CSV ----------------------------------------------------------------------------------------------------------

cdef int put_csv_cell(writer* w, const array_data* a, value_kind kind, int64_t i) noexcept nogil:
    """Write a CSV cell: null as an empty field, an empty text as two quotes."""
    cdef bytes_slice value
    if kind == HEADERS:
        w.scratch.size = 0
        if put_json_headers(&w.scratch, w.form, a, i):
            return -1
        return put_csv_quoted(&w.out, w.scratch.data, w.scratch.size)
    if is_bytes(kind) or kind == STRING:
        value = slice_at(a, kind, i)
        if value.size < 0:
            return RP_OK
        return put_csv_bytes(&w.out, value.data, <size_t>value.size, AS_UTF8 if kind == STRING else w.form, &w.scratch)
    if not is_valid_at(a, i) and not is_time(kind):
        return RP_OK
    return put_json_cell(&w.out, w.form, a, kind, i)


cdef int csv_line(writer* w, const part* p, int64_t i) noexcept nogil:
    cdef text_column* c
    cdef int64_t n
    for n in range(w.n_columns):
        c = &w.columns[n]
        if (n and put(&w.out, b",", 1)) or put_csv_cell(w, &p.chunk.columns[c.number], c.kind, i):
            return -1
    return put(&w.out, b"\r\n", 2)


# --- DumpLogSegments ----------------------------------------------------------------------------------------------

cdef enum:
    D_OFFSET, D_TIMESTAMP, D_TIMESTAMP_TYPE, D_KEY, D_VALUE, D_HEADERS, D_SEQUENCE

DUMPED = ("offset", "timestamp", "timestampType", "key", "value", "headers", "sequence")


cdef int put_dumped_type(pooled* out, int64_t timestamp_type) noexcept nogil:
    if timestamp_type == 0:
        return put(out, b" CreateTime: ", 13)
    if timestamp_type == 1:
        return put(out, b" LogAppendTime: ", 16)
    return put(out, b" NoTimestampType: ", 18)


cdef int put_dumped_keys(pooled* out, const array_data* a, int64_t i) noexcept nogil:
    cdef const int32_t* ends = <const int32_t*>a.buffers[1]
    cdef int64_t n, first = ends[i]
    cdef bytes_slice key
    if put(out, b" headerKeys: [", 14):
        return -1
    for n in range(first, ends[i + 1] if is_valid_at(a, i) else first):
        key = slice_at(&a.children[0].children[0], STRING, n)
        if (n > first and put(out, b",", 1)) or put(out, key.data, <size_t>key.size):
            return -1
    return put(out, b"]", 1)


cdef int put_dumped_metadata(writer* w, const part* p, int64_t i, bytes_slice key, bytes_slice value) noexcept nogil:
    """Write the text of DumpLogSegments.printRecordMetadata."""
    cdef const array_data* times = &p.chunk.columns[w.columns[D_TIMESTAMP].number]
    cdef const array_data* types = &p.chunk.columns[w.columns[D_TIMESTAMP_TYPE].number]
    if put(&w.out, b"| offset: ", 10):
        return -1
    if put_number(&w.out, number_at(&p.chunk.columns[w.columns[D_OFFSET].number], INT64, i)):
        return -1
    if put_dumped_type(&w.out, number_at(types, INT32, i)):
        return -1
    if put_number(&w.out, number_at(times, TIMESTAMP_MS, i) if is_valid_at(times, i) else -1):
        return -1
    if put(&w.out, b" keySize: ", 10) or put_number(&w.out, key.size):
        return -1
    if put(&w.out, b" valueSize: ", 12) or put_number(&w.out, value.size) or put(&w.out, b" sequence: ", 11):
        return -1
    if put_number(&w.out, number_at(&p.chunk.columns[w.columns[D_SEQUENCE].number], INT32, i)):
        return -1
    return put_dumped_keys(&w.out, &p.chunk.columns[w.columns[D_HEADERS].number], i)


cdef int put_dumped_bytes(pooled* out, bytes_slice value, shown_as form) noexcept nogil:
    if form == AS_UTF8:
        return put_utf8(out, value.data, <size_t>value.size)
    return put_json_bytes(out, value.data, <size_t>value.size, form)


cdef int dump_line(writer* w, const part* p, int64_t i) noexcept nogil:
    """Write the line of DumpLogSegments.dumpBatchRecords."""
    cdef bytes_slice key = slice_at(&p.chunk.columns[w.columns[D_KEY].number], w.columns[D_KEY].kind, i)
    cdef bytes_slice value = slice_at(&p.chunk.columns[w.columns[D_VALUE].number], w.columns[D_VALUE].kind, i)
    cdef bint is_first = not w.metadata
    if w.metadata and put_dumped_metadata(w, p, i, key, value):
        return -1
    if w.contents and key.size >= 0:
        if (is_first and put(&w.out, b"|", 1)) or put(&w.out, b" key: ", 6) or put_dumped_bytes(&w.out, key, w.form):
            return -1
        is_first = False
    if w.contents and value.size >= 0:
        if (is_first and put(&w.out, b"|", 1)) or put(&w.out, b" payload: ", 10):
            return -1
        if put_dumped_bytes(&w.out, value, w.form):
            return -1
    return put(&w.out, b"\n", 1)


# --- all rows -----------------------------------------------------------------------------------------------------

cdef int put_lines(writer* w, size_t most) noexcept nogil:
    """Write lines of the remaining rows, until the text has `most` bytes."""
    cdef const part* p
    while w.at.part < w.n_parts and w.out.size < most:
        p = &w.parts[w.at.part]
        if w.at.row == p.rows:
            w.at.part, w.at.row = w.at.part + 1, 0
        elif w.at.row == 0 and w.begin != NULL and w.begin(w, p):
            return -1
        elif w.line(w, p, p.offset + w.at.row):
            return -1
        else:
            w.at.row += 1
    return RP_OK


cdef class Lines:
    """Results as lines, one result after another."""

    cdef writer w
    cdef str kind           # json, csv or dump
    cdef list before        # owns the texts that `w.columns` points to
    cdef Columns columns

    def __cinit__(self, str kind, object values):
        self.w.form = choice_of("values", values, _SHOWN_AS)
        self.kind = kind
        if kind == "json":
            self.w.line, self.w.begin = json_line, begin_json
        else:
            self.w.line = csv_line if kind == "csv" else dump_line

    def __dealloc__(self):
        free(self.w.columns)
        free(self.w.cells)
        pooled_free(&self.w.heads)
        pooled_free(&self.w.out)
        pooled_free(&self.w.scratch)

    cdef list _before(self, list names):
        """Return the text before the value of each column."""
        if self.kind != "json":
            return [b""] * len(names)
        return [b'%s"%s":' % (b"," if number else b"{", name.encode()) for number, name in enumerate(names)]

    cdef int start(self, Columns columns) except -1:
        """Begin with the rows of a result, which stays alive until its lines are complete."""
        cdef writer* w = &self.w
        cdef int64_t i
        cdef bytes text
        numbers = {field.name: number for number, field in enumerate(columns._fields)}
        names = list(DUMPED) if self.kind == "dump" else columns.column_names
        self.stop()
        self.before = self._before(names)
        w.n_columns = len(names)
        w.columns = <text_column*>calloc(<size_t>w.n_columns + 1, sizeof(text_column))
        w.cells = <json_cell*>calloc(<size_t>w.n_columns + 1, sizeof(json_cell))
        if w.columns == NULL or w.cells == NULL:
            raise MemoryError()
        for i in range(w.n_columns):
            text = self.before[i]
            w.columns[i].number = numbers[names[i]]
            w.columns[i].kind = kind_of(columns._fields[w.columns[i].number].format)
            w.columns[i].before, w.columns[i].before_size = text, <size_t>len(text)
        w.at.part = w.at.row = 0
        w.parts, w.n_parts = columns._parts, columns._n_parts
        self.columns = columns
        return 0

    cdef int stop(self) except -1:
        """Release the result."""
        self.w.n_parts = 0
        free(self.w.columns)
        free(self.w.cells)
        self.w.columns, self.w.cells = NULL, NULL
        self.columns = None
        return 0


cdef bytes text_of(Lines lines, Columns columns):
    """Return the lines of all rows."""
    cdef writer* w = &lines.w
    lines.start(columns)
    with nogil:
        status = put_lines(w, SIZE_MAX)
    if status:
        raise MemoryError()
    return PyBytes_FromStringAndSize(<const char*>w.out.data, <Py_ssize_t>w.out.size)


cdef Columns checked(object columns):
    if not isinstance(columns, Columns):
        raise ArgumentTypeError(f"columns must be recordpress.Columns, not {type(columns).__name__}", field="columns")
    return columns


def json_lines(columns, values="utf8"):
    """Return one JSON object per row, each on a line, in UTF-8."""
    return text_of(Lines("json", values), checked(columns))


def dump_lines(columns, *, metadata=True, contents=True, values="utf8"):
    """Return the lines that Kafka's DumpLogSegments (4.3.1) prints for records in v2 batches other than control
    batches."""
    cdef Lines lines = Lines("dump", values)
    cdef Columns rows = checked(columns)
    missing = [name for name in DUMPED if name not in rows.column_names]
    if missing:
        raise InvalidArgumentError(f"columns must have {', '.join(missing)}", field="columns")
    lines.w.metadata, lines.w.contents = flag_of(metadata, "metadata"), flag_of(contents, "contents")
    return text_of(lines, rows)


cdef enum:
    # Size of a chunk of text: small enough for the CPU's caches if the same thread writes it; for two threads, large
    # enough to make the handover cheap.
    PIECE = 1 << 18
    PIECE_AHEAD = 1 << 20

_KINDS = {"json": "json", "csv": "csv"}


# A chunk of text that is being built.
ctypedef struct piece:
    task task            # first: `make` is called with its address
    writer* writer
    size_t most
    int status


# --- results as lines, written as they come --------------------------------------------------------------------------

# results ──► Lines of one ┐ a thread writes their text    ──► write, by the caller, who also requests results
#             Lines of two ┘ while the caller does the rest
#
# The order is that of the results. Only the caller's thread runs Python.

cdef void make(task* work) noexcept nogil:
    cdef piece* p = <piece*>work
    p.status = put_lines(p.writer, p.most)


cdef class _Work:
    """The lines of one result, chunk by chunk, each in a separate block."""

    cdef piece piece
    cdef Lines lines
    cdef pooled spare    # a block that was written and is free again

    def __cinit__(self, Lines lines, size_t most):
        self.lines = lines
        self.piece.task.run = make
        self.piece.writer = &lines.w
        self.piece.most = most

    def __dealloc__(self):
        pooled_free(&self.spare)

    cdef int begin(self, Threads threads) except -1:
        """Begin to build the next chunk."""
        threads.put(self, &self.piece.task)
        return 0

    cdef PooledBlock wait(self, Threads threads):
        """Return the text of the chunk that was begun."""
        cdef PooledBlock block = PooledBlock.__new__(PooledBlock)
        threads.wait(&self.piece.task)
        if self.piece.status:
            raise MemoryError()
        block.buffer = self.lines.w.out
        self.lines.w.out = self.spare
        memset(&self.spare, 0, sizeof(pooled))
        return block

    cdef bint is_complete(self):
        return self.lines.w.at.part == self.lines.w.n_parts

    cdef int give_back(self, PooledBlock block) except -1:
        """Reuse the block, unless the receiver keeps the text."""
        if references(<PyObject*>block) == 1 and self.spare.data == NULL:
            self.spare = block.buffer
            self.spare.size = 0
            memset(&block.buffer, 0, sizeof(pooled))
        return 0


cdef class _Pipeline:
    """Pipeline of results and their lines: as many results are in progress as there are threads."""

    cdef object results     # an iterator
    cdef object write
    cdef object ahead       # of _Work, in progress
    cdef list free          # of _Work, idle
    cdef Threads threads
    cdef object failed      # error of the iterator, raised after the lines of earlier results
    cdef bint at_end

    def __cinit__(self, str kind, values, results, write, int threads):
        self.results = iter(results)
        self.write = write
        self.ahead = deque()
        self.free = [_Work(Lines(kind, values), PIECE_AHEAD if threads > 1 else PIECE) for _ in range(threads)]
        self.threads = Threads(threads - 1)

    cdef int fill(self) except -1:
        """Begin further results while objects are idle."""
        cdef _Work work
        while self.free and not self.at_end:
            try:
                columns = checked(next(self.results))
            except StopIteration:
                self.at_end = True
            except Exception as error:
                self.failed = error
                self.at_end = True
            else:
                work = self.free.pop()
                work.lines.start(columns)
                work.begin(self.threads)
                self.ahead.append(work)
        return 0

    cdef int run(self) except -1:
        cdef _Work work
        cdef PooledBlock block
        while True:
            self.fill()
            if not self.ahead:
                break
            work = self.ahead[0]
            block = work.wait(self.threads)
            if work.is_complete():
                self.ahead.popleft()
                work.lines.stop()
            else:
                work.begin(self.threads)  # the next chunk is built while this chunk is written
            if block.buffer.size:
                self.write(memoryview(block))
            work.give_back(block)
            if work.lines.columns is None:
                self.free.append(work)
        if self.failed is not None:
            raise self.failed
        return 0


def write_lines(results, write, kind="json", values="utf8", *, threads=1):
    """Write the rows of results as lines, one result after another."""
    cdef _Pipeline pipeline = _Pipeline(
        choice_of("kind", kind, _KINDS), values, results, write, min(2, integer_of(threads, "threads", 1, INT32_MAX)))
    try:
        pipeline.run()
    finally:
        pipeline.threads.close()
