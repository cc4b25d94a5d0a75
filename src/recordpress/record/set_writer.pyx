"""Rows -> a record set of as many batches as they need -> one bytes object.

Without a codec, records are written directly into the bytes object that is returned: copying them would cost as much as
writing them. With a codec, they are written to scratch memory and compressed into pooled memory, after room for the
header; the result is then small, and is copied once.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_Clear
from cpython.ref cimport Py_DECREF, Py_XDECREF
from libc.stdint cimport INT32_MAX
from libc.string cimport memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport pooled, pooled_free, pooled_reserve_more
from recordpress._c.python cimport Py_SET_SIZE, PyBytes_FromStringAndSize, _PyBytes_Resize
from recordpress._c.run cimport rp_rows
from recordpress._c.wire cimport (
    RP_BATCH_HEADER, RP_LOG_APPEND_TIME, RP_NO_MEMORY, RP_OFFSET_BASE, RP_OFFSET_DELTA, RP_OK,
    RP_RECORD_OVERHEAD_MAX, RP_SET_SIZE, rp_fail, rp_sequence_add,
)
from recordpress._status cimport check, error_of
from recordpress.codecs.context cimport context_acquire, context_release
from recordpress.record.encode cimport (
    LOG_APPEND_TIME, MAX_SET_SIZE, batch_begin, batch_encoder, batch_finish, header_size, record_room, record_size,
    write_around,
)
from recordpress.record.open_batch cimport (
    BATCH_FULL, batch_add, batch_add_run, batch_close, batch_limit, batch_put, close_over,
)

from recordpress.errors import InvalidArgumentError


cdef int writer_open(set_writer* w, object batch_bytes, object batch_records) except -1:
    """Begin a record set with `w`, which is all zero except for the encoder's options and w.mixed."""
    w.batch_bytes = MAX_SET_SIZE
    w.batch_records = INT32_MAX
    if batch_bytes is not None:
        w.batch_bytes = integer_of(batch_bytes, "batch_bytes", 1, MAX_SET_SIZE)
    if batch_records is not None:
        w.batch_records = integer_of(batch_records, "batch_records", 1, INT32_MAX)
    cdef batch_options* o = &w.batch.encoder.options
    w.base_sequence = o.base_sequence
    w.batch.encoder.last_offset = -1
    w.batch.reserve = reserve
    if o.codec or w.mixed:
        w.context = context_acquire(o.codecs)
        if w.context == NULL:
            raise MemoryError
        w.batch.reserve = NULL
        w.batch.records, w.context.scratch = w.context.scratch, w.batch.records
        w.batch.records.size = 0
    return 0


cdef int writer_expect(set_writer* w, size_t size, rp_error* err) noexcept nogil:
    """Reserve memory for about `size` bytes of records, so that it is allocated once."""
    if w.context != NULL:
        return RP_OK
    return reserve(&w.batch, size + header_size(&w.batch.encoder.options) + RP_RECORD_OVERHEAD_MAX, err)


cdef int reserve(open_batch* b, size_t more, rp_error* err) noexcept nogil:
    """Make room for `more` bytes in the result that is being written."""
    cdef PyObject** result = &(<set_writer*>b).result
    cdef pooled* out = &b.records
    cdef size_t capacity = out.size + more
    if capacity <= out.capacity:
        return RP_OK
    capacity = max(capacity, 2 * out.capacity)
    with gil:
        if result[0] == NULL:
            result[0] = PyBytes_FromStringAndSize(NULL, capacity)
        else:
            _PyBytes_Resize(result, capacity)
        if result[0] == NULL:
            PyErr_Clear()
            out.capacity = out.size = 0
            return rp_fail(err, RP_NO_MEMORY, -1, 0, <int64_t>capacity)
        out.data = <uint8_t*>PyBytes_AS_STRING(<object>result[0])
    out.capacity = capacity
    return RP_OK


cdef inline bint must_cut(const set_writer* w, const rp_record* row) noexcept nogil:
    """Return whether the batch ends before the row regardless of its size: a header has one timestamp type for all
    records."""
    cdef const batch_options* o = &w.batch.encoder.options
    if w.batch.encoder.records_count >= w.batch_records:
        return True
    if not w.has_timestamp_type or not o.magic:
        return False
    if not o.attributes & RP_LOG_APPEND_TIME:
        return row.timestamp_type == LOG_APPEND_TIME
    return row.timestamp_type != LOG_APPEND_TIME or row.timestamp != o.log_append_time


cdef void set_type(batch_options* o, const rp_record* row) noexcept nogil:
    o.attributes &= ~RP_LOG_APPEND_TIME
    if row.timestamp_type == LOG_APPEND_TIME and o.magic:
        o.attributes |= RP_LOG_APPEND_TIME
        o.log_append_time = row.timestamp


cdef int check_place(const set_writer* w, const rp_record* row, rp_error* err) noexcept nogil:
    """Check that the batch at base_offset can begin with the row; fail if it has begun, without room for the row."""
    if row.offset < w.base_offset:
        return rp_fail(err, RP_OFFSET_BASE, -1, row.offset, w.base_offset)
    if row.offset - w.base_offset > INT32_MAX:
        return rp_fail(err, RP_OFFSET_DELTA, -1, row.offset, w.base_offset)
    if w.begun:
        return fail_size(w, w.batch.records.size - w.start + record_size(&w.batch.encoder, row), err)
    return RP_OK


cdef int fail_size(const set_writer* w, size_t records, rp_error* err) noexcept nogil:
    return rp_fail(err, RP_SET_SIZE, -1, <int64_t>(header_size(&w.batch.encoder.options) + records), MAX_SET_SIZE)


cdef void begin_batch(set_writer* w, const rp_record* row) noexcept nogil:
    """Open a batch whose first record is `row`."""
    cdef batch_options* o = &w.batch.encoder.options
    if w.has_base_offset:
        w.begun = True
        batch_begin(&w.batch.encoder, w.base_offset)
        return
    if w.rows == w.first_row:
        w.first_offset = row.offset
    if w.base_sequence >= 0:
        o.base_sequence = rp_sequence_add(w.base_sequence, <int32_t>((row.offset - w.first_offset) & INT32_MAX))
    if w.has_timestamp_type:
        set_type(o, row)
    batch_begin(&w.batch.encoder, row.offset)


cdef int begin_with(set_writer* w, const rp_record* row, rp_error* err) noexcept nogil:
    """End the open batch and begin another batch with the row, regardless of batch_bytes."""
    cdef open_batch* b = &w.batch
    cdef size_t header
    if (w.has_base_offset and check_place(w, row, err)) or close_batch(w, err):
        return err.status
    begin_batch(w, row)
    header = header_size(&b.encoder.options)
    if header + record_room(row) > <size_t>MAX_SET_SIZE and header + record_size(&b.encoder, row) > MAX_SET_SIZE:
        return fail_size(w, record_size(&b.encoder, row), err)
    if w.context == NULL:
        if reserve(b, header, err):
            return err.status
        b.records.size += header
    w.start = b.records.size
    batch_limit(b, w.start + <size_t>max(w.batch_bytes - <int64_t>header, 0))
    return batch_put(b, row, err)


cdef void writer_take(set_writer* w, const uint8_t* records, size_t size, int32_t count, int64_t base_timestamp,
                      int64_t max_timestamp) noexcept nogil:
    cdef batch_encoder* e = &w.batch.encoder
    batch_begin(e, w.base_offset)
    e.last_offset, e.records_count = w.base_offset + count - 1, count
    e.base_timestamp, e.max_timestamp = base_timestamp, max_timestamp
    w.taken, w.taken_size = records, size
    w.rows += count


cdef int close_batch(set_writer* w, rp_error* err) noexcept nogil:
    cdef open_batch* b = &w.batch
    cdef const uint8_t* taken = w.taken
    cdef size_t header = header_size(&b.encoder.options)
    cdef int status
    batch_limit(b, 0)
    if b.encoder.records_count == 0:
        return RP_OK
    w.taken = NULL
    if w.context != NULL:
        if taken != NULL:
            return close_over(&b.encoder, taken, w.taken_size, w.context, &w.out, err)
        status = batch_close(b, w.context, &w.out, err)
        b.records.size = 0
        return status
    if taken == NULL:
        batch_finish(&b.encoder, b.records.data + w.start - header, header + b.records.size - w.start)
        return RP_OK
    if reserve(b, header + w.taken_size, err):
        return err.status
    write_around(&b.encoder, taken, w.taken_size, b.records.data + b.records.size)
    b.records.size += header + w.taken_size
    return RP_OK


cdef int writer_next(set_writer* w, const batch_options* options, rp_error* err) noexcept nogil:
    """End the open batch; later rows go into batches with these options."""
    if close_batch(w, err):
        return err.status
    w.batch.encoder.options = options[0]
    w.batch.encoder.records_count = 0
    w.base_sequence = options.base_sequence
    w.first_row = w.rows
    w.has_base_offset = w.begun = False
    return RP_OK


cdef int writer_next_at(set_writer* w, const batch_options* options, int64_t base_offset, rp_error* err) noexcept nogil:
    """End the open batch; later rows go into one batch with these options, at this base offset."""
    if writer_next(w, options, err):
        return err.status
    w.has_base_offset, w.base_offset = True, base_offset
    return RP_OK


cdef int writer_end(set_writer* w, int64_t last_offset, int64_t max_timestamp, rp_error* err) noexcept nogil:
    """End the open batch with this header."""
    w.batch.encoder.last_offset, w.batch.encoder.max_timestamp = last_offset, max_timestamp
    cdef int status = close_batch(w, err)
    w.batch.encoder.records_count = 0
    return status


cdef int writer_empty(set_writer* w, int64_t last_offset, int64_t max_timestamp, bint payload,
                      rp_error* err) noexcept nogil:
    """Write a v2 batch without records, as compaction leaves it, instead of the batch that writer_next_at announced;
    with `payload`, an empty compressed stream follows the header. The writer has a context."""
    cdef batch_encoder* e = &w.batch.encoder
    batch_begin(e, w.base_offset)
    e.last_offset, e.max_timestamp = last_offset, max_timestamp
    if pooled_reserve_more(&w.out, RP_BATCH_HEADER, err):
        return err.status
    if payload:
        return close_over(e, w.out.data, 0, w.context, &w.out, err)
    batch_finish(e, w.out.data + w.out.size, RP_BATCH_HEADER)
    w.out.size += RP_BATCH_HEADER
    return RP_OK


cdef int64_t writer_run(set_writer* w, const rp_rows* rows, int64_t row, int64_t end) noexcept nogil:
    cdef int64_t first = row
    if w.has_timestamp_type:
        return row
    row = batch_add_run(&w.batch, rows, row, min(end, row + w.batch_records - w.batch.encoder.records_count))
    w.rows += row - first
    return row


cdef int writer_rows(set_writer* w, const rp_record* rows, int64_t n, rp_error* err) noexcept nogil:
    """Write the rows; after an error, w.rows is the number of the row that breaks the rule."""
    cdef open_batch* b = &w.batch
    cdef int status
    cdef int64_t i = 0
    cdef rp_rows run
    run.rows = rows
    while True:
        i = writer_run(w, &run, i, n)
        if i == n:
            break
        if must_cut(w, &rows[i]):
            batch_limit(b, 0)
        status = batch_add(b, &rows[i], err)
        if status == BATCH_FULL or status == RP_OFFSET_DELTA:
            err.status = RP_OK  # another batch takes the row
            status = begin_with(w, &rows[i], err)
        if status != RP_OK:
            return status
        i, w.rows = i + 1, w.rows + 1
    return RP_OK


cdef int raise_row(const set_writer* w, const rp_error* err) except -1:
    """Raise the error of writer_rows, with the record's number."""
    error = error_of(err)
    if isinstance(error, InvalidArgumentError):
        error.message = f"record {w.rows}: {error.message}"
    raise error


cdef int set_size(set_writer* w) except -1:
    """Cut the result to the written size, but leave a little slack allocated: a smaller block would not fit the next
    request, and glibc would then map every such result again (see pool.h)."""
    cdef const pooled* out = &w.batch.records
    if out.capacity - out.size > out.capacity // 4:
        if _PyBytes_Resize(&w.result, out.size):
            raise MemoryError
    Py_SET_SIZE(w.result, out.size)
    PyBytes_AS_STRING(<object>w.result)[out.size] = 0
    return 0


cdef bytes writer_result(set_writer* w):
    """Finish the last batch and return the record set."""
    cdef rp_error err
    cdef int status
    cdef object result
    with nogil:
        status = close_batch(w, &err)
    check(status, &err)
    if w.context != NULL:
        return w.out.data[:w.out.size]
    if w.rows == 0:
        return b""
    set_size(w)
    result = <object>w.result
    Py_DECREF(result)  # the reference that w had
    w.result = NULL
    return result


cdef void writer_free(set_writer* w) noexcept:
    if w.context != NULL:
        pooled_free(&w.out)
        w.batch.records, w.context.scratch = w.context.scratch, w.batch.records
        context_release(w.context)
    Py_XDECREF(w.result)
    memset(w, 0, sizeof(set_writer))
