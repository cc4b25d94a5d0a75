"""A record batch under construction: pooled buffers, and the gathering of an entry. `column_rows` does the reverse."""

from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove, memset

from recordpress._buffers cimport PADDING, pooled, pooled_free, pooled_reserve
from recordpress._c.wire cimport (
    RP_BINARY, RP_BINARY_VIEW, RP_IN_RECORDS, RP_NO_MEMORY, RP_OK, RP_OUTPUT_CAP, RP_TIMESTAMP_RANGE, RP_VIEW_INLINED,
    rp_batch, rp_binary, rp_columns, rp_cursor, rp_cursor_of, rp_error, rp_fail, rp_gather, rp_gather_messages,
    rp_header, rp_header_read, rp_headers_of, rp_record, rp_record_next, rp_source, rp_utf8_copy,
)
from recordpress.columns._plan cimport plan
from recordpress.columns.catalogue cimport (
    AS_BINARY, HEADERS, KEY, N_COLUMNS, OFFSET, SEQUENCE, TIMESTAMP, VALUE, column, column_of,
)

cdef enum:
    # Decompressed batches below this size are copied into a shared buffer: a copy within the CPU's cache costs less
    # than a buffer per batch (views into 10,000 buffers are slow to read, and a block is larger than a batch needs).
    # Larger batches get a separate buffer.
    SHARED_BELOW = 1 << 20
    # Limit of the room that is reserved by the first batch's ratio: more than results of a usual size need.
    MOST_AT_FIRST = 8 << 20

cdef double MARGIN = 1.05  # see reserve_data

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


cdef int grow(pooled* b, int64_t used, int64_t wanted, rp_error* err) noexcept nogil:
    b.size = <size_t>used
    return pooled_reserve(b, <size_t>wanted, err)


cdef int grow_validity(pooled* b, int64_t rows, int64_t capacity, rp_error* err) noexcept nogil:
    """Grow a bitmap to `capacity` rows, in which the rows from `rows` are valid, or all rows if it is new."""
    cdef int64_t used = 0 if b.data == NULL else bitmap_bytes(rows)
    if b.data != NULL and <int64_t>b.capacity >= bitmap_bytes(capacity):
        return RP_OK
    cdef int status = grow(b, used, bitmap_bytes(capacity), err)
    if status == RP_OK:
        memset(b.data + used, 0xff, b.capacity - <size_t>used)
    return status


cdef int grow_binary(binary_builder* b, int width, int64_t rows, int64_t capacity, rp_error* err) noexcept nogil:
    cdef bint fresh = b.rows.data == NULL
    cdef int status = grow(&b.rows, 0 if fresh else width * (rows + 1), width * (capacity + 1), err)
    if status == RP_OK and fresh:
        memset(b.rows.data, 0, <size_t>width)
    if status == RP_OK:
        status = grow_validity(&b.validity, rows, capacity, err)
    return status


# --- decoding one entry -----------------------------------------------------------------------------------

cdef int reserve_rows(const plan* p, builder* b, int64_t rows, rp_error* err) noexcept nogil:
    if rows <= b.capacity:
        return RP_OK
    cdef int64_t capacity = rows if b.capacity == 0 else max(rows, 2 * b.capacity)
    cdef int i, status, width
    for i in range(N_COLUMNS):
        if not p.want[i]:
            continue
        width = column_of(i).width
        if column_of(i).gathered == AS_BINARY:
            status = grow_binary(&b.key if i == KEY else &b.value, p.row_width, b.rows, capacity, err)
        elif width:
            # one row more than requested: the ends of a list column
            status = grow(&b.fixed[i], width * (b.rows + 1 if b.capacity else 0), width * (capacity + 1), err)
            if status == RP_OK and b.capacity == 0:
                memset(b.fixed[i].data, 0, <size_t>width)
        else:
            status = grow(&b.fixed[i], bitmap_bytes(b.rows), bitmap_bytes(capacity), err)
        if status != RP_OK:
            return status
    b.capacity = capacity
    return RP_OK


cdef int reserve_values(builder* b, int64_t used, int64_t more, int64_t size, int64_t left,
                        rp_error* err) noexcept nogil:
    """Reserve as reserve_data does. The first batch of a result, which has `size` stored bytes, shows what the others
    may need: most of its bytes are usually values."""
    cdef int64_t room = 0
    if b.consumed == 0 and b.value.data.data == NULL:
        room = <int64_t>min(<double>MOST_AT_FIRST, <double>more / <double>size * <double>left)
    return reserve_data(b, &b.value, used, more + room, left, err)


cdef int reserve_data(builder* b, binary_builder* binary, int64_t used, int64_t more, int64_t left,
                      rp_error* err) noexcept nogil:
    """Reserve `more` bytes after `used`. A buffer that must move gets room for the rest of the input (`left` bytes of
    entries) at the ratio seen so far, and a twentieth more: batches of one topic differ by a few percent, and another
    move costs more than pages that are never touched. It grows by at least half, so that moves stay rare if the ratio
    rises."""
    if binary.data.data != NULL and <int64_t>binary.data.capacity >= used + more:
        return RP_OK
    cdef int64_t expected = used + more
    if b.consumed:
        expected += <int64_t>(MARGIN * <double>used / <double>b.consumed * <double>left)
        expected = max(expected, used + (used >> 1) + more)
    return grow(&binary.data, used, expected, err)


cdef void open_binary(binary_builder* b, rp_binary* out, int64_t used) noexcept nogil:
    out.rows = b.rows.data
    out.data = b.data.data
    out.used = used
    out.validity = b.validity.data
    out.nulls = b.nulls


cdef int64_t binary_used(const plan* p, const binary_builder* b, int64_t rows) noexcept nogil:
    if b.rows.data == NULL or p.layout == RP_BINARY_VIEW:
        return 0
    if p.layout == RP_BINARY:
        return (<const int32_t*>b.rows.data)[rows]
    return (<const int64_t*>b.rows.data)[rows]


cdef int gather(const plan* p, builder* b, const rp_batch* batch, const rp_source* source, int64_t left,
                rp_error* err) noexcept nogil:
    """Gather the records of one batch into key, value, offset, timestamp and sequence."""
    cdef int64_t bytes = source.end - source.start
    cdef int status = RP_OK
    cdef rp_columns c
    cdef int64_t used
    memset(&c, 0, sizeof(rp_columns))
    c.rows = b.rows
    # values first: they get the block that the last result has just released, which is in the cache
    if p.want[VALUE]:
        used = binary_used(p, &b.value, b.rows)
        if p.layout != RP_BINARY_VIEW:
            status = reserve_values(b, used, bytes, batch.size, left, err)
        open_binary(&b.value, &c.value, used)
    if p.want[KEY] and status == RP_OK:
        used = binary_used(p, &b.key, b.rows)
        if p.layout != RP_BINARY_VIEW:
            status = reserve_data(b, &b.key, used, bytes, left, err)
        open_binary(&b.key, &c.key, used)
    if status != RP_OK:
        return status
    c.offset = <int64_t*>b.fixed[OFFSET].data
    c.timestamp = <int64_t*>b.fixed[TIMESTAMP].data
    c.sequence = <int32_t*>b.fixed[SEQUENCE].data
    if batch.magic == 2:
        status = rp_gather(&c, p.layout, source, err)
    else:
        status = rp_gather_messages(&c, p.layout, source, err)
    b.key.nulls = c.key.nulls
    b.value.nulls = c.value.nulls
    b.shown = c.key.used + c.value.used
    if status != RP_OK:
        return status
    status = finish_timestamps(p, b, c.rows, c.untimed, err) if p.want[TIMESTAMP] else RP_OK
    if status == RP_OK and p.want[HEADERS]:
        status = gather_headers(b, source, &c, err)
    if status == RP_OK:
        fill_batch_fields(p, b, batch, source, c.rows)
        b.rows = c.rows
    return status


cdef int gather_header(const plan* p, builder* b, const rp_batch* batch, rp_error* err) noexcept nogil:
    cdef int64_t first = max(batch.base_offset, p.first_offset)
    cdef int64_t last = min(batch.base_offset + batch.records_count - 1, p.last_offset)
    cdef int64_t i, end = b.rows + max(0, last - first + 1)
    cdef int status = reserve_rows(p, b, end, err)
    if status == RP_OK and p.want[TIMESTAMP]:
        fill(column_of(TIMESTAMP), b.fixed[TIMESTAMP].data, b.rows, end, batch.max_timestamp)
        status = finish_timestamps(p, b, end, end - b.rows if batch.max_timestamp == -1 else 0, err)
    if status != RP_OK:
        return status
    if p.want[OFFSET]:
        for i in range(b.rows, end):
            (<int64_t*>b.fixed[OFFSET].data)[i] = first + (i - b.rows)
    fill_batch_fields(p, b, batch, NULL, end)
    b.rows = end
    return RP_OK


cdef inline int64_t out_of_micros(int64_t ms) noexcept nogil:
    """Return whether an int64 cannot hold a time in microseconds."""
    return (ms > INT64_MAX // 1000) | (ms < INT64_MIN // 1000)


cdef int finish_timestamps(const plan* p, builder* b, int64_t end, int64_t none, rp_error* err) noexcept nogil:
    """Convert NO_TIMESTAMP (-1) of `none` rows to null, and milliseconds to microseconds if requested."""
    cdef int64_t* timestamps = <int64_t*>b.fixed[TIMESTAMP].data
    cdef int64_t i, beyond = 0
    cdef int status
    if none or b.timestamp_nulls:  # once a bitmap exists, it grows with the rows
        status = grow_validity(&b.timestamp_validity, b.rows, b.capacity, err)
        if status != RP_OK:
            return status
        for i in range(b.rows, end):
            if timestamps[i] == -1:
                b.timestamp_validity.data[i >> 3] &= ~(1 << (i & 7))
        b.timestamp_nulls += none
    if p.micros:
        for i in range(b.rows, end):
            beyond |= out_of_micros(timestamps[i])
        if beyond:
            i = b.rows
            while not out_of_micros(timestamps[i]):
                i += 1
            return rp_fail(err, RP_TIMESTAMP_RANGE, -1, timestamps[i], 0)
        for i in range(b.rows, end):
            timestamps[i] *= 1000
    return RP_OK


cdef inline void fill_byte(uint8_t* byte, int mask, bint value) noexcept nogil:
    byte[0] = byte[0] | mask if value else byte[0] & ~mask


cdef void fill_bits(uint8_t* bits, int64_t start, int64_t end, bint value) noexcept nogil:
    cdef int64_t first = start >> 3, last = end >> 3
    cdef int from_start = 0xff << (start & 7), upto_end = 0xff >> (8 - (end & 7))
    if start >= end:
        return
    if first == last:
        fill_byte(bits + first, from_start & upto_end, value)
        return
    fill_byte(bits + first, from_start, value)
    memset(bits + first + 1, 0xff if value else 0, <size_t>(last - first - 1))
    if upto_end:  # else the last byte, which may not exist, has no bits of the range
        fill_byte(bits + last, upto_end, value)


cdef void fill(const column* c, uint8_t* data, int64_t start, int64_t end, int64_t value) noexcept nogil:
    cdef int64_t i
    if c.width == 0:
        fill_bits(data, start, end, value != 0)
    elif c.width == 2:
        for i in range(start, end):
            (<int16_t*>data)[i] = <int16_t>value
    elif c.width == 4:
        for i in range(start, end):
            (<int32_t*>data)[i] = <int32_t>value
    else:
        for i in range(start, end):
            (<int64_t*>data)[i] = value


cdef void fill_batch_fields(const plan* p, builder* b, const rp_batch* batch, const rp_source* source,
                            int64_t end) noexcept nogil:
    """Fill the columns in which all records of a batch have one value."""
    cdef const column* c
    cdef int i
    for i in range(p.n_by_batch if end > b.rows else 0):
        c = column_of(p.by_batch[i])
        fill(c, b.fixed[p.by_batch[i]].data, b.rows, end, c.of_batch(batch, source))


# --- headers ----------------------------------------------------------------------------------------------

cdef int reserve_headers(builder* b, int64_t more, int64_t bytes, rp_error* err) noexcept nogil:
    cdef int64_t rows = b.n_headers + more
    cdef int64_t key_used = 0, value_used = 0
    cdef int status
    if b.header_key.rows.data != NULL:
        key_used = (<int32_t*>b.header_key.rows.data)[b.n_headers]
        value_used = (<int32_t*>b.header_value.rows.data)[b.n_headers]
    if rows > b.headers_capacity or b.header_key.rows.data == NULL:
        rows = max(rows, 2 * b.headers_capacity)
        status = grow_binary(&b.header_key, 4, b.n_headers, rows, err)
        if status == RP_OK:
            status = grow_binary(&b.header_value, 4, b.n_headers, rows, err)
        if status != RP_OK:
            return status
        b.headers_capacity = rows
    # a byte of a key that is not UTF-8 becomes the three bytes of U+FFFD
    status = reserve_data(b, &b.header_key, key_used, min(3 * bytes, INT32_MAX - key_used), 0, err)
    if status == RP_OK:
        status = reserve_data(b, &b.header_value, value_used, bytes, 0, err)
    return status


cdef bint kept(const rp_source* s, int64_t offset, int64_t timestamp) noexcept nogil:
    return not s.filtered or (s.first_offset <= offset <= s.last_offset
                              and s.first_timestamp <= timestamp <= s.last_timestamp)


cdef int gather_headers(builder* b, const rp_source* source, const rp_columns* c, rp_error* err) noexcept nogil:
    """Gather the headers, which the previous pass has checked and counted, of the rows from b.rows to c.rows."""
    cdef int32_t* ends = <int32_t*>b.fixed[HEADERS].data
    cdef rp_cursor cursor = rp_cursor_of(source.start, <size_t>(source.end - source.start))
    cdef rp_record r
    cdef int64_t i, row = b.rows, headers = c.headers, bytes = c.header_bytes
    cdef int status = reserve_headers(b, headers, bytes, err)
    if status != RP_OK:
        return status
    while headers > 0 and row < c.rows:
        if rp_record_next(source, &cursor, 0, &r, err) != RP_OK:
            break  # cannot happen: the previous pass read them all
        if not kept(source, r.offset, r.timestamp):
            continue
        headers -= r.header_count
        bytes -= r.headers.size
        if headers < 0 or bytes < 0:
            break  # more than there is room for: another thread wrote to the records
        if append_headers(b, &r, err) != RP_OK:
            return err.status
        ends[row + 1] = <int32_t>b.n_headers
        row += 1
    for i in range(row, c.rows):
        ends[i + 1] = <int32_t>b.n_headers
    return RP_OK


cdef int append_headers(builder* b, const rp_record* r, rp_error* err) noexcept nogil:
    cdef rp_cursor cursor = rp_headers_of(r)
    cdef rp_header h
    cdef int32_t used
    cdef int32_t* key_ends = <int32_t*>b.header_key.rows.data
    cdef int32_t* value_ends = <int32_t*>b.header_value.rows.data
    for _ in range(r.header_count):
        if rp_header_read(&cursor, &h) != RP_OK:
            break  # cannot happen: the previous pass walked them
        used = key_ends[b.n_headers]
        if used + 3 * h.key.size > INT32_MAX:
            return rp_fail(err, RP_OUTPUT_CAP, -1, 0, INT32_MAX)
        used += <int32_t>rp_utf8_copy(b.header_key.data.data + used, h.key.data, <size_t>h.key.size)
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
    return RP_OK


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


cdef int input_view(builder* b, const rp_source* source, rp_error* err) noexcept nogil:
    """Extend the window of the input over the source, or begin another if it would exceed 2 GiB."""
    cdef view_buffer* view = NULL
    if b.input_view:
        view = &b.views[b.input_view - 1]
        if source.end - view.data > INT32_MAX:
            view = NULL
    if view == NULL:
        view = add_view(b)
        if view == NULL:
            return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
        b.input_view = b.n_views
        view.data = source.start
    view.size = source.end - view.data
    return RP_OK


cdef int shared_view(builder* b, rp_source* source, rp_error* err) noexcept nogil:
    """Move the source into the buffer of small batches, which doubles up to SHARED_BELOW to reserve a small multiple of
    what is used."""
    cdef int64_t size = source.end - source.start, room
    cdef view_buffer* view = NULL
    if b.shared_view:
        view = &b.views[b.shared_view - 1]
        if <int64_t>view.owned.capacity - view.size < size:
            view = NULL
    if view == NULL:
        view = add_view(b)
        if view == NULL:
            return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
        room = max(b.shared_bytes, 4 * size if b.shared_view else 0)  # pack_views may undo most of the last copy
        if pooled_reserve(&view.owned, <size_t>max(size, min(room, SHARED_BELOW)), err) != RP_OK:
            return err.status
        b.shared_view = b.n_views
        view.data = view.owned.data
    memcpy(view.owned.data + view.size, source.start, <size_t>size)
    source.start = view.data + view.size
    source.end = source.start + size
    source.readable = source.end + PADDING
    view.size += size
    b.shared_bytes += size
    return RP_OK


cdef int place_views(builder* b, rp_source* source, pooled* decompressed, rp_error* err) noexcept nogil:
    cdef int64_t size = source.end - source.start
    cdef int64_t number
    cdef int status = RP_OK
    if source.frame != RP_IN_RECORDS:
        status = input_view(b, source, err)
        number = b.input_view
    elif size < SHARED_BELOW or <int64_t>decompressed.block > 2 * size:
        status = shared_view(b, source, err)
        number = b.shared_view
    elif add_view(b) == NULL:
        return rp_fail(err, RP_NO_MEMORY, -1, 0, 0)
    else:
        number = b.n_views
        b.views[number - 1].data = source.start
        b.views[number - 1].size = size
        b.views[number - 1].owned = decompressed[0]
        memset(decompressed, 0, sizeof(pooled))
    if status == RP_OK:
        source.view_base = b.views[number - 1].data
        source.view_buffer = <int32_t>(number - 1)
    return status


cdef int pack_views(const plan* p, builder* b, const rp_source* source, int64_t first, rp_error* err) noexcept nogil:
    """Free the decompressed bytes that the rows from `first` do not use, if they use less than a quarter. The rows
    refer to the batch in order, so their bytes move to its front."""
    cdef int64_t size = source.end - source.start, i, base
    cdef int32_t* columns[2]
    cdef int32_t* v
    cdef int n = 0, k
    if source.frame != RP_IN_RECORDS:
        b.input_shown += b.shown
        return RP_OK
    if 4 * b.shown >= size:
        return RP_OK
    if p.want[KEY]:
        columns[n] = <int32_t*>b.key.rows.data
        n += 1
    if p.want[VALUE]:
        columns[n] = <int32_t*>b.value.rows.data
        n += 1
    cdef view_buffer* view = &b.views[source.view_buffer]
    cdef uint8_t* data = <uint8_t*>view.data
    cdef uint8_t* to = <uint8_t*>source.start
    for i in range(4 * first, 4 * b.rows, 4):  # a view has four int32: size, prefix, buffer, offset
        for k in range(n):
            v = columns[k] + i
            if v[0] > RP_VIEW_INLINED:
                memmove(to, data + v[3], <size_t>v[0])
                v[3] = <int32_t>(to - data)
                to += v[0]
    cdef int64_t kept = to - source.start
    if source.view_buffer == b.shared_view - 1:
        view.size -= size - kept
        b.shared_bytes -= size - kept
        return RP_OK
    cdef pooled own = view.owned
    cdef rp_source packed
    cdef int status = RP_OK
    b.n_views -= 1
    if kept:
        packed.start, packed.end = source.start, to
        status = shared_view(b, &packed, err)
    if kept and status == RP_OK:
        base = packed.start - b.views[b.shared_view - 1].data
        for i in range(4 * first, 4 * b.rows, 4):
            for k in range(n):
                v = columns[k] + i
                if v[0] > RP_VIEW_INLINED:
                    v[2] = <int32_t>(b.shared_view - 1)
                    v[3] += <int32_t>base
    pooled_free(&own)
    return status


cdef int64_t most_used(const plan* p, builder* b) noexcept nogil:
    """Return the number of bytes in the fullest binary column."""
    cdef int64_t used = b.n_headers * 8  # the offsets of keys and values
    if p.want[KEY]:
        used = max(used, binary_used(p, &b.key, b.rows))
    if p.want[VALUE]:
        used = max(used, binary_used(p, &b.value, b.rows))
    if p.want[HEADERS] and b.header_key.rows.data != NULL:
        used = max(used, 3 * (<int64_t>(<int32_t*>b.header_key.rows.data)[b.n_headers]))
        used = max(used, <int64_t>(<int32_t*>b.header_value.rows.data)[b.n_headers])
    return used


# --- a bad batch -------------------------------------------------------------------------------------------

cdef void all_valid(pooled* validity, int64_t start, int64_t end) noexcept nogil:
    if validity.data != NULL:  # the bitmap of timestamps may be shorter than the rows
        fill_bits(validity.data, start, min(end, 8 * <int64_t>validity.capacity), True)


cdef void go_back(builder* b, const mark* m, int64_t end) noexcept nogil:
    """Undo nulls, headers and views; sizes of data follow from the ends at the last row."""
    cdef int64_t i
    all_valid(&b.timestamp_validity, b.rows, end)
    all_valid(&b.key.validity, b.rows, end)
    all_valid(&b.value.validity, b.rows, end)
    all_valid(&b.header_value.validity, m.n_headers, b.n_headers)
    b.timestamp_nulls = m.timestamp_nulls
    b.key.nulls = m.key_nulls
    b.value.nulls = m.value_nulls
    b.header_value.nulls = m.header_value_nulls
    b.n_headers = m.n_headers
    for i in range(m.n_views, b.n_views):
        pooled_free(&b.views[i].owned)
    b.n_views = m.n_views
    b.input_view = m.input_view
    if b.input_view:
        b.views[b.input_view - 1].size = m.input_size
    b.shared_view = m.shared_view
    if b.shared_view:
        b.views[b.shared_view - 1].size = m.shared_size
    b.shared_bytes = m.shared_bytes
