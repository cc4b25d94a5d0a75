"""Rows -> a record set of as many batches as they need -> one bytes object.

Without a codec the records are written straight into the bytes object that is returned: copying them would cost as much
as writing them. With a codec they are written to scratch memory and compressed into pooled memory, after room for the
header; the result is then small, and is copied once.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_Clear
from cpython.ref cimport Py_DECREF, Py_XDECREF
from libc.stdint cimport INT32_MAX
from libc.string cimport memcpy, memset

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport pooled_free, pooled_reserve_more
from recordpress._c.python cimport Py_SET_SIZE, PyBytes_FromStringAndSize, _PyBytes_Resize
from recordpress._c.wire cimport (
    RP_BATCH_HEADER,
    RP_LOG_APPEND_TIME,
    RP_NO_MEMORY,
    RP_OFFSET_BASE,
    RP_OFFSET_DELTA,
    RP_OK,
    RP_RECORD_OVERHEAD_MAX,
    RP_SET_SIZE,
    rp_fail,
    rp_sequence_add,
)
from recordpress._status cimport check, error_of
from recordpress.codecs.payload cimport compress_payload
from recordpress.codecs.context cimport context_acquire, context_release
from recordpress.record.encode cimport (
    LOG_APPEND_TIME,
    MAX_SET_SIZE,
    batch_begin,
    batch_finish,
    header_size,
    offset_delta_fits,
    record_check,
    record_room,
    record_size,
    record_write,
)

from recordpress.errors import InvalidArgumentError


cdef int writer_open(set_writer* w, object batch_bytes, object batch_records) except -1:
    """Begin a record set. w is all zero but for w.encoder.options and w.mixed."""
    w.batch_bytes = MAX_SET_SIZE
    w.batch_records = INT32_MAX
    if batch_bytes is not None:
        w.batch_bytes = integer_of(batch_bytes, "batch_bytes", 1, MAX_SET_SIZE)
    if batch_records is not None:
        w.batch_records = integer_of(batch_records, "batch_records", 1, INT32_MAX)
    w.base_sequence = w.encoder.options.base_sequence
    w.encoder.last_offset = -1
    if w.encoder.options.codec or w.mixed:
        w.context = context_acquire(w.encoder.options.codecs)
        if w.context == NULL:
            raise MemoryError
    return 0


cdef int writer_expect(set_writer* w, size_t size, rp_error* err) noexcept nogil:
    """Say about how many bytes of records will come, so that memory is taken once."""
    if w.context != NULL:
        return RP_OK
    return reserve(w, size + header_size(&w.encoder.options) + RP_RECORD_OVERHEAD_MAX, err)


cdef int reserve(set_writer* w, size_t more, rp_error* err) noexcept nogil:
    """Room for `more` bytes in the result that is being written."""
    cdef size_t capacity = w.out.size + more
    if capacity <= w.out.capacity:
        return RP_OK
    capacity = max(capacity, 2 * w.out.capacity)
    with gil:
        if w.result == NULL:
            w.result = PyBytes_FromStringAndSize(NULL, capacity)
        else:
            _PyBytes_Resize(&w.result, capacity)
        if w.result == NULL:
            PyErr_Clear()
            w.out.capacity = w.out.size = 0
            return rp_fail(err, RP_NO_MEMORY, -1, 0, <int64_t>capacity)
        w.out.data = <uint8_t*>PyBytes_AS_STRING(<object>w.result)
    w.out.capacity = capacity
    return RP_OK


cdef inline bint must_cut(const set_writer* w, const rp_record* row) noexcept nogil:
    """Whether the row cannot be in the batch, because of a header field that holds for all its records."""
    if not offset_delta_fits(&w.encoder, row):
        return True
    return w.has_timestamp_type and w.encoder.options.magic and is_other_type(w, row)


cdef bint is_other_type(const set_writer* w, const rp_record* row) noexcept nogil:
    if not w.encoder.options.attributes & RP_LOG_APPEND_TIME:
        return row.timestamp_type == LOG_APPEND_TIME
    return row.timestamp_type != LOG_APPEND_TIME or row.timestamp != w.encoder.options.log_append_time


cdef void set_type(set_writer* w, const rp_record* row) noexcept nogil:
    w.encoder.options.attributes &= ~RP_LOG_APPEND_TIME
    if row.timestamp_type == LOG_APPEND_TIME and w.encoder.options.magic:
        w.encoder.options.attributes |= RP_LOG_APPEND_TIME
        w.encoder.options.log_append_time = row.timestamp


cdef void begin_batch(set_writer* w, const rp_record* row) noexcept nogil:
    """An open batch whose first record is `row`."""
    if w.has_base_offset:
        w.begun = True
        batch_begin(&w.encoder, w.base_offset)
        return
    if w.rows == w.first_row:
        w.first_offset = row.offset
    if w.base_sequence >= 0:
        w.encoder.options.base_sequence = rp_sequence_add(
            w.base_sequence, <int32_t>((row.offset - w.first_offset) & INT32_MAX))
    if w.has_timestamp_type:
        set_type(w, row)
    batch_begin(&w.encoder, row.offset)


cdef int check_place(const set_writer* w, const rp_record* row, rp_error* err) noexcept nogil:
    """Whether the batch at base_offset can begin with the row; once it has begun, the row did not fit into it."""
    if row.offset < w.base_offset:
        return rp_fail(err, RP_OFFSET_BASE, -1, row.offset, w.base_offset)
    if row.offset - w.base_offset > INT32_MAX:
        return rp_fail(err, RP_OFFSET_DELTA, -1, row.offset, w.base_offset)
    if w.begun:
        return rp_fail(err, RP_SET_SIZE, -1, <int64_t>(batch_size(w) + record_size(&w.encoder, row)), MAX_SET_SIZE)
    return RP_OK


cdef int open_batch(set_writer* w, const rp_record* row, rp_error* err) noexcept nogil:
    cdef size_t header = header_size(&w.encoder.options)
    if w.has_base_offset and check_place(w, row, err):
        return err.status
    begin_batch(w, row)
    cdef int64_t least = <int64_t>(header + record_size(&w.encoder, row))
    if least > MAX_SET_SIZE:
        return rp_fail(err, RP_SET_SIZE, -1, least, MAX_SET_SIZE)
    w.start = w.out.size
    cdef int status = pooled_reserve_more(&w.out, header, err) if w.context != NULL else reserve(w, header, err)
    if status == RP_OK:
        w.out.size += header
    return status


cdef void writer_take(set_writer* w, const uint8_t* records, size_t size, int32_t count, int64_t base_timestamp,
                      int64_t max_timestamp) noexcept nogil:
    cdef batch_encoder* e = &w.encoder
    batch_begin(e, w.base_offset)
    e.last_offset, e.records_count = w.base_offset + count - 1, count
    e.base_timestamp, e.max_timestamp = base_timestamp, max_timestamp
    w.taken, w.taken_size = records, size
    w.rows += count


cdef int close_taken(set_writer* w, rp_error* err) noexcept nogil:
    cdef size_t header = header_size(&w.encoder.options)
    cdef int status
    w.start = w.out.size
    if w.context != NULL:
        status = pooled_reserve_more(&w.out, header, err)
        if status == RP_OK:
            w.out.size += header
            status = compress_payload(w.context, w.encoder.options.codec, w.encoder.options.level, 2, w.taken,
                                      w.taken_size, &w.out, err)
    else:
        status = reserve(w, header + w.taken_size, err)
        if status == RP_OK:
            memcpy(w.out.data + w.out.size + header, w.taken, w.taken_size)
            w.out.size += header + w.taken_size
    w.taken = NULL
    return status


cdef int close_batch(set_writer* w, rp_error* err) noexcept nogil:
    cdef int status
    if w.encoder.records_count == 0:
        return RP_OK
    if w.taken != NULL:
        if close_taken(w, err):
            return err.status
        return finish_batch(w, err)
    if w.context != NULL:
        status = compress_payload(w.context, w.encoder.options.codec, w.encoder.options.level, w.encoder.options.magic,
                                  w.context.scratch.data, w.context.scratch.size, &w.out, err)
        if status:
            return status
        w.context.scratch.size = 0
    return finish_batch(w, err)


cdef int finish_batch(set_writer* w, rp_error* err) noexcept nogil:
    """The header, and the checksum in it, of a batch whose records or payload are in place."""
    cdef size_t size = w.out.size - w.start
    if <int64_t>size > MAX_SET_SIZE and header_size(&w.encoder.options):
        return rp_fail(err, RP_SET_SIZE, -1, <int64_t>size, MAX_SET_SIZE)
    batch_finish(&w.encoder, w.out.data + w.start, size)
    return RP_OK


cdef int writer_next(set_writer* w, const batch_options* options, rp_error* err) noexcept nogil:
    """End the open batch. The rows that follow make batches with these options."""
    if close_batch(w, err):
        return err.status
    w.encoder.options = options[0]
    w.encoder.records_count = 0
    w.base_sequence = options.base_sequence
    w.first_row = w.rows
    w.has_base_offset = w.begun = False
    return RP_OK


cdef int writer_next_at(set_writer* w, const batch_options* options, int64_t base_offset, rp_error* err) noexcept nogil:
    """End the open batch. The rows that follow make one batch with these options, at this base offset."""
    if writer_next(w, options, err):
        return err.status
    w.has_base_offset, w.base_offset = True, base_offset
    return RP_OK


cdef int writer_end(set_writer* w, int64_t last_offset, int64_t max_timestamp, rp_error* err) noexcept nogil:
    """End the open batch with this header."""
    w.encoder.last_offset, w.encoder.max_timestamp = last_offset, max_timestamp
    cdef int status = close_batch(w, err)
    w.encoder.records_count = 0
    return status


cdef int writer_empty(set_writer* w, int64_t last_offset, int64_t max_timestamp, bint payload,
                      rp_error* err) noexcept nogil:
    """Write a v2 batch without records, as compaction leaves them, in place of the one that writer_next_at announced.
    payload: a compressed stream of no bytes comes after its header. The writer has a context."""
    batch_begin(&w.encoder, w.base_offset)
    w.encoder.last_offset, w.encoder.max_timestamp = last_offset, max_timestamp
    w.start = w.out.size
    if pooled_reserve_more(&w.out, RP_BATCH_HEADER, err):
        return err.status
    w.out.size += RP_BATCH_HEADER
    if payload and compress_payload(w.context, w.encoder.options.codec, w.encoder.options.level, 2, w.out.data, 0,
                                    &w.out, err):
        return err.status
    batch_finish(&w.encoder, w.out.data + w.start, w.out.size - w.start)
    return RP_OK


cdef inline size_t batch_size(const set_writer* w) noexcept nogil:
    """Bytes of the open batch, uncompressed, header included."""
    cdef size_t size = w.out.size - w.start
    return size + w.context.scratch.size if w.context != NULL else size


cdef inline bint is_full(const set_writer* w, const rp_record* row) noexcept nogil:
    """Whether the open batch ends before the row."""
    if w.encoder.records_count >= w.batch_records:
        return True
    if <int64_t>(batch_size(w) + record_room(row)) <= w.batch_bytes:
        return False
    return <int64_t>(batch_size(w) + record_size(&w.encoder, row)) > w.batch_bytes


cdef inline size_t certain_size(const set_writer* w, const pooled* records) noexcept nogil:
    """Up to there, `records` may grow without a question: there is memory, and the open batch is not full."""
    cdef int64_t most = w.batch_bytes - <int64_t>batch_size(w) + <int64_t>records.size
    return min(records.capacity, <size_t>max(most, 0))


cdef int place_row(set_writer* w, const pooled* records, const rp_record* row, rp_error* err) noexcept nogil:
    """Make room for a row: in the open batch, or in another one, and in memory."""
    cdef size_t room = record_room(row)
    if w.encoder.records_count == 0 or must_cut(w, row) or is_full(w, row):
        if close_batch(w, err) or open_batch(w, row, err):
            return err.status
    return make_room(w, room, err) if records.capacity - records.size < room else RP_OK


cdef int writer_rows(set_writer* w, const rp_record* rows, size_t n, rp_error* err) noexcept nogil:
    """Write the rows. On an error w.rows is the number of the row that breaks the rule."""
    cdef batch_encoder* e = &w.encoder
    cdef pooled* records = &w.context.scratch if w.context != NULL else &w.out
    cdef size_t certain = certain_size(w, records) if e.records_count else 0
    cdef const rp_record* row
    cdef size_t i
    for i in range(n):
        row = &rows[i]
        if record_check(e, row, err):
            return err.status
        if records.size + record_room(row) > certain or e.records_count >= w.batch_records or must_cut(w, row):
            if place_row(w, records, row, err):
                return err.status
            certain = certain_size(w, records)
        records.size = record_write(e, row, records.data + records.size) - records.data
        w.rows += 1
    return RP_OK


cdef int make_room(set_writer* w, size_t size, rp_error* err) noexcept nogil:
    if size > MAX_SET_SIZE:
        return rp_fail(err, RP_SET_SIZE, -1, <int64_t>size, MAX_SET_SIZE)
    return pooled_reserve_more(&w.context.scratch, size, err) if w.context != NULL else reserve(w, size, err)


cdef int raise_row(const set_writer* w, const rp_error* err) except -1:
    """Raise the error of writer_rows, with the record's number."""
    error = error_of(err)
    if isinstance(error, InvalidArgumentError):
        error.message = f"record {w.rows}: {error.message}"
    raise error


cdef int set_size(set_writer* w) except -1:
    """Cut the result to what was written. A little slack stays allocated: giving it back would make the block smaller
    than the next one that is asked for, and glibc would then map every such result again (see pool.h)."""
    if w.out.capacity - w.out.size > w.out.capacity // 4:
        if _PyBytes_Resize(&w.result, w.out.size):
            raise MemoryError
    Py_SET_SIZE(w.result, w.out.size)
    PyBytes_AS_STRING(<object>w.result)[w.out.size] = 0
    return 0


cdef bytes writer_result(set_writer* w):
    """Finish the last batch; the whole record set."""
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
        context_release(w.context)
    Py_XDECREF(w.result)
    memset(w, 0, sizeof(set_writer))
