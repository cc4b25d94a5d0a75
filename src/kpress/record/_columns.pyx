"""Record sets -> Arrow columns: no Python object per record, one pass per batch, pooled memory.

::

    scan headers ──► entries to decode ──► for each: CRC ─► decompress ─► gather ──► chunk (record batch)
    (one thread)     ranges, control,      (threads, GIL released)
                     aborted left out
"""

from cpython.ref cimport Py_INCREF
from libc.stdint cimport INT32_MAX, INT64_MAX, INT64_MIN, int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from kpress._buffers cimport PADDING, InputView, pooled, pooled_free, pooled_reserve
from kpress._c.wire cimport (
    KP_BATCH_HEADER, KP_BINARY, KP_BINARY_VIEW, KP_CONTROL, KP_COPY_STEP, KP_END, KP_LARGE_BINARY, KP_LOG_APPEND_TIME,
    KP_LOG_OVERHEAD,
    KP_NO_MEMORY, KP_NONE, KP_OK, KP_TIMESTAMP_RANGE, KP_TRANSACTIONAL, kp_batch, kp_batch_codec, kp_batch_last_offset,
    kp_batch_next, kp_batch_timestamp_type, kp_binary, kp_columns, kp_cursor, kp_cursor_of, kp_error, kp_fail, kp_gather,
    kp_gather_messages, kp_header, kp_header_read, kp_load_be16, kp_load_be64, kp_load_be32, kp_message_read, kp_record, kp_record_read, kp_source, kp_utf8_copy, kp_view,
)
from kpress._status cimport error_of
from kpress.compress._context cimport codec_context, context_acquire, context_release
from kpress.record._arrow cimport Columns, array_data, array_init, chunk_data, chunk_drop, chunk_new
from kpress.record._decode cimport check_crc, open_source

from kpress.compress import DEFAULT_MAX_SIZE
from kpress.errors import ArgumentTypeError, InvalidArgumentError, KpressError
from kpress.record._arrow import Field


# --- what can be asked for --------------------------------------------------------------------------------

cdef enum:
    OFFSET, TIMESTAMP, TIMESTAMP_TYPE, KEY, VALUE, HEADERS, PRODUCER_ID, PRODUCER_EPOCH, SEQUENCE
    PARTITION_LEADER_EPOCH, IS_TRANSACTIONAL, IS_CONTROL, BASE_OFFSET, N_COLUMNS

NAMES = ("offset", "timestamp", "timestampType", "key", "value", "headers", "producerId", "producerEpoch", "sequence",
         "partitionLeaderEpoch", "isTransactional", "isControl", "baseOffset")
DEFAULT = NAMES[:HEADERS + 1]
LAYOUTS = {"binary": KP_BINARY, "large_binary": KP_LARGE_BINARY, "binary_view": KP_BINARY_VIEW}
LAYOUT_FORMATS = {KP_BINARY: "z", KP_LARGE_BINARY: "Z", KP_BINARY_VIEW: "vz"}
UNITS = {"ms": "tsm:UTC", "us": "tsu:UTC"}
HEADER_FIELDS = (Field("key", "u"), Field("value", "z", True))
FORMATS = {OFFSET: "l", TIMESTAMP_TYPE: "i", PRODUCER_ID: "l", PRODUCER_EPOCH: "s", SEQUENCE: "i",
           PARTITION_LEADER_EPOCH: "i", IS_TRANSACTIONAL: "b", IS_CONTROL: "b", BASE_OFFSET: "l"}


def field_of(int column, int layout, unit):
    if column == TIMESTAMP:
        return Field(NAMES[column], UNITS[unit], True)
    if column in (KEY, VALUE):
        return Field(NAMES[column], LAYOUT_FORMATS[layout], True)
    if column == HEADERS:
        return Field(NAMES[column], "+l", True, (Field("item", "+s", False, HEADER_FIELDS),))
    return Field(NAMES[column], FORMATS[column])


# Bytes of a row in the fixed-width columns; 0: bits, or not fixed.
cdef int WIDTHS[N_COLUMNS]
WIDTHS[:] = [8, 8, 4, 0, 0, 4, 8, 2, 4, 4, 0, 0, 8]


# --- one record batch under construction ------------------------------------------------------------------

ctypedef struct binary_builder:
    pooled rows        # ends or views
    pooled data
    pooled validity
    int64_t nulls


ctypedef struct view_buffer:
    const uint8_t* data
    int64_t size
    pooled owned       # empty for a window of the input


ctypedef struct builder:
    int64_t rows
    int64_t capacity               # in rows
    pooled fixed[N_COLUMNS]        # of the columns with a width or of bits; HEADERS: the list's ends
    pooled timestamp_validity
    int64_t timestamp_nulls
    binary_builder key
    binary_builder value
    int64_t n_headers
    int64_t headers_capacity
    binary_builder header_key
    binary_builder header_value
    int64_t n_views                # buffers that views point into: windows of the input, decompressed batches
    int64_t views_capacity
    view_buffer* views
    int64_t consumed               # bytes of entries decoded into this chunk


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


# --- the plan of a call -----------------------------------------------------------------------------------

ctypedef struct plan:
    const uint8_t* data
    int64_t size
    bint want[N_COLUMNS]
    int asked[N_COLUMNS]       # in the order of the result
    int n_asked
    int layout
    int row_width              # of a binary column: 4, 8 or 16
    bint check_crcs
    bint micros
    size_t cap
    int64_t chunk_bytes
    int64_t first_offset       # both bounds included
    int64_t last_offset
    int64_t first_timestamp
    int64_t last_timestamp
    bint filtered
    bint control


ctypedef struct aborted_transaction:
    int64_t producer_id
    int64_t first_offset


# What a failed step leaves for the exception: which entry, and where positions count from.
ctypedef struct failure:
    kp_error error
    kp_batch batch
    bint inside


cdef object exception_of(const failure* f, int64_t base, object file):
    """The exception; `base` is where the buffer starts in the caller's file or buffer."""
    position = base + f.batch.position
    return error_of(&f.error, position, f.batch.base_offset, file, f.inside)


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
    status = reserve_data(b, &b.header_key, key_used, 3 * bytes, 0, err)
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
    cdef int64_t i, row = b.rows, headers = 0, bytes = 0, offset, timestamp
    cdef int status
    cdef int32_t n
    if batch.magic < 2:
        status = reserve_headers(b, 0, 0, err)
        for i in range(b.rows, end):
            ends[i + 1] = ends[i]
        return status
    for n in range(source.count):
        if not kp_record_read(&cursor, &r):
            break  # cannot be: the gather before read them all
        headers += r.header_count
        if r.header_count:
            bytes += cursor.p - r.headers
    status = reserve_headers(b, headers, bytes, err)
    if status != KP_OK:
        return status
    cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    for n in range(source.count):
        if not kp_record_read(&cursor, &r):
            break
        offset = <int64_t>(<uint64_t>source.base_offset + <uint64_t>r.offset_delta)
        timestamp = <int64_t>(<uint64_t>source.base_timestamp + <uint64_t>r.timestamp_delta)
        if source.log_append_time:
            timestamp = source.append_time
        if not kept(source, offset, timestamp):
            continue
        append_headers(b, &r, cursor.p)
        ends[row + 1] = <int32_t>b.n_headers
        row += 1
    return KP_OK


cdef void append_headers(builder* b, const kp_record* r, const uint8_t* end) noexcept nogil:
    cdef kp_cursor cursor = kp_cursor_of(r.headers, <size_t>(end - r.headers))
    cdef kp_header h
    cdef int32_t i, used
    cdef int32_t* key_ends = <int32_t*>b.header_key.rows.data
    cdef int32_t* value_ends = <int32_t*>b.header_value.rows.data
    for i in range(r.header_count):
        kp_header_read(&cursor, &h)
        used = key_ends[b.n_headers]
        key_ends[b.n_headers + 1] = used + <int32_t>kp_utf8_copy(b.header_key.data.data + used, h.key, <size_t>h.key_size)
        used = value_ends[b.n_headers]
        if h.value_size > 0:
            memcpy(b.header_value.data.data + used, h.value, <size_t>h.value_size)
            used += h.value_size
        elif h.value_size < 0:
            b.header_value.validity.data[b.n_headers >> 3] &= ~(1 << (b.n_headers & 7))
            b.header_value.nulls += 1
        value_ends[b.n_headers + 1] = used
        b.n_headers += 1


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


cdef bint finish_views(chunk_data* chunk, array_data* a, builder* b, binary_builder* column, const int64_t* sizes) noexcept nogil:
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


cdef bint finish_column(const plan* p, chunk_data* chunk, array_data* a, builder* b, int column, const int64_t* sizes) noexcept nogil:
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


# --- decoding a run of entries ----------------------------------------------------------------------------

# The chunks that a run of entries became.
ctypedef struct chunk_list:
    chunk_data** chunks
    int64_t n


cdef void list_free(chunk_list* chunks) noexcept nogil:
    cdef int64_t i
    for i in range(chunks.n):
        chunk_drop(chunks.chunks[i])
    free(chunks.chunks)
    memset(chunks, 0, sizeof(chunk_list))


cdef int list_add(chunk_list* chunks, chunk_data* chunk, kp_error* err) noexcept nogil:
    if chunk == NULL:
        return err.status
    cdef chunk_data** more = <chunk_data**>realloc(chunks.chunks, sizeof(chunk_data*) * <size_t>(chunks.n + 1))
    if more == NULL:
        chunk_drop(chunk)
        return kp_fail(err, KP_NO_MEMORY, -1, 0, 0)
    chunks.chunks = more
    more[chunks.n] = chunk
    chunks.n += 1
    return KP_OK


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


cdef int place_views(builder* b, kp_source* source, pooled* decompressed, bint inside, kp_error* err) noexcept nogil:
    """The buffer that the views of a batch point into: the decompressed block, which goes over to the
    builder, or a window of the input of at most 2 GiB."""
    cdef view_buffer* view = NULL
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


cdef void bound(const plan* p, const kp_batch* batch, kp_source* source) noexcept nogil:
    """Whether records of this batch have to be looked at one by one for the asked ranges."""
    source.filtered = p.filtered
    source.first_offset = p.first_offset
    source.last_offset = p.last_offset
    source.first_timestamp = p.first_timestamp
    source.last_timestamp = p.last_timestamp


cdef int decode_entry(const plan* p, codec_context* context, builder* b, chunk_list* chunks, int64_t left,
                      failure* f) noexcept nogil:
    cdef const kp_batch* batch = &f.batch
    cdef const uint8_t* entry = p.data + batch.position
    cdef pooled own
    cdef pooled* scratch = &context.scratch
    cdef kp_source source
    cdef int status = KP_OK
    cdef int64_t bytes
    f.inside = False
    if p.check_crcs:
        status = check_crc(entry, batch, &f.error)
    memset(&own, 0, sizeof(pooled))
    if p.layout == KP_BINARY_VIEW:
        scratch = &own  # the result keeps it
    if status == KP_OK:
        scratch.size = 0
        status = open_source(context, entry, batch, p.data + p.size, scratch, p.cap, False, &source, &f.inside, &f.error)
    if status == KP_OK and batch.magic < 2 and p.check_crcs and kp_batch_codec(batch):
        status = check_inner_crcs(&source, &f.error)
    if status == KP_OK:
        bytes = source.end - source.start
        if b.rows and most_used(p, b) + bytes > p.chunk_bytes:
            status = list_add(chunks, finish_chunk(p, b, &f.error), &f.error)
    if status == KP_OK and p.layout == KP_BINARY_VIEW:
        status = place_views(b, &source, scratch, f.inside, &f.error)
    if status == KP_OK:
        bound(p, batch, &source)
        # a count that lies costs no memory: no record has less than 7 bytes
        status = reserve_rows(p, b, b.rows + min(<int64_t>source.count, bytes // 7 + 1), &f.error)
    if status == KP_OK:
        status = gather(p, b, batch, &source, left, &f.error)
        if status != KP_OK and not f.inside and f.error.position >= 0:
            f.error.position += source.start - entry
    pooled_free(&own)
    b.consumed += batch.size
    return status


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


cdef int check_inner_crcs(const kp_source* source, kp_error* err) noexcept nogil:
    """Inner messages of a wrapper carry checksums of their own; base_of_inner has checked their sizes."""
    cdef const uint8_t* p = source.start
    cdef kp_batch inner
    cdef kp_record ignored
    cdef int32_t i
    cdef int status
    for i in range(source.count):
        status = kp_message_read(p, <int64_t>kp_load_be32(p + 8) + KP_LOG_OVERHEAD, p - source.start, &inner, &ignored, err)
        if status == KP_OK:
            status = check_crc(p, &inner, err)
            err.position += p - source.start
        if status != KP_OK:
            return status
        p += inner.size
    return KP_OK


cdef int decode_entries(const plan* p, const kp_batch* batches, int64_t n, chunk_list* chunks, failure* f) noexcept nogil:
    """A run of entries into chunks; on an error what was decoded is freed."""
    cdef codec_context* context = context_acquire()
    cdef builder b
    cdef int64_t i, left = 0
    cdef int status = KP_OK
    if context == NULL:
        return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
    memset(&b, 0, sizeof(builder))
    for i in range(n):
        left += batches[i].size
    for i in range(n):
        f.batch = batches[i]
        left -= batches[i].size
        if i == 0:
            status = reserve_rows(p, &b, expected_rows(batches, n), &f.error)
        if status == KP_OK:
            status = decode_entry(p, context, &b, chunks, left, f)
        if status != KP_OK:
            break
    if status == KP_OK and (b.rows or chunks.n == 0):
        status = list_add(chunks, finish_chunk(p, &b, &f.error), &f.error)
    context_release(context)
    builder_free(&b)
    if status != KP_OK:
        list_free(chunks)
    return status


cdef int64_t expected_rows(const kp_batch* batches, int64_t n) noexcept nogil:
    """What the headers declare, but no more than two rows a byte: counts may lie."""
    cdef int64_t i, rows = 1
    for i in range(n):
        rows += max(0, min(<int64_t>batches[i].records_count, 2 * batches[i].size))
    return rows


# --- choosing entries by header ---------------------------------------------------------------------------

ctypedef struct batch_list:
    kp_batch* batches
    int64_t n
    int64_t capacity
    int64_t end          # where the scan stopped: bytes of whole entries


cdef bint wanted(const plan* p, const kp_batch* batch) noexcept nogil:
    """False where the header alone says that no record of the entry is asked for. A v2 base timestamp is not
    the smallest one, so only LogAppendTime says anything about an upper bound."""
    cdef int64_t last = kp_batch_last_offset(batch)
    if batch.magic == 2 and batch.attributes & KP_CONTROL and not p.control:
        return False
    if last < p.first_offset or (batch.max_timestamp < p.first_timestamp and batch.magic > 0):
        return False
    if (batch.magic == 2 or not kp_batch_codec(batch)) and batch.base_offset > p.last_offset:
        return False
    return not (batch.magic > 0 and batch.attributes & KP_LOG_APPEND_TIME and batch.max_timestamp > p.last_timestamp)


cdef int scan(const plan* p, int64_t start, int64_t stop_after, isolation* state, batch_list* list,
              failure* f) noexcept nogil:
    """The headers of the asked entries from `start` on, until about `stop_after` bytes were passed."""
    cdef codec_context* context = context_acquire()
    cdef int status = KP_OK
    list.end = start
    if context == NULL:
        return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
    while status == KP_OK and (list.end == start or list.end - start < stop_after):
        status = scan_entry(p, start, stop_after, state, context, list, f)
    context_release(context)
    return KP_OK if status == KP_END else status


cdef int scan_entry(const plan* p, int64_t start, int64_t stop_after, isolation* state, codec_context* context,
                    batch_list* list, failure* f) noexcept nogil:
    cdef kp_batch* more
    cdef int status = kp_batch_next(p.data, p.size, list.end, INT32_MAX, &f.batch, &f.error)
    if status != KP_OK:
        return status
    if list.end != start and list.end - start + f.batch.size > stop_after:
        return KP_END
    list.end += f.batch.size
    # the state of transactions moves on over every batch, wanted or not
    if state.n_aborted and is_aborted(state, context, p.data + f.batch.position, &f.batch):
        return KP_OK
    if not wanted(p, &f.batch):
        return KP_OK
    if list.n == list.capacity:
        more = <kp_batch*>realloc(list.batches, sizeof(kp_batch) * <size_t>(2 * list.capacity + 64))
        if more == NULL:
            return kp_fail(&f.error, KP_NO_MEMORY, -1, 0, 0)
        list.batches = more
        list.capacity = 2 * list.capacity + 64
    list.batches[list.n] = f.batch
    list.n += 1
    return KP_OK


# --- READ_COMMITTED ---------------------------------------------------------------------------------------

# Which producers' transactions are aborted at the point of the scan (CompletedFetch, spec record-formats 12).
ctypedef struct isolation:
    aborted_transaction* aborted   # by first_offset
    int64_t n_aborted
    int64_t next                   # the first one that the scan has not reached
    int64_t* producers             # with an aborted transaction open: room for n_aborted
    int64_t n_producers


cdef bint is_abort_marker(codec_context* context, const uint8_t* entry, const kp_batch* batch) noexcept nogil:
    """Whether the first record of a control batch has an ABORT key: int16 version, int16 type 0."""
    cdef kp_source source
    cdef kp_error ignored
    cdef kp_cursor cursor
    cdef kp_record r
    cdef bint inside
    context.scratch.size = 0
    if open_source(context, entry, batch, entry + batch.size, &context.scratch, 1 << 16, False, &source, &inside,
                   &ignored) != KP_OK:
        return False
    cursor = kp_cursor_of(source.start, <size_t>(source.end - source.start))
    return bool(kp_record_read(&cursor, &r)) and r.key_size >= 4 and kp_load_be16(r.key + 2) == 0


cdef bint is_aborted(isolation* state, codec_context* context, const uint8_t* entry, const kp_batch* batch) noexcept nogil:
    """Moves the state over one batch; whether its records belong to an aborted transaction."""
    cdef int64_t i
    if batch.magic < 2 or batch.producer_id < 0:
        return False
    while state.next < state.n_aborted and state.aborted[state.next].first_offset <= kp_batch_last_offset(batch):
        state.producers[state.n_producers] = state.aborted[state.next].producer_id
        state.n_producers += 1
        state.next += 1
    for i in range(state.n_producers):
        if state.producers[i] != batch.producer_id:
            continue
        if not batch.attributes & KP_CONTROL:
            return (batch.attributes & KP_TRANSACTIONAL) != 0
        if is_abort_marker(context, entry, batch):
            state.n_producers -= 1
            state.producers[i] = state.producers[state.n_producers]
        return False
    return False


# --- the calls --------------------------------------------------------------------------------------------

cdef class Reader:
    """Options of a call, checked once, and the state that goes from window to window of a long input."""
    cdef plan plan
    cdef isolation isolation
    cdef tuple fields
    cdef int threads

    def __cinit__(self):
        memset(&self.plan, 0, sizeof(plan))
        memset(&self.isolation, 0, sizeof(isolation))

    def __dealloc__(self):
        free(self.isolation.aborted)
        free(self.isolation.producers)

    def __init__(self, columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                 end_timestamp, control, aborted_transactions, threads, max_decompressed_bytes, chunk_bytes):
        cdef plan* p = &self.plan
        p.layout = choice("binary_type", binary_type, LAYOUTS)
        p.row_width = (4, 8, 16)[p.layout]
        choice("timestamp_unit", timestamp_unit, UNITS)
        p.micros = timestamp_unit == "us"
        p.check_crcs = bool(check_crcs)
        p.control = bool(control)
        p.cap = integer("max_decompressed_bytes", max_decompressed_bytes, 1, INT32_MAX)
        p.chunk_bytes = integer("chunk_bytes", chunk_bytes, 1, INT32_MAX)
        self.threads = integer("threads", threads, 1, 1024)
        p.first_offset = limit("start_offset", start_offset, INT64_MIN)
        p.last_offset = last("end_offset", end_offset)
        p.first_timestamp = limit("start_timestamp", start_timestamp, INT64_MIN)
        p.last_timestamp = last("end_timestamp", end_timestamp)
        p.filtered = not (start_offset is None and end_offset is None and start_timestamp is None and end_timestamp is None)
        self._ask_columns(columns, timestamp_unit)
        if aborted_transactions is not None:
            self._set_aborted(aborted_transactions)

    cdef _ask_columns(self, columns, timestamp_unit):
        cdef plan* p = &self.plan
        if columns is None:
            columns = DEFAULT
        if isinstance(columns, (str, bytes)):
            raise ArgumentTypeError(f"columns must be a sequence of names, not {type(columns).__name__}")
        fields = []
        for name in columns:
            if name not in NAMES:
                raise InvalidArgumentError(f"unknown column {name!r}; there are {', '.join(NAMES)}")
            column = NAMES.index(name)
            if p.want[column]:
                raise InvalidArgumentError(f"column {name!r} is asked for twice")
            p.want[column] = True
            p.asked[p.n_asked] = column
            p.n_asked += 1
            fields.append(field_of(column, p.layout, timestamp_unit))
        self.fields = tuple(fields)

    cdef _set_aborted(self, transactions):
        name = "aborted_transactions"
        try:
            pairs = [(producer, first) for producer, first in transactions]
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"{name} must be pairs of (producerId, firstOffset)") from None
        pairs = sorted((integer(name, first, INT64_MIN, INT64_MAX), integer(name, producer, INT64_MIN, INT64_MAX))
                       for producer, first in pairs)
        cdef int64_t i
        self.isolation.aborted = <aborted_transaction*>malloc(sizeof(aborted_transaction) * <size_t>(len(pairs) + 1))
        self.isolation.producers = <int64_t*>malloc(8 * <size_t>(len(pairs) + 1))
        if self.isolation.aborted == NULL or self.isolation.producers == NULL:
            raise MemoryError()
        for i, (first, producer) in enumerate(pairs):
            self.isolation.aborted[i].first_offset = first
            self.isolation.aborted[i].producer_id = producer
        self.isolation.n_aborted = len(pairs)

    cdef int64_t window(self, InputView view, int64_t start, int64_t stop_after, int64_t base, object file, list result) except -1:
        """Decode the entries from `start` on, about `stop_after` bytes of them, into one Columns appended to
        `result`; returns where the next window starts: `start` where no whole entry is left.

        An entry that is wrong ends the window before it, and raises when it is the first of one.
        """
        cdef plan p = self.plan
        cdef batch_list entries
        cdef failure f
        cdef int status
        p.data = view.data
        p.size = view.size
        memset(&entries, 0, sizeof(batch_list))
        memset(&f, 0, sizeof(failure))
        try:
            with nogil:
                status = scan(&p, start, stop_after, &self.isolation, &entries, &f)
            if status != KP_OK and entries.end == start:
                raise error_of(&f.error, base, None, file)
            try:
                result.append(self._decode(&p, &entries, view, base, file))
            except KpressError as error:
                self._before(&entries, (error.position or 0) - base)
                if stop_after == INT64_MAX or entries.n == 0:
                    raise
                result.append(self._decode(&p, &entries, view, base, file))
            if status != KP_OK and stop_after == INT64_MAX:
                raise error_of(&f.error, base, None, file)
            return entries.end
        finally:
            free(entries.batches)

    cdef void _before(self, batch_list* entries, position):
        """Cut the entries before the one that `position` lies in."""
        cdef int64_t i, at = position or 0
        for i in range(entries.n):
            if at < entries.batches[i].position + entries.batches[i].size:
                entries.n = i
                entries.end = entries.batches[i].position
                return

    cdef Columns _decode(self, const plan* p, batch_list* entries, InputView view, int64_t base, object file):
        """The chosen entries as Columns, by as many threads as there is work for."""
        cdef int64_t bytes = 0, i
        for i in range(entries.n):
            bytes += entries.batches[i].size
        cdef int64_t runs = max(1, min(<int64_t>self.threads, entries.n))
        cdef Run run
        tasks = []
        cdef int64_t first = 0, upto
        cdef int64_t share
        for i in range(runs):
            # runs of about the same number of bytes, in order: their chunks are the result's chunks in order
            upto = first
            share = 0
            while upto < entries.n and (i == runs - 1 or share < bytes // runs or upto == first):
                share += entries.batches[upto].size
                upto += 1
            run = Run.__new__(Run)
            run.plan = p
            run.batches = entries.batches + first
            run.n = upto - first
            tasks.append(run)
            first = upto
        run_all(tasks)
        return gathered(self.fields, tasks, view if p.layout == KP_BINARY_VIEW else None, base, file)


cdef class Run:
    """A run of entries for one thread, and what became of it."""
    cdef const plan* plan
    cdef const kp_batch* batches
    cdef int64_t n
    cdef chunk_list chunks
    cdef failure failure
    cdef int status

    def __call__(self):
        with nogil:
            self.status = decode_entries(self.plan, self.batches, self.n, &self.chunks, &self.failure)

    def __dealloc__(self):
        list_free(&self.chunks)


cdef run_all(list tasks):
    if len(tasks) == 1:
        tasks[0]()
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(tasks) - 1, "kpress") as pool:
        others = [pool.submit(task) for task in tasks[1:]]
        tasks[0]()
        for other in others:
            other.result()


cdef Columns gathered(tuple fields, list tasks, InputView owner, int64_t base, object file):
    """One Columns of the chunks of all runs, or the error of the first run that failed."""
    cdef Run run
    cdef int64_t n = 0, i
    for run in tasks:
        if run.status != KP_OK:
            raise exception_of(&run.failure, base, file)
        n += run.chunks.n
    cdef chunk_data** chunks = <chunk_data**>malloc(sizeof(chunk_data*) * <size_t>(n + 1))
    if chunks == NULL:
        raise MemoryError()
    n = 0
    for run in tasks:
        for i in range(run.chunks.n):
            chunks[n] = run.chunks.chunks[i]
            if owner is not None:
                Py_INCREF(owner)
                chunks[n].owner = <void*>owner
            n += 1
        run.chunks.n = 0
    return Columns.make(fields, chunks, n)


cdef choice(str name, value, dict accepted):
    try:
        return accepted[value]
    except (KeyError, TypeError):
        raise InvalidArgumentError(f"{name} must be {' or '.join(map(repr, accepted))}, not {value!r}") from None


cdef int64_t integer(str name, value, int64_t least, int64_t most) except? -1:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(f"{name} must be an int, not {type(value).__name__}")
    number = value.__index__()
    if not least <= number <= most:
        raise InvalidArgumentError(f"{name} must be from {least} to {most}, not {number}")
    return number


cdef int64_t limit(str name, value, int64_t otherwise) except? -1:
    return otherwise if value is None else integer(name, value, INT64_MIN, INT64_MAX)


cdef int64_t last(str name, value) except? -1:
    """The last value below an upper bound that is not included."""
    return INT64_MAX if value is None else integer(name, value, INT64_MIN + 1, INT64_MAX) - 1


def iter_columns(source, columns=None, *, batch_bytes=1 << 18, check_crcs=True, binary_type="binary", timestamp_unit="ms", start_offset=None, end_offset=None,
                 start_timestamp=None, end_timestamp=None, control=False, aborted_transactions=None, threads=1,
                 max_decompressed_bytes=DEFAULT_MAX_SIZE, chunk_bytes=INT32_MAX):
    """Decode a long record set piece by piece, in bounded memory.

    Parameters
    ----------
    source : bytes-like or binary file object
        A file is read from where it stands, in pieces; it is not closed.
    columns : sequence of str, optional
        As in `read_columns`.
    batch_bytes : int
        Entries (compressed bytes) that go into one result; at least one entry.

    The other options are those of `read_columns`.

    Yields
    ------
    Columns

    Raises
    ------
    KpressError
        As `read_columns`, after the results before the entry that is wrong. Positions count from where the
        source began.

    Examples
    --------
    >>> import io, kpress
    >>> log = b"".join(kpress.write_records([b"x"] * 10, base_offset=i) for i in range(0, 100, 10))
    >>> [columns.num_rows for columns in kpress.iter_columns(io.BytesIO(log), ["value"], batch_bytes=300)]
    [30, 30, 30, 10]
    """
    cdef Reader reader = Reader(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                                  end_timestamp, control, aborted_transactions, threads, max_decompressed_bytes, chunk_bytes)
    cdef int64_t window = integer("batch_bytes", batch_bytes, 1, INT64_MAX)
    if hasattr(source, "readinto"):
        return iter_file(reader, source, window)
    return iter_buffer(reader, InputView(source, "source"), window)


def iter_buffer(Reader reader, InputView view, int64_t window):
    cdef int64_t position = 0, end
    cdef list result = []
    while (end := reader.window(view, position, window, 0, None, result)) > position:
        position = end
        if result[0].num_rows:
            yield result[0]
        result.clear()


def iter_file(Reader reader, file, int64_t window):
    """The entries of what was read so far; what is left of the last one goes before the next piece."""
    cdef bytes data = b""
    cdef int64_t base = 0, start, end
    cdef list result = []
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else None
    # an entry larger than the window makes the pieces grow with it, never its size field
    while piece := file.read(max(window, len(data))):
        data += piece
        start = 0
        while (end := reader.window(InputView(data), start, window, base, name, result)) > start:
            start = end
            if result[0].num_rows:
                yield result[0]
            result.clear()
        result.clear()
        data = data[start:]
        base += start


def read_columns(data, columns=None, *, check_crcs=True, binary_type="binary", timestamp_unit="ms", start_offset=None, end_offset=None,
                 start_timestamp=None, end_timestamp=None, control=False, aborted_transactions=None, threads=1,
                 max_decompressed_bytes=DEFAULT_MAX_SIZE, chunk_bytes=INT32_MAX):
    """Decode a record set (any mix of v0, v1 and v2, any codec) into Arrow columns.

    A last entry that is cut is left out, as Kafka's consumers do. Control batches are left out unless asked for.

    Parameters
    ----------
    data : bytes-like
        Record set: the records field of a Fetch answer, the content of a ``.log`` file, or part of one.
    columns : sequence of str, optional
        What to build, in this order. ``offset`` int64; ``timestamp`` timestamp[ms or us, UTC], null where Kafka
        says NO_TIMESTAMP (-1); ``timestampType`` int32 (-1 none, 0 CreateTime, 1 LogAppendTime); ``key`` and
        ``value`` binary; ``headers`` list<struct<key: string, value: binary>>: these are the default. And of the
        batch: ``producerId`` int64, ``producerEpoch`` int16, ``sequence`` int32, ``partitionLeaderEpoch`` int32,
        ``isTransactional`` bool, ``isControl`` bool, ``baseOffset`` int64. Only what is asked for is built.
    check_crcs : bool
        Compare every entry's checksum (inner messages of v0/v1 wrappers too) before it is decoded.
    binary_type : {'binary', 'large_binary', 'binary_view'}
        Arrow type of key and value. Views copy nothing: they point into `data`, which they keep alive, or into
        the decompressed batch.
    timestamp_unit : {'ms', 'us'}
    start_offset, end_offset : int, optional
        Only records with start_offset <= offset < end_offset. Batches outside are skipped by their header.
    start_timestamp, end_timestamp : int, optional
        Milliseconds since the epoch: only records with start_timestamp <= timestamp < end_timestamp.
    control : bool
        Keep the records of control batches (transaction markers, KRaft).
    aborted_transactions : iterable of (producerId, firstOffset), optional
        Leave out what these aborted transactions wrote: isolation.level=read_committed. A Fetch answer carries
        this list, a broker keeps it in ``.txnindex`` files.
    threads : int
        Decode batches side by side; the result's order is the same. It has one record batch a thread.
    max_decompressed_bytes : int
        Cap on the decompressed size of one batch.
    chunk_bytes : int
        A record batch of the result is ended before a binary column grows over this size.

    Returns
    -------
    Columns

    Raises
    ------
    CorruptRecordError
        A checksum, size or magic is wrong, or a codec's stream is damaged (DecompressionError).
    InvalidRecordError
        Records break a rule of their format.
    UnsupportedCompressionTypeError
        A codec id that Kafka did not assign.
    OutputTooLargeError
        A batch is larger than max_decompressed_bytes.
    InvalidArgumentError, ArgumentTypeError
        An argument is not accepted.

    Examples
    --------
    >>> import kpress
    >>> data = kpress.write_records([b"a", b"b", None], keys=[b"k", None, b"k"], compression_type="zstd")
    >>> columns = kpress.read_columns(data, ["offset", "key", "value"])
    >>> import pyarrow
    >>> pyarrow.table(columns).to_pydict()
    {'offset': [0, 1, 2], 'key': [b'k', None, b'k'], 'value': [b'a', b'b', None]}
    """
    cdef Reader reader = Reader(columns, check_crcs, binary_type, timestamp_unit, start_offset, end_offset, start_timestamp,
                                  end_timestamp, control, aborted_transactions, threads, max_decompressed_bytes, chunk_bytes)
    cdef list result = []
    reader.window(InputView(data), 0, INT64_MAX, 0, None, result)
    return result[0]
