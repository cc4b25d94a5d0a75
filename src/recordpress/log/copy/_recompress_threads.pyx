"""The entries of a segment, read or recompressed by several threads; results keep their order."""

from cpython.buffer cimport PyBUF_READ
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int64_t, uint32_t
from libc.string cimport memset

from recordpress._arguments cimport integer_of, shown
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport RP_NONE, RP_OK, rp_batch, rp_batch_next, rp_error
from recordpress._status cimport error_of, place, place_of
from recordpress._threads cimport Threads
from recordpress.checksum cimport crc32c_combined
from recordpress.codecs.codec cimport CODEC_ROWS, LEVEL_DEFAULT, codec
from recordpress.codecs.table cimport CodecTable, codec_of, level_of, name_of, table_of
from recordpress.log._digest cimport RecordDigest
from recordpress.log.copy._join cimport join_limits
from recordpress.log.copy._recompress_entries cimport content, recompress_entries, recompress_run, recompress_run_free
from recordpress.record.change_magic cimport LOST_KINDS

from collections import deque

from recordpress._arguments import MOST_THREADS
from recordpress.codecs import DEFAULT_MAX_SIZE
from recordpress.errors import ArgumentTypeError, InvalidArgumentError, InvalidRecordError
from recordpress.log.copy._segment_content import SegmentContent
from recordpress.log.copy._settle_marks import NO_MARKS
from recordpress.log.copy.defaults import DEFAULT_MAX_MESSAGE_BYTES
from recordpress.record.change_magic import LOST

cdef enum:
    RUN_BYTES = 1 << 18      # of entries that a thread works on at a time: their records stay in its caches
    JOINED_PER_RUN = 8       # no joined batch crosses the end of a run, so a run holds several joined batches


cdef class Run:
    """Entries that a thread works on; it owns what the thread reads and writes."""
    cdef recompress_run run
    cdef InputView view
    cdef int64_t base

    def __cinit__(self):
        memset(&self.run, 0, sizeof(recompress_run))

    def __dealloc__(self):
        recompress_run_free(&self.run)


cdef double most_of(object min_gain, int codec_id) except? -1:
    """Return the fraction of its old size that a new batch must stay below; infinity if it may be of any size."""
    if min_gain is None or codec_id == RP_NONE:
        return INFINITY
    if isinstance(min_gain, bool) or not isinstance(min_gain, (float, int)):
        raise ArgumentTypeError(f"min_gain must be a float or None, not {type(min_gain).__name__}", field="min_gain")
    if not 0 <= min_gain < 1:
        raise InvalidArgumentError(f"min_gain must be at least 0 and less than 1, or None, not {shown(min_gain)}",
                                   field="min_gain")
    return 1 - <double>min_gain


cdef join_limits limits_of(object batch_bytes, object batch_records, object max_message_bytes) except *:
    """Return the limits of joined batches; all zero if neither a size nor a number of records is given."""
    cdef join_limits limits
    cdef int64_t most = integer_of(max_message_bytes, "max_message_bytes", 1, INT32_MAX)
    memset(&limits, 0, sizeof(join_limits))
    if batch_bytes is None and batch_records is None:
        return limits
    limits.bytes = limits.message_bytes = most
    limits.records = INT32_MAX
    if batch_records is not None:
        limits.records = integer_of(batch_records, "batch_records", 1, INT32_MAX)
    if batch_bytes is not None:
        limits.bytes = integer_of(batch_bytes, "batch_bytes", 1, INT32_MAX)
    if limits.bytes > most:
        raise InvalidArgumentError(f"batch_bytes {limits.bytes} is more than max_message_bytes {most}: brokers refuse "
                                   "batches that are larger than the topic's max.message.bytes", field="batch_bytes")
    return limits


cdef void add_content(content* to, const content* c) noexcept nogil:
    to.records += c.records
    to.control_records += c.control_records
    to.batches += c.batches
    to.bytes += c.bytes
    to.codecs |= c.codecs
    if c.any:
        to.next_offset, to.any = c.next_offset, True


cdef object of_the_source(error):
    """Return a builder's error about its caller's records as an error about the file: offsets that do not ascend, or
    are too far apart for one batch."""
    if not isinstance(error, InvalidArgumentError):
        return error
    return InvalidRecordError(error.message, file=error.file, position=error.position, offset=error.offset,
                              field=error.field, field_position=error.field_position, rule=error.rule)


cdef class RecompressThreads:
    """Recompression of a segment's entries by several threads, in a single pass."""
    cdef recompress_run template
    cdef CodecTable table
    cdef Threads threads
    cdef int n_threads
    cdef readonly int64_t run_bytes
    cdef InputView offsets
    cdef InputView kinds
    cdef readonly bint settles
    cdef readonly int64_t settled
    cdef readonly int64_t dropped_markers
    cdef readonly int64_t dropped_records
    cdef object ahead
    cdef content read
    cdef content written
    cdef int64_t[LOST_KINDS] losses
    cdef readonly RecordDigest digest
    cdef readonly uint32_t crc32c
    cdef readonly int64_t already
    cdef readonly int64_t left
    cdef object file

    def __init__(self, compression_type, level=None, *, batch_bytes=None, batch_records=None,
                 max_message_bytes=DEFAULT_MAX_MESSAGE_BYTES, marks=NO_MARKS, min_gain=0.0, threads=1,
                 max_decompressed_bytes=DEFAULT_MAX_SIZE, codecs=None, file=None, magic=None, reading=False):
        cdef const codec* row
        self.table = table_of(codecs)
        self.template.codecs = &self.table.rows
        self.template.limits = limits_of(batch_bytes, batch_records, max_message_bytes)
        self.template.reading = reading or (compression_type is None and magic is None
                                            and not self.template.limits.bytes)
        self.template.conversion.keeps_codec = compression_type is None
        if magic is not None:
            self.template.conversion.wanted = True
            self.template.conversion.converter.magic = <int>integer_of(magic, "magic", 0, 2)
        self.template.recompressor.level = LEVEL_DEFAULT
        self.template.most = most_of(min_gain, -1)
        if compression_type is not None:
            row = codec_of(self.table, compression_type)
            self.template.recompressor.codec = row.id
            self.template.recompressor.least_magic = row.least_magic
            self.template.recompressor.level = level_of(row, level)
            self.template.most = most_of(min_gain, row.id)
        self.offsets, self.kinds = InputView(marks.offsets), InputView(marks.kinds)
        self.template.marks.offsets = <const int64_t*>self.offsets.data
        self.template.marks.kinds = self.kinds.data
        self.template.marks.count = self.kinds.size
        self.template.marks.settles = self.settles = marks.settle_below is not None
        self.template.marks.below = marks.settle_below if self.settles else 0
        cap = integer_of(max_decompressed_bytes, "max_decompressed_bytes", 1, INT32_MAX)
        self.template.recompressor.cap = <size_t>cap
        self.n_threads = <int>integer_of(threads, "threads", 1, MOST_THREADS)
        self.run_bytes = max(<int64_t>RUN_BYTES, JOINED_PER_RUN * self.template.limits.bytes)
        self.digest = RecordDigest()
        self.ahead = deque()
        self.file = file

    def feed(self, piece, position, write):
        """Take complete entries that begin at `position` of the file; `write` is called with the results, in order."""
        cdef InputView view = InputView(piece)
        cdef int64_t start = 0, end
        if self.threads is None:
            self.threads = Threads(self.n_threads - 1)
        while start < view.size:
            end = self._cut(view, start)
            self._put(view, start, end, position)
            start = end
            while len(self.ahead) > (self.n_threads + 1 if self.n_threads > 1 else 0):
                self._hand_out(write)

    def finish(self, write):
        """Wait for the remaining results, and write them."""
        while self.ahead:
            self._hand_out(write)
        self.close()

    def close(self):
        """End the threads; their current work is dropped."""
        if self.threads is not None:
            self.threads.close()
        self.ahead.clear()

    @property
    def lost(self):
        return {kind: self.losses[i] for i, kind in enumerate(LOST) if self.losses[i]}

    @property
    def before(self):
        return self._content(&self.read)

    @property
    def after(self):
        return self._content(&self.written)

    cdef object _content(self, const content* c):
        names = tuple(sorted(name_of(self.table, i) for i in range(CODEC_ROWS) if c.codecs >> i & 1))
        next_offset = c.next_offset if c.any else None
        return SegmentContent(c.records, c.batches, c.bytes, names, next_offset, self.digest.hexdigest())

    cdef int64_t _cut(self, InputView view, int64_t start) except -1:
        """Return the end of the run that begins at `start`; a run ends with a complete entry."""
        cdef rp_batch batch
        cdef rp_error err
        cdef int64_t end = start
        while end < view.size and end - start < self.run_bytes:
            if rp_batch_next(view.data, view.size, end, INT32_MAX, &batch, &err) != RP_OK:
                return view.size  # the run reports the error
            end += batch.size
        return end

    cdef int _put(self, InputView view, int64_t start, int64_t end, int64_t base) except -1:
        cdef Run run = Run.__new__(Run)
        run.run = self.template
        run.run.task.run = recompress_entries
        run.run.data = view.data
        run.run.start, run.run.end = start, end
        run.view = view
        run.base = base
        self.threads.put(run, &run.run.task)
        self.ahead.append(run)
        return 0

    cdef int _hand_out(self, write) except -1:
        cdef Run run = self.ahead.popleft()
        cdef recompress_run* r = &run.run
        cdef place at
        cdef int i
        self.threads.wait(&r.task)
        with nogil:
            self.digest.add(r.form.data, r.form.size, r.before.records + r.before.control_records,
                            r.before.control_records)
        if r.recompressor.out.size:
            size = <Py_ssize_t>r.recompressor.out.size
            write(PyMemoryView_FromMemory(<char*>r.recompressor.out.data, size, PyBUF_READ))
        self.crc32c = crc32c_combined(self.crc32c, r.crc, r.recompressor.out.size)
        add_content(&self.read, &r.before)
        add_content(&self.written, &r.after)
        self.already += r.already
        self.left += r.left
        self.settled += r.settled
        self.dropped_markers += r.dropped_markers
        self.dropped_records += r.dropped_records
        for i in range(LOST_KINDS):
            self.losses[i] += r.conversion.converter.lost[i]
        if r.status != RP_OK:
            at = place_of(&r.recompressor.batch, run.base, self.file)
            raise of_the_source(error_of(&r.error, &at))
        return 0
