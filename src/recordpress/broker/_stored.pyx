"""Stored form of a set that stays as it was sent: see the .pxd.

A broker changes headers where they lie in its request buffer. The sender's bytes are not ours to change, and copying
them costs as much as checking them. So where nobody else can change them either (Python's bytes), the new header is
kept next to them, and both are joined when somebody requests the set.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport INT32_MAX, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from recordpress._c.wire cimport (
    RP_ATTRIBUTES_OFFSET, RP_BATCH_HEADER, RP_LOG_OVERHEAD, RP_MIN_ENTRY_SIZE, RP_OK, RP_PARTITION_LEADER_EPOCH_OFFSET,
    rp_batch, rp_batch_next, rp_batch_read, rp_error, rp_store_be32, rp_store_be64,
)
from recordpress.record.header cimport header_of
from recordpress.broker._check cimport NO_TIMESTAMP
from recordpress.record.in_place cimport set_max_timestamp


cdef class StoredSet:
    """A record set as the log has it."""

    cdef bytes joined(self):
        cdef bytes records = PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.sent) + self.start, self.size)
        memcpy(PyBytes_AS_STRING(records), self.changed, <size_t>self.changed_size)
        return records

    @property
    @cython.critical_section
    def records(self):
        if self.whole is None and self.sent is not None:
            self.whole, self.sent = self.joined(), None
        return self.whole


# --- headers ---------------------------------------------------------------------------------------------------------

cdef void store_entry(const validator* v, uint8_t* entry, const rp_batch* b, int64_t last_offset,
                      int64_t max_timestamp) noexcept nogil:
    rp_store_be64(entry, <uint64_t>last_offset - <uint64_t><int64_t>b.last_offset_delta)
    if v.target_magic == 2 and b.magic == 2:
        rp_store_be32(entry + RP_PARTITION_LEADER_EPOCH_OFFSET, <uint32_t>v.leader_epoch)
    if v.target_magic > 0 and b.magic > 0:
        set_max_timestamp(entry, b, v.log_append_time, v.now_ms if v.log_append_time else max_timestamp)


cdef bint differ(const uint8_t* sent, const uint8_t* stored, int magic) noexcept nogil:
    """Return whether headers differ in more than offset and leader epoch; the first fields of a message are in the
    bytes that every entry has."""
    if magic == 2:
        return memcmp(sent + RP_ATTRIBUTES_OFFSET, stored + RP_ATTRIBUTES_OFFSET,
                      RP_BATCH_HEADER - RP_ATTRIBUTES_OFFSET) != 0
    return memcmp(sent + RP_LOG_OVERHEAD, stored + RP_LOG_OVERHEAD, RP_MIN_ENTRY_SIZE) != 0


cdef int64_t store_all(const validator* v, uint8_t* out, bint* rewritten) noexcept nogil:
    """Store the headers of messages, each an entry; return the next offset."""
    cdef int64_t position = 0, offset = v.start_offset
    cdef rp_batch b
    cdef rp_error ignored
    while rp_batch_next(v.data, v.size, position, INT32_MAX, &b, &ignored) == RP_OK:
        store_entry(v, out + position, &b, offset, max(b.max_timestamp, NO_TIMESTAMP))
        rewritten[0] |= differ(v.data + position, out + position, b.magic)
        offset = <int64_t>(<uint64_t>offset + 1)
        position += b.size
    return offset


# --- sets ------------------------------------------------------------------------------------------------------------

cdef bytes owner(object data, const uint8_t* at, int64_t size):
    """Return the bytes object in which `data` lies; None if its memory is anybody's."""
    whole = data.obj if isinstance(data, memoryview) else data
    if not PyBytes_CheckExact(whole):
        return None
    cdef int64_t before = at - <const uint8_t*>PyBytes_AS_STRING(whole)
    return whole if 0 <= before <= PyBytes_GET_SIZE(whole) - size else None


cdef int begin(StoredSet stored, const uint8_t* entry, int64_t size) except -1:
    cdef rp_batch b
    cdef rp_error ignored
    if size > 0 and rp_batch_read(entry, size, 0, &b, &ignored) == RP_OK:
        stored.header = header_of(&b)
    return 0


cdef StoredSet keep(validator* v, object data, bint one):
    cdef StoredSet stored = StoredSet.__new__(StoredSet)
    cdef bytes sent = owner(data, v.data, v.size) if one else None
    cdef uint8_t* out
    stored.size = v.size
    stored.changed_size = min(v.first.size, <int64_t>RP_BATCH_HEADER)
    v.next_offset = <int64_t>(<uint64_t>v.start_offset + <uint64_t>v.records)
    if one:
        memcpy(stored.changed, v.data, <size_t>stored.changed_size)
        store_entry(v, stored.changed, &v.first, <int64_t>(<uint64_t>v.next_offset - 1), v.max_timestamp)
        stored.rewritten = differ(v.data, stored.changed, v.first.magic)
        begin(stored, stored.changed, v.first.size)
    if sent is not None:
        stored.sent, stored.start = sent, v.data - <const uint8_t*>PyBytes_AS_STRING(sent)
        return stored
    stored.whole = PyBytes_FromStringAndSize(<const char*>v.data, v.size)
    out = <uint8_t*>PyBytes_AS_STRING(stored.whole)
    if one:
        memcpy(out, stored.changed, <size_t>stored.changed_size)
    else:
        with nogil:
            store_all(v, out, &stored.rewritten)
        begin(stored, out, v.first.size)
    return stored


cdef StoredSet written(bytes records):
    cdef StoredSet stored = StoredSet.__new__(StoredSet)
    cdef const uint8_t* data = <const uint8_t*>PyBytes_AS_STRING(records)
    cdef rp_batch b
    cdef rp_error ignored
    stored.whole, stored.size = records, len(records)
    if stored.size and rp_batch_next(data, stored.size, 0, INT32_MAX, &b, &ignored) == RP_OK:
        stored.header = header_of(&b)
    return stored
