"""Decode a run of entries into chunks: checksum, decompression and gathering, entry by entry, without the GIL."""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from recordpress._buffers cimport pooled, pooled_free, pooled_reserve
from recordpress._c.wire cimport (
    RP_BINARY_VIEW, RP_LARGE_BINARY, RP_LOG_APPEND_TIME, RP_NO_MEMORY, RP_OK, RP_VIEW_INLINED, rp_batch, rp_batch_codec,
    rp_batch_last_offset, rp_batch_read, rp_cursor, rp_cursor_of, rp_entry_size, rp_error, rp_fail, rp_read_be64,
    rp_read_bytes, rp_source,
)
from recordpress._threads cimport is_cancelled, task
from recordpress.codecs.codec cimport codec_at, row_of
from recordpress.codecs.context cimport codec_context, context_acquire, context_release
from recordpress.columns._arrow_out cimport array_data, array_init, chunk_data, chunk_drop, chunk_new
from recordpress.columns._gather cimport (
    binary_builder, builder, builder_free, gather, gather_header, go_back, mark, mark_of, most_used, pack_views,
    place_views, reserve_headers, reserve_rows,
)
from recordpress.columns._plan cimport failure, plan
from recordpress.columns._roundtrip_loss cimport note_batch
from recordpress.columns._select_batches cimport BAD_HEADER
from recordpress.columns.catalogue cimport (
    AS_BINARY, AS_HEADERS, BASE_OFFSET, HEADERS, KEY, OFFSET, TIMESTAMP, VALUE, column_of,
)
from recordpress.record.decode cimport SMALLEST_RECORD, check_crc, check_inner_crcs, open_source

cdef void fit(pooled* b, size_t used) noexcept nogil:
    """Move a column much smaller than its bound to a block of its size, so that the next batch can use the large
    one."""
    cdef pooled small
    cdef rp_error ignored
    if used * 4 > b.block or b.block < 65536:  # chosen, not measured
        return
    memset(&small, 0, sizeof(pooled))
    if pooled_reserve(&small, used, &ignored) == RP_OK:
        memcpy(small.data, b.data, used)
        pooled_free(b)
        b[0] = small


cdef const void* keep(chunk_data* chunk, pooled* b) noexcept nogil:
    """Pass the ownership of a buffer to the chunk; return the buffer's address."""
    cdef const void* data = b.data
    chunk.blocks[chunk.n_blocks] = b[0]
    chunk.n_blocks += 1
    memset(b, 0, sizeof(pooled))
    return data


cdef bint finish_binary(chunk_data* chunk, array_data* a, binary_builder* b, int64_t rows, bint large) noexcept nogil:
    cdef int64_t used
    if not array_init(a, rows, 3, 0):
        return False
    a.null_count = b.nulls
    if large:
        used = (<int64_t*>b.rows.data)[rows]
    else:
        used = (<int32_t*>b.rows.data)[rows]
    fit(&b.data, <size_t>used)
    a.buffers[0] = keep(chunk, &b.validity) if b.nulls else NULL
    a.buffers[1] = keep(chunk, &b.rows)
    a.buffers[2] = keep(chunk, &b.data)
    return True


cdef bint finish_headers(chunk_data* chunk, array_data* a, builder* b) noexcept nogil:
    """Finish a list<struct<key: string, value: binary>>."""
    cdef array_data* item
    if not array_init(a, b.rows, 2, 1):
        return False
    a.buffers[1] = keep(chunk, &b.fixed[HEADERS])
    item = &a.children[0]
    if not array_init(item, b.n_headers, 1, 2):
        return False
    return (finish_binary(chunk, &item.children[0], &b.header_key, b.n_headers, False)
            and finish_binary(chunk, &item.children[1], &b.header_value, b.n_headers, False))


cdef bint finish_views(chunk_data* chunk, array_data* a, builder* b, binary_builder* binary,
                       const int64_t* sizes) noexcept nogil:
    """Finish a binary_view: validity, views, the data buffers, and the sizes of the data buffers."""
    cdef int64_t i
    if not array_init(a, b.rows, b.n_views + 3, 0):
        return False
    a.null_count = binary.nulls
    a.buffers[0] = keep(chunk, &binary.validity) if binary.nulls else NULL
    a.buffers[1] = keep(chunk, &binary.rows)
    for i in range(b.n_views):
        a.buffers[2 + i] = b.views[i].data
    a.buffers[2 + b.n_views] = sizes
    return True


cdef const int64_t* keep_views(chunk_data* chunk, builder* b, rp_error* err) noexcept nogil:
    """Move the buffers of views to the chunk; return the array of their sizes, NULL if out of memory."""
    cdef pooled sizes
    cdef int64_t i
    memset(&sizes, 0, sizeof(pooled))
    if pooled_reserve(&sizes, <size_t>(8 * (b.n_views + 1)), err) != RP_OK:
        return NULL
    for i in range(b.n_views):
        (<int64_t*>sizes.data)[i] = b.views[i].size
        if b.views[i].owned.data != NULL:
            fit(&b.views[i].owned, <size_t>b.views[i].size)
            b.views[i].data = b.views[i].owned.data
            keep(chunk, &b.views[i].owned)
    return <const int64_t*>keep(chunk, &sizes)


cdef int release_input(const plan* p, chunk_data* chunk, rp_error* err) noexcept nogil:
    cdef array_data* views[2]
    cdef int64_t buffer
    cdef int n = 0, i
    for i in range(p.n_asked):
        if column_of(p.asked[i]).gathered == AS_BINARY:
            views[n] = &chunk.columns[i]
            n += 1
    for buffer in range(2, views[0].n_buffers - 1 if n else 0):
        if not p.data <= <const uint8_t*>views[0].buffers[buffer] < p.data + p.size:
            continue
        if release_buffer(chunk, views, n, buffer, err) != RP_OK:
            return err.status
    return RP_OK


cdef int release_buffer(chunk_data* chunk, array_data** views, int n, int64_t buffer, rp_error* err) noexcept nogil:
    """Copy the bytes of a buffer that views refer to, for the columns that share it."""
    cdef int64_t size = 0, row
    cdef pooled own
    cdef int32_t* v
    cdef int i, copies
    memset(&own, 0, sizeof(pooled))
    for copies in range(2):
        if copies and pooled_reserve(&own, <size_t>size, err) != RP_OK:
            return err.status
        size = 0
        for i in range(n):
            for row in range(views[i].length):
                v = <int32_t*>views[i].buffers[1] + 4 * row  # size, prefix, buffer, offset
                if v[0] <= RP_VIEW_INLINED or v[2] != buffer - 2:
                    continue
                if copies:
                    memcpy(own.data + size, <const uint8_t*>views[i].buffers[buffer] + v[3], <size_t>v[0])
                    v[3] = <int32_t>size
                size += v[0]
    for i in range(n):
        views[i].buffers[buffer] = own.data
        (<int64_t*>views[i].buffers[views[i].n_buffers - 1])[buffer - 2] = size
    keep(chunk, &own)
    return RP_OK


cdef bint finish_column(const plan* p, chunk_data* chunk, array_data* a, builder* b, int number,
                        const int64_t* sizes) noexcept nogil:
    cdef int gathered = column_of(number).gathered
    if gathered == AS_BINARY:
        if p.layout == RP_BINARY_VIEW:
            return finish_views(chunk, a, b, &b.key if number == KEY else &b.value, sizes)
        return finish_binary(chunk, a, &b.key if number == KEY else &b.value, b.rows, p.layout == RP_LARGE_BINARY)
    if gathered == AS_HEADERS:
        return finish_headers(chunk, a, b)
    if not array_init(a, b.rows, 2, 0):
        return False
    if number == TIMESTAMP and b.timestamp_nulls:
        a.null_count = b.timestamp_nulls
        a.buffers[0] = keep(chunk, &b.timestamp_validity)
    a.buffers[1] = keep(chunk, &b.fixed[number])
    return True


cdef chunk_data* finish_chunk(const plan* p, builder* b, rp_error* err) noexcept nogil:
    cdef chunk_data* chunk = NULL
    cdef const int64_t* sizes = NULL
    cdef int i
    # an empty result has buffers too
    if reserve_rows(p, b, 1, err) == RP_OK and (not p.want[HEADERS] or reserve_headers(b, 0, 0, err) == RP_OK):
        chunk = chunk_new(p.n_asked, 4 * p.n_asked + 8 + b.n_views)
    cdef bint done = chunk != NULL
    if done and p.layout == RP_BINARY_VIEW:
        sizes = keep_views(chunk, b, err)
        done = sizes != NULL
    for i in range(p.n_asked):
        done = done and finish_column(p, chunk, &chunk.columns[i], b, p.asked[i], sizes)
    if done:
        chunk.rows = b.rows
        chunk.lost = b.lost
        chunk.input_shown = b.input_shown
    else:
        rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
        chunk_drop(chunk)
        chunk = NULL
    builder_free(b)
    return chunk


cdef enum:
    WENT_BACK = -1  # returned instead of a status
    MOST_PER_BYTE = 2  # real records, well compressed, take half a byte and more
    MOST_RUNS = 8  # that one chunk is expected to have: room for more is reserved when they come


# --- a run -----------------------------------------------------------------------------------------------------------

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
    """Set the ranges of offsets and timestamps with which the records of the source are compared."""
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
    for _ in range(source.count):  # whose sizes were checked
        size = rp_entry_size(cursor)
        offset = <int64_t>(<uint64_t>source.base_offset + <uint64_t>rp_read_be64(&cursor))
        rp_read_bytes(&cursor, <size_t>size - 8)
        if not reached <= offset <= batch.base_offset:
            return True
    return False


cdef void note_entry(const plan* p, codec_context* context, builder* b, const rp_batch* batch, int64_t before,
                     int32_t count) noexcept nogil:
    """Note the losses in columns of a batch of `count` records, whose requested rows start at `before`."""
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
    """Gather the records of an open entry, or none of them after an error."""
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
    """Return whether the header has all requested columns, and a count that the batch's bytes can hold: a false count
    costs no memory."""
    return (p.by_header and batch.magic == 2 and 0 < batch.records_count <= MOST_PER_BYTE * batch.size
            and batch.base_offset <= INT64_MAX - batch.records_count
            and rp_batch_last_offset(batch) - batch.base_offset == batch.records_count - 1
            and (not p.asks_times or batch.attributes & RP_LOG_APPEND_TIME)
            and row_of(context.codecs, codec_at(context.codecs, p.data + batch.position, batch)) != NULL)


cdef int decode_header(const plan* p, builder* b, failure* f) noexcept nogil:
    """Add a batch's records without decompressing them, but compare its checksum."""
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
    """Return the number of rows that the headers declare, up to a credible number per byte. Memory reserved for a
    false count is not touched."""
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
    """Return whether later runs add to the chunk: not after an error, and not if the result is too large for one
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
