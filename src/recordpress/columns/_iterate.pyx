"""iter_columns: a walk over a record set that can be stopped and resumed.

Two walks go over the entries: `reached` reads headers ahead, up to as many windows as there are threads, and `passed`
follows with the results that were returned. The iterator's attributes describe the second.

Without threads, a file is read in windows that stay in the CPU's caches, and several of them make one result.
"""

cimport cython
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int64_t
from libc.string cimport memset

from recordpress._arguments cimport choice_of, integer_of
from recordpress._c.wire cimport RP_BINARY_VIEW, RP_CUT_ENTRY, RP_OK, rp_error, rp_fail
from recordpress._sealed cimport seal
from recordpress._status cimport error_of, place, place_at, place_of
from recordpress.columns._columns cimport Columns
from recordpress.columns._gather cimport builder_free
from recordpress.columns._source cimport Source, source_of
from recordpress.columns._options cimport Options
from recordpress.columns._plan cimport failure
from recordpress.columns._select_batches cimport (
    AT_BOUND, GOES_BACK, aborted_transaction, refuse_early, walk, walk_copy, walk_free,
)
from recordpress._threads cimport Threads
from recordpress.columns._window cimport Window, window_of
from recordpress.columns._roundtrip_loss cimport NOTHING, loss, loss_of_both

from collections import deque

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import ArgumentTypeError, InUseError

_ON_CORRUPT = {"raise": False, "skip": True}

cdef enum:
    PART_BYTES = 5 << 18  # of a file in one window: read and decoded before the caches lose them


cdef int replace(walk* to, const walk* w) except -1:
    """Replace `to` by a copy of w."""
    cdef walk copy
    if walk_copy(&copy, w):
        raise MemoryError()
    walk_free(to)
    to[0] = copy
    return 0


cdef class ColumnsIterator:
    """The iterator over `Columns` that `iter_columns` returns; it knows how far it has come.

    Its attributes describe the state after the results that were returned, however far threads have read ahead. A
    ``with`` statement closes it.

    Attributes
    ----------
    position : int
        Where the next entry begins: in the buffer, or in bytes from the file's position at the start.
    next_offset : int or None
        The offset after the last entry that was passed, whether or not it was requested; None before the first.
    goes_back : bool
        Whether the walk ended because of `ascending_from`.
    valid_bytes : int
        Bytes of complete entries that were passed: position less start_position.
    trailing_bytes : int
        Bytes of a truncated entry at the end, once the end is reached; 0 before.
    aborted_transactions : list of (producerId, firstOffset)
        The aborted transactions that still matter: open ones and ones not begun yet.
    batch_bytes : int
        As given to `iter_columns`. May be changed for later results, except results that threads have read ahead: a
        caller can watch ``nbytes`` and keep results at its own size.
    errors : list of RecordpressError
        The errors of the entries that were skipped (``on_corrupt="skip"``), in order.

    Examples
    --------
    A walk that is stopped, and one that resumes there:

    >>> import recordpress
    >>> log = b"".join(recordpress.write_records([b"x"] * 10, base_offset=i) for i in range(0, 100, 10))
    >>> first = recordpress.iter_columns(log, ["offset"], batch_bytes=300)
    >>> next(first).num_rows, first.next_offset
    (20, 20)
    >>> rest = recordpress.iter_columns(log, ["offset"], start_position=first.position,
    ...                            aborted_transactions=first.aborted_transactions)
    >>> next(rest).num_rows, rest.next_offset, rest.position == len(log)
    (80, 100, True)
    """

    def __init__(self):
        raise TypeError("ColumnsIterator objects are made by iter_columns")

    @staticmethod
    cdef ColumnsIterator make(Options options, source, batch_bytes, start_position, end_position, on_corrupt,
                              ascending_from):
        cdef ColumnsIterator self = ColumnsIterator.__new__(ColumnsIterator)
        cdef int64_t position
        self.options = options
        options.plan.skip = choice_of("on_corrupt", on_corrupt, _ON_CORRUPT)
        options.plan.ends = options.plan.last_offset != INT64_MAX
        self.stop_after = integer_of(batch_bytes, "batch_bytes", 1, INT64_MAX)
        self.source = source_of(source, 1, start_position, end_position, &position)
        self.in_parts = (self.source.file is not None and options.threads == 1
                         and options.plan.layout != RP_BINARY_VIEW)  # whose results are the windows
        self.source.step = self._step()
        self.start = position
        options.begin(&self.reached, position)
        options.begin(&self.passed, position)
        if ascending_from is not None:
            options.plan.ascends = True
            self.reached.next_offset = self.passed.next_offset = integer_of(
                ascending_from, "ascending_from", INT64_MIN, INT64_MAX)
            self.reached.any = self.passed.any = True
        self.ahead = deque()
        self.errors = []
        self.ignored_header_errors = []
        return self

    def __dealloc__(self):
        walk_free(&self.reached)
        walk_free(&self.passed)
        walk_free(&self.returned)
        if self.in_parts:
            builder_free(&self.open)

    def __iter__(self):
        return self

    def __array__(self, dtype=None, copy=None):
        """pandas asks for an array if it does not know an object."""
        raise ArgumentTypeError("an iterator of Columns is not a NumPy array. For pandas frames: to_pandas() of each "
                                "result, or of read_columns(data)", field="columns")

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def __repr__(self):
        return f"<recordpress.ColumnsIterator at byte {self.position}{' (closed)' if self.closed else ''}>"

    @property
    def position(self):
        return self.passed.position

    @property
    def next_offset(self):
        return self.passed.next_offset if self.passed.any else None

    @property
    def goes_back(self):
        return self.passed.state == GOES_BACK

    @property
    def valid_bytes(self):
        return self.passed.position - self.start

    @property
    def trailing_bytes(self):
        return self.trailing

    @property
    @cython.critical_section
    def aborted_transactions(self):
        cdef const aborted_transaction* t
        cdef int64_t i
        pairs = []
        for i in range(self.passed.isolation.n_open):
            t = &self.passed.isolation.open[i]
            pairs.append((t.producer_id, t.first_offset))
        for i in range(self.passed.isolation.next, self.passed.isolation.n_aborted):
            t = &self.passed.isolation.aborted[i]
            pairs.append((t.producer_id, t.first_offset))
        return pairs

    @property
    def batch_bytes(self):
        return self.stop_after

    @batch_bytes.setter
    @cython.critical_section
    def batch_bytes(self, value):
        self.stop_after = integer_of(value, "batch_bytes", 1, INT64_MAX)
        if self.source is not None:
            self.source.step = self._step()

    cdef int64_t _step(self):
        """Return the number of bytes of a file to read at a time."""
        return min(self.stop_after, <int64_t>(PART_BYTES if self.in_parts else INT32_MAX))

    @cython.critical_section
    def close(self):
        """End the iteration and its threads. The attributes keep their values."""
        if self.busy:
            raise InUseError("the iteration cannot be closed while it reads")
        self._end()

    cdef _end(self):
        if self.is_open:  # an exception: the rows are lost
            walk_free(&self.passed)
            self.passed = self.returned
            memset(&self.returned, 0, sizeof(walk))
            self.is_open = False
        if self.in_parts:
            builder_free(&self.open)
        self.closed = True
        self.failed = None
        if self.threads is not None:
            self.threads.close()
        if self.ahead is not None:
            self.ahead.clear()
        self.source = None  # the file or buffer is the caller's again

    def __next__(self):
        cdef Columns columns = self._result()
        if columns is None:
            raise StopIteration  # as in Records
        return columns

    @cython.critical_section
    cdef Columns _result(self):
        """Return the next result; None at the end, which it makes so."""
        cdef Columns columns
        if self.busy:
            raise InUseError("another thread, or a call that this one interrupts, is reading from the iteration")
        if self.closed:
            return None
        self.busy = True
        try:
            columns = self._next()
            if columns is None:
                self._end()
        except BaseException:
            self._end()
            raise
        finally:
            self.busy = False
        return columns

    cdef Columns _next(self):
        """Return the next result that has rows, or at the end the losses of those without; None after it."""
        cdef Window window
        cdef Columns columns
        if self.threads is None:
            self.threads = Threads(self.options.threads - 1)
        while True:
            if not self.is_open:
                replace(&self.returned, &self.passed)
            self._read_ahead()
            if self.ahead:
                window = self.ahead.popleft()
            elif self.is_open:
                window = self._empty_window()
            elif self.failed is not None:
                raise self.failed
            else:
                columns, self.rowless = self.rowless, None
                return columns
            window.wait(self.threads)
            columns = self._hand_out(window)
            if columns is not None:
                self._carry_lost(columns)
                if columns.num_rows:
                    return columns
            window = None  # so that its block can be read into again

    cdef void _carry_lost(self, Columns columns) noexcept:
        """Carry the loss notes of results without rows, which are not returned, to the next result."""
        cdef loss* lost = &columns._parts[0].chunk.lost
        lost[0] = loss_of_both(&self.lost, lost)
        self.rowless = None
        if columns.num_rows:
            memset(&self.lost, 0, sizeof(loss))
            return
        self.lost = lost[0]
        if lost.what != NOTHING:
            self.rowless = columns

    # --- reading ahead --------------------------------------------------------------------------------------

    cdef int _read_ahead(self) except -1:
        """Start to decode the next window, and as many ahead as there are threads."""
        cdef Window window
        while not self.at_end and len(self.ahead) < (self.options.threads + 1 if self.options.threads > 1 else 1):
            try:
                window = self._window()
            except Exception as error:  # of the file, say: it comes after what was read before
                self.failed = error
                self.at_end = True
                return 0
            if window is None:
                return 0
            self._put(window)
            self.ahead.append(window)
        return 0

    cdef int _put(self, Window window) except -1:
        """Start to decode a window."""
        cdef int64_t rest
        if not self.in_parts:
            window.put(self.threads, 1)
            return 0
        rest = self.stop_after - (window.base + window.end.position - self.returned.position)
        window.put_part(self.threads, &self.open, 0 if self.at_end or 2 * rest < self.source.step else rest)
        return 0

    cdef Window _window(self):
        """Return the next entries, with their headers read; None at the end."""
        cdef Source source = self.source
        cdef Window window
        while True:
            if self.reached.position < source.size:
                window = window_of(self.options, source.view, source.size, source.base, source.name)
                window.read_headers(&self.reached, self.stop_after)
                self.at_end = window.error is not None or window.end.state >= AT_BOUND
                if self.at_end or window.end.position > self.reached.position:
                    replace(&self.reached, &window.end)
                    return window
                window = self._unread_window()
                if window is not None:
                    return window
            if not source.more(&self.reached.position):
                self.at_end = True
                return self._last_window()

    cdef Window _empty_window(self):
        """Return an empty window, which ends the open result."""
        cdef Source source = self.source
        cdef Window window = window_of(self.options, source.view, self.reached.position, source.base, source.name)
        window.read_headers(&self.reached, 1)
        window.put_part(self.threads, &self.open, 0)
        return window

    cdef Window _unread_window(self):
        """Return an empty window in place of a large entry that need not be read: nothing of it is wanted, or it is
        bad. Return None if it must be read: its checksum, which was compared in steps, is right.

        So a false size field costs no memory. Reading a sound entry of this size twice costs little compared with it.
        """
        cdef Source source = self.source
        cdef int64_t size = source.awaited(self.reached.position)
        cdef Window window
        cdef bint is_bad
        if size == 0:
            return None
        window = window_of(self.options, source.view, self.reached.position + size, source.base, source.name)
        if not window.read_header(&self.reached, source.size):
            return None
        is_bad = window.entries.n and self._refuse(window)
        if window.entries.n and not is_bad:
            return None
        window.entries.n = 0
        if is_bad and not self.options.plan.skip:
            replace(&window.end, &self.reached)
            self.at_end = True
            return window
        self.at_end = window.end.state >= AT_BOUND
        replace(&self.reached, &window.end)
        if not self.at_end:
            source.skip(&self.reached.position)
        return window

    cdef bint _refuse(self, Window window) except -1:
        """Return whether the only entry of the window is bad, of which the source has read no more than its
        beginning."""
        cdef Source source = self.source
        cdef failure f
        cdef place at
        cdef int status
        memset(&f, 0, sizeof(failure))
        f.batch = window.entries.batches[0]
        status = refuse_early(&window.plan, source.size - f.batch.position, &f)
        if status == RP_OK and window.plan.check_crcs:
            status = source.check_crc(&f.batch, &f.error)
        if status == RP_OK:
            return False
        at = place_of(&f.batch, source.base, source.name)
        window.error = error_of(&f.error, &at)
        return True

    cdef Window _last_window(self):
        """Return an empty window with the error of the truncated entry; otherwise None."""
        cdef Source source = self.source
        cdef int64_t rest = source.rest(self.reached.position)
        cdef Window window
        cdef rp_error err
        cdef place at
        if rest == 0:
            return None
        window = window_of(self.options, source.view, self.reached.position, source.base, source.name)
        window.read_headers(&self.reached, 1)
        window.trailing = rest
        if self.options.complete:
            rp_fail(&err, RP_CUT_ENTRY, -1, rest, 0)
            at = place_at(self.reached.position, source.base, source.name)
            window.error = error_of(&err, &at)
        return window

    # --- handing out ----------------------------------------------------------------------------------------

    cdef Columns _hand_out(self, Window window):
        """Return the rows of the result that ends with the window, None if it continues; `failed` becomes the error
        after them."""
        cdef list errors = window.failures()
        cdef int64_t first = window.first_failure()
        cdef int64_t back = window.went_back()
        cdef Columns columns = None
        self.is_open = window.goes_on()
        if not self.is_open:
            columns = window.columns(window.view.size if self.source.file is not None  # else the caller's
                                     else window.end.position - self.passed.position)
            if self.ignored_header_errors:
                columns.ignored_header_errors = self.ignored_header_errors + columns.ignored_header_errors
                self.ignored_header_errors = []
        elif self.options.ignores_header_checksum:
            self.ignored_header_errors += window.ignored_header_errors()
        if window.error is not None and back < 0:
            errors.append(window.error)
        if self.options.plan.skip:
            self.errors += errors
            first = -1
        elif errors:
            self.failed = errors[0]
            self.at_end = True
            self.ahead.clear()
        if back >= 0:
            self.failed = None
            self.at_end = True
            self.ahead.clear()
        self._pass(window, first if back < 0 else back)
        if back >= 0:
            self.passed.state = GOES_BACK
        else:
            self.trailing = window.trailing
        if columns is not None:
            columns.valid_bytes = self.passed.position - self.returned.position
        return columns

    cdef int _pass(self, Window window, int64_t first_failure) except -1:
        """Move `passed` to the end of the window, or to its first bad entry."""
        cdef Window again
        if first_failure < 0:
            replace(&self.passed, &window.end)
            self.passed.position += window.base
            return 0
        # once more over the headers before that entry
        again = window_of(self.options, window.view, first_failure, window.base, window.file)
        self.passed.position -= window.base
        try:
            again.read_headers(&self.passed, INT64_MAX)
            replace(&self.passed, &again.end)
        finally:
            self.passed.position += window.base
        return 0


seal(ColumnsIterator, "iter_columns")


def iter_columns(source, columns=None, *, batch_bytes=1 << 18, check_crcs=True, binary_type="binary",
                 timestamp_unit="ms", start_offset=None, end_offset=None, start_timestamp=None, end_timestamp=None,
                 start_position=0, end_position=None, control=False, aborted_transactions=None, threads=1,
                 on_corrupt="raise", complete=False, ascending_from=None, max_decompressed_bytes=DEFAULT_MAX_SIZE,
                 max_message_bytes=INT32_MAX, chunk_bytes=INT32_MAX, codecs=None,
                 lz4_header_checksum="verify"):
    """Decode a long record set chunk by chunk, in bounded memory.

    Parameters
    ----------
    source : bytes-like or binary file object
        A file is read from its current position, in chunks (by readinto); it is not closed.
    columns : sequence of str, optional
        As in `read_columns`.
    batch_bytes : int
        Here: stored (compressed) bytes of complete entries that go into one result; at least one entry. At most 2 GiB
        for a file.
    end_offset : int, optional
        The walk ends at the first entry that has this offset or a larger one: offsets of a log ascend. To resume there,
        pass it as start_offset.
    start_position : int
        Where in a buffer the first entry begins.
    end_position : int, optional
        The source is read as if it ended here; counted like `position`.
    aborted_transactions : iterable of (producerId, firstOffset), optional
        As in `read_columns`. To resume a walk, pass the attribute of the iterator that came so far.
    threads : int
        Decode with this many threads, including the caller's, and this many results ahead.
    on_corrupt : {'raise', 'skip'}
        'raise': a bad entry ends the iteration, after the results before it. 'skip': its error goes to the iterator's
        list `errors`, and the walk continues with the next entry. Damage to the framing itself (an impossible size or
        magic, or a cut tail with complete=True) ends the walk in any case, and is the last of `errors`.
    complete : bool
        A truncated last entry is a CorruptRecordError. If False, it is omitted, as by Kafka's consumers, and
        `trailing_bytes` has its size.
    ascending_from : int, optional
        The walk ends before the first entry whose offsets go back: it begins before this offset, or before the end of
        an entry that was passed.
    max_message_bytes : int
        An entry whose size field is above this is corrupt. One of more than 16 MiB is held in memory only if its
        checksum is right, where the file is a plain one or of `recordpress.files`: it is then read twice. Of other
        files, and with check_crcs=False, this bounds what one entry can cost.

    The other options are as for `read_columns`.

    Returns
    -------
    ColumnsIterator
        Each result has rows, except for one case: with the column ``baseOffset``, batches without records at the end
        are reported by a last result without rows, which `write_columns` refuses.

    Raises
    ------
    InvalidArgumentError
        The file's name is that of an index, a snapshot or another file that holds no records.
    RecordpressError
        As `read_columns`, after the rows before the bad entry. Positions count from the start of the buffer, or from
        the file's position at the start.

    Examples
    --------
    >>> import io, recordpress
    >>> log = b"".join(recordpress.write_records([b"x"] * 10, base_offset=i) for i in range(0, 100, 10))
    >>> [columns.num_rows for columns in recordpress.iter_columns(io.BytesIO(log), ["value"], batch_bytes=300)]
    [20, 20, 20, 20, 20]
    """
    cdef Options options = Options.make(
        columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp, end_timestamp,
        control, aborted_transactions, threads, complete, max_decompressed_bytes, max_message_bytes, chunk_bytes,
        codecs, lz4_header_checksum)
    return ColumnsIterator.make(options, source, batch_bytes, start_position, end_position, on_corrupt, ascending_from)
