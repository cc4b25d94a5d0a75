"""write_columns with given batches: by columns of their headers, or by a table of them.

    by columns   rows that agree in producerId ... isControl, and whose sequences count on, make a batch;
                 with baseOffset, rows with equal values, which must agree
    by a table   the batches of the table, one after another, each with the number of rows in its header

Here rows are compared one by one; without given batches they are not.
"""

from libc.stdint cimport INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, int16_t, int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from recordpress._c.wire cimport (
    RP_ARROW_LAYOUT, RP_BATCH_COLUMNS, RP_BATCH_HEADER, RP_BATCH_SEQUENCE, RP_BATCH_TIMESTAMP_TYPE, RP_BATCH_VALUE,
    RP_BATCHES_LEFT, RP_BATCHES_RECORDS, RP_CONTROL, RP_LOG_APPEND_TIME, RP_OFFSET_NULL, RP_OK,
    RP_TRANSACTIONAL, rp_fail, rp_record, rp_sequence_add,
)
from recordpress.columns._arrow_in cimport ABSENT, is_null, number_of
from recordpress.columns._input cimport (
    BASE_OFFSET, IS_CONTROL, IS_TRANSACTIONAL, PARTITION_LEADER_EPOCH, PRODUCER_EPOCH, PRODUCER_ID, SEQUENCE,
    columns_of, input_columns,
)
from recordpress.columns._rows cimport ROWS, fill_rows, offset_at
from recordpress.record.encode cimport NO_TIMESTAMP, keep_header
from recordpress.record.set_writer cimport writer_empty, writer_end, writer_next, writer_next_at, writer_rows


# --- by columns -----------------------------------------------------------------------------------------------

cdef void values_at(const column_batches* b, const input_columns* c, int64_t row, int64_t* values) noexcept nogil:
    """Return the header of a row's batch. Null is -1, which stands for none, or False."""
    cdef int i
    values[PRODUCER_ID] = b.options.producer_id
    values[PRODUCER_EPOCH] = b.options.producer_epoch
    values[SEQUENCE] = b.options.base_sequence
    values[PARTITION_LEADER_EPOCH] = b.options.partition_leader_epoch
    values[IS_TRANSACTIONAL] = (b.options.attributes & RP_TRANSACTIONAL) != 0
    values[IS_CONTROL] = 0
    values[BASE_OFFSET] = -1
    for i in range(N_BATCH_COLUMNS):
        if c.batch[i].kind == ABSENT:
            continue
        values[i] = 0 if i == IS_TRANSACTIONAL or i == IS_CONTROL else -1
        if not is_null(&c.batch[i], row):
            values[i] = number_of(&c.batch[i], row)


cdef int64_t sequence_at(const column_batches* b, int64_t offset) noexcept nogil:
    """Return the sequence of a record of the open batch."""
    if b.current[SEQUENCE] < 0:
        return b.current[SEQUENCE]
    return rp_sequence_add(<int32_t>b.current[SEQUENCE],
                           <int32_t>((<uint64_t>offset - <uint64_t>b.first_offset) & INT32_MAX))


cdef bint agrees(const column_batches* b, const input_columns* c, const int64_t* values, int64_t offset) noexcept nogil:
    """Return whether a row can be in the open batch, by its header."""
    cdef int i
    for i in range(N_BATCH_COLUMNS):
        if i != SEQUENCE and values[i] != b.current[i]:
            return False
    return c.batch[SEQUENCE].kind == ABSENT or values[SEQUENCE] == sequence_at(b, offset)


cdef bint belongs(const column_batches* b, const input_columns* c, const int64_t* values,
                  int64_t offset) noexcept nogil:
    """Return whether a row is in the open batch."""
    if not b.open:
        return False
    return values[BASE_OFFSET] == b.current[BASE_OFFSET] if b.has_base_offset else agrees(b, c, values, offset)


cdef int check_row(const column_batches* b, const input_columns* c, int64_t row, const int64_t* values, int64_t offset,
                   rp_error* err) noexcept nogil:
    """Check that the row agrees with its batch, and that the batch can be written."""
    cdef int64_t timestamp_type
    if not agrees(b, c, values, offset):
        return rp_fail(err, RP_BATCH_COLUMNS, -1, b.current[BASE_OFFSET], 0)
    if b.has_timestamp_type and b.has_base_offset and not is_null(&c.timestamp_type, row):
        timestamp_type = number_of(&c.timestamp_type, row)
        if timestamp_type:
            return rp_fail(err, RP_BATCH_TIMESTAMP_TYPE, -1, timestamp_type, 0)
    return RP_OK


cdef int check_range(int64_t value, int64_t least, int64_t most, rp_error* err) noexcept nogil:
    return RP_OK if least <= value <= most else rp_fail(err, RP_BATCH_VALUE, -1, value, most)


cdef int check_sequence(const column_batches* b, const int64_t* values, int64_t offset, int64_t sequence,
                        rp_error* err) noexcept nogil:
    """Refuse a batch that seems to have lost its last records: its producer's next one continues neither its offsets
    nor its sequences."""
    cdef int64_t expected
    if not b.open or not b.has_base_offset or b.current[SEQUENCE] < 0 or sequence < 0:
        return RP_OK
    if values[BASE_OFFSET] == b.last_offset + 1:
        return RP_OK
    if values[PRODUCER_ID] != b.current[PRODUCER_ID] or values[PRODUCER_EPOCH] != b.current[PRODUCER_EPOCH]:
        return RP_OK
    expected = rp_sequence_add(<int32_t>sequence_at(b, b.last_offset), 1)
    if sequence != expected:
        return rp_fail(err, RP_BATCH_SEQUENCE, -1, sequence, sequence_at(b, b.last_offset))
    return RP_OK


cdef int begin(set_writer* w, column_batches* b, const input_columns* c, const int64_t* values, int64_t offset,
               rp_error* err) noexcept nogil:
    """Begin the batch of a row."""
    cdef batch_options o = b.options
    cdef int64_t base = values[BASE_OFFSET] if b.has_base_offset else offset
    cdef int64_t sequence = values[SEQUENCE]
    if b.has_base_offset and base < 0:
        return rp_fail(err, RP_OFFSET_NULL, -1, 0, 0)
    if (check_range(values[PRODUCER_EPOCH], INT16_MIN, INT16_MAX, err)
            or check_range(sequence, INT32_MIN, INT32_MAX, err)
            or check_range(values[PARTITION_LEADER_EPOCH], INT32_MIN, INT32_MAX, err)):
        return err.status
    if c.batch[SEQUENCE].kind == ABSENT and b.open and sequence >= 0:
        sequence = sequence_at(b, base)  # the argument is that of the very first record
    elif c.batch[SEQUENCE].kind != ABSENT and sequence >= 0:
        sequence = <int64_t>((<uint64_t>sequence - (<uint64_t>offset - <uint64_t>base)) & INT32_MAX)
    if check_sequence(b, values, offset, sequence, err):
        return err.status
    o.producer_id = values[PRODUCER_ID]
    o.producer_epoch = <int16_t>values[PRODUCER_EPOCH]
    o.base_sequence = <int32_t>sequence
    o.partition_leader_epoch = <int32_t>values[PARTITION_LEADER_EPOCH]
    o.attributes &= ~(RP_TRANSACTIONAL | RP_CONTROL)
    o.attributes |= RP_TRANSACTIONAL if values[IS_TRANSACTIONAL] else 0
    o.attributes |= RP_CONTROL if values[IS_CONTROL] else 0
    memcpy(b.current, values, sizeof(b.current))
    b.open, b.current[SEQUENCE], b.first_offset = True, sequence, base
    return writer_next_at(w, &o, base, err) if b.has_base_offset else writer_next(w, &o, err)


cdef int write_array_by_columns(set_writer* w, column_batches* b, const input_types* types, const ArrowArray* array,
                                int64_t base_offset, pooled* scratch, rp_error* err) noexcept nogil:
    """Write the rows of one array. On an error w.rows is the number of the row that breaks the rule."""
    cdef input_columns c
    cdef rp_record rows[ROWS]
    cdef int64_t[N_BATCH_COLUMNS] values
    cdef int64_t start = 0, n, most = ROWS, offset
    if columns_of(&c, types, array):
        return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
    while start < array.length:
        n = 0
        while n < most and start + n < array.length:
            if offset_at(&c, start + n, base_offset + w.rows + n, &offset, err):
                break
            values_at(b, &c, start + n, values)
            if not belongs(b, &c, values, offset) and (n or begin(w, b, &c, values, offset, err)):
                break
            if check_row(b, &c, start + n, values, offset, err):
                break
            b.last_offset = offset
            n += 1
        if n == 0:
            return err.status
        n = fill_rows(&c, start, n, base_offset + w.rows, rows, &most, scratch, err)
        if n == 0 or writer_rows(w, rows, n, err):
            return err.status
        start += n
    return RP_OK


# --- by a table -----------------------------------------------------------------------------------------------

cdef void options_from(batch_options* o, const header_row* r, const table_batches* t) noexcept nogil:
    """Set the encoder's options from a header."""
    o.magic = r.magic
    o.codec = t.rows[r - t.batches]
    o.level = t.levels[o.codec]
    o.codecs = t.codecs
    o.attributes = r.attributes
    keep_header(o, r)
    o.log_append_time = r.max_timestamp
    o.delete_horizon_ms = r.base_timestamp if r.magic == 2 else NO_TIMESTAMP


cdef int end_batch(set_writer* w, table_batches* t, rp_error* err) noexcept nogil:
    cdef const header_row* r
    if t.next == 0:
        return RP_OK
    r = &t.batches[t.next - 1]
    if t.left:
        return rp_fail(err, RP_BATCHES_RECORDS, -1, t.next - 1, 0)
    t.wrapper = False
    return writer_end(w, r.last_offset, r.max_timestamp, err)


cdef int next_batch(set_writer* w, table_batches* t, rp_error* err) noexcept nogil:
    """Begin the next batch, and write it whole if it has no records."""
    cdef const header_row* r = &t.batches[t.next]
    cdef batch_options o
    options_from(&o, r, t)
    t.next += 1
    t.wrapper = r.magic < 2 and o.codec != 0
    t.left = 0 if t.wrapper else r.records_count
    if r.magic < 2:
        return writer_next(w, &o, err)
    if writer_next_at(w, &o, r.base_offset, err):
        return err.status
    # batches are taken as they are: they may overlap
    w.batch.encoder.last_offset = <int64_t>(<uint64_t>r.base_offset - 1)
    if r.records_count:
        return RP_OK
    return writer_empty(w, r.last_offset, r.max_timestamp, r.size > RP_BATCH_HEADER, err)


cdef int batch_with_records(set_writer* w, table_batches* t, int64_t offset, rp_error* err) noexcept nogil:
    """Begin the batch that a row of this offset belongs to, if it is not open."""
    if t.left or (t.wrapper and offset <= t.batches[t.next - 1].last_offset):
        return RP_OK
    if end_batch(w, t, err):
        return err.status
    while t.next < t.n:
        if next_batch(w, t, err):
            return err.status
        if t.batches[t.next - 1].magic < 2:
            w.batch.encoder.last_offset = <int64_t>(<uint64_t>offset - 1)
        if t.left or t.wrapper:
            return RP_OK
    return rp_fail(err, RP_BATCHES_LEFT, -1, t.n, 0)


cdef int64_t rows_of_batch(const table_batches* t, const input_columns* c, int64_t start, int64_t most) noexcept nogil:
    """Return how many rows from `start` on, at most `most`, belong to the open batch; 0: the first does not."""
    cdef const header_row* r = &t.batches[t.next - 1]
    cdef int64_t n = 0, offset
    if not t.wrapper:
        most = min(most, t.left)
    while n < most and not is_null(&c.offset, start + n):
        offset = number_of(&c.offset, start + n)
        if offset > r.last_offset or (r.magic == 2 and offset < r.base_offset):
            break
        n += 1
    return n


cdef void hide_times(const header_row* r, rp_record* rows, int64_t n) noexcept nogil:
    """Replace timestamps by the base under LogAppendTime, where a record's own one cannot be read."""
    cdef int64_t i
    if r.magic == 2 and r.attributes & RP_LOG_APPEND_TIME:
        for i in range(n):
            rows[i].timestamp = r.base_timestamp


cdef int write_array_by_table(set_writer* w, table_batches* t, const input_types* types, const ArrowArray* array,
                              pooled* scratch, rp_error* err) noexcept nogil:
    """Write the rows of one array. On an error w.rows is the number of the row that breaks the rule."""
    cdef input_columns c
    cdef rp_record rows[ROWS]
    cdef int64_t start = 0, n, most = ROWS, offset
    if columns_of(&c, types, array):
        return rp_fail(err, RP_ARROW_LAYOUT, -1, 0, 0)
    while start < array.length:
        if offset_at(&c, start, 0, &offset, err) or batch_with_records(w, t, offset, err):
            return err.status
        n = rows_of_batch(t, &c, start, min(most, array.length - start))
        if n == 0:
            return rp_fail(err, RP_BATCHES_RECORDS, -1, t.next - 1, 0)
        n = fill_rows(&c, start, n, 0, rows, &most, scratch, err)
        if n == 0:
            return err.status
        hide_times(&t.batches[t.next - 1], rows, n)
        if writer_rows(w, rows, n, err):
            return err.status
        start += n
        t.left -= 0 if t.wrapper else n
    return RP_OK


cdef int end_of_table(set_writer* w, table_batches* t, rp_error* err) noexcept nogil:
    """End the open batch after the last row, and write the remaining batches without records."""
    if end_batch(w, t, err):
        return err.status
    while t.next < t.n:
        if next_batch(w, t, err):
            return err.status
        if t.left or t.wrapper:
            return rp_fail(err, RP_BATCHES_RECORDS, -1, t.next - 1, 0)
    return RP_OK
