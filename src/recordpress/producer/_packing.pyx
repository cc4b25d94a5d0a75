"""pack: records -> batches whose compressed size is the largest that a limit allows.

The size of compressed records is only known after compression. So the end of a batch is first predicted from the
ratio of the data that was compressed just before, and then corrected, in a way that depends on the codec:

    blocks (snappy, lz4)       whole blocks are compressed once and kept; only the last one or two blocks are tried
                               again, with other numbers of records. The payload is the same as that of one call.
    streams in parts (zstd)    compressed parts are kept, and their size is known; only if a part goes over the limit,
                               the whole batch is compressed again
    streams that join, and     a first stream ends a little below the limit and is kept; a second stream holds the rest.
    a limit of LARGE or more   Its start without history costs less than a hundredth of such a large batch
    streams that can be cut    a few more records than fit are compressed, and the stream is shortened (gzip)
    others                     all records are compressed again, with the ratio of the previous try

A batch is done when it fills FILLED of the limit, or when one more record does not fit.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport pooled, pooled_free, pooled_reserve, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_NONE, RP_NO_MEMORY, RP_OFFSET_DELTA, RP_OK, rp_cursor, rp_cursor_of, rp_error, rp_fail,
    rp_record, rp_record_read, rp_sequence_add,
)
from recordpress._sealed cimport seal
from recordpress._status cimport check, error_of
from recordpress.codecs.codec cimport PART_ROOM, codec, level_or_default, row_of
from recordpress.codecs.context cimport (
    codec_context, compress_payload, context_acquire, context_release, join_begin, join_end, payload_join,
)
from recordpress.codecs.table cimport CodecTable, table_of
from recordpress.columns.column_rows cimport ColumnRows
from recordpress.record.encode cimport (
    MAX_SET_SIZE, NO_TIMESTAMP, batch_begin, batch_encoder, batch_options, header_size, options_of,
    signature_with_options, write_around,
)
from recordpress.record.open_batch cimport BATCH_FULL, batch_add, batch_limit, batch_put, open_batch
from recordpress.record.rows cimport ROWS, RecordRows, RowSource

from recordpress.errors import InUseError, InvalidArgumentError
from recordpress.producer._errors import RecordTooLargeError

ctypedef struct mark:
    size_t end            # where the record ends in `records`
    int64_t offset
    int64_t timestamp


# Records of the open batch that one call of the codec compressed: n records, from `raw` bytes to `size` bytes.
ctypedef struct attempt:
    int64_t n
    size_t raw
    size_t size


ctypedef struct packer:
    open_batch batch      # with more records than the finished batch
    size_t limit          # maximum size of a payload
    codec_context* context
    size_t unit           # codec.join_unit
    const codec* row
    bint parts            # the batch is compressed in parts, which are in `base`
    bint joins            # streams may be joined
    bint cuts             # a payload that is too large can be shortened
    bint whole            # this batch is one stream, not joined: one more record may fit
    bint ended            # no more records follow, or the batch's header cannot hold the next record
    pooled moved
    pooled marks          # a mark for each record of the batch
    int64_t n
    pooled base           # a payload of the first base_raw bytes, to which tries are joined
    size_t base_raw
    bint exact            # base must not grow further
    pooled best           # the largest payload that fits
    pooled trial
    attempt fit           # the largest attempt that fits; n is 0 before the first
    attempt over          # the smallest attempt that does not fit; n is INT64_MAX before the first
    int tries
    double ratio          # expected ratio of compressed to raw bytes
    double slope          # the same ratio in the last compression
    double deviation      # of the ratios of batches from the expected ratio
    bint learned          # `ratio` was measured on a batch
    size_t wanted         # record bytes that pack_settle needs
    int64_t first_offset  # of the first batch, to which base_sequence belongs
    int base_sequence
    bint begun            # a batch was begun
    bint from_zero        # every batch begins at offset 0


cdef enum:
    SETTLED        # p.fit and p.best are the batch
    WANTING        # more records are needed, up to p.wanted bytes, or `ended`
    TOO_LARGE      # the first record does not fit alone; p.over.size is the size of its payload
    FAILED


cdef enum:
    LARGE = 192 << 10   # from this limit upwards, a second stream costs less than it saves
    TRIES = 8           # chosen, not measured: tries by ratios, before bisection, for sizes that do not grow evenly

cdef double FILLED = 0.97      # chosen, not measured
cdef double TARGET = 0.986     # share of the limit, halfway between FILLED and the limit


cdef int pack_open(packer* p, int64_t limit) noexcept nogil:
    p.row = row_of(p.batch.encoder.options.codecs, p.batch.encoder.options.codec)
    p.context = context_acquire(p.batch.encoder.options.codecs)
    p.limit = <size_t>limit - header_size(&p.batch.encoder.options)
    p.unit = p.row.join_unit
    p.joins = p.row.joins and p.unit == 0 and p.row.part == NULL and limit >= LARGE
    p.cuts = p.row.cut != NULL and not p.joins
    p.ratio = 1.0
    p.deviation = 0.05
    p.base_sequence = p.batch.encoder.options.base_sequence
    p.batch.encoder.last_offset = -1
    restart(p)
    return RP_OK if p.context != NULL else RP_NO_MEMORY


cdef void pack_free(packer* p) noexcept nogil:
    pooled_free(&p.batch.records)
    pooled_free(&p.moved)
    pooled_free(&p.marks)
    pooled_free(&p.base)
    pooled_free(&p.best)
    pooled_free(&p.trial)
    context_release(p.context)
    p.context = NULL


cdef void restart(packer* p) noexcept nogil:
    """Restart the batch with nothing compressed."""
    p.fit.n = p.fit.raw = p.fit.size = 0
    p.over.n = INT64_MAX
    p.over.raw = p.over.size = 0
    p.tries = 0
    p.slope = p.ratio
    p.whole = p.exact = False
    p.parts = p.row.part != NULL
    p.base_raw = p.base.size = p.best.size = 0
    p.wanted = guess(p, p.limit)


# --- records ------------------------------------------------------------------------------------------------------

cdef inline mark* marks_of(const packer* p) noexcept nogil:
    return <mark*>p.marks.data


cdef void begin_batch(packer* p, int64_t offset) noexcept nogil:
    if not p.begun:
        p.begun, p.first_offset = True, offset
    if p.base_sequence >= 0:
        p.batch.encoder.options.base_sequence = rp_sequence_add(
            p.base_sequence, <int32_t>((offset - p.first_offset) & INT32_MAX))
    batch_begin(&p.batch.encoder, offset)
    batch_limit(&p.batch, MAX_SET_SIZE)


cdef int add_row(packer* p, const rp_record* row, rp_error* err) noexcept nogil:
    """Write a row to the batch, or begin the batch with it; return a status, as batch_add() does."""
    cdef mark* m
    cdef int status
    if pooled_reserve_more(&p.marks, sizeof(mark), err):
        return err.status
    status = batch_add(&p.batch, row, err)
    if p.n == 0 and (status == BATCH_FULL or status == RP_OFFSET_DELTA):
        begin_batch(p, row.offset)
        status = batch_put(&p.batch, row, err)
    if status != RP_OK:
        return status
    m = marks_of(p) + p.n
    m.end, m.offset, m.timestamp = p.batch.records.size, row.offset, row.timestamp
    p.marks.size += sizeof(mark)
    p.n += 1
    return RP_OK


cdef int64_t pack_rows(packer* p, const rp_record* rows, int64_t n, rp_error* err) noexcept nogil:
    """Write rows to the open batch and return their number; if it is below n, *err has the status of the next row, or
    RP_OK if this row belongs to a later batch."""
    cdef int64_t i
    cdef int status
    for i in range(n):
        status = add_row(p, &rows[i], err)
        if status != RP_OK:
            err.status = RP_OK if status == BATCH_FULL or status == RP_OFFSET_DELTA else status
            return i
    return n


cdef int64_t records_within(const packer* p, size_t size) noexcept nogil:
    """Return the number of records that end within the first `size` bytes."""
    cdef const mark* marks = marks_of(p)
    cdef int64_t least = 0, most = p.n, middle
    while least < most:
        middle = (least + most + 1) // 2
        if marks[middle - 1].end <= size:
            least = middle
        else:
            most = middle - 1
    return least


cdef void pack_header(packer* p, batch_encoder* e) noexcept nogil:
    """Set the encoder's state for the first p.fit.n records, for write_around()."""
    cdef int64_t i
    cdef const mark* marks = marks_of(p)
    e[0] = p.batch.encoder
    e.records_count = p.fit.n
    e.last_offset = marks[p.fit.n - 1].offset
    e.max_timestamp = NO_TIMESTAMP
    for i in range(p.fit.n):
        if marks[i].timestamp > e.max_timestamp:
            e.max_timestamp = marks[i].timestamp
    if p.from_zero:
        e.last_offset -= e.base_offset
        e.base_offset = 0


cdef void learn(packer* p, double ratio) noexcept nogil:
    """Record a batch's ratio, and its deviation from the expected ratio."""
    cdef double off = ratio / p.ratio - 1.0
    if p.learned:
        p.deviation = max(off if off > 0 else -off, 0.7 * p.deviation)
    p.learned = True
    p.ratio = ratio


cdef int pack_next(packer* p, rp_error* err) noexcept nogil:
    """Begin the next batch with the remaining records."""
    cdef rp_cursor cursor = rp_cursor_of(p.batch.records.data + p.fit.raw, p.batch.records.size - p.fit.raw)
    cdef const mark* marks = marks_of(p)
    cdef int64_t i, first = p.fit.n, n = p.n
    cdef int status
    cdef rp_record row
    learn(p, <double>p.best.size / <double>p.fit.raw)
    p.batch.records, p.moved = p.moved, p.batch.records
    p.batch.records.size = p.marks.size = 0
    p.batch.encoder.last_offset = marks[first - 1].offset
    batch_limit(&p.batch, 0)
    p.n = 0
    for i in range(first, n):  # marks are overwritten from the front, where they have been read
        if not rp_record_read(&cursor, &row):
            return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)  # cannot happen: these records were written here
        row.offset, row.timestamp = marks[i].offset, marks[i].timestamp
        status = add_row(p, &row, err)
        if status != RP_OK:
            return status
    restart(p)
    return RP_OK


# --- tries --------------------------------------------------------------------------------------------------------

cdef inline double cautious_slope(const packer* p) noexcept nogil:
    """Return a slope that errs high, because a part over the limit cannot be removed: the last bytes may have been a
    repetition."""
    return max(p.slope, <double>p.fit.size / <double>p.fit.raw) if p.parts else p.slope


cdef size_t guess(const packer* p, double target) noexcept nogil:
    """Return the number of record bytes that a payload of `target` bytes is expected to hold."""
    cdef double raw
    if p.fit.n and p.over.n != INT64_MAX and p.over.size > p.fit.size:
        raw = <double>p.fit.raw + (target - <double>p.fit.size) * <double>(p.over.raw - p.fit.raw) / <double>(
            p.over.size - p.fit.size)
    elif p.over.n != INT64_MAX:
        raw = <double>p.base_raw + (target - <double>p.base.size) * <double>(p.over.raw - p.base_raw) / <double>max(
            <int64_t>p.over.size - <int64_t>p.base.size, 1)
    elif p.fit.n:
        raw = <double>p.fit.raw + (target - <double>p.fit.size) / cautious_slope(p)
    else:
        raw = <double>p.base_raw + (target - <double>p.base.size) / p.ratio
    return <size_t>min(max(raw, 1.0), <double>MAX_SET_SIZE)


cdef double first_share(const packer* p) noexcept nogil:
    """Return the share of the limit up to which a batch is compressed first; more than fits would be wasted."""
    return min(max(TARGET - 1.5 * p.deviation, 0.5), 0.96)


cdef double spared(const packer* p) noexcept nogil:
    """Return the share of the remaining limit to spare: each part costs about 100 bytes, so only large limits allow the
    safer small steps."""
    if p.limit < LARGE:
        return 0.2
    return 0.35 if p.learned else 0.5


cdef double share(const packer* p) noexcept nogil:
    """Return the share of the limit that the next try aims at."""
    if p.parts and p.fit.n:  # the remaining limit is known; some of it is spared for records that compress worse
        return min(TARGET, 1.0 - spared(p) * (1.0 - <double>p.fit.size / p.limit))
    if p.cuts and p.over.n == INT64_MAX:
        return 1.0 + (min(max(0.8 * p.deviation, 0.02), 0.25) if p.fit.n == 0 else 0.03)
    return first_share(p) if (p.parts or p.joins) and not p.whole and p.fit.n == 0 else TARGET


cdef int compress_onto(packer* p, size_t raw, rp_error* err) noexcept nogil:
    """Compress the record bytes up to `raw` onto the base, into p.trial."""
    cdef payload_join join
    cdef const batch_options* o = &p.batch.encoder.options
    cdef int id = o.codec
    p.trial.size = 0
    if p.base_raw:
        if pooled_reserve(&p.trial, p.base.size, err):
            return err.status
        memcpy(p.trial.data, p.base.data, p.base.size)
        p.trial.size = p.base.size
        join_begin(o.codecs, id, &p.trial, &join)
    if compress_payload(p.context, id, o.level, 2, p.batch.records.data + p.base_raw, raw - p.base_raw, &p.trial, err):
        return err.status
    if p.base_raw:
        join_end(o.codecs, id, &p.trial, &join)
    return RP_OK


cdef void note_slope(packer* p, size_t raw) noexcept nogil:
    p.slope = max(<double>p.trial.size - <double>p.base.size, 1.0) / <double>(raw - p.base_raw)


cdef int grow_base(packer* p, rp_error* err) noexcept nogil:
    """Compress the blocks that will be in the batch for any number of further records."""
    cdef int64_t units
    cdef size_t raw
    while not p.exact:
        units = <int64_t>((first_share(p) * p.limit - <double>p.base.size) / (p.slope * p.unit))
        if p.batch.records.size > p.base_raw:
            units = min(units, <int64_t>((p.batch.records.size - p.base_raw - 1) // p.unit))
        else:
            units = 0
        if units <= 0:
            break
        raw = p.base_raw + units * p.unit
        if compress_onto(p, raw, err):
            return err.status
        if p.trial.size > p.limit:
            p.exact = units == 1
            note_slope(p, raw)
            continue
        note_slope(p, raw)
        p.base, p.trial = p.trial, p.base
        p.base_raw = raw
    return RP_OK


cdef int grow_best(packer* p, rp_error* err) noexcept nogil:
    """Use the records that fit as the base if the stream to join to it is smaller."""
    if not p.joins or p.whole or p.best.size < p.limit // 2:
        return RP_OK
    if pooled_reserve(&p.base, p.best.size, err):
        return err.status
    memcpy(p.base.data, p.best.data, p.best.size)
    p.base.size = p.best.size
    p.base_raw = p.fit.raw
    return RP_OK


cdef int cut_trial(packer* p, rp_error* err) noexcept nogil:
    """Shorten a try that does not fit to the records that fit."""
    cdef const mark* marks = marks_of(p)
    cdef int64_t i, n = p.over.n - 1
    cdef size_t* ends
    cdef size_t size
    p.moved.size = 0
    if pooled_reserve(&p.moved, n * sizeof(size_t), err) or pooled_reserve(&p.base, p.limit, err):
        return err.status
    ends = <size_t*>p.moved.data
    for i in range(n):
        ends[i] = marks[i].end
    n = p.row.cut(&p.context.states[p.row.id], p.trial.data, p.trial.size, p.limit, p.batch.records.data, ends, n,
                  p.base.data, &size)
    if n > p.fit.n:
        p.base.size = size
        p.best, p.base = p.base, p.best
        p.fit.n, p.fit.raw, p.fit.size = n, ends[n - 1], size
    p.base.size = 0
    return RP_OK


cdef int try_records(packer* p, int64_t n, rp_error* err) noexcept nogil:
    """Compress n records of the batch, and record whether they fit."""
    cdef size_t raw = marks_of(p)[n - 1].end
    if compress_onto(p, raw, err):
        return err.status
    note_slope(p, raw)
    p.tries += 1
    if p.trial.size > p.limit:
        p.over.n, p.over.raw, p.over.size = n, raw, p.trial.size
        return cut_trial(p, err) if p.cuts else RP_OK
    p.fit.n, p.fit.raw, p.fit.size = n, raw, p.trial.size
    p.best, p.trial = p.trial, p.best
    return grow_best(p, err)


cdef int end_parts(packer* p, rp_error* err) noexcept nogil:
    """Copy the parts that fit to p.best."""
    cdef size_t end = p.row.parts_end_size
    p.parts = False
    if pooled_reserve(&p.best, p.base.size + end, err):
        return err.status
    memcpy(p.best.data, p.base.data, p.base.size)
    memcpy(p.best.data + p.base.size, p.row.parts_end, end)
    p.best.size = p.base.size + end
    p.base.size = p.base_raw = 0
    return RP_OK


cdef int part_is_over(packer* p, size_t raw, size_t size, rp_error* err) noexcept nogil:
    """Begin again with the ratio of a part over the limit, as it cannot be removed; or end the parts before it."""
    cdef double ratio = <double>size / <double>raw
    p.tries += 1
    if p.tries > 2 or (p.fit.n and p.limit < LARGE):
        return end_parts(p, err)
    if p.fit.n:  # the limit lies between the parts that fit and this part
        ratio = p.limit / (<double>p.fit.raw + (<double>p.limit - <double>p.fit.size) * <double>(raw - p.fit.raw)
                           / <double>(size + p.row.parts_end_size - p.fit.size))
    p.fit.n = 0
    learn(p, ratio)
    p.slope = ratio
    p.base.size = p.base_raw = 0
    return RP_OK


cdef int try_part(packer* p, int64_t n, rp_error* err) noexcept nogil:
    """Compress further records as a part, up to n records in all."""
    cdef size_t raw = marks_of(p)[n - 1].end, more = raw - p.base_raw, size
    cdef void** state = &p.context.states[p.row.id]
    cdef size_t expected = guess(p, 1.25 * p.limit) if p.learned else 0
    cdef int level = level_or_default(p.row, p.batch.encoder.options.level)
    if p.base_raw == 0 and p.row.begin_parts(state, level, expected, err):
        return err.status
    if (pooled_reserve_more(&p.base, p.row.bound(more) + PART_ROOM, err)
            or p.row.part(state, p.batch.records.data + p.base_raw, more, p.base.data + p.base.size,
                          p.base.capacity - p.base.size, &size, err)):
        return err.status
    p.slope = max(<double>size, 1.0) / <double>more
    if p.base.size + size + p.row.parts_end_size > p.limit:
        return part_is_over(p, raw, p.base.size + size, err)
    p.base.size += size
    p.base_raw = raw
    p.fit.n, p.fit.raw, p.fit.size = n, raw, p.base.size + p.row.parts_end_size
    return RP_OK


cdef bint is_done(packer* p) noexcept nogil:
    if <double>(p.fit.size) >= FILLED * p.limit or (p.ended and p.fit.n == p.n):
        return p.fit.n > 0
    return p.fit.n > 0 and p.fit.n + 1 >= p.over.n and (p.base_raw == 0 or p.unit)


cdef bint try_whole(packer* p) noexcept nogil:
    """Go back to a batch of one stream if a base was kept: with a base, the best number of records may not fit."""
    if p.base_raw == 0:
        return False
    p.whole = p.exact = True
    p.base_raw = p.base.size = 0
    if not p.unit:
        p.over.n = INT64_MAX
    return True


cdef int64_t next_number(packer* p) noexcept nogil:
    """Return the number of records to try, or 0 if no number is worth a try."""
    cdef int64_t least = max(p.fit.n, records_within(p, p.base_raw)) + 1
    cdef int64_t most = min(p.over.n - 1, p.n)
    if least > most:
        return 0
    if p.tries > TRIES:
        return (least + most) // 2
    return min(max(records_within(p, guess(p, share(p) * p.limit)), least), most)


cdef int settle_stored(packer* p) noexcept nogil:
    """Settle a batch without a codec, whose size is known."""
    p.wanted = p.limit + 1
    if p.batch.records.size < p.wanted and not p.ended:
        return WANTING
    p.fit.n = records_within(p, p.limit)
    if p.fit.n == 0:
        p.over.size = marks_of(p)[0].end
        return TOO_LARGE
    p.fit.raw = p.fit.size = p.best.size = marks_of(p)[p.fit.n - 1].end
    return SETTLED


cdef int pack_settle(packer* p, rp_error* err) noexcept nogil:
    cdef int64_t n
    if p.batch.encoder.options.codec == RP_NONE:
        return settle_stored(p)
    while not is_done(p):
        p.wanted = guess(p, share(p) * p.limit)
        if p.over.n == INT64_MAX and p.batch.records.size <= p.wanted and not p.ended:
            p.wanted += 1
            return WANTING
        if p.unit and grow_base(p, err):
            return FAILED
        n = next_number(p)
        if n:
            if (try_part(p, n, err) if p.parts else try_records(p, n, err)):
                return FAILED
        elif p.over.n == 1:
            return TOO_LARGE
        elif p.over.n == INT64_MAX and not p.ended:
            p.wanted = p.batch.records.size + 1
            return WANTING
        elif not try_whole(p):
            break
    if p.parts and end_parts(p, err):
        return FAILED
    return SETTLED


cdef class BatchPacker:
    """Iterator over batches, as `pack` returns it.

    Attributes
    ----------
    packed : int
        Number of records in the batches so far.

    Examples
    --------
    >>> import recordpress
    >>> packer = recordpress.producer.pack([b"line"] * 1000, limit=1000, compression_type="zstd")
    >>> all(len(batch) <= 1000 for batch in packer)
    True
    """

    cdef packer p
    cdef CodecTable codecs
    cdef RowSource source
    cdef rp_record[ROWS] rows
    cdef int64_t at, n         # the rows that are not written yet
    cdef readonly int64_t packed
    cdef int64_t limit
    cdef bint exhausted        # the source has no more rows
    cdef bint failed
    cdef bint busy

    def __dealloc__(self):
        pack_free(&self.p)

    def __iter__(self):
        return self

    @cython.critical_section
    def __next__(self):
        if self.busy:
            raise InUseError("the iterator is in use by another call")
        if self.failed:
            raise StopIteration
        self.busy = self.failed = True
        try:
            result = self._batch()
            self.failed = False
        finally:
            self.busy = False
        if result is None:
            raise StopIteration
        return result

    cdef bytes _batch(self):
        cdef int state
        cdef rp_error err
        if self.p.fit.n:
            with nogil:
                state = pack_next(&self.p, &err)
            check(state, &err)
        while True:
            self._read()
            if self.p.n == 0:
                return None
            with nogil:
                state = pack_settle(&self.p, &err)
            if state == SETTLED:
                return self._finish()
            if state == TOO_LARGE:
                self._refuse()
            elif state != WANTING:
                raise error_of(&err)

    cdef int _read(self) except -1:
        """Write rows to the batch until it has the wanted number of bytes, or cannot hold another row."""
        cdef rp_error err
        cdef int64_t n
        self.p.ended = False
        while self.p.n == 0 or self.p.batch.records.size < self.p.wanted:
            if self.at == self.n and not self._take():
                break
            with nogil:
                n = pack_rows(&self.p, self.rows + self.at, self.n - self.at, &err)
            self.at += n
            if self.at < self.n:
                self._check_row(&err)
                break
        self.p.ended = self.at < self.n or self.exhausted
        return 0

    cdef bint _take(self) except -1:
        """Read about as many rows from the source as the batch needs; return False at the end."""
        cdef int64_t most = ROWS
        cdef size_t size = self.p.batch.records.size
        if self.p.n:
            most = <int64_t>((self.p.wanted - size) // (size // self.p.n + 1)) + 1
        if not self.exhausted:
            self.at = self.n = 0
            self.n = self.source.next(self.rows, min(most, <int64_t>ROWS))
            self.exhausted = self.n == 0
        return not self.exhausted

    cdef int _check_row(self, const rp_error* err) except -1:
        if err.status == 0:
            return 0
        error = error_of(err)
        if isinstance(error, InvalidArgumentError):
            error.message = f"record {self.packed + self.p.n}: {error.message}"
        raise error

    cdef int _refuse(self) except -1:
        cdef int64_t size = RP_BATCH_HEADER + <int64_t>self.p.over.size
        raise RecordTooLargeError(f"record {self.packed}: a batch of this record alone has {size} bytes, more than the "
                                  f"limit of {self.limit}", field="limit")

    cdef bytes _finish(self):
        cdef batch_encoder encoder
        cdef const uint8_t* payload = self.p.best.data
        if self.p.batch.encoder.options.codec == RP_NONE:
            payload = self.p.batch.records.data
        result = PyBytes_FromStringAndSize(NULL, RP_BATCH_HEADER + self.p.best.size)
        cdef char* start = PyBytes_AS_STRING(result)
        with nogil:
            pack_header(&self.p, &encoder)
            write_around(&encoder, payload, self.p.best.size, <uint8_t*>start)
        self.packed += self.p.fit.n
        return result


seal(BatchPacker, "pack")


cdef RowSource source_of(values, keys, timestamps, headers, offsets, base_offset, coerce_timestamps):
    if not hasattr(type(values), "__arrow_c_stream__") and not hasattr(type(values), "__arrow_c_array__"):
        return RecordRows(values, keys, timestamps, headers, offsets, base_offset)
    for name, given in (("keys", keys), ("timestamps", timestamps), ("headers", headers), ("offsets", offsets)):
        if given is not None:
            raise InvalidArgumentError(f"values are Arrow columns: {name} must be one of them", field=name)
    return ColumnRows(values, base_offset, coerce_timestamps)


cdef bint numbers_its_records(object source, object offsets, object base_offset):
    """Return whether offsets were requested."""
    if isinstance(source, ColumnRows) and (<ColumnRows>source).numbered:
        return True
    return offsets is not None or base_offset is not None


def pack(values, keys=None, timestamps=None, headers=None, *, limit, compression_type="none", level=None, offsets=None,
         base_offset=None, coerce_timestamps=False, codecs=None, **options):
    """Cut records into batches whose compressed size is as large as possible, and never over a limit.

    A producer fills its batches by an estimate of their compressed size. Batches that turn out larger than
    `max.message.bytes` are rejected and split, and the others are smaller than they could be. Here, every batch is
    compressed before it is cut, so no batch is rejected for its size.

    Parameters
    ----------
    values : sequence of (bytes-like | None), or object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        One value per record; or columns as `write_columns` takes them, except columns of the batch header, and
        without LogAppendTime. A stream is read one array at a time.
    keys, timestamps, headers
        As for `write_records`. None if values are columns.
    offsets, base_offset
        As for `write_records`: the batches together are then one record set, as with an offset column. If no offsets
        are given, each batch begins at offset 0, as brokers require of producers.
    limit : int
        Maximum size of a batch in bytes, including its header of 61 bytes: `max.message.bytes` of the topic.
    compression_type, level, codecs
        As for `BatchBuilder`.
    coerce_timestamps : bool
        As for `write_columns`.
    **options
        `recordpress.typing.BatchOptions`, as for `BatchBuilder`: timestamp_type, log_append_time, producer_id,
        producer_epoch, base_sequence (of the first record; later batches continue it), partition_leader_epoch,
        is_transactional, delete_horizon_ms.

    Returns
    -------
    iterator of bytes
        Batches of magic 2, with the records in order. Each batch but the last fills at least 97 % of the limit, or has
        no room for one more record. A batch also ends where an offset would be more than 2^31-1 above its base, and
        where its records would have more than 2^31-1 bytes before compression.

    Raises
    ------
    RecordTooLargeError
        While iterating: a record does not fit even alone; the message names it. Earlier batches were returned.
    InvalidArgumentError
        As for `write_records` and `write_columns`. Errors of a record are raised while iterating.
    ArgumentTypeError
        An argument has the wrong type.

    Notes
    -----
    Sizes are predicted from the data that was compressed just before. With snappy, lz4 and zstd, the data that fits is
    kept, and usually only the end of a batch is compressed again if a prediction was wrong. With gzip, it is kept for
    limits of 192 KiB or more: the batch then has a second member, which readers decompress along with the first. For
    smaller limits, and with codec plug-ins that do not join, all records of the batch are compressed again.

    Examples
    --------
    >>> import recordpress
    >>> values = [b"%d GET /index.html HTTP/1.1" % number for number in range(100_000)]
    >>> batches = list(recordpress.producer.pack(values, limit=16384, compression_type="zstd"))
    >>> max(map(len, batches)) <= 16384, sum(len(recordpress.read_columns(batch, ["offset"])) for batch in batches)
    (True, 100000)
    """
    cdef BatchPacker packed = BatchPacker.__new__(BatchPacker)
    packed.codecs = table_of(codecs)
    packed.limit = integer_of(limit, "limit", RP_BATCH_HEADER + 1, INT32_MAX)
    memset(&packed.p, 0, sizeof(packer))
    options_of(&packed.p.batch.encoder.options, pack, 2, compression_type, level, packed.codecs, False, options)
    packed.source = source_of(values, keys, timestamps, headers, offsets, base_offset, coerce_timestamps)
    packed.p.from_zero = not numbers_its_records(packed.source, offsets, base_offset)
    if pack_open(&packed.p, packed.limit):
        raise MemoryError
    return packed


pack.__text_signature__ = signature_with_options(pack)
