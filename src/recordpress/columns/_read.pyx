"""Record sets -> Arrow columns: no object per record, one pass per batch, pooled memory. `_write` does the reverse.

A window is a part of a record set whose headers were read, the entries to decode, and the results.

::

    scan: headers ──► entries to decode ──► runs of them ──► recordpress._threads: _decode ──► chunks ──► Columns
    (the caller)      ranges, control,      (of about the same    (no GIL)
                      aborted omitted       number of bytes)
"""

from cpython.ref cimport Py_INCREF
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from recordpress._arguments cimport choice_of, did_you_mean, flag_of, integer_of, shown, time_of, tuple_of
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport (
    RP_BINARY, RP_BINARY_VIEW, RP_CONTROL, RP_CUT_ENTRY, RP_LARGE_BINARY, RP_NO_MEMORY, RP_OK, rp_batch, rp_batch_next,
    rp_error, rp_fail,
)
from recordpress._sealed cimport seal
from recordpress._status cimport error_of, keep_causes, place, place_at, place_of, stop_keeping_causes
from recordpress._threads cimport Threads
from recordpress.codecs.table cimport reading_table_of, table_of
from recordpress.columns._arrow_out cimport Field, chunk_data
from recordpress.columns._columns cimport Columns
from recordpress.columns._decode cimport decode_run, release_input, run, run_free
from recordpress.columns._plan cimport failure, plan
from recordpress.columns._select_batches cimport aborted_transaction, scan, walk, walk_copy, walk_free
from recordpress.columns.catalogue cimport (
    AS_BINARY, AS_HEADERS, BASE_OFFSET, BY_BATCH, HEADERS, KEY, SEQUENCE, TIMESTAMP, VALUE, column_of,
)
from recordpress.record.decode cimport check_header_checksum

from recordpress._arguments import MOST_THREADS
from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.columns.catalogue import DEFAULT, FORMATS as _FORMATS, NAMES
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

# --- the options of a call, checked once: from Python's values to the plan and the result's fields -------------------

# binary_type: layout, bytes of a row, Arrow format
_LAYOUTS = {"binary": (RP_BINARY, 4, "z"), "large_binary": (RP_LARGE_BINARY, 8, "Z"),
            "binary_view": (RP_BINARY_VIEW, 16, "vz")}
# timestamp_unit: whether milliseconds are multiplied, Arrow format
_UNITS = {"ms": (False, "tsm:UTC"), "us": (True, "tsu:UTC")}
_NUMBERS = {name: number for number, name in enumerate(NAMES)}
_HEADER = (Field("item", "+s", False, (Field("key", "u"), Field("value", "z", True))),)

_ABORTED = "aborted_transactions"
_PAIR = "a pair of (producerId, firstOffset)"


cdef class Options:
    """The checked options of `read_columns` and `iter_columns`."""

    def __init__(self):
        raise ArgumentTypeError("Options cannot be created directly: read_columns and iter_columns create it")

    @staticmethod
    cdef Options make(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                      end_timestamp, control, aborted_transactions, threads, complete, max_decompressed_bytes,
                      max_message_bytes, chunk_bytes, codecs, lz4_header_checksum):
        """Return the options from the arguments of `read_columns`, in the same order."""
        cdef Options self = Options.__new__(Options)
        cdef plan* p = &self.plan
        self.codecs = reading_table_of(codecs, lz4_header_checksum)
        self.ignores_header_checksum = self.codecs is not table_of(codecs)
        p.codecs = &self.codecs.rows
        p.layout, p.row_width, binary_format = choice_of("binary_type", binary_type, _LAYOUTS)
        p.micros, timestamp_format = choice_of("timestamp_unit", timestamp_unit, _UNITS)
        p.check_crcs = flag_of(check_crcs, "check_crcs")
        p.control = flag_of(control, "control")
        p.cap = integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
        p.chunk_bytes = integer_of(chunk_bytes, "chunk_bytes", 1, INT32_MAX)
        p.max_message_bytes = integer_of(max_message_bytes, "max_message_bytes", 1, INT32_MAX)
        self.threads = integer_of(threads, "threads", 1, MOST_THREADS)
        self.complete = flag_of(complete, "complete")
        p.first_offset = INT64_MIN if start_offset is None else integer_of(start_offset, "start_offset", INT64_MIN,
                                                                           INT64_MAX)
        p.last_offset = before(end_offset, None if end_offset is None else
                               integer_of(end_offset, "end_offset", INT64_MIN + 1, INT64_MAX))
        p.first_timestamp = INT64_MIN if start_timestamp is None else time_of(start_timestamp, "start_timestamp",
                                                                              INT64_MIN, INT64_MAX)
        p.last_timestamp = before(end_timestamp, None if end_timestamp is None else
                                  time_of(end_timestamp, "end_timestamp", INT64_MIN + 1, INT64_MAX))
        p.filtered = (start_offset is not None or end_offset is not None or start_timestamp is not None
                      or end_timestamp is not None)
        self._ask_columns(DEFAULT if columns is None else columns, binary_format, timestamp_format)
        p.by_header = not (p.want[KEY] or p.want[VALUE] or p.want[HEADERS] or p.want[SEQUENCE] or p.want[BASE_OFFSET])
        p.asks_times = p.want[TIMESTAMP] or start_timestamp is not None or end_timestamp is not None
        if aborted_transactions is not None:
            self._set_aborted(aborted_transactions)
        return self

    def __dealloc__(self):
        free(self.aborted)

    cdef _ask_columns(self, columns, binary_format, timestamp_format):
        cdef plan* p = &self.plan
        cdef int number
        fields = []
        for i, name in enumerate(columns if columns is DEFAULT else tuple_of(columns, "columns", "names")):
            if not isinstance(name, str):
                raise ArgumentTypeError(f"columns[{i}] must be a name, not {type(name).__name__}", field="columns")
            found = _NUMBERS.get(str(name))
            if found is None:
                raise InvalidArgumentError(f"unknown column {shown(name)}; must be one of {', '.join(NAMES)}"
                                           f"{did_you_mean(name, NAMES)}", field="columns")
            number = found
            if p.want[number]:
                raise InvalidArgumentError(f"column {name!r} is named twice", field="columns")
            p.want[number] = True
            p.asked[p.n_asked] = number
            p.n_asked += 1
            if column_of(number).gathered == BY_BATCH:
                p.by_batch[p.n_by_batch] = number
                p.n_by_batch += 1
            fields.append(field_of(number, binary_format, timestamp_format))
        self.fields = tuple(fields)

    cdef _set_aborted(self, transactions):
        pairs = []
        for number, pair in enumerate(tuple_of(transactions, _ABORTED, "pairs of (producerId, firstOffset)")):
            try:
                pairs.append(pair_of(pair))
            except (ArgumentTypeError, InvalidArgumentError) as error:
                raise type(error)(f"{_ABORTED}[{number}]: {error.message}", field=_ABORTED) from None
        pairs.sort()
        cdef int64_t i
        self.aborted = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>(len(pairs) + 1))
        if self.aborted == NULL:
            raise MemoryError()
        for i, (first, producer) in enumerate(pairs):
            self.aborted[i].first_offset = first
            self.aborted[i].producer_id = producer
        self.n_aborted = len(pairs)

    cdef int begin(self, walk* w, int64_t position) except -1:
        memset(w, 0, sizeof(walk))
        w.position = position
        w.isolation.aborted = self.aborted
        w.isolation.n_aborted = self.n_aborted
        if self.n_aborted:
            w.isolation.open = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>self.n_aborted)
            if w.isolation.open == NULL:
                raise MemoryError()
        return 0


seal(Options, "read_columns and iter_columns")


cdef tuple pair_of(given):
    """Return (first offset, producer id), which sorts by the start of transactions."""
    pair = tuple_of(given, "it", "producerId and firstOffset")
    if len(pair) != 2:
        raise ArgumentTypeError(f"it must be {_PAIR}, not {shown(pair)}")
    producer, first = pair
    return (integer_of(first, "firstOffset", INT64_MIN, INT64_MAX),
            integer_of(producer, "producerId", INT64_MIN, INT64_MAX))


cdef object field_of(int number, binary_format, timestamp_format):
    cdef int gathered = column_of(number).gathered
    if gathered == AS_HEADERS:
        return Field(NAMES[number], "+l", True, _HEADER)
    if gathered == AS_BINARY:
        return Field(NAMES[number], binary_format, True)
    if _FORMATS[number] is None:
        return Field(NAMES[number], timestamp_format, True)
    return Field(NAMES[number], _FORMATS[number])


cdef int64_t before(given, number) except? -1:
    """Return the last value below an exclusive upper bound."""
    return INT64_MAX if given is None else number - 1


# --- a window --------------------------------------------------------------------------------------------------------

cdef Window window_of(Options options, InputView view, int64_t size, int64_t base, object file):
    """Return a window over the first `size` bytes of the view, before anything is read."""
    cdef Window window = Window.__new__(Window, options)
    window.plan = options.plan
    window.plan.data = view.data
    window.plan.size = size
    window.view = view
    window.base = base
    window.file = file
    return window


cdef class Window:
    """A window. Only its runs are thread-safe; `Threads` keeps the window alive until the last run ends."""

    def __cinit__(self, Options options not None):
        self.options = options
        keep_causes()

    def __dealloc__(self):
        stop_keeping_causes()
        cdef int64_t i
        for i in range(self.n_runs):
            run_free(&self.runs[i])
        free(self.runs)
        free(self.entries.batches)
        free(self.entries.reached)
        walk_free(&self.end)

    cdef read_headers(self, const walk* start, int64_t stop_after):
        """Read the headers of about `stop_after` bytes of entries, and move `end` past them."""
        cdef failure f
        cdef place at
        cdef int status
        if walk_copy(&self.end, start) != RP_OK:
            raise MemoryError()
        memset(&f, 0, sizeof(failure))
        with nogil:
            status = scan(&self.plan, &self.end, stop_after, &self.entries, &f)
        if status == RP_NO_MEMORY:
            raise error_of(&f.error)
        if status != RP_OK:
            at = place_at(self.end.position, self.base, self.file)
            self.error = error_of(&f.error, &at)

    cdef bint read_header(self, const walk* start, int64_t there) except -1:
        """Read the header of a window's only entry, of which the view has the bytes up to `there`. Return False if they
        do not suffice: the first record of a control batch shows whether a transaction was aborted."""
        cdef rp_batch batch
        cdef rp_error ignored
        if start.isolation.n_aborted:
            if rp_batch_next(self.plan.data, self.plan.size, start.position, INT32_MAX, &batch, &ignored) != RP_OK:
                return False
            if batch.magic == 2 and batch.attributes & RP_CONTROL:
                return False
        self.read_headers(start, 1)
        return self.error is None

    cdef put(self, Threads threads, int64_t most_runs):
        """Begin to decode the entries, in up to `most_runs` runs."""
        cdef int64_t n = max(1, min(most_runs, self.entries.n))
        cdef int64_t bytes = 0, share, i, upto = 0
        self.runs = <run*>calloc(<size_t>n, sizeof(run))
        if self.runs == NULL:
            raise MemoryError()
        self.n_runs = n
        for i in range(self.entries.n):
            bytes += self.entries.batches[i].size
        for i in range(n):
            self.runs[i].task.run = decode_run
            self.runs[i].plan = &self.plan
            self.runs[i].batches = self.entries.batches + upto
            self.runs[i].reached = self.entries.reached + upto
            share = 0
            while upto < self.entries.n and (i == n - 1 or self.runs[i].n == 0 or share < bytes // n):
                share += self.entries.batches[upto].size
                self.runs[i].n += 1
                upto += 1
            threads.put(self, &self.runs[i].task)

    cdef int put_part(self, Threads threads, builder* open, int64_t rest) except -1:
        """Begin to decode the entries as one run of an open result, to which later windows add `rest` bytes; if that is
        0, the result ends here."""
        self.runs = <run*>calloc(1, sizeof(run))
        if self.runs == NULL:
            raise MemoryError()
        self.n_runs = 1
        self.runs.task.run = decode_run
        self.runs.plan = &self.plan
        self.runs.batches = self.entries.batches
        self.runs.reached = self.entries.reached
        self.runs.n = self.entries.n
        self.runs.open = open
        self.runs.rest = rest
        threads.put(self, &self.runs.task)
        return 0

    cdef bint goes_on(self):
        """Return whether the rows are in a result that is still open."""
        return self.runs.open != NULL and self.runs.n_chunks == 0

    cdef wait(self, Threads threads):
        """Wait until all runs are done."""
        cdef int64_t i
        for i in range(self.n_runs):
            threads.wait(&self.runs[i].task)
        for i in range(self.n_runs):
            if self.runs[i].no_memory:
                raise MemoryError()

    cdef list failures(self):
        """Return the errors of the bad entries, in order."""
        cdef failure* f
        cdef place at
        cdef int64_t i, j
        errors = []
        for i in range(self.n_runs):
            for j in range(self.runs[i].n_failures):
                f = &self.runs[i].failures[j]
                at = place_of(&f.batch, self.base, self.file)
                errors.append(error_of(&f.error, &at))
        return errors

    cdef int64_t first_failure(self):
        """Return the view position at which the first bad entry begins, or -1 if all are good."""
        cdef int64_t i
        for i in range(self.n_runs):
            if self.runs[i].n_failures:
                return self.runs[i].failures[0].batch.position
        return -1

    cdef int64_t went_back(self):
        """Return the view position at which the wrapper whose offsets go back begins, or -1."""
        return -1 if self.runs.went_back == NULL else self.runs.went_back.position

    cdef Columns columns(self, int64_t input_bytes):
        """Return the chunks of all runs, in order, as one result; call it once. Views keep the input of `input_bytes`
        bytes, or copies of the bytes that they use if those are less than a quarter."""
        cdef chunk_data* chunk
        cdef rp_error err
        cdef int64_t n = 0, shown_bytes = 0, i, j
        for i in range(self.n_runs):
            n += self.runs[i].n_chunks
            for j in range(self.runs[i].n_chunks):
                shown_bytes += self.runs[i].chunks[j].input_shown
        cdef bint no_memory = False
        cdef chunk_data** chunks = <chunk_data**>malloc(sizeof(chunk_data*) * <size_t>(n + 1))
        if chunks == NULL:
            raise MemoryError()
        n = 0
        for i in range(self.n_runs):
            for j in range(self.runs[i].n_chunks):
                chunk = self.runs[i].chunks[j]
                if chunk.input_shown and 4 * shown_bytes >= input_bytes:
                    Py_INCREF(self.view)
                    chunk.owner = <void*>self.view
                elif self.plan.layout == RP_BINARY_VIEW and release_input(&self.plan, chunk, &err) != RP_OK:
                    no_memory = True
                chunks[n] = chunk
                n += 1
            self.runs[i].n_chunks = 0
        cdef Columns result = Columns.make(self.options.fields, chunks, n)
        if no_memory:
            raise MemoryError()
        if self.options.ignores_header_checksum:
            result.ignored_header_errors = self.ignored_header_errors()
        return result

    cdef list ignored_header_errors(self):
        """Return the errors that the caller ignores, in the order of the entries."""
        cdef rp_error err
        cdef place at
        cdef const rp_batch* batch
        cdef int64_t i
        errors = []
        for i in range(self.entries.n):
            batch = &self.entries.batches[i]
            if check_header_checksum(self.plan.codecs, self.plan.data + batch.position, batch, &err) != RP_OK:
                at = place_of(batch, self.base, self.file)
                errors.append(error_of(&err, &at))
        return errors


# --- all of a record set ---------------------------------------------------------------------------------------------

def read_columns(data, columns=None, *, check_crcs=True, binary_type="binary", timestamp_unit="ms",
                 start_offset=None, end_offset=None, start_timestamp=None, end_timestamp=None, control=False,
                 aborted_transactions=None, threads=1, complete=False, max_decompressed_bytes=DEFAULT_MAX_SIZE,
                 max_message_bytes=INT32_MAX, chunk_bytes=INT32_MAX, codecs=None,
                 lz4_header_checksum="verify"):
    """Decode a record set (any mix of v0, v1 and v2, any codec) into Arrow columns.

    A truncated last entry is omitted, as by Kafka's consumers, unless `complete` is True. Control batches are omitted
    unless requested.

    Parameters
    ----------
    data : bytes-like
        Record set: the records field of a Fetch response, the content of a ``.log`` file, or a part of either.
    columns : sequence of str, optional
        The columns of the result, in this order. By default: ``offset`` int64; ``timestamp`` timestamp[ms or us, UTC],
        null for Kafka's NO_TIMESTAMP (-1); ``timestampType`` int32 (-1 none, 0 CreateTime, 1 LogAppendTime); ``key``
        and ``value`` binary; ``headers`` list<struct<key: string, value: binary>>. From the batch header:
        ``producerId`` int64, ``producerEpoch`` int16, ``sequence`` int32, ``partitionLeaderEpoch`` int32,
        ``isTransactional`` bool, ``isControl`` bool, ``baseOffset`` int64. Only requested columns are built.

        Offsets, broker-set times, and these fields except ``sequence`` and ``baseOffset`` need no decompression if a
        v2 batch has as many records as offsets, as every batch straight from a producer does. The checksum is still
        verified; a malformed payload with a right checksum goes unnoticed.
    check_crcs : bool
        Check the checksum of every entry, and of inner messages of v0/v1 wrappers, before it is decoded.
    binary_type : {'binary', 'large_binary', 'binary_view'}
        Arrow type of key and value. Views point into `data`, which they keep alive, or into the decompressed batch.
        If they use less than a quarter of it, their bytes are copied and the rest is released.
    timestamp_unit : {'ms', 'us'}
        Unit of the Arrow timestamps, in UTC. Kafka has milliseconds; Spark wants microseconds.
    start_offset, end_offset : int, optional
        Only records with start_offset <= offset < end_offset. Batches outside this range are skipped by their header.
    start_timestamp, end_timestamp : int, datetime or str, optional
        Only records with start_timestamp <= timestamp < end_timestamp: milliseconds since 1970, or a datetime or
        ISO 8601 text with a time zone.
    control : bool
        Keep the records of control batches (transaction markers, KRaft).
    aborted_transactions : iterable of (producerId, firstOffset), optional
        Omit the records of these aborted transactions, as isolation.level=read_committed does. A Fetch response
        carries this list; a broker keeps it in ``.txnindex`` files.
    threads : int
        Number of threads that decode, including the caller's. The order of the rows does not change; the result has
        one record batch per thread.
    complete : bool
        If True, a truncated last entry raises CorruptRecordError.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    max_message_bytes : int
        An entry whose size field is above this is corrupt.
    chunk_bytes : int
        A record batch of the result ends before one of its binary columns, or its headers, could exceed this size.
    codecs : CodecRegistry | None
        Codec plug-ins in addition to Kafka's.
    lz4_header_checksum : {'verify', 'ignore'}
        How to treat a wrong header checksum of an LZ4 frame in v1 and v2; some clients write that of v0 (KIP-57).
        'verify' refuses the frame, as Kafka's consumers do. 'ignore' reads it, and the result's `lz4_header_errors`
        lists it.

    Returns
    -------
    Columns
        Its `valid_bytes` is the size of the complete entries, its `trailing_bytes` the size of a truncated entry after
        them.

    Raises
    ------
    CorruptRecordError
        A checksum, size or magic is wrong, or a codec's stream is damaged (DecompressionError); with complete=True also
        a truncated last entry.
    InvalidRecordError
        Records break a rule of their format.
    UnsupportedCompressionTypeError
        An entry has a codec id that Kafka has not assigned.
    OutputTooLargeError
        A batch is larger than max_decompressed_bytes.
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted.

    Examples
    --------
    >>> import recordpress
    >>> data = recordpress.write_records([b"a", b"b", None], keys=[b"k", None, b"k"], compression_type="zstd")
    >>> columns = recordpress.read_columns(data, ["offset", "key", "value"])
    >>> import pyarrow
    >>> pyarrow.table(columns).to_pydict()
    {'offset': [0, 1, 2], 'key': [b'k', None, b'k'], 'value': [b'a', b'b', None]}
    """
    cdef Options options = Options.make(
        columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp, end_timestamp,
        control, aborted_transactions, threads, complete, max_decompressed_bytes, max_message_bytes, chunk_bytes,
        codecs, lz4_header_checksum)
    cdef InputView view = InputView(data)
    cdef Window window = window_of(options, view, view.size, 0, None)
    cdef Threads threads_of_call
    cdef Columns result
    scan_all(window)
    threads_of_call = Threads(min(<int64_t>options.threads, max(1, window.entries.n)) - 1)
    try:
        window.put(threads_of_call, options.threads)
        window.wait(threads_of_call)
    finally:
        threads_of_call.close()
    for error in window.failures():
        raise error
    if window.error is not None:
        raise window.error
    result = window.columns(view.size)
    result.valid_bytes = window.end.position
    result.trailing_bytes = view.size - window.end.position
    return result


cdef scan_all(Window window):
    """Read all headers; if the set must be complete, set the window's error for a truncated entry."""
    cdef walk start
    cdef rp_error err
    cdef place at
    window.options.begin(&start, 0)
    try:
        window.read_headers(&start, INT64_MAX)
    finally:
        walk_free(&start)
    cdef int64_t cut = window.plan.size - window.end.position
    if cut and window.error is None and window.options.complete:
        rp_fail(&err, RP_CUT_ENTRY, -1, cut, 0)
        at = place_at(window.end.position)
        window.error = error_of(&err, &at)
