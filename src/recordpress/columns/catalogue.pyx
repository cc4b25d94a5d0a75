"""The columns that records can be read into: one row each."""

from libc.stdint cimport int64_t, uint64_t

from recordpress._c.wire cimport (
    RP_CONTROL, RP_TRANSACTIONAL, rp_batch, rp_batch_codec, rp_batch_timestamp_type, rp_load_be64, rp_source,
)


# --- fields of a batch header that apply to all its records ------------------------------------------------

cdef int64_t timestamp_type(const rp_batch* batch, const rp_source* source) noexcept nogil:
    return rp_batch_timestamp_type(batch)


cdef int64_t producer_id(const rp_batch* batch, const rp_source* source) noexcept nogil:
    return batch.producer_id


cdef int64_t producer_epoch(const rp_batch* batch, const rp_source* source) noexcept nogil:
    return batch.producer_epoch


cdef int64_t partition_leader_epoch(const rp_batch* batch, const rp_source* source) noexcept nogil:
    return batch.partition_leader_epoch


cdef int64_t is_transactional(const rp_batch* batch, const rp_source* source) noexcept nogil:
    return batch.magic == 2 and (batch.attributes & RP_TRANSACTIONAL) != 0


cdef int64_t is_control(const rp_batch* batch, const rp_source* source) noexcept nogil:
    return batch.magic == 2 and (batch.attributes & RP_CONTROL) != 0


cdef int64_t base_offset(const rp_batch* batch, const rp_source* source) noexcept nogil:
    """Return the base offset. A v0/v1 wrapper's header has its last offset; its first inner message has the first
    offset, whose eight bytes exist, because an empty wrapper is refused earlier."""
    if batch.magic < 2 and rp_batch_codec(batch):
        return <int64_t>(<uint64_t>source.base_offset + rp_load_be64(source.start))
    return batch.base_offset


# --- the table ---------------------------------------------------------------------------------------------

cdef column CATALOGUE[N_COLUMNS]
CATALOGUE[OFFSET] = column(b"offset", b"l", 8, BY_RECORD, NULL)
CATALOGUE[TIMESTAMP] = column(b"timestamp", NULL, 8, BY_RECORD, NULL)
CATALOGUE[TIMESTAMP_TYPE] = column(b"timestampType", b"i", 4, BY_BATCH, timestamp_type)
CATALOGUE[KEY] = column(b"key", NULL, 0, AS_BINARY, NULL)
CATALOGUE[VALUE] = column(b"value", NULL, 0, AS_BINARY, NULL)
CATALOGUE[HEADERS] = column(b"headers", b"+l", 4, AS_HEADERS, NULL)
CATALOGUE[PRODUCER_ID] = column(b"producerId", b"l", 8, BY_BATCH, producer_id)
CATALOGUE[PRODUCER_EPOCH] = column(b"producerEpoch", b"s", 2, BY_BATCH, producer_epoch)
CATALOGUE[SEQUENCE] = column(b"sequence", b"i", 4, BY_RECORD, NULL)
CATALOGUE[PARTITION_LEADER_EPOCH] = column(b"partitionLeaderEpoch", b"i", 4, BY_BATCH, partition_leader_epoch)
CATALOGUE[IS_TRANSACTIONAL] = column(b"isTransactional", b"b", 0, BY_BATCH, is_transactional)
CATALOGUE[IS_CONTROL] = column(b"isControl", b"b", 0, BY_BATCH, is_control)
CATALOGUE[BASE_OFFSET] = column(b"baseOffset", b"l", 8, BY_BATCH, base_offset)


cdef const column* column_of(int number) noexcept nogil:
    return &CATALOGUE[number]


NAMES = tuple(CATALOGUE[number].name.decode("ascii") for number in range(N_COLUMNS))
FORMATS = tuple(None if CATALOGUE[number].format == NULL else CATALOGUE[number].format.decode("ascii")
                for number in range(N_COLUMNS))
DEFAULT = NAMES[:HEADERS + 1]
