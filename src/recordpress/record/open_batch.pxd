"""A batch being filled. Each writer of records owns one, adds records until it is full, and closes it.

    batch_begin (encode), batch_limit    an empty batch, and its limit
    batch_add                            append a record, or return BATCH_FULL
    batch_add_run                        append records, most of them in one loop
    batch_put                            append a record regardless of the limit
    batch_close                          append header and payload of all records to a buffer

The limit is a number of record bytes. At BATCH_FULL the owner applies its own rule: it begins another batch
(set_writer, producer._packing), compresses to learn the size (BatchBuilder), or ends.
"""

from libc.stdint cimport int64_t, uint8_t

from recordpress._buffers cimport pooled
from recordpress._c.run cimport rp_rows, rp_run, rp_run_write
from recordpress._c.wire cimport RP_OFFSET_DELTA, RP_OK, rp_error, rp_fail, rp_record
from recordpress.codecs.context cimport codec_context
from recordpress.record.encode cimport batch_encoder, offset_delta_fits, record_check, record_room, record_write

cdef enum:
    BATCH_FULL = -1   # not a status of status.h: the batch has no room for the record


# All zero is a full batch: it accepts records after batch_begin and batch_limit. The owner fills `encoder.options`.
ctypedef struct open_batch:
    batch_encoder encoder
    pooled records      # before compression; other bytes of the owner may precede them
    size_t most         # limit on the size of `records`
    size_t certain      # the part of `most` that has memory: up to this size, batch_add makes no other comparison
    # Make room for `more` bytes in `records`; NULL: the pool does.
    int (*reserve)(open_batch* b, size_t more, rp_error* err) noexcept nogil


cdef inline void batch_limit(open_batch* b, size_t most) noexcept nogil:
    b.most = most
    b.certain = min(b.records.capacity, most)


cdef inline void batch_write(open_batch* b, const rp_record* row) noexcept nogil:
    b.records.size = record_write(&b.encoder, row, b.records.data + b.records.size) - b.records.data


cdef inline int batch_add(open_batch* b, const rp_record* row, rp_error* err) noexcept nogil:
    """Append a record and return RP_OK, or return BATCH_FULL or the broken rule and leave the batch unchanged."""
    if record_check(&b.encoder, row, err) != RP_OK:
        return err.status
    if not offset_delta_fits(&b.encoder, row):
        return rp_fail(err, RP_OFFSET_DELTA, -1, row.offset, b.encoder.base_offset)
    if b.records.size + record_room(row) > b.certain:
        return add_by_size(b, row, err)
    batch_write(b, row)
    return RP_OK


cdef inline int64_t batch_add_run(open_batch* b, const rp_rows* rows, int64_t row, int64_t end) noexcept nogil:
    """Append the rows from `row` to `end` to a batch of magic 2 that has records, up to the first row that needs
    batch_add; return the number of this row."""
    cdef batch_encoder* e = &b.encoder
    cdef rp_run run
    cdef uint8_t* to = b.records.data + b.records.size
    cdef int64_t next
    if b.records.size >= b.certain or e.records_count == 0 or e.options.magic < 2:
        return row
    run.base_offset, run.base_timestamp, run.last_offset = e.base_offset, e.base_timestamp, e.last_offset
    run.max_timestamp, run.offset_of_max_timestamp = e.max_timestamp, e.offset_of_max_timestamp
    next = rp_run_write(&run, rows, row, end, &to, b.records.data + b.certain)
    e.last_offset = run.last_offset
    e.max_timestamp, e.offset_of_max_timestamp = run.max_timestamp, run.offset_of_max_timestamp
    e.records_count += next - row
    b.records.size = to - b.records.data
    return next


# The slow path of batch_add, by the exact size of the record.
cdef int add_by_size(open_batch* b, const rp_record* row, rp_error* err) noexcept nogil

# Append a record after batch_add has returned BATCH_FULL. Return RP_OK or RP_NO_MEMORY.
cdef int batch_put(open_batch* b, const rp_record* row, rp_error* err) noexcept nogil

# Append the finished batch to `out`; keep its records.
cdef int batch_close(const open_batch* b, codec_context* context, pooled* out, rp_error* err) noexcept nogil

# batch_close for record bytes in other memory.
cdef int close_over(const batch_encoder* e, const uint8_t* records, size_t size, codec_context* context, pooled* out,
                    rp_error* err) noexcept nogil
