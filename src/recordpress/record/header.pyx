"""Header of an entry, with the names and types of its fields in tables."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MAX, INT64_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

from recordpress._arguments cimport integer_of
from recordpress._buffers cimport InputView
from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_CODEC_MASK, RP_CONTROL, RP_CRC_OFFSET, RP_CUT_ENTRY, RP_DELETE_HORIZON,
    RP_END, RP_ENTRY_PREFIX, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, RP_MAGIC_OFFSET, RP_MIN_ENTRY_SIZE,
    RP_PRODUCER_EPOCH_OFFSET, RP_TRANSACTIONAL, rp_batch, rp_batch_codec, rp_batch_last_offset, rp_batch_next,
    rp_batch_timestamp_type, rp_batch_write, rp_cursor, rp_cursor_of, rp_error, rp_fail, rp_read_be32, rp_read_be64,
    rp_read_bytes, rp_sequence_add, rp_store_be32,
)
from recordpress._status cimport check, place, place_at
from recordpress.checksum cimport crc32c_update

from recordpress.errors import ArgumentTypeError

# Constants of batch_header.h, for modules in Python.
CODEC_BITS, LOG_APPEND_TIME, TRANSACTIONAL = RP_CODEC_MASK, RP_LOG_APPEND_TIME, RP_TRANSACTIONAL  # of the attributes
LOG_OVERHEAD, ENTRY_PREFIX, MAGIC_AT = RP_LOG_OVERHEAD, RP_ENTRY_PREFIX, RP_MAGIC_OFFSET  # of every entry
MIN_ENTRY_SIZE, HEADER_SIZE = RP_MIN_ENTRY_SIZE, RP_BATCH_HEADER
CHECKED_FROM = RP_ATTRIBUTES_OFFSET  # what the checksum of magic 2 covers, to the end of the batch
PRODUCER_ID_END = RP_PRODUCER_EPOCH_OFFSET  # in a header of magic 2
SEQUENCES = 1 << 31  # sequences go from 0 to 2^31 - 1, and then begin again (DefaultRecordBatch.incrementSequence)

# The fields of `header_row`: name, NumPy type, Arrow format, value that is null in Arrow (None: never null).
FIELDS = (
    ("position", "<i8", "l", None),
    ("size", "<i8", "l", None),
    ("magic", "|i1", "c", None),
    ("compressionType", "|S16", "u", None),
    ("attributes", "<i2", "s", None),
    ("baseOffset", "<i8", "l", None),
    ("lastOffset", "<i8", "l", None),
    ("recordsCount", "<i4", "i", -1),
    ("baseTimestamp", "<i8", "tsm:UTC", -1),
    ("maxTimestamp", "<i8", "tsm:UTC", -1),
    ("timestampType", "|i1", "c", None),
    ("partitionLeaderEpoch", "<i4", "i", None),
    ("producerId", "<i8", "l", None),
    ("producerEpoch", "<i2", "s", None),
    ("baseSequence", "<i4", "i", None),
    ("isTransactional", "|b1", "b", None),
    ("isControl", "|b1", "b", None),
    ("hasDeleteHorizon", "|b1", "b", None),
    ("crc", "<u4", "I", None),
)


cdef class BatchHeader:
    """The header of a v2 batch or a v0/v1 message; -1 stands for a field that is not set."""

    def __init__(self):
        raise ArgumentTypeError("BatchHeader cannot be created directly: walks over logs return it")

    @property
    def position(self):
        """int: byte position of the entry in the data."""
        return self._header.position

    @property
    def size(self):
        """int: size of the whole entry in bytes, including the offset and size fields."""
        return self._header.size

    @property
    def magic(self):
        """int: format version, 0, 1 or 2."""
        return self._header.magic

    @property
    def attributes(self):
        """int: as stored, int16 (v2) or int8."""
        return self._header.attributes

    @property
    def crc(self):
        """int: stored checksum, CRC-32C (v2) or CRC-32."""
        return self._header.crc

    @property
    def is_compressed(self):
        """bool: whether a codec compressed the records."""
        return rp_batch_codec(&self._header) != 0

    @property
    def timestamp_type(self):
        return rp_batch_timestamp_type(&self._header)

    @property
    def base_offset(self):
        return self._header.base_offset

    @property
    def last_offset(self):
        """int: base offset + last offset delta, also after compaction; v0/v1: the entry's offset."""
        return rp_batch_last_offset(&self._header)

    @property
    def next_offset(self):
        """int: the offset to fetch next, last_offset + 1."""
        return <int64_t>(<uint64_t>rp_batch_last_offset(&self._header) + 1)

    @property
    def last_offset_delta(self):
        return self._header.last_offset_delta

    @property
    def base_timestamp(self):
        return self._header.base_timestamp

    @property
    def max_timestamp(self):
        """int: milliseconds, -1 if not set; the append time if timestamp_type is LogAppendTime."""
        return self._header.max_timestamp

    @property
    def partition_leader_epoch(self):
        """int: -1 if not set."""
        return self._header.partition_leader_epoch

    @property
    def producer_id(self):
        """int: -1 if not set."""
        return self._header.producer_id

    @property
    def has_producer_id(self):
        """bool: whether the producer id is set."""
        return self._header.producer_id > -1

    @property
    def producer_epoch(self):
        """int: -1 if not set."""
        return self._header.producer_epoch

    @property
    def base_sequence(self):
        """int: -1 if not set."""
        return self._header.base_sequence

    @property
    def last_sequence(self):
        """int: base sequence + last offset delta, wrapping from 2**31 - 1 to 0; -1 if not set."""
        if self._header.base_sequence == -1:
            return -1
        return rp_sequence_add(self._header.base_sequence, self._header.last_offset_delta)

    @property
    def is_transactional(self):
        """bool: whether the batch belongs to a transaction."""
        return has_bit(&self._header, RP_TRANSACTIONAL)

    @property
    def is_control(self):
        """bool: whether the batch holds control records (transaction markers or KRaft's)."""
        return has_bit(&self._header, RP_CONTROL)

    @property
    def delete_horizon_ms(self):
        """int | None: when compaction may drop the tombstones of this batch."""
        return self._header.base_timestamp if has_bit(&self._header, RP_DELETE_HORIZON) else None

    @property
    def records_count(self):
        return self._header.records_count


cdef BatchHeader header_of(const rp_batch* batch):
    cdef BatchHeader header = BatchHeader.__new__(BatchHeader)
    header._header = batch[0]
    return header


def read_header(data, at=0, position=0):
    """Read the header of the entry at byte `at` of `data`, which may end before the entry does."""
    cdef InputView view = InputView(data)
    cdef int64_t start = integer_of(at, "at", 0, view.size)
    cdef int64_t left = view.size - start
    cdef rp_batch batch
    cdef rp_error err
    cdef place where = place_at(start)
    # if a whole header fits, nothing after it is read: the size of the data does not matter
    cdef int status = rp_batch_next(view.data + start, INT64_MAX if left >= RP_BATCH_HEADER else left, 0, INT32_MAX,
                                    &batch, &err)
    if status == RP_END:
        status = rp_fail(&err, RP_CUT_ENTRY, -1, left, 0)
    check(status, &err, &where)
    batch.position = integer_of(position, "position", 0, INT64_MAX)
    return header_of(&batch)


def entry_prefix(data, at=0):
    """Return the base offset, the size field and the magic of the entry at byte `at` of `data`; None if `data` ends
    before its magic."""
    cdef InputView view = InputView(data)
    cdef int64_t start = integer_of(at, "at", 0, view.size)
    cdef rp_cursor c = rp_cursor_of(view.data + start, <size_t>(view.size - start))
    cdef int64_t base = rp_read_be64(&c)
    cdef int32_t size = rp_read_be32(&c)
    cdef const uint8_t* rest = rp_read_bytes(&c, RP_ENTRY_PREFIX - RP_LOG_OVERHEAD)
    return None if rest == NULL else (base, size, <int8_t>rest[RP_MAGIC_OFFSET - RP_LOG_OVERHEAD])


def moved_header(BatchHeader header, position, base_offset):
    """Return a copy of the header at another position, with another base offset."""
    cdef BatchHeader moved = header_of(&header._header)
    moved._header.position = position
    moved._header.base_offset = base_offset
    return moved


def with_producer(batch, int64_t producer_id, int16_t producer_epoch, int32_t base_sequence, bint is_transactional):
    """Return a copy of a whole v2 batch with these fields and its new checksum."""
    cdef InputView view = InputView(batch)
    cdef rp_batch header = (<BatchHeader>read_header(batch))._header
    header.producer_id, header.producer_epoch, header.base_sequence = producer_id, producer_epoch, base_sequence
    header.attributes = header.attributes & ~RP_TRANSACTIONAL | is_transactional * RP_TRANSACTIONAL
    changed = PyBytes_FromStringAndSize(<const char*>view.data, view.size)
    cdef uint8_t* start = <uint8_t*>PyBytes_AS_STRING(changed)
    rp_batch_write(start, &header)
    rp_store_be32(start + RP_CRC_OFFSET,
                  crc32c_update(0, start + RP_ATTRIBUTES_OFFSET, <size_t>view.size - RP_ATTRIBUTES_OFFSET))
    return changed
