"""Results as lines, written as they come.

::

    results ──► Lines of one ┐ a thread makes text of them   ──► write, by the caller, who also requests results
                Lines of two ┘ while the caller does the rest

The order is that of the results. Only the caller's thread runs Python.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport INT32_MAX
from libc.string cimport memset

from recordpress._arguments cimport choice_of, integer_of
from recordpress._buffers cimport PooledBlock, pooled, pooled_free
from recordpress._c.python cimport references
from recordpress._threads cimport Threads, task
from recordpress.columns._lines cimport Lines, checked, put_lines, writer

from collections import deque

cdef enum:
    # Bytes of text as a whole: what the CPU's caches still have when the same thread writes it, and what makes
    # handing a chunk from one thread to the other cheap.
    PIECE = 1 << 18
    PIECE_AHEAD = 1 << 20

_KINDS = {"json": "json", "csv": "csv"}


# A chunk of text that is being made.
ctypedef struct piece:
    task task            # first: it is what `make` is given
    writer* writer
    size_t most
    int status


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

    cdef int put(self, Threads threads) except -1:
        """Begin to make the next chunk."""
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
        """Use the block again, unless the receiver keeps the text."""
        if references(<PyObject*>block) == 1 and self.spare.data == NULL:
            self.spare = block.buffer
            self.spare.size = 0
            memset(&block.buffer, 0, sizeof(pooled))
        return 0


cdef class _Pipeline:
    """As many results in work as there are threads."""

    cdef object results     # their iterator
    cdef object write
    cdef object ahead       # of _Work
    cdef list free          # the others
    cdef Threads threads
    cdef object failed      # what came in place of a result, raised after the lines of earlier results
    cdef bint at_end

    def __cinit__(self, str kind, values, results, write, int threads):
        self.results = iter(results)
        self.write = write
        self.ahead = deque()
        self.free = [_Work(Lines(kind, values), PIECE_AHEAD if threads > 1 else PIECE) for _ in range(threads)]
        self.threads = Threads(threads - 1)

    cdef int fill(self) except -1:
        """Begin with further results."""
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
                work.put(self.threads)
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
                work.put(self.threads)  # the next chunk is made while this one is written
            if block.buffer.size:
                self.write(memoryview(block))
            work.give_back(block)
            if work.lines.columns is None:
                self.free.append(work)
        if self.failed is not None:
            raise self.failed
        return 0


def write_lines(results, write, kind="json", values="utf8", *, threads=1):
    """Write the rows of results as lines, one result after another.

    Parameters
    ----------
    results : iterable of Columns
        Its exception is raised after the lines of the results before it.
    write : callable
        Is called with the text, a buffer of whole lines at a time, which is used again if nothing keeps it. After an
        own exception it is not called again.
    kind : {'json', 'csv'}
        Lines as `json_lines` makes them, or `csv_rows`.
    values : {'utf8', 'hex', 'base64', 'json', 'size'}
        As for `json_lines`.
    threads : int
        1: a result is written before the next one is requested. From 2 on, a second thread makes the text of the next
        result, and of one more, while this one writes and requests results.

    Raises
    ------
    ArgumentTypeError
        A result is no `Columns`.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.columns import write_lines
    >>> data = recordpress.write_records([b"a"]) + recordpress.write_records([b"b"], base_offset=1)
    >>> results = recordpress.iter_columns(data, ["offset", "value"], batch_bytes=1)
    >>> write_lines(results, lambda text: print(bytes(text)), threads=2)
    b'{"offset":0,"value":"a"}\\n'
    b'{"offset":1,"value":"b"}\\n'
    """
    cdef _Pipeline pipeline = _Pipeline(
        choice_of("kind", kind, _KINDS), values, results, write, min(2, integer_of(threads, "threads", 1, INT32_MAX)))
    try:
        pipeline.run()
    finally:
        pipeline.threads.close()
