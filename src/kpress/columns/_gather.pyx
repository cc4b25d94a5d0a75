"""One record batch under construction: pooled buffers that grow, the gathering of an entry, the finished chunk."""

from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from kpress._buffers cimport pooled, pooled_free, pooled_reserve
from kpress._c.wire cimport (
    KP_BINARY, KP_BINARY_VIEW, KP_CONTROL, KP_IN_RECORDS, KP_LARGE_BINARY, KP_NO_MEMORY, KP_OK, KP_OUTPUT_CAP, KP_TIMESTAMP_RANGE,
    KP_TRANSACTIONAL,
    kp_batch, kp_batch_codec, kp_batch_timestamp_type, kp_binary, kp_columns, kp_cursor, kp_cursor_of, kp_error,
    kp_fail,
    kp_gather, kp_gather_messages, kp_header, kp_header_read, kp_headers_of, kp_load_be64, kp_record,
    kp_record_next, kp_source,
    kp_utf8_copy,
)
from kpress.columns._arrow_out cimport array_data, array_init, chunk_data, chunk_drop, chunk_new
from kpress.columns._plan cimport (
    BASE_OFFSET, HEADERS, IS_CONTROL, IS_TRANSACTIONAL, KEY, N_COLUMNS, OFFSET, PARTITION_LEADER_EPOCH, PRODUCER_EPOCH,
    PRODUCER_ID, SEQUENCE, TIMESTAMP, TIMESTAMP_TYPE, VALUE, plan,
)

# Bytes of a row in the fixed-width columns; 0: bits, or not fixed.
cdef int WIDTHS[N_COLUMNS]
WIDTHS[:] = [8, 8, 4, 0, 0, 4, 8, 2, 4, 4, 0, 0, 8]


cdef void binary_free(binary_builder* b) noexcept nogil:
    pooled_free(&b.rows)
    pooled_free(&b.data)
    pooled_free(&b.validity)


cdef void builder_free(builder* b) noexcept nogil:
    cdef int64_t i
    for i in range(N_COLUMNS):
        pooled_free(&b.fixed[i])
    pooled_free(&b.timestamp_validity)
    binary_free(&b.key)
    binary_free(&b.value)
    binary_free(&b.header_key)
    binary_free(&b.header_value)
    for i in range(b.n_views):
        pooled_free(&b.views[i].owned)
    free(b.views)
    memset(b, 0, sizeof(builder))


cdef inline int64_t bitmap_bytes(int64_t bits) noexcept nogil:
    return (bits + 7) >> 3


cdef int grow(pooled* b, int64_t used, int64_t wanted, kp_error* err) noexcept nogil:
    b.size = <size_t>used
    return pooled_reserve(b, <size_t>wanted, err)


cdef int grow_validity(pooled* b, int64_t rows, int64_t capacity, kp_error* err) noexcept nogil:
    """A bitmap for `capacity` rows that says valid for all from `rows` on, and for all when it is new."""
    cdef int64_t used = 0 if b.data == NULL else bitmap_bytes(rows)
    if b.data != NULL and <int64_t>b.capacity >= bitmap_bytes(capacity):
        return KP_OK
    cdef int status = grow(b, used, bitmap_bytes(capacity), err)
    if status == KP_OK:
        memset(b.data + used, 0xff, b.capacity - <size_t>used)
    return status


cdef int grow_binary(binary_builder* b, int width, int64_t rows, int64_t capacity, kp_error* err) noexcept nogil:
    cdef bint fresh = b.rows.data == NULL
    cdef int status = grow(&b.rows, 0 if fresh else width * (rows + 1), width * (capacity + 1), err)
    if status == KP_OK and fresh:
        memset(b.rows.data, 0, <size_t>width)
    if status == KP_OK:
        status = grow_validity(&b.validity, rows, capacity, err)
    return status


# --- decoding one entry -----------------------------------------------------------------------------------

cdef int reserve_rows(const plan* p, builder* b, int64_t rows, kp_error* err) noexcept nogil:
    if rows <= b.capacity:
        return KP_OK
    cdef int64_t capacity = rows if b.capacity == 0 else max(rows, 2 * b.capacity)
    cdef int i, status
    for i in range(N_COLUMNS):
        if not p.want[i]:
            continue
        if i == KEY or i == VALUE:
            status = grow_binary(&b.key if i == KEY else &b.value, p.row_width, b.rows, capacity, err)
        elif WIDTHS[i]:
            # one row more than asked: the ends of a list column
            status = grow(&b.fixed[i], WIDTHS[i] * (b.rows + 1 if b.capacity else 0), WIDTHS[i] * (capacity + 1), err)
            if status == KP_OK and b.capacity == 0:
                memset(b.fixed[i].data, 0, <size_t>WIDTHS[i])
        else:
            status = grow(&b.fixed[i], bitmap_bytes(b.rows), bitmap_bytes(capacity), err)
        if status != KP_OK:
            return status
    b.capacity = capacity
    return KP_OK


cdef int reserve_data(builder* b, binary_builder* column, int64_t used, int64_t more, int64_t left,
                      kp_error* err) noexcept nogil:
    """Room for `more` bytes behind `used`; where that means to move, room for what the rest of the input
    (`left` bytes of entries) will need at the ratio seen so far."""
    if column.data.data != NULL and <int64_t>column.data.capacity >= used + more:
        return KP_OK
    cdef int64_t expected = used + more
    if b.consumed:
        expected += <int64_t>(1.05 * <double>used / <double>b.consumed * <double>left)
        expected = max(expected, used + (used >> 1) + more)
    return grow(&column.data, used, expected, err)


cdef void open_binary(binary_builder* b, kp_binary* out, int64_t used) noexcept nogil:
    out.rows = b.rows.data
    out.data = b.data.data
    out.used = used
    out.validity = b.validity.data
    out.nulls = b.nulls


cdef int64_t binary_used(const plan* p, const binary_builder* b, int64_t rows) noexcept nogil:
    if b.rows.data == NULL or p.layout == KP_BINARY_VIEW:
        return 0
    if p.layout == KP_BINARY:
        return (<const int32_t*>b.rows.data)[rows]
    return (<const int64_t*>b.rows.data)[rows]


cdef int gather(const plan* p, builder* b, const kp_batch* batch, const kp_source* source, int64_t left,
                kp_error* err) noexcept nogil:
    """The records of one batch into key, value, offset, timestamp and sequence."""
    cdef int64_t bytes = source.end - source.start
    cdef int status = KP_OK
    cdef kp_columns c
    cdef int64_t used
    memset(&c, 0, sizeof(kp_columns))
    c.rows = b.rows
    if p.want[KEY]:
        used = binary_used(p, &b.key, b.rows)
        if p.layout != KP_BINARY_VIEW:
            status = reserve_data(b, &b.key, used, bytes, left, err)
        open_binary(&b.key, &c.key, used)
    if p.want[VALUE] and status == KP_OK:
        used = binary_used(p, &b.value, b.rows)
        if p.layout != KP_BINARY_VIEW:
            status = reserve_data(b, &b.value, used, bytes, left, err)
        open_binary(&b.value, &c.value, used)
    if status != KP_OK:
        return status
    c.offset = <int64_t*>b.fixed[OFFSET].data
    c.timestamp = <int64_t*>b.fixed[TIMESTAMP].data
    c.sequence = <int32_t*>b.fixed[SEQUENCE].data
    if batch.magic == 2:
        status = kp_gather(&c, p.layout, source, err)
    else:
        status = kp_gather_messages(&c, p.layout, source, err)
    b.key.nulls = c.key.nulls
    b.value.nulls = c.value.nulls
    if status != KP_OK:
        return status
    status = finish_timestamps(p, b, c.rows, err) if p.want[TIMESTAMP] else KP_OK
    if status == KP_OK and p.want[HEADERS]:
        status = gather_headers(p, b, batch, source, c.rows, err)
    if status == KP_OK:
        fill_batch_fields(p, b, batch, source, c.rows)
        b.rows = c.rows
    return status


cdef int finish_timestamps(const plan* p, builder* b, int64_t end, kp_error* err) noexcept nogil:
    """NO_TIMESTAMP (-1) becomes null; milliseconds become microseconds where those were asked."""
    cdef int64_t* timestamps = <int64_t*>b.fixed[TIMESTAMP].data
    cdef int64_t i, none = 0, beyond = 0
    cdef int status
    for i in range(b.rows, end):
        none += timestamps[i] == -1
    if none or b.timestamp_nulls:  # once there is a bitmap it grows with the rows
        status = grow_validity(&b.timestamp_validity, b.rows, b.capacity, err)
        if status != KP_OK:
            return status
        for i in range(b.rows, end):
            if timestamps[i] == -1:
                b.timestamp_validity.data[i >> 3] &= ~(1 << (i & 7))
        b.timestamp_nulls += none
    if p.micros:
        for i in range(b.rows, end):
            beyond |= (timestamps[i] > INT64_MAX // 1000) | (timestamps[i] < INT64_MIN // 1000)
            timestamps[i] = <int64_t>(<uint64_t>timestamps[i] * 1000)
        if beyond:
            return kp_fail(err, KP_TIMESTAMP_RANGE, -1, INT64_MAX // 1000, 0)
    return KP_OK


cdef void fill_bits(uint8_t* bits, int64_t start, int64_t end, bint value) noexcept nogil:
    cdef int64_t i
    for i in range(start, end):
        if value:
            bits[i >> 3] |= 1 << (i & 7)
        else:
            bits[i >> 3] &= ~(1 << (i & 7))


cdef void fill_batch_fields(const plan* p, builder* b, const kp_batch* batch, const kp_source* source,
                            int64_t end) noexcept nogil:
    """The columns in which all records of a batch have one value."""
    cdef int64_t i, base_offset = batch.base_offset
    if p.want[TIMESTAMP_TYPE]:
        for i in range(b.rows, end):
            (<int32_t*>b.fixed[TIMESTAMP_TYPE].data)[i] = kp_batch_timestamp_type(batch)
    if p.want[PRODUCER_ID]:
        for i in range(b.rows, end):
            (<int64_t*>b.fixed[PRODUCER_ID].data)[i] = batch.producer_id
    if p.want[PRODUCER_EPOCH]:
        for i in range(b.rows, end):
            (<int16_t*>b.fixed[PRODUCER_EPOCH].data)[i] = batch.producer_epoch
    if p.want[PARTITION_LEADER_EPOCH]:
        for i in range(b.rows, end):
            (<int32_t*>b.fixed[PARTITION_LEADER_EPOCH].data)[i] = batch.partition_leader_epoch
    if p.want[IS_TRANSACTIONAL]:
        fill_bits(b.fixed[IS_TRANSACTIONAL].data, b.rows, end,
                  batch.magic == 2 and (batch.attributes & KP_TRANSACTIONAL) != 0)
    if p.want[IS_CONTROL]:
        fill_bits(b.fixed[IS_CONTROL].data, b.rows, end, batch.magic == 2 and (batch.attributes & KP_CONTROL) != 0)
    if p.want[BASE_OFFSET]:
        if batch.magic < 2 and kp_batch_codec(batch):  # the first inner message's
            base_offset = <int64_t>(<uint64_t>source.base_offset + kp_load_be64(source.start))
        for i in range(b.rows, end):
            (<int64_t*>b.fixed[BASE_OFFSET].data)[i] = base_offset


# --- headers ----------------------------------------------------------------------------------------------

cdef int reserve_headers(builder* b, int64_t more, int64_t bytes, kp_error* err) noexcept nogil:
    cdef int64_t rows = b.n_headers + more
    cdef int64_t key_used = 0, value_used = 0
    cdef int status
    if b.header_key.rows.data != NULL:
        key_used = (<int32_t*>b.header_key.rows.data)[b.n_headers]
        value_used = (<int32_t*>b.header_value.rows.data)[b.n_headers]
    if rows > b.headers_capacity or b.header_key.rows.data == NULL:
        rows = max(rows, 2 * b.headers_capacity)
        status = grow_binary(&b.header_key, 4, b.n_headers, rows, err)
        if status == KP_OK:
            status = grow_binary(&b.header_value, 4, b.n_headers, rows, err)
        if status != KP_OK:
            return status
        b.headers_capacity = rows
    # a byte of a key that is not UTF-8 becomes the three bytes of U+FFFD
    status = reserve_data(b, &b.header_key, key_used, min(3 * bytes, INT32_MAX - key_used), 0, err)
    if status == KP_OK:
        status = reserve_data(b, &b.header_value, value_used, bytes, 0, err)
    return status


cdef bint kept(const kp_source* s, int64_t offset, int64_t timestamp) noexcept nogil:
    return not s.filtered or (s.first_offset <= offset <= s.last_offset
                              and s.first_timestamp <= timestamp <= s.last_timestamp)


cdef int gather_headers(const plan* p, builder* b, const kp_batch* batch, const kp_source* source, int64_t end,
                        kp_error* err) noexcept nogil:
    """The headers of the rows from b.rows to end, which the gather before has checked."""
    cdef int32_t* ends = <int32_t*>b.fixed[HEADERS].data
    cdef kp_cursor cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef kp_record r
    cdef int64_t i, row = b.rows, headers = 0, bytes = 0
    cdef int status
    if batch.magic < 2:
        status = reserve_headers(b, 0, 0, err)
        for i in range(b.rows, end):
            ends[i + 1] = ends[i]
        return status
    for _ in range(source.count):
        if kp_record_next(source, &cursor, 0, &r, err) != KP_OK:
            break  # cannot be: the gather before read them all
        headers += r.header_count
        bytes += r.headers.size
    status = reserve_headers(b, headers, bytes, err)
    if status != KP_OK:
        return status
    cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    for _ in range(source.count):
        if row == end or kp_record_next(source, &cursor, 0, &r, err) != KP_OK:
            break
        if not kept(source, r.offset, r.timestamp):
            continue
        headers -= r.header_count
        bytes -= r.headers.size
        if headers < 0 or bytes < 0:
            break  # more than there is room for: another thread writes to the records
        if append_headers(b, &r, err) != KP_OK:
            return err.status
        ends[row + 1] = <int32_t>b.n_headers
        row += 1
    for i in range(row, end):
        ends[i + 1] = ends[i]
    return KP_OK


cdef int append_headers(builder* b, const kp_record* r, kp_error* err) noexcept nogil:
    cdef kp_cursor cursor = kp_headers_of(r)
    cdef kp_header h
    cdef int32_t used
    cdef int32_t* key_ends = <int32_t*>b.header_key.rows.data
    cdef int32_t* value_ends = <int32_t*>b.header_value.rows.data
    for _ in range(r.header_count):
        if kp_header_read(&cursor, &h) != KP_OK:
            break  # cannot be: the gather before has walked them
        used = key_ends[b.n_headers]
        if used + 3 * h.key.size > INT32_MAX:
            return kp_fail(err, KP_OUTPUT_CAP, -1, 0, INT32_MAX)
        used += <int32_t>kp_utf8_copy(b.header_key.data.data + used, h.key.data, <size_t>h.key.size)
        key_ends[b.n_headers + 1] = used
        used = value_ends[b.n_headers]
        if h.value.size > 0:
            memcpy(b.header_value.data.data + used, h.value.data, <size_t>h.value.size)
            used += <int32_t>h.value.size
        elif h.value.size < 0:
            b.header_value.validity.data[b.n_headers >> 3] &= ~(1 << (b.n_headers & 7))
            b.header_value.nulls += 1
        value_ends[b.n_headers + 1] = used
        b.n_headers += 1
    return KP_OK


# --- views ------------------------------------------------------------------------------------------------

cdef view_buffer* add_view(builder* b) noexcept nogil:
    cdef view_buffer* more
    if b.n_views == b.views_capacity:
        more = <view_buffer*>realloc(b.views, sizeof(view_buffer) * <size_t>(2 * b.n_views + 4))
        if more == NULL:
            return NULL
        b.views = more
        b.views_capacity = 2 * b.n_views + 4
    b.n_views += 1
    memset(&b.views[b.n_views - 1], 0, sizeof(view_buffer))
    return &b.views[b.n_views - 1]


cdef int place_views(builder* b, kp_source* source, pooled* decompressed, kp_error* err) noexcept nogil:
    """The buffer that the views of a batch point into: the decompressed block, which goes over to the
    builder, or a window of the input of at most 2 GiB."""
    cdef view_buffer* view = NULL
    cdef bint inside = source.frame == KP_IN_RECORDS
    if not inside and b.n_views:
        view = &b.views[b.n_views - 1]
        if view.owned.data != NULL or source.end - view.data > INT32_MAX:
            view = NULL
    if view == NULL:
        view = add_view(b)
        if view == NULL:
            return kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
        view.data = source.start
    view.size = source.end - view.data
    if inside:
        view.owned = decompressed[0]
        memset(decompressed, 0, sizeof(pooled))
    source.view_base = view.data
    source.view_buffer = <int32_t>(b.n_views - 1)
    return KP_OK


cdef int64_t most_used(const plan* p, builder* b) noexcept nogil:
    """Bytes in the fullest binary column."""
    cdef int64_t used = b.n_headers * 8
    if p.want[KEY]:
        used = max(used, binary_used(p, &b.key, b.rows))
    if p.want[VALUE]:
        used = max(used, binary_used(p, &b.value, b.rows))
    if p.want[HEADERS] and b.header_key.rows.data != NULL:
        used = max(used, 3 * (<int64_t>(<int32_t*>b.header_key.rows.data)[b.n_headers]))
        used = max(used, <int64_t>(<int32_t*>b.header_value.rows.data)[b.n_headers])
    return used


# --- from builder to chunk --------------------------------------------------------------------------------

cdef void fit(pooled* b, size_t used) noexcept nogil:
    """A column that turned out much smaller than its bound moves to a block of its size, so that the large
    one serves the next batch."""
    cdef pooled small
    cdef kp_error ignored
    b.size = used
    if used * 4 > b.block or b.block < 65536:
        return
    memset(&small, 0, sizeof(pooled))
    if pooled_reserve(&small, used, &ignored) == KP_OK:
        memcpy(small.data, b.data, used)
        small.size = used
        pooled_free(b)
        b[0] = small


cdef const void* keep(chunk_data* chunk, pooled* b) noexcept nogil:
    """The buffer's address; its memory is the chunk's from now on."""
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
    """list<struct<key: string, value: binary>>"""
    cdef array_data* item
    if not array_init(a, b.rows, 2, 1):
        return False
    a.buffers[1] = keep(chunk, &b.fixed[HEADERS])
    item = &a.children[0]
    if not array_init(item, b.n_headers, 1, 2):
        return False
    return (finish_binary(chunk, &item.children[0], &b.header_key, b.n_headers, False)
            and finish_binary(chunk, &item.children[1], &b.header_value, b.n_headers, False))


cdef bint finish_views(chunk_data* chunk, array_data* a, builder* b, binary_builder* column,
                       const int64_t* sizes) noexcept nogil:
    """binary_view: validity, views, the data buffers, and the data buffers' sizes."""
    cdef int64_t i
    if not array_init(a, b.rows, b.n_views + 3, 0):
        return False
    a.null_count = column.nulls
    a.buffers[0] = keep(chunk, &column.validity) if column.nulls else NULL
    a.buffers[1] = keep(chunk, &column.rows)
    for i in range(b.n_views):
        a.buffers[2 + i] = b.views[i].data
    a.buffers[2 + b.n_views] = sizes
    return True


cdef const int64_t* keep_views(chunk_data* chunk, builder* b, kp_error* err) noexcept nogil:
    """Hands the buffers that views point into to the chunk; the array of their sizes, NULL if out of memory."""
    cdef pooled sizes
    cdef int64_t i
    memset(&sizes, 0, sizeof(pooled))
    if pooled_reserve(&sizes, <size_t>(8 * (b.n_views + 1)), err) != KP_OK:
        return NULL
    for i in range(b.n_views):
        (<int64_t*>sizes.data)[i] = b.views[i].size
        if b.views[i].owned.data != NULL:
            keep(chunk, &b.views[i].owned)
    return <const int64_t*>keep(chunk, &sizes)


cdef bint finish_column(const plan* p, chunk_data* chunk, array_data* a, builder* b, int column,
                        const int64_t* sizes) noexcept nogil:
    if column == KEY or column == VALUE:
        if p.layout == KP_BINARY_VIEW:
            return finish_views(chunk, a, b, &b.key if column == KEY else &b.value, sizes)
        return finish_binary(chunk, a, &b.key if column == KEY else &b.value, b.rows, p.layout == KP_LARGE_BINARY)
    if column == HEADERS:
        return finish_headers(chunk, a, b)
    if not array_init(a, b.rows, 2, 0):
        return False
    if column == TIMESTAMP and b.timestamp_nulls:
        a.null_count = b.timestamp_nulls
        a.buffers[0] = keep(chunk, &b.timestamp_validity)
    a.buffers[1] = keep(chunk, &b.fixed[column])
    return True


cdef chunk_data* finish_chunk(const plan* p, builder* b, kp_error* err) noexcept nogil:
    """The builder's rows as a record batch; the builder is empty afterwards. NULL: out of memory."""
    cdef chunk_data* chunk = NULL
    cdef const int64_t* sizes = NULL
    cdef int i
    # an empty result has buffers too
    if reserve_rows(p, b, 1, err) == KP_OK and (not p.want[HEADERS] or reserve_headers(b, 0, 0, err) == KP_OK):
        chunk = chunk_new(p.n_asked, 4 * p.n_asked + 8 + b.n_views)
    cdef bint done = chunk != NULL
    if done and p.layout == KP_BINARY_VIEW:
        sizes = keep_views(chunk, b, err)
        done = sizes != NULL
    for i in range(p.n_asked):
        done = done and finish_column(p, chunk, &chunk.columns[i], b, p.asked[i], sizes)
    if done:
        chunk.rows = b.rows
    else:
        kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
        chunk_drop(chunk)
        chunk = NULL
    builder_free(b)
    return chunk
