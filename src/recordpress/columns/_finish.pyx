"""Turn a builder into a chunk: its buffers become buffers of Arrow arrays."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from recordpress._buffers cimport pooled, pooled_free, pooled_reserve
from recordpress._c.wire cimport RP_BINARY_VIEW, RP_LARGE_BINARY, RP_NO_MEMORY, RP_OK, rp_error, rp_fail
from recordpress.columns._arrow_out cimport array_data, array_init, chunk_data, chunk_drop, chunk_new
from recordpress.columns._gather cimport INLINED, binary_builder, builder, builder_free, reserve_headers, reserve_rows
from recordpress.columns._plan cimport plan
from recordpress.columns.catalogue cimport AS_BINARY, AS_HEADERS, HEADERS, KEY, TIMESTAMP, column_of


cdef void fit(pooled* b, size_t used) noexcept nogil:
    """Move a column much smaller than its bound to a block of its size, so that the next batch can use the large
    one."""
    cdef pooled small
    cdef rp_error ignored
    if used * 4 > b.block or b.block < 65536:
        return
    memset(&small, 0, sizeof(pooled))
    if pooled_reserve(&small, used, &ignored) == RP_OK:
        memcpy(small.data, b.data, used)
        pooled_free(b)
        b[0] = small


cdef const void* keep(chunk_data* chunk, pooled* b) noexcept nogil:
    """Return the buffer's address; the chunk owns its memory from now on."""
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
    """Hand the buffers that views point into to the chunk; returns the array of their sizes, NULL if out of memory."""
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
                if v[0] <= INLINED or v[2] != buffer - 2:
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
