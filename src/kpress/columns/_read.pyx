"""Record sets -> Arrow columns: no Python object per record, one pass per batch, pooled memory.

::

    _scan: headers ──► entries to decode ──► for each: CRC ─► decompress ─► _column_builder: gather ──► chunk
    (one thread)       ranges, control,      (threads, GIL released)
                       aborted left out
"""

from cpython.buffer cimport PyObject_CheckBuffer
from cpython.ref cimport Py_INCREF
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int64_t, uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from kpress._arguments cimport choice_of, flag_of, integer_of, time_of
from kpress._buffers cimport InputView, PooledBlock, pooled, pooled_block, pooled_free
from kpress._c.wire cimport (
    KP_BINARY, KP_BINARY_VIEW, KP_LARGE_BINARY, KP_NO_MEMORY, KP_OK, kp_batch, kp_batch_codec, kp_error, kp_fail,
    kp_source,
)
from kpress._status cimport error_of, place, place_at, place_of
from kpress.codecs.context cimport codec_context, context_acquire, context_release
from kpress.columns._arrow_out cimport chunk_data, chunk_drop
from kpress.columns._columns cimport Columns
from kpress.columns._gather cimport (
    builder, builder_free, finish_chunk, gather, most_used, place_views, reserve_rows,
)
from kpress.record.decode cimport check_crc, check_inner_crcs, open_source
from kpress.columns._plan cimport (
    BASE_OFFSET, HEADERS, IS_CONTROL, IS_TRANSACTIONAL, KEY, OFFSET, PARTITION_LEADER_EPOCH, PRODUCER_EPOCH,
    PRODUCER_ID, SEQUENCE, TIMESTAMP, TIMESTAMP_TYPE, VALUE, failure, plan,
)
from kpress.columns._scan cimport aborted_transaction, batch_list, isolation, scan

from kpress.codecs import DEFAULT_MAX_SIZE
from kpress.errors import ArgumentTypeError, InvalidArgumentError, KpressError
from kpress.columns._arrow_out import Field


# --- what can be asked for --------------------------------------------------------------------------------

NAMES = ("offset", "timestamp", "timestampType", "key", "value", "headers", "producerId", "producerEpoch", "sequence",
         "partitionLeaderEpoch", "isTransactional", "isControl", "baseOffset")
DEFAULT = NAMES[:HEADERS + 1]
_LAYOUTS = {"binary": KP_BINARY, "large_binary": KP_LARGE_BINARY, "binary_view": KP_BINARY_VIEW}
_LAYOUT_FORMATS = {KP_BINARY: "z", KP_LARGE_BINARY: "Z", KP_BINARY_VIEW: "vz"}
_UNITS = {"ms": "tsm:UTC", "us": "tsu:UTC"}
_HEADER_FIELDS = (Field("key", "u"), Field("value", "z", True))
_FORMATS = {OFFSET: "l", TIMESTAMP_TYPE: "i", PRODUCER_ID: "l", PRODUCER_EPOCH: "s", SEQUENCE: "i",
            PARTITION_LEADER_EPOCH: "i", IS_TRANSACTIONAL: "b", IS_CONTROL: "b", BASE_OFFSET: "l"}


def _field_of(int column, int layout, unit):
    if column == TIMESTAMP:
        return Field(NAMES[column], _UNITS[unit], True)
    if column in (KEY, VALUE):
        return Field(NAMES[column], _LAYOUT_FORMATS[layout], True)
    if column == HEADERS:
        return Field(NAMES[column], "+l", True, (Field("item", "+s", False, _HEADER_FIELDS),))
    return Field(NAMES[column], _FORMATS[column])


# --- decoding a run of entries ----------------------------------------------------------------------------

# The chunks that a run of entries became.
ctypedef struct chunk_list:
    chunk_data** chunks
    int64_t n


cdef void list_free(chunk_list* chunks) noexcept nogil:
    cdef int64_t i
    for i in range(chunks.n):
        chunk_drop(chunks.chunks[i])
    free(chunks.chunks)
    memset(chunks, 0, sizeof(chunk_list))


cdef int list_add(chunk_list* chunks, chunk_data* chunk, kp_error* err) noexcept nogil:
    if chunk == NULL:
        return err.status
    cdef chunk_data** more = <chunk_data**>realloc(chunks.chunks, sizeof(chunk_data*) * <size_t>(chunks.n + 1))
    if more == NULL:
        chunk_drop(chunk)
        return kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
    chunks.chunks = more
    more[chunks.n] = chunk
    chunks.n += 1
    return KP_OK


cdef object exception_of(const failure* f, int64_t base, object file):
    """The exception; `base` is where the buffer starts in the caller's file or buffer."""
    cdef place at = place_of(&f.batch, base, file)
    return error_of(&f.error, &at)


cdef void bound(const plan* p, const kp_batch* batch, kp_source* source) noexcept nogil:
    """Whether records of this batch have to be looked at one by one for the asked ranges."""
    source.filtered = p.filtered
    source.first_offset = p.first_offset
    source.last_offset = p.last_offset
    source.first_timestamp = p.first_timestamp
    source.last_timestamp = p.last_timestamp


cdef int decode_entry(const plan* p, codec_context* context, builder* b, chunk_list* chunks, int64_t left,
                      failure* f) noexcept nogil:
    cdef const kp_batch* batch = &f.batch
    cdef const uint8_t* entry = p.data + batch.position
    cdef pooled own
    cdef pooled* scratch = &context.scratch
    cdef kp_source source
    cdef int status = KP_OK
    cdef int64_t bytes
    if p.check_crcs:
        status = check_crc(entry, batch, &f.error)
    memset(&own, 0, sizeof(pooled))
    if p.layout == KP_BINARY_VIEW:
        scratch = &own  # the result keeps it
    if status == KP_OK:
        scratch.size = 0
        status = open_source(context, entry, batch, p.data + p.size, scratch, p.cap, False, &source,
                             &f.error)
    if status == KP_OK and batch.magic < 2 and p.check_crcs and kp_batch_codec(batch):
        status = check_inner_crcs(&source, &f.error)
    if status == KP_OK:
        bytes = source.end - source.start
        if b.rows and most_used(p, b) + bytes > p.chunk_bytes:
            status = list_add(chunks, finish_chunk(p, b, &f.error), &f.error)
    if status == KP_OK and p.layout == KP_BINARY_VIEW:
        status = place_views(b, &source, scratch, &f.error)
    if status == KP_OK:
        bound(p, batch, &source)
        # a count that lies costs no memory: no record has less than 7 bytes
        status = reserve_rows(p, b, b.rows + min(<int64_t>source.count, bytes // 7 + 1), &f.error)
    if status == KP_OK:
        status = gather(p, b, batch, &source, left, &f.error)
    pooled_free(&own)
    b.consumed += batch.size
    return status


cdef int decode_entries(const plan* p, const kp_batch* batches, int64_t n, chunk_list* chunks,
                        failure* f) noexcept nogil:
    """A run of entries into chunks; on an error what was decoded is freed."""
    cdef codec_context* context = context_acquire()
    cdef builder b
    cdef int64_t i, left = 0
    cdef int status = KP_OK
    if context == NULL:
        return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
    memset(&b, 0, sizeof(builder))
    for i in range(n):
        left += batches[i].size
    for i in range(n):
        f.batch = batches[i]
        left -= batches[i].size
        if i == 0:
            status = reserve_rows(p, &b, expected_rows(batches, n), &f.error)
        if status == KP_OK:
            status = decode_entry(p, context, &b, chunks, left, f)
        if status != KP_OK:
            break
    if status == KP_OK and (b.rows or chunks.n == 0):
        status = list_add(chunks, finish_chunk(p, &b, &f.error), &f.error)
    context_release(context)
    builder_free(&b)
    if status != KP_OK:
        list_free(chunks)
    return status


cdef int64_t expected_rows(const kp_batch* batches, int64_t n) noexcept nogil:
    """What the headers declare, but no more than two rows a byte: counts may lie."""
    cdef int64_t i, rows = 1
    for i in range(n):
        rows += max(0, min(<int64_t>batches[i].records_count, 2 * batches[i].size))
    return rows


# --- the calls --------------------------------------------------------------------------------------------

cdef class _Reader:
    """Options of a call, checked once, and the state that goes from window to window of a long input."""
    cdef plan plan
    cdef isolation isolation
    cdef tuple fields
    cdef int threads

    def __cinit__(self):
        memset(&self.plan, 0, sizeof(plan))
        memset(&self.isolation, 0, sizeof(isolation))

    def __dealloc__(self):
        free(self.isolation.aborted)
        free(self.isolation.producers)

    def __init__(self, columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                 end_timestamp, control, aborted_transactions, threads, max_decompressed_bytes, chunk_bytes):
        cdef plan* p = &self.plan
        p.layout = choice_of("binary_type", binary_type, _LAYOUTS)
        p.row_width = (4, 8, 16)[p.layout]
        choice_of("timestamp_unit", timestamp_unit, _UNITS)
        p.micros = timestamp_unit == "us"
        p.check_crcs = flag_of(check_crcs, "check_crcs")
        p.control = flag_of(control, "control")
        p.cap = integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
        p.chunk_bytes = integer_of(chunk_bytes, "chunk_bytes", 1, INT32_MAX)
        self.threads = integer_of(threads, "threads", 1, 1024)
        p.first_offset = limit("start_offset", start_offset, INT64_MIN)
        p.last_offset = last("end_offset", end_offset)
        p.first_timestamp = first_time("start_timestamp", start_timestamp)
        p.last_timestamp = last_time("end_timestamp", end_timestamp)
        p.filtered = any(value is not None for value in (start_offset, end_offset, start_timestamp, end_timestamp))
        self._ask_columns(columns, timestamp_unit)
        if aborted_transactions is not None:
            self._set_aborted(aborted_transactions)

    cdef _ask_columns(self, columns, timestamp_unit):
        cdef plan* p = &self.plan
        if columns is None:
            columns = DEFAULT
        if isinstance(columns, (str, bytes)):
            raise ArgumentTypeError(f"columns must be a sequence of names, not {type(columns).__name__}")
        fields = []
        try:
            columns = tuple(columns)
        except TypeError:
            raise ArgumentTypeError(f"columns must be a sequence of names, not {type(columns).__name__}") from None
        for name in columns:
            if name not in NAMES:
                raise InvalidArgumentError(f"unknown column {name!r}; there are {', '.join(NAMES)}")
            column = NAMES.index(name)
            if p.want[column]:
                raise InvalidArgumentError(f"column {name!r} is asked for twice")
            p.want[column] = True
            p.asked[p.n_asked] = column
            p.n_asked += 1
            fields.append(_field_of(column, p.layout, timestamp_unit))
        self.fields = tuple(fields)

    cdef _set_aborted(self, transactions):
        name = "aborted_transactions"
        try:
            pairs = [(producer, first) for producer, first in transactions]
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"{name} must be pairs of (producerId, firstOffset)") from None
        pairs = sorted((integer_of(first, name, INT64_MIN, INT64_MAX), integer_of(producer, name, INT64_MIN, INT64_MAX))
                       for producer, first in pairs)
        cdef int64_t i
        self.isolation.aborted = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>(len(pairs) + 1))
        self.isolation.producers = <int64_t*>malloc(8 * <size_t>(len(pairs) + 1))
        if self.isolation.aborted == NULL or self.isolation.producers == NULL:
            raise MemoryError()
        for i, (first, producer) in enumerate(pairs):
            self.isolation.aborted[i].first_offset = first
            self.isolation.aborted[i].producer_id = producer
        self.isolation.n_aborted = len(pairs)

    cdef _Window window(self, InputView view, int64_t start, int64_t stop_after, int64_t base, object file):
        """The headers of the entries from `start` on, about `stop_after` bytes of them."""
        cdef _Window window = _Window.__new__(_Window)
        cdef failure f
        cdef place at
        cdef int status
        window.fields = self.fields
        window.plan = self.plan
        window.plan.data = view.data
        window.plan.size = view.size
        window.view = view
        window.base = base
        window.file = file
        memset(&f, 0, sizeof(failure))
        with nogil:
            status = scan(&window.plan, start, stop_after, &self.isolation, &window.entries, &f)
        if status != KP_OK:
            at = place_at(window.entries.end, base, file)
            window.error = error_of(&f.error, &at)
        return window


cdef class _Window:
    """A piece of a record set whose headers were read: what is to be decoded, and what comes of it."""
    cdef tuple fields
    cdef plan plan
    cdef InputView view
    cdef batch_list entries
    cdef int64_t base            # where the view starts in the caller's data
    cdef object file
    cdef object error            # behind the entries: where the scan could not go on
    cdef Columns columns         # what run made
    cdef object unfinished       # a lock that is held until run ends, where threads wait for it

    def __dealloc__(self):
        free(self.entries.batches)

    cdef Columns decode(self, int threads):
        """All entries, or the error of the first that is wrong."""
        cdef Columns columns = self._decode(threads)
        if self.error is not None:
            raise self.error
        return columns

    cdef run(self):
        """Decode the entries before the first that is wrong into `columns`; `error` is what follows them."""
        try:
            self._decode_good()
        except BaseException as error:  # no memory: it belongs to whoever takes the results
            self.error = error
        if self.unfinished is not None:
            self.unfinished.release()

    cdef _decode_good(self):
        try:
            self.columns = self._decode(1)
        except KpressError as error:
            self.error = error
            self._cut((error.position or 0) - self.base)
            self.columns = self._decode(1)

    cdef void _cut(self, int64_t position) noexcept:
        """Keep the entries before the one that `position` lies in."""
        cdef int64_t i
        for i in range(self.entries.n):
            if position < self.entries.batches[i].position + self.entries.batches[i].size:
                self.entries.n = i
                return

    cdef Columns _decode(self, int threads):
        """The entries by as many threads as there is work for, in runs of about the same number of bytes: the
        chunks of the runs, in order, are those of the result."""
        cdef batch_list* entries = &self.entries
        cdef int64_t runs = max(1, min(<int64_t>threads, entries.n))
        cdef int64_t bytes = 0, share, i, first, upto = 0
        cdef _Run run
        tasks = []
        for i in range(entries.n):
            bytes += entries.batches[i].size
        for i in range(runs):
            first = upto
            share = 0
            while upto < entries.n and (i == runs - 1 or upto == first or share < bytes // runs):
                share += entries.batches[upto].size
                upto += 1
            run = _Run.__new__(_Run)
            run.plan = &self.plan
            run.batches = entries.batches + first
            run.n = upto - first
            tasks.append(run)
        run_all(tasks)
        return self._gathered(tasks)

    cdef Columns _gathered(self, list tasks):
        """One Columns of the chunks of all runs, or the error of the first run that failed."""
        cdef _Run run
        cdef int64_t n = 0, i
        for run in tasks:
            if run.status != KP_OK:
                raise exception_of(&run.failure, self.base, self.file)
            n += run.chunks.n
        cdef chunk_data** chunks = <chunk_data**>malloc(sizeof(chunk_data*) * <size_t>(n + 1))
        if chunks == NULL:
            raise MemoryError()
        n = 0
        for run in tasks:
            for i in range(run.chunks.n):
                chunks[n] = run.chunks.chunks[i]
                if self.plan.layout == KP_BINARY_VIEW:
                    Py_INCREF(self.view)
                    chunks[n].owner = <void*>self.view
                n += 1
            run.chunks.n = 0
        return Columns.make(self.fields, chunks, n)


cdef class _Run:
    """A run of entries for one thread, and what became of it."""
    cdef const plan* plan
    cdef const kp_batch* batches
    cdef int64_t n
    cdef chunk_list chunks
    cdef failure failure
    cdef int status

    def __call__(self):
        with nogil:
            self.status = decode_entries(self.plan, self.batches, self.n, &self.chunks, &self.failure)

    def __dealloc__(self):
        list_free(&self.chunks)


cdef run_all(list tasks):
    if len(tasks) == 1:
        tasks[0]()
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(tasks) - 1, "kpress") as pool:
        others = [pool.submit(task) for task in tasks[1:]]
        tasks[0]()
        for other in others:
            other.result()


cdef int64_t limit(str name, value, int64_t otherwise) except? -1:
    return otherwise if value is None else integer_of(value, name, INT64_MIN, INT64_MAX)


cdef int64_t last(str name, value) except? -1:
    """The last value below an upper bound that is not included."""
    return INT64_MAX if value is None else integer_of(value, name, INT64_MIN + 1, INT64_MAX) - 1


cdef int64_t first_time(str name, value) except? -1:
    return INT64_MIN if value is None else time_of(value, name, INT64_MIN, INT64_MAX)


cdef int64_t last_time(str name, value) except? -1:
    """The last millisecond before an upper bound that is not included."""
    return INT64_MAX if value is None else time_of(value, name, INT64_MIN + 1, INT64_MAX) - 1


def iter_columns(source, columns=None, *, batch_bytes=1 << 18, check_crcs=True, binary_type="binary",
                 timestamp_unit="ms", start_offset=None, end_offset=None, start_timestamp=None, end_timestamp=None,
                 control=False, aborted_transactions=None, threads=1, max_decompressed_bytes=DEFAULT_MAX_SIZE,
                 chunk_bytes=INT32_MAX):
    """Decode a long record set piece by piece, in bounded memory.

    Parameters
    ----------
    source : bytes-like or binary file object
        A file is read from where it stands, in pieces (by readinto); it is not closed.
    columns : sequence of str, optional
        As in `read_columns`.
    batch_bytes : int
        Entries (compressed bytes) that go into one result; at least one entry. Of a file at most 2 GiB.
    threads : int
        Decode with that many threads, the caller's among them, and that many results ahead.

    The other options are those of `read_columns`.

    Yields
    ------
    Columns

    Raises
    ------
    KpressError
        As `read_columns`, after the results before the entry that is wrong. Positions count from where the
        source began.

    Examples
    --------
    >>> import io, kpress
    >>> log = b"".join(kpress.write_records([b"x"] * 10, base_offset=i) for i in range(0, 100, 10))
    >>> [columns.num_rows for columns in kpress.iter_columns(io.BytesIO(log), ["value"], batch_bytes=300)]
    [20, 20, 20, 20, 20]
    """
    cdef _Reader reader = _Reader(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset,
                                  start_timestamp, end_timestamp, control, aborted_transactions, threads,
                                  max_decompressed_bytes, chunk_bytes)
    cdef int64_t window = integer_of(batch_bytes, "batch_bytes", 1, INT64_MAX)
    if not PyObject_CheckBuffer(source):
        if not hasattr(source, "readinto"):
            raise ArgumentTypeError("source must be a bytes-like object or a binary file (with readinto), "
                                    f"not {type(source).__name__}")
        return _results(_file_windows(reader, source, min(window, INT32_MAX)), reader.threads)
    return _results(_buffer_windows(reader, InputView(source, "source"), window), reader.threads)


def _buffer_windows(_Reader reader, InputView view, int64_t stop_after):
    """The windows of a buffer; the last one may carry the error that ended the scan."""
    cdef int64_t position = 0
    cdef _Window window
    while True:
        window = reader.window(view, position, stop_after, 0, None)
        if window.entries.end == position and window.error is None:
            return
        position = window.entries.end
        yield window
        if window.error is not None:
            return


def _file_windows(_Reader reader, file, int64_t stop_after):
    """The windows of what was read so far; what is left of the last entry goes before the next piece."""
    cdef int64_t base = 0, start = 0, rest
    cdef PooledBlock block
    cdef InputView view = InputView(b"")
    cdef _Window window
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else None
    while True:
        rest = view.size - start
        # an entry larger than the window makes the pieces grow with it, never its size field
        block = pooled_block(<size_t>(rest + max(stop_after, rest)))
        memcpy(block.buffer.data, view.data + start, <size_t>rest)
        read = file.readinto(memoryview(block)[rest:])
        if read is None:
            raise InvalidArgumentError("source must be a file that waits for its bytes, not a non-blocking one",
                                       field="source")
        block.buffer.size = <size_t>(rest + integer_of(read, "readinto()", 0, <int64_t>block.buffer.size - rest))
        if <int64_t>block.buffer.size == rest:
            return
        base += start
        start = 0
        view = InputView(block)
        while True:
            window = reader.window(view, start, stop_after, base, name)
            if window.entries.end == start and window.error is None:
                break
            start = window.entries.end
            yield window
            if window.error is not None:
                return


def _decoded(windows, int threads):
    """The windows, in order, when they have run. With threads, these are the caller's and others: while the window
    that is due is not ready, the caller decodes another.

    Futures in a pool, for which the caller waits, cost some 50 us more a window of 800: their own code, and the
    switches to a thread that only waits.
    """
    cdef _Window window
    if threads == 1:
        for window in windows:
            window.run()
            yield window
        return
    import atexit
    from collections import deque
    from functools import partial
    from queue import SimpleQueue
    from threading import Lock, Thread

    tasks = SimpleQueue()
    ahead = deque()
    others = []
    # A generator that is still open when Python exits: Python waits for threads that are no daemons, and daemons cannot
    # be joined once it has begun to take itself apart.
    stop = partial(_stop, tasks, others)
    atexit.register(stop)
    try:
        for i in range(threads - 1):
            other = Thread(target=_work, args=(tasks,), name=f"kpress_{i}", daemon=True)
            other.start()
            others.append(other)
        for window in windows:
            window.unfinished = Lock()
            window.unfinished.acquire()
            tasks.put(window)
            ahead.append(window)
            if len(ahead) > threads:
                yield _finished(ahead.popleft(), tasks)
        while ahead:
            yield _finished(ahead.popleft(), tasks)
    finally:
        atexit.unregister(stop)
        stop()


def _stop(tasks, others):
    """End the threads, if they have not been."""
    for _ in others:
        tasks.put(None)
    while others:
        others.pop().join()


def _work(tasks):
    """Run windows until None comes."""
    cdef _Window window
    for window in iter(tasks.get, None):
        window.run()


cdef _Window _finished(_Window window, tasks):
    """The window, when it has run; until then this thread runs those that no other has begun."""
    from queue import Empty

    cdef _Window other
    while not window.unfinished.acquire(False):
        try:
            other = tasks.get_nowait()
        except Empty:
            window.unfinished.acquire()
            break
        other.run()
    return window


def _results(windows, int threads):
    """The Columns that have rows; then the error, where an entry is wrong."""
    cdef _Window window
    for window in _decoded(windows, threads):
        if window.columns is not None and window.columns.num_rows:
            yield window.columns
        if window.error is not None:
            raise window.error


def read_columns(data, columns=None, *, check_crcs=True, binary_type="binary", timestamp_unit="ms",
                 start_offset=None, end_offset=None, start_timestamp=None, end_timestamp=None, control=False,
                 aborted_transactions=None, threads=1, max_decompressed_bytes=DEFAULT_MAX_SIZE,
                 chunk_bytes=INT32_MAX):
    """Decode a record set (any mix of v0, v1 and v2, any codec) into Arrow columns.

    A last entry that is cut is left out, as Kafka's consumers do. Control batches are left out unless asked for.

    Parameters
    ----------
    data : bytes-like
        Record set: the records field of a Fetch answer, the content of a ``.log`` file, or part of one.
    columns : sequence of str, optional
        What to build, in this order. ``offset`` int64; ``timestamp`` timestamp[ms or us, UTC], null where Kafka
        says NO_TIMESTAMP (-1); ``timestampType`` int32 (-1 none, 0 CreateTime, 1 LogAppendTime); ``key`` and
        ``value`` binary; ``headers`` list<struct<key: string, value: binary>>: these are the default. And of the
        batch: ``producerId`` int64, ``producerEpoch`` int16, ``sequence`` int32, ``partitionLeaderEpoch`` int32,
        ``isTransactional`` bool, ``isControl`` bool, ``baseOffset`` int64. Only what is asked for is built.
    check_crcs : bool
        Compare every entry's checksum (inner messages of v0/v1 wrappers too) before it is decoded.
    binary_type : {'binary', 'large_binary', 'binary_view'}
        Arrow type of key and value. Views copy nothing: they point into `data`, which they keep alive, or into
        the decompressed batch.
    timestamp_unit : {'ms', 'us'}
    start_offset, end_offset : int, optional
        Only records with start_offset <= offset < end_offset. Batches outside are skipped by their header.
    start_timestamp, end_timestamp : int, optional
        Milliseconds since the epoch: only records with start_timestamp <= timestamp < end_timestamp.
    control : bool
        Keep the records of control batches (transaction markers, KRaft).
    aborted_transactions : iterable of (producerId, firstOffset), optional
        Leave out what these aborted transactions wrote: isolation.level=read_committed. A Fetch answer carries
        this list, a broker keeps it in ``.txnindex`` files.
    threads : int
        Decode batches side by side; the result's order is the same. It has one record batch a thread.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    chunk_bytes : int
        A record batch of the result is ended before a binary column grows over this size.

    Returns
    -------
    Columns

    Raises
    ------
    CorruptRecordError
        A checksum, size or magic is wrong, or a codec's stream is damaged (DecompressionError).
    InvalidRecordError
        Records break a rule of their format.
    UnsupportedCompressionTypeError
        A codec id that Kafka did not assign.
    OutputTooLargeError
        A batch is larger than max_decompressed_bytes.
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted.

    Examples
    --------
    >>> import kpress
    >>> data = kpress.write_records([b"a", b"b", None], keys=[b"k", None, b"k"], compression_type="zstd")
    >>> columns = kpress.read_columns(data, ["offset", "key", "value"])
    >>> import pyarrow
    >>> pyarrow.table(columns).to_pydict()
    {'offset': [0, 1, 2], 'key': [b'k', None, b'k'], 'value': [b'a', b'b', None]}
    """
    cdef _Reader reader = _Reader(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset,
                                  start_timestamp, end_timestamp, control, aborted_transactions, threads,
                                  max_decompressed_bytes, chunk_bytes)
    return reader.window(InputView(data), 0, INT64_MAX, 0, None).decode(reader.threads)
