"""iter_columns: a walk over a record set that can be stopped and resumed.

Two walks go over the entries: `reached` reads headers ahead, up to as many windows as there are threads, and `passed`
follows with the results that were returned. The iterator's attributes describe `passed`.

Without threads, a file is read in windows that stay in the CPU's caches, and several windows form one result.
"""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.ref cimport PyObject
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int64_t, uint32_t, uint8_t
from libc.string cimport memcpy, memmove, memset

from recordpress._arguments cimport choice_of, integer_of
from recordpress._buffers cimport InputView, PooledBlock, pooled_block
from recordpress._c.python cimport references
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_BINARY_VIEW, RP_CUT_ENTRY, RP_ENTRY_PREFIX, RP_OK, rp_batch, rp_cursor_of, rp_entry_size,
    rp_error, rp_fail,
)
from recordpress._sealed cimport seal
from recordpress._status cimport error_of, place, place_at, place_of
from recordpress._threads cimport Threads
from recordpress.columns._columns cimport Columns
from recordpress.columns._gather cimport builder, builder_free
from recordpress.columns._plan cimport failure
from recordpress.columns._read cimport Options, Window, window_of
from recordpress.columns._roundtrip_loss cimport NOTHING, loss, loss_of_both
from recordpress.columns._select_batches cimport (
    AT_BOUND, GOES_BACK, aborted_transaction, refuse_early, walk, walk_copy, walk_free,
)
from recordpress.record.decode cimport checked_from, compare_crc, crc_update

import io
from collections import deque

from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import ArgumentTypeError, InUseError, InvalidArgumentError

# --- the bytes of a walk: a buffer, or a file chunk by chunk ---------------------------------------------------------

cdef enum:
    # Maximum bytes that one call of readinto requests: Linux reads no more than 2 GiB - 4 KiB at once.
    MOST_AT_ONCE = 1 << 30
    # An entry of this size is checked before it is read whole, as in log/_read_entry.py: Kafka's default is 1 MiB.
    LARGE_ENTRY = 1 << 24
    # An entry larger than a view divided by this is read alone. A quarter was chosen, not measured.
    LARGE_SHARE = 4
    # Bytes of a large entry that are read at once for its checksum: they stay in the CPU's caches.
    STEP_BYTES = 1 << 18


cdef Source source_of(object source, int64_t step, object start, object end, int64_t* position):
    """Return the source; set `position` to the start of the walk in the view."""
    cdef Source self = Source.__new__(Source, source)
    if PyObject_CheckBuffer(source):
        self.view = InputView(source, "source")
        position[0] = integer_of(start, "start_position", 0, self.view.size)
        self.end = self.view.size if end is None else integer_of(end, "end_position", position[0], INT64_MAX)
        self.size = min(self.view.size, self.end)
        return self
    if not hasattr(source, "readinto"):
        raise ArgumentTypeError("source must be a bytes-like object or a binary file (with readinto), "
                                f"not {type(source).__name__}{advice(source)}", field="source")
    if integer_of(start, "start_position", 0, INT64_MAX):
        raise InvalidArgumentError("start_position is for buffers: a file is read from its position, so seek first",
                                   field="start_position")
    self.view = InputView(b"")
    position[0] = 0
    self.end = INT64_MAX if end is None else integer_of(end, "end_position", 0, INT64_MAX)
    self.step = step
    self.file = source
    name = getattr(source, "name", None)
    self.name = name if isinstance(name, str) else None
    if self.name is not None and not self.name.endswith(".log"):  # most are segments, whose names need no check
        from recordpress._file_names import refuse_without_records

        refuse_without_records(self.name, "source")
    return self


cdef str advice(source):
    """Return the hint for a source that is a path."""
    if isinstance(source, str) or hasattr(type(source), "__fspath__"):
        return ": use open(path, 'rb') for a file, or recordpress.open_log(path) for a segment or a log"
    return ""


cdef int64_t left_in(file):
    """Return the number of bytes from the file's position to its end; -1 if only reading can show it. A file of known
    size can also be read at any position. Only plain files of Python and of recordpress.files are examined: an object
    that wraps another file (gzip) may have the other's descriptor, but not its size."""
    if hasattr(file, "bytes_left"):
        return integer_of(file.bytes_left, "bytes_left", 0, INT64_MAX)
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    if type(raw) is not io.FileIO:
        return -1
    import os
    from stat import S_ISREG

    status = os.fstat(raw.fileno())
    return max(0, status.st_size - file.tell()) if S_ISREG(status.st_mode) else -1


cdef class Source:
    """The bytes of a walk; `source` is the caller's object: see source_of."""

    cdef InputView view        # the bytes in memory
    cdef int64_t size          # number of bytes of the view that belong to the source
    cdef int64_t base          # where the view starts in the source
    cdef int64_t step          # bytes read from a file at a time
    cdef int64_t end           # where the source ends for the caller
    cdef object file           # None: the view is the whole source
    cdef int64_t unread        # bytes of a truncated entry that are left in the file: they are not read
    cdef readonly object name
    cdef PooledBlock block     # of the view, if the view is a chunk of a file

    def __cinit__(self, source):
        self.view = None

    cdef int64_t rest(self, int64_t position):
        """Return the number of bytes of the source from `position` (in the view) that are known, and that belong to no
        complete entry."""
        return self.size - position + self.unread

    cdef bint more(self, int64_t* position) except -1:
        """Replace the view by one that begins at `position` and has more bytes; set `position` to the same place in the
        new view. Return False if there are no more bytes."""
        cdef int64_t rest = self.size - position[0]
        cdef int64_t begin = self.base + position[0]
        cdef int64_t room
        cdef PooledBlock block
        if self.file is None or begin + rest >= self.end:
            return False
        room = min(self._room(self.view.data + position[0], rest), self.end - begin)
        if room == rest:
            return False
        block = self._block(position[0], rest, room)
        read = self._read(block, rest, room)
        block.buffer.size = <size_t>(rest + read)
        self.block = block
        self.view = InputView(block)
        self.size = self.view.size
        self.base = begin
        position[0] = 0
        return read != 0

    cdef PooledBlock _block(self, int64_t position, int64_t rest, int64_t room):
        """Return a block for the next view, which begins with the rest of this view: the same block, in the CPU's
        caches, if nothing else uses it."""
        cdef PooledBlock block
        cdef bint is_free = self.block is not None and references(<PyObject*>self.view) == 1
        if is_free and room <= <int64_t>self.block.buffer.capacity:
            block = self.block
            memmove(block.buffer.data, self.view.data + position, <size_t>rest)
            block.buffer.size = <size_t>room
            return block
        block = pooled_block(<size_t>room)
        memcpy(block.buffer.data, self.view.data + position, <size_t>rest)
        return block

    cdef int64_t awaited(self, int64_t position) except -1:
        """Return the size of the entry that begins at `position` if it is large, and complete in the file but not in
        memory; else 0."""
        cdef int64_t rest = self.size - position, entry
        if self.file is None or rest < max(self.step, <int64_t>RP_BATCH_HEADER):
            return 0
        entry = rp_entry_size(rp_cursor_of(self.view.data + position, <size_t>rest))
        if entry < LARGE_ENTRY or self.base + position + entry > self.end or left_in(self.file) < entry - rest:
            return 0
        return entry

    cdef int check_crc(self, const rp_batch* batch, rp_error* err) except -1:
        """Check an awaited entry as check_crc() does, but read the file in steps, and then restore the file's
        position."""
        cdef const uint8_t* entry = self.view.data + batch.position
        cdef int64_t there = self.size - batch.position
        cdef int64_t left = batch.size - there, begin = checked_from(batch), read
        cdef uint32_t crc = crc_update(0, batch, entry + begin, there - begin)
        cdef PooledBlock block = pooled_block(STEP_BYTES)
        at = self.file.tell()
        try:
            while left:
                read = self._read(block, 0, min(left, <int64_t>STEP_BYTES))
                if read == 0:
                    return RP_OK  # truncated by now: reading the entry will fail
                crc = crc_update(crc, batch, block.buffer.data, read)
                left -= read
        finally:
            self.file.seek(at)
        return compare_crc(batch, crc, err)

    cdef int skip(self, int64_t* position) except -1:
        """Skip to `position`, after the view, without reading; set `position` to the same place in an empty view."""
        self.file.seek(position[0] - self.size, io.SEEK_CUR)
        self.base += position[0]
        self.view = InputView(b"")
        self.block = None  # earlier windows point into it
        self.size = position[0] = 0
        return 0

    cdef int64_t _read(self, PooledBlock block, int64_t rest, int64_t room) except -1:
        read = self.file.readinto(memoryview(block)[rest:min(room, rest + MOST_AT_ONCE)])
        if read is None:
            raise InvalidArgumentError("source must be a file that waits for its bytes, not a non-blocking file",
                                       field="source")
        try:
            return integer_of(read, "readinto()", 0, room - rest)
        except (ArgumentTypeError, InvalidArgumentError) as error:
            raise type(error)(f"source does not behave like a Python file: {error.message}", field="source") from None

    cdef int64_t _first_entry(self, const uint8_t* data, int64_t rest, int64_t step) noexcept:
        """Return the end of the prefix after the first entry if the entry is a large part of a view, else `step`;
        `rest` is at least RP_ENTRY_PREFIX."""
        cdef int64_t size = rp_entry_size(rp_cursor_of(data, <size_t>rest)) + RP_ENTRY_PREFIX
        return size if max(rest, step // LARGE_SHARE) < size <= step else step

    cdef int64_t _room(self, const uint8_t* data, int64_t rest) except -1:
        """Return the size of the next view: `step` bytes, so that a few entries do not become a separate result. A
        view of a few large entries ends with the first entry, and the prefix of the next; the rest is copied.

        For a larger entry, views grow with the bytes that exist, never by its size field alone. If the file is known
        to hold the whole entry, the view gets the entry's size at once; if known not to, the rest is not read.
        """
        cdef int64_t step = max(self.step, <int64_t>RP_BATCH_HEADER)  # entries are measured against it
        cdef int64_t entry, left
        if rest < RP_ENTRY_PREFIX:
            return step
        if rest < step:
            return self._first_entry(data, rest, step)
        entry = rp_entry_size(rp_cursor_of(data, <size_t>rest))  # its bounds were checked by the scan
        left = left_in(self.file)
        if left < 0:
            return 2 * rest
        left = min(left, self.end - self.base - self.size)
        if left >= entry - rest:
            return entry
        self.unread = left
        return rest


# --- iter_columns ----------------------------------------------------------------------------------------------------

_ON_CORRUPT = {"raise": False, "skip": True}

cdef enum:
    PART_BYTES = 5 << 18  # of a file in one window: decoded before they leave the caches


cdef int replace(walk* to, const walk* w) except -1:
    """Replace `to` with a copy of w."""
    cdef walk copy
    if walk_copy(&copy, w):
        raise MemoryError()
    walk_free(to)
    to[0] = copy
    return 0


cdef class ColumnsIterator:
    """The iterator over `Columns` that `iter_columns` returns, with its progress.

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
        The aborted transactions that still matter: they are open, or have not begun yet.
    batch_bytes : int
        As passed to `iter_columns`. It may be changed for later results, except results that threads have read ahead,
        so that a caller can watch ``nbytes`` and adjust the size of results.
    errors : list of RecordpressError
        The errors of the entries that were skipped (``on_corrupt="skip"``), in order.

    Examples
    --------
    A walk that stops, and another that resumes there:

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

    cdef Options options
    cdef Source source
    cdef Threads threads
    cdef int64_t stop_after      # batch_bytes
    cdef walk reached            # over the entries read ahead; positions count in the source's view
    cdef bint at_end             # nothing is left to read ahead
    cdef object ahead            # deque of windows that are being decoded
    cdef object failed           # an exception that is due after the windows in `ahead`
    cdef int64_t start
    cdef walk passed             # over the entries decoded; positions count in the source
    cdef bint in_parts           # one window after the other adds to a result, until it has batch_bytes
    cdef builder open            # of a result that is not complete yet
    cdef bint is_open            # whether `open` may have rows
    cdef walk returned           # the state of `passed` when the result began
    cdef list ignored_header_errors         # of the result so far
    cdef loss lost               # of results without rows, since the last result with rows
    cdef Columns rowless         # the last result without rows, if anything was lost
    cdef int64_t trailing
    cdef readonly list errors
    cdef bint busy
    cdef bint closed

    def __init__(self):
        raise ArgumentTypeError("ColumnsIterator cannot be created directly: use iter_columns")

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
        """Raise an error: pandas requests an array from an unknown object."""
        raise ArgumentTypeError("an iterator of Columns cannot be converted to a NumPy array: use to_pandas() of each "
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
        self.source = None  # releases the caller's file or buffer

    def __next__(self):
        cdef Columns columns = self._result()
        if columns is None:
            raise StopIteration  # as in Records
        return columns

    @cython.critical_section
    cdef Columns _result(self):
        """Return the next result; at the end or after an error, end the iteration, and return None or raise it."""
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
        """Return the next result that has rows; at the end, one with the losses of results without rows, then None."""
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
            window = None  # so that its block can be reused

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
            except Exception as error:  # for example of the file: raised after the results before it
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
        """Return a window of the next entries, with their headers read; return None at the end."""
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
        """Return an empty window for a large entry that need not be read: nothing of it was requested, or it is bad.
        Return None if it must be read: its checksum, which was compared in steps, is right.

        So a false size field costs no memory. Reading an intact entry of this size twice costs little in comparison.
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
        """Return whether the only entry of the window is bad; the source has read no more than the beginning of the
        entry."""
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
        """Return an empty window for a truncated last entry, with its error if `complete`; None if nothing is left."""
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

    # --- returning results ----------------------------------------------------------------------------------

    cdef Columns _hand_out(self, Window window):
        """Return the rows of the result that ends with the window, None if the result continues; set `failed` to the
        error after them."""
        cdef list errors = window.failures()
        cdef int64_t first = window.first_failure()
        cdef int64_t back = window.went_back()
        cdef Columns columns = None
        self.is_open = window.goes_on()
        if not self.is_open:
            columns = window.columns(window.view.size if self.source.file is not None  # else the view is the caller's
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
        # walk once more over the headers before that entry
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
        Stored (compressed) bytes of complete entries in one result, which has at least one entry. At most 2 GiB for a
        file.
    end_offset : int, optional
        The walk ends at the first entry that has this offset or a later offset: offsets of a log ascend. To resume
        there, pass it as start_offset.
    start_position : int
        Position in a buffer at which the first entry begins.
    end_position : int, optional
        The source is read as if it ended here; counted like `position`.
    aborted_transactions : iterable of (producerId, firstOffset), optional
        As in `read_columns`. To resume a walk, pass this attribute of the earlier iterator.
    threads : int
        Number of threads that decode, including the caller's, and of results that are decoded ahead.
    on_corrupt : {'raise', 'skip'}
        'raise': a bad entry ends the iteration, after the results before it. 'skip': its error goes to the iterator's
        list `errors`, and the walk continues with the next entry. Damage to the framing itself (an impossible size or
        magic, or a truncated tail with complete=True) ends the walk in any case, and is the last of `errors`.
    complete : bool
        If True, a truncated last entry raises CorruptRecordError. If False, it is omitted, as by Kafka's consumers, and
        `trailing_bytes` has its size.
    ascending_from : int, optional
        The walk ends before the first entry whose offsets go back: it begins before this offset, or before the end of
        an earlier entry.
    max_message_bytes : int
        An entry whose size field is above this is corrupt. In a plain file or a file of `recordpress.files`, an entry
        of more than 16 MiB is held in memory only if its checksum is right: it is then read twice. For other files,
        and with check_crcs=False, this limits the memory that one entry can cost.

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
        As in `read_columns`, after the rows before the bad entry. Positions count from the start of the buffer, or from
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
