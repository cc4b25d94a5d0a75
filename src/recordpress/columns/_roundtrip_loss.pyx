"""Facts about batches that columns do not hold.

::

    reading: note_batch of each ──► chunk.lost ──► metadata of the Arrow schema ──► writing: refuse_lost

Only reads that request baseOffset note losses, because with that column write_columns forms the same batches again. The
metadata reaches it if Arrow libraries keep it with the schema.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.string cimport memcpy

from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_CONTROL, RP_DELETE_HORIZON, RP_LOG_APPEND_TIME, RP_TRANSACTIONAL, rp_batch_last_offset,
)

from recordpress.errors import InvalidArgumentError

cdef bytes KEY = b"recordpress.not_in_columns"

cdef dict WORDS = {
    MAGIC: "has magic {0}",
    NO_RECORDS: "holds no records",
    APPEND_TIME: "has LogAppendTime",
    DELETE_HORIZON: "has a delete horizon",
    ATTRIBUTES: "has unknown attributes {0:#x}",
    CODEC: "has a different codec from the batches before it",
    LAST_OFFSET: "has last offset {0}, but its last record has offset {1}",
    BASE_SEQUENCE: "has base sequence {0}",
    BASE_TIMESTAMP: "has base timestamp {0}, but its first record has {1}",
    MAX_TIMESTAMP: "has max timestamp {0}, which is not the largest of its records",
}

cdef enum:
    KNOWN = RP_CODEC_MASK | RP_TRANSACTIONAL | RP_CONTROL   # attributes that columns or arguments have
    LONGEST = 200                                           # bytes shown of a text that may come from elsewhere


# --- reading ------------------------------------------------------------------------------------------------------

cdef int note_loss(loss* lost, int what, int64_t stored, int64_t held) noexcept nogil:
    lost.what, lost.stored, lost.held = what, stored, held
    return what


cdef int lost_of_header(loss* lost, const rp_batch* b) noexcept nogil:
    if b.magic != 2:
        return note_loss(lost, MAGIC, b.magic, 2)
    if b.records_count == 0:
        return note_loss(lost, NO_RECORDS, 0, 0)
    if b.attributes & RP_LOG_APPEND_TIME:
        return note_loss(lost, APPEND_TIME, 0, 0)
    if b.attributes & RP_DELETE_HORIZON:
        return note_loss(lost, DELETE_HORIZON, 0, 0)
    if b.attributes & ~KNOWN:
        return note_loss(lost, ATTRIBUTES, <uint16_t>b.attributes & ~KNOWN, 0)
    return note_loss(lost, BASE_SEQUENCE, b.base_sequence, -1) if b.base_sequence < -1 else NOTHING


cdef bint is_largest(int64_t value, const int64_t* timestamps, int64_t rows) noexcept nogil:
    """Return whether no timestamp is above the value. For a value of 0 or more, the signs of the differences show it,
    several at a time; a difference that wraps around looks like a timestamp above, and takes the second loop."""
    cdef int64_t i
    cdef uint64_t beyond = 0
    for i in range(rows):
        beyond |= <uint64_t>value - <uint64_t>timestamps[i]
    if value >= 0 and <int64_t>beyond >= 0:
        return True
    for i in range(rows):
        if timestamps[i] > value:
            return False
    return True


cdef int lost_of_timestamps(loss* lost, const rp_batch* b, const int64_t* timestamps, int64_t rows,
                            int64_t per_ms) noexcept nogil:
    cdef int64_t largest = rows - 1
    while largest and timestamps[largest] // per_ms != b.max_timestamp:  # usually it is the last timestamp
        largest -= 1
    if b.base_timestamp != timestamps[0] // per_ms:
        return note_loss(lost, BASE_TIMESTAMP, b.base_timestamp, timestamps[0] // per_ms)
    if timestamps[largest] // per_ms != b.max_timestamp or not is_largest(timestamps[largest], timestamps, rows):
        return note_loss(lost, MAX_TIMESTAMP, b.max_timestamp, 0)
    return NOTHING


cdef void note_batch(loss* lost, const rp_batch* batch, int codec, const int64_t* offsets, const int64_t* timestamps,
                     int64_t rows, int64_t per_ms) noexcept nogil:
    cdef int64_t first = lost.batch
    if lost.what:
        return
    lost.batch = batch.base_offset
    if lost_of_header(lost, batch):
        return
    if lost.codec and lost.codec != codec + 1:
        note_loss(lost, CODEC, 0, 0)
    elif offsets != NULL and rp_batch_last_offset(batch) != offsets[rows - 1]:
        note_loss(lost, LAST_OFFSET, rp_batch_last_offset(batch), offsets[rows - 1])
    elif timestamps == NULL or not lost_of_timestamps(lost, batch, timestamps, rows, per_ms):
        lost.batch = first if lost.codec else batch.base_offset
        lost.codec = codec + 1


cdef loss loss_of_both(const loss* lost, const loss* later) noexcept nogil:
    cdef loss both = lost[0]
    if lost.what == NOTHING and (later.what or lost.codec == 0):
        both = later[0]
    elif lost.what == NOTHING and later.codec and later.codec != lost.codec:
        both = later[0]
        both.what = CODEC
    return both


# --- the schema's metadata: a number of pairs, then for each the size and bytes of its key and of its value --------

cdef bytes number(int32_t n):
    return (<const char*>&n)[:sizeof(n)]


cdef bytes metadata_of(const loss* lost):
    if lost.what == NOTHING:
        return None
    cdef bytes text = f"the batch at offset {lost.batch} {WORDS[lost.what].format(lost.stored, lost.held)}".encode()
    return number(1) + number(<int32_t>len(KEY)) + KEY + number(<int32_t>len(text)) + text


cdef bytes text_at(const char** at):
    """Return the next key or value; None if its size is impossible."""
    cdef int32_t size
    memcpy(&size, at[0], sizeof(size))
    if size < 0:
        return None
    at[0] += sizeof(size)
    cdef bytes text = at[0][:size]
    at[0] += size
    return text


cdef bytes value_of(const char* metadata, bytes wanted):
    """Return the value of a key, or None. The interface has no total size, so only negative sizes are refused."""
    cdef int32_t n
    cdef bytes key, value
    if metadata == NULL:
        return None
    memcpy(&n, metadata, sizeof(n))
    metadata += sizeof(n)
    for _ in range(n):
        key = text_at(&metadata)
        value = None if key is None else text_at(&metadata)
        if value is None:
            raise InvalidArgumentError("the Arrow schema of data is inconsistent: its metadata has a negative size",
                                       field="data")
        if key == wanted:
            return value
    return None


cdef int refuse_lost(const ArrowSchema* schema) except -1:
    cdef bytes text = value_of(schema.metadata, KEY)
    if text is None:
        return 0
    raise InvalidArgumentError(
        f"columns alone cannot reproduce the batches they were read from: {text[:LONGEST].decode('utf-8', 'replace')}. "
        "Pass batches=, a recordpress.batch_table of the set, or omit the column, which forms new batches",
        field="baseOffset")
