"""Decode a run of entries into chunks: checksum, decompression and gathering, entry by entry, without the GIL."""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from recordpress._c.wire cimport (
    RP_BINARY_VIEW, RP_LOG_APPEND_TIME, RP_NO_MEMORY, RP_OK, rp_batch, rp_batch_codec, rp_batch_last_offset,
    rp_batch_read, rp_cursor, rp_cursor_of, rp_entry_size, rp_error, rp_fail, rp_read_be64, rp_read_bytes, rp_source,
)
from recordpress.codecs.codec cimport codec_at, row_of
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.columns._arrow_out cimport chunk_data, chunk_drop
from recordpress.columns._finish cimport finish_chunk
from recordpress.columns._gather cimport (
    builder, builder_free, gather, gather_header, go_back, mark, mark_of, most_used, pack_views, place_views,
    reserve_rows,
)
from recordpress.columns._plan cimport failure, plan
from recordpress.columns._select_batches cimport BAD_HEADER
from recordpress._threads cimport is_cancelled, task
from recordpress.columns._roundtrip_loss cimport note_batch
from recordpress.columns.catalogue cimport BASE_OFFSET, KEY, OFFSET, TIMESTAMP, VALUE
from recordpress.record.decode cimport SMALLEST_RECORD, check_crc, check_inner_crcs, open_source


cdef enum:
    WENT_BACK = -1  # in place of a status
    MOST_PER_BYTE = 2  # real records, well compressed, take half a byte and more
    MOST_RUNS = 8  # that one chunk is expected to take: room for more is made when they come


cdef void run_free(run* r) noexcept nogil:
    cdef int64_t i
    for i in range(r.n_chunks):
        chunk_drop(r.chunks[i])
    free(r.chunks)
    free(r.failures)
    r.chunks = NULL
    r.failures = NULL
    r.n_chunks = r.n_failures = 0


cdef int add_chunk(run* r, chunk_data* chunk, rp_error* err) noexcept nogil:
    if chunk == NULL:
        return err.status
    cdef chunk_data** more = <chunk_data**>realloc(r.chunks, sizeof(chunk_data*) * <size_t>(r.n_chunks + 1))
    if more == NULL:
        chunk_drop(chunk)
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    r.chunks = more
    more[r.n_chunks] = chunk
    r.n_chunks += 1
    return RP_OK


cdef int add_failure(run* r, failure* f) noexcept nogil:
    cdef failure* more = <failure*>realloc(r.failures, sizeof(failure) * <size_t>(r.n_failures + 1))
    if more == NULL:
        return rp_fail(&f.error, RP_NO_MEMORY, -1, 0, 0)
    r.failures = more
    more[r.n_failures] = f[0]
    r.n_failures += 1
    return RP_OK


# --- one entry ---------------------------------------------------------------------------------------------

cdef void bound(const plan* p, rp_source* source) noexcept nogil:
    """Return whether records of this batch must be compared with the given ranges one by one."""
    source.filtered = p.filtered
    source.first_offset = p.first_offset
    source.last_offset = p.last_offset
    source.first_timestamp = p.first_timestamp
    source.last_timestamp = p.last_timestamp


cdef int open_entry(const plan* p, codec_context* context, const uint8_t* entry, rp_source* source,
                    failure* f) noexcept nogil:
    """Compare checksums, and decompress records into the context's scratch."""
    cdef const rp_batch* batch = &f.batch
    cdef rp_batch ignored
    cdef int status = RP_OK
    if batch.magic == BAD_HEADER:
        return rp_batch_read(entry, batch.size, 0, &ignored, &f.error)
    if p.check_crcs:
        status = check_crc(entry, batch, &f.error)
    if status == RP_OK:
        context.scratch.size = 0
        status = open_source(context, entry, batch, p.data + p.size, &context.scratch, p.cap, False, source, &f.error)
    if status == RP_OK and batch.magic < 2 and p.check_crcs and rp_batch_codec(batch):
        status = check_inner_crcs(source, &f.error)
    return status


cdef bint goes_back(const rp_batch* batch, int64_t reached, const rp_source* source) noexcept nogil:
    """Return whether an open v0/v1 wrapper has offsets before `reached`, or after its own."""
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef int64_t size, offset
    for _ in range(source.count):  # whose sizes were compared
        size = rp_entry_size(cursor)
        offset = <int64_t>(<uint64_t>source.base_offset + <uint64_t>rp_read_be64(&cursor))
        rp_read_bytes(&cursor, <size_t>size - 8)
        if not reached <= offset <= batch.base_offset:
            return True
    return False


cdef void note_entry(const plan* p, codec_context* context, builder* b, const rp_batch* batch, int64_t before,
                     int32_t count) noexcept nogil:
    """Record the losses of columns for a batch of `count` records, of which rows from `before` on were wanted."""
    cdef int64_t rows = b.rows - before
    cdef bint whole = rows == count and rows
    if rows == 0 and count:
        return
    note_batch(&b.lost, batch, codec_at(context.codecs, p.data + batch.position, batch),
               <int64_t*>b.fixed[OFFSET].data + before if whole and p.want[OFFSET] else NULL,
               <int64_t*>b.fixed[TIMESTAMP].data + before if whole and p.want[TIMESTAMP] else NULL,
               rows, 1000 if p.micros else 1)


cdef int gather_entry(const plan* p, codec_context* context, builder* b, rp_source* source, int64_t left,
                      failure* f) noexcept nogil:
    """Gather the records of an open entry, or none of them."""
    cdef mark before = mark_of(b)
    # a false count costs no memory
    cdef int64_t rows = b.rows + min(<int64_t>source.count, (source.end - source.start) // SMALLEST_RECORD + 1)
    cdef int64_t before_rows = b.rows, touched = b.rows
    cdef int status = RP_OK
    if p.layout == RP_BINARY_VIEW and (p.want[KEY] or p.want[VALUE]):
        status = place_views(b, source, &context.scratch, &f.error)
    if status == RP_OK:
        bound(p, source)
        status = reserve_rows(p, b, rows, &f.error)
    if status == RP_OK:
        touched = rows
        status = gather(p, b, &f.batch, source, left, &f.error)
    if status == RP_OK and p.layout == RP_BINARY_VIEW and (p.want[KEY] or p.want[VALUE]):
        status = pack_views(p, b, source, before_rows, &f.error)
    if status != RP_OK:
        go_back(b, &before, touched)
    elif p.want[BASE_OFFSET]:
        note_entry(p, context, b, &f.batch, before_rows, source.count)
    return status


cdef inline bint is_told_by_header(const plan* p, codec_context* context, const rp_batch* batch) noexcept nogil:
    """Return whether the header has all requested columns, and a count that so many bytes can hold: a false one costs
    no memory."""
    return (p.by_header and batch.magic == 2 and 0 < batch.records_count <= MOST_PER_BYTE * batch.size
            and batch.base_offset <= INT64_MAX - batch.records_count
            and rp_batch_last_offset(batch) - batch.base_offset == batch.records_count - 1
            and (not p.asks_times or batch.attributes & RP_LOG_APPEND_TIME)
            and row_of(context.codecs, codec_at(context.codecs, p.data + batch.position, batch)) != NULL)


cdef int decode_header(const plan* p, builder* b, failure* f) noexcept nogil:
    """Add a batch's records without decompressing them; its checksum is compared."""
    cdef mark before = mark_of(b)
    cdef int64_t end = b.rows + f.batch.records_count
    cdef int status = check_crc(p.data + f.batch.position, &f.batch, &f.error) if p.check_crcs else RP_OK
    if status == RP_OK:
        status = gather_header(p, b, &f.batch, &f.error)
        if status != RP_OK:
            go_back(b, &before, end)
    b.consumed += f.batch.size
    return status


cdef int decode_entry(run* r, codec_context* context, builder* b, int64_t left, int64_t reached,
                      failure* f) noexcept nogil:
    cdef const plan* p = r.plan
    cdef const uint8_t* entry = p.data + f.batch.position
    cdef rp_source source
    cdef int status
    if is_told_by_header(p, context, &f.batch):
        return decode_header(p, b, f)
    status = open_entry(p, context, entry, &source, f)
    if status == RP_OK and b.rows and most_used(p, b) + (source.end - source.start) > p.chunk_bytes:
        status = add_chunk(r, finish_chunk(p, b, &f.error), &f.error)
    if status == RP_OK and p.ascends and f.batch.magic < 2 and rp_batch_codec(&f.batch):
        if goes_back(&f.batch, reached, &source):
            return WENT_BACK
    if status == RP_OK:
        status = gather_entry(p, context, b, &source, left, f)
    b.consumed += f.batch.size
    return status


# --- a run -------------------------------------------------------------------------------------------------

cdef int64_t expected_rows(const rp_batch* batches, int64_t n) noexcept nogil:
    """How many rows the headers declare, as far as counts are credible. Memory reserved for a false one is not
    touched."""
    cdef int64_t i, rows = 1
    for i in range(n):
        rows += max(0, min(<int64_t>batches[i].records_count, MOST_PER_BYTE * batches[i].size))
    return rows


cdef int reserve_expected(const run* r, builder* b, int64_t bytes, int64_t rest, failure* f) noexcept nogil:
    """Make room for the rows of this run and, at the same ratio, of later runs."""
    cdef double share = 1.0 if bytes == 0 else <double>(bytes + rest) / <double>bytes
    cdef int64_t rows = <int64_t>(share * <double>expected_rows(r.batches, r.n))
    return reserve_rows(r.plan, b, b.rows + rows, &f.error)


cdef bint goes_on(const run* r) noexcept nogil:
    """Return whether later runs add to the chunk: not after an error, nor to a result that is too large for one
    chunk."""
    return r.rest > 0 and r.n_failures == 0 and r.n_chunks == 0 and r.went_back == NULL


cdef int decode_entries(run* r, codec_context* context, builder* b, failure* f) noexcept nogil:
    """Decode the entries, and list bad ones; return RP_OK or RP_NO_MEMORY."""
    cdef int64_t i, rest, left = 0
    for i in range(r.n):
        left += r.batches[i].size
    rest = min(r.rest, (MOST_RUNS - 1) * left)
    cdef int status = reserve_expected(r, b, left, rest, f)
    left += rest
    for i in range(r.n):
        if status != RP_OK or is_cancelled(&r.task):
            return status
        f.batch = r.batches[i]
        left -= f.batch.size
        status = decode_entry(r, context, b, left, r.reached[i], f)
        if status == WENT_BACK:
            r.went_back = &r.batches[i]
            status = RP_OK
            break
        if status == RP_OK or status == RP_NO_MEMORY:
            continue
        status = add_failure(r, f)
        if not r.plan.skip:
            break
    if status == RP_OK and not goes_on(r) and (b.rows or r.n_chunks == 0):
        status = add_chunk(r, finish_chunk(r.plan, b, &f.error), &f.error)
    return status


cdef void decode_run(task* self) noexcept nogil:
    cdef run* r = <run*>self
    cdef codec_context* context = context_acquire(r.plan.codecs)
    cdef builder own
    cdef builder* b = &own if r.open == NULL else r.open
    cdef failure f
    if r.open == NULL:
        memset(&own, 0, sizeof(builder))
    memset(&f, 0, sizeof(failure))
    r.no_memory = context == NULL or decode_entries(r, context, b, &f) != RP_OK
    context_release(context)
    if r.open == NULL:
        builder_free(&own)
