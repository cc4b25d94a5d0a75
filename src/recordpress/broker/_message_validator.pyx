"""Message sets as brokers before 0.11 store or reject them.

    0.8.2, 0.9         kafka.message.ByteBufferMessageSet: magic is ignored, LZ4 headers have the broken checksum
    0.10.0, 0.10.1     the same class with two formats: KIP-31, KIP-32, KIP-57
    0.10.2             kafka.log.LogValidator, org.apache.kafka.common.record.Record

    entry              offset 8 | size 4 | message; size counts the message
    message            crc 4 | magic 1 | attributes 1 | [timestamp 8] | key | value; the timestamp is in magic 1
    key, value         length 4 | bytes; a length of -1 stands for null

These brokers copy messages as bytes, where later brokers parse records, and have no record errors. This module follows
the code of each release, including its faults: -1 stands for exceptions without an error code.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcmp, memcpy, memset

from recordpress._buffers cimport pooled, pooled_free, pooled_reserve_more
from recordpress._c.wire cimport (
    RP_CODEC_MASK, RP_LOG_APPEND_TIME, RP_LOG_OVERHEAD, rp_error, rp_load_be32, rp_load_be64, rp_store_be32,
    rp_store_be64,
)
from recordpress._status cimport check
from recordpress.broker._check cimport CODEC_DIFFERS, MAGIC_CONVERSION, NON_SEQUENTIAL_INNER_OFFSETS, TARGET_V0
from recordpress.broker._error_codes cimport CORRUPT_MESSAGE, INVALID_TIMESTAMP, UNKNOWN_SERVER_ERROR
from recordpress.checksum cimport crc32_update

from recordpress.broker import _old_streams
from recordpress.broker._old_streams import Refused, compressed, decompressed, too_large

# --- messages of magic 0 and 1 ---------------------------------------------------------------------------------------

# Only fields that a release reads are read. In a broker, a field outside its message raises an exception without an
# error code, so the answer is -1. Every error is raised as Refused.

cdef enum:
    # the code that accepts sets, by the release that introduced it: MessageSets
    V0_8_2 = 0
    V0_9 = 1
    V0_10_0 = 2
    V0_10_1 = 3
    V0_10_2 = 4

    ENTRY_OVERHEAD = RP_LOG_OVERHEAD
    # in a message: crc, magic, attributes, and the body, which begins with the timestamp or the key's length
    MAGIC_AT = 4
    ATTRIBUTES_AT = 5
    BODY_AT = 6
    TIMESTAMP_SIZE = 8
    CODEC_MASK = RP_CODEC_MASK
    APPEND_TIME = RP_LOG_APPEND_TIME
    LAST_CODEC = 3
    NO_TIMESTAMP = -1


ctypedef struct message:
    int64_t position         # of its entry
    int64_t offset
    const uint8_t* data      # after the entry's offset and size
    int64_t size
    const message* wrapper   # the wrapper of the message, or NULL


cdef inline int magic_of(const message* m) noexcept:
    return m.data[MAGIC_AT]


cdef inline int codec_of(const message* m) noexcept nogil:
    return m.data[ATTRIBUTES_AT] & CODEC_MASK


# ByteBuffer.getInt in a message
cdef inline int64_t int_at(const message* m, int64_t at) except? -9223372036854775807:
    if at + 4 > m.size:
        refuse(UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
    return <int32_t>rp_load_be32(m.data + at)


# next_message() has refused messages that are too short for it.
cdef inline int64_t body_time(const message* m) noexcept:
    return <int64_t>rp_load_be64(m.data + BODY_AT)


cdef enum:
    LEAST_MESSAGE = 14  # crc, magic, attributes, and the lengths of key and value
    MOST_NESTED = 32    # maximum nesting of wrappers that 0.8.2 opens


cdef int refuse(int code, str reason) except -1:
    raise Refused(code, reason)


# --- one message -----------------------------------------------------------------------------------------------------

cdef int64_t key_size_at(const message* m, int generation) noexcept:
    return BODY_AT + (TIMESTAMP_SIZE if generation >= V0_10_0 and magic_of(m) > 0 else 0)


cdef bint is_append_time(const message* m) noexcept:
    """Return whether the timestamp type is LogAppendTime: the wrapper's type counts, if its format has a type."""
    if magic_of(m) == 0:
        return False
    if m.wrapper != NULL and magic_of(m.wrapper) > 0:
        m = m.wrapper
    return m.data[ATTRIBUTES_AT] & APPEND_TIME


cdef int64_t timestamp_of(const message* m) noexcept:
    if magic_of(m) == 0:
        return NO_TIMESTAMP
    if m.wrapper != NULL and magic_of(m.wrapper) > 0 and is_append_time(m):
        m = m.wrapper
    return body_time(m)


cdef bint is_valid(const message* m) noexcept nogil:  # next_message() ensures 14 bytes
    return crc32_update(0, m.data + MAGIC_AT, <size_t>(m.size - MAGIC_AT)) == rp_load_be32(m.data)


cdef bint next_message(const uint8_t* data, int64_t size, int64_t* position, message* m) except -1 nogil:
    """Read the complete entry at `position`, and move `position` to the next; return False at the end or at a truncated
    entry. Reject an entry that is too small."""
    cdef const uint8_t* entry = data + position[0]
    cdef int64_t left = size - position[0]
    if left < ENTRY_OVERHEAD:
        return False
    m.size = <int32_t>rp_load_be32(entry + 8)  # within the 12 remaining bytes
    if m.size < LEAST_MESSAGE:
        with gil:
            refuse(CORRUPT_MESSAGE, "ENTRY_SIZE")
    if m.size > left - ENTRY_OVERHEAD:
        return False
    m.position, m.offset = position[0], <int64_t>rp_load_be64(entry)
    m.data, m.wrapper = entry + ENTRY_OVERHEAD, NULL
    position[0] += ENTRY_OVERHEAD + m.size
    return True


cdef bytes unwrapped(const message* wrapper, int generation):
    """Return the set that is compressed in a wrapper."""
    cdef int64_t at = key_size_at(wrapper, generation), size
    at += 4 + max(0, int_at(wrapper, at))
    size = int_at(wrapper, at)
    if size < 0:
        refuse(UNKNOWN_SERVER_ERROR, "WRAPPER")
    if at + 4 + size > wrapper.size:
        refuse(UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
    return decompressed(wrapper.data[at + 4:at + 4 + size], codec_of(wrapper), magic_of(wrapper), generation)


# --- all of them -----------------------------------------------------------------------------------------------------

cdef class DeepIterator:
    """Iterator over messages, including the messages in wrappers."""

    cdef int generation
    cdef int64_t unwrapped   # bytes found in wrappers so far

    cdef int take(self, const message* m) except -1:
        return 0

    cdef int walk(self, const uint8_t* data, int64_t size, int depth=0) except -1:
        cdef message m
        cdef int64_t position = 0
        while next_message(data, size, &position, &m):
            if codec_of(&m):
                self.walk_wrapper(&m, depth)
            else:
                self.take(&m)
        return 0

    cdef bytes open_wrapper(self, const message* wrapper):
        """Return the content of a wrapper. A wrapper may hold a thousand wrappers, so all bytes are counted."""
        cdef bytes block = unwrapped(wrapper, self.generation)
        self.unwrapped += len(block)
        if self.unwrapped > <int64_t>_old_streams.DEFAULT_MAX_SIZE:
            raise too_large("in the wrappers of a set")
        return block

    cdef int walk_wrapper(self, const message* wrapper, int depth) except -1:
        cdef bytes block
        cdef const uint8_t* data
        cdef message m
        cdef int64_t position = 0, base = 0
        if self.generation == V0_8_2 and depth == MOST_NESTED:
            refuse(UNKNOWN_SERVER_ERROR, "NESTED_COMPRESSION")
        block = self.open_wrapper(wrapper)
        data = block
        if self.generation == V0_8_2:  # the content is walked deeply, too: nested compression is decompressed twice
            return self.walk(data, len(block), depth + 1)
        if self.generation == V0_9:
            return self.take_all(block, wrapper, 0)
        m.data = NULL
        while next_message(data, len(block), &position, &m):
            if magic_of(&m) != magic_of(wrapper):
                refuse(UNKNOWN_SERVER_ERROR if self.generation == V0_10_0 else CORRUPT_MESSAGE, "RECORD_MAGIC")
            base = m.offset
        if m.data == NULL:
            if self.generation == V0_10_2:  # DeepRecordsIterator requests the last message
                refuse(UNKNOWN_SERVER_ERROR, "WRAPPER")
            return 0
        base = <int64_t>(<uint64_t>wrapper.offset - <uint64_t>base) if magic_of(wrapper) > 0 else 0
        if self.generation == V0_10_2 and base < 0:
            base = 0
        return self.take_all(block, wrapper, base)

    cdef int take_all(self, bytes block, const message* wrapper, int64_t base) except -1:
        """Take the messages of a wrapper, except a truncated message at the end."""
        cdef const uint8_t* data = block
        cdef message m
        cdef int64_t position = 0
        while next_message(data, len(block), &position, &m):
            m.offset = <int64_t>(<uint64_t>base + <uint64_t>m.offset)
            m.wrapper = wrapper
            self.take(&m)
        return 0


# --- analysis and entries --------------------------------------------------------------------------------------------

def analyze(bytes data not None, int64_t max_message_bytes):
    """Return the size of complete entries, and the last codec in them (Log.analyzeAndValidateMessageSet)."""
    cdef const uint8_t* entries = data
    cdef message m
    cdef int64_t position = 0, size = len(data)
    cdef int source_codec = 0
    with nogil:  # the checksums of a whole request
        while next_message(entries, size, &position, &m):
            if ENTRY_OVERHEAD + m.size > max_message_bytes:
                with gil:
                    refuse(10, "BATCH_TOO_LARGE")
            if not is_valid(&m):
                with gil:
                    refuse(CORRUPT_MESSAGE, "CHECKSUM")
            if codec_of(&m) > LAST_CODEC:
                with gil:
                    refuse(UNKNOWN_SERVER_ERROR, "UNKNOWN_CODEC")
            source_codec = codec_of(&m) or source_codec
    return position, source_codec


def largest_entry(bytes records not None):
    """Return the size of the largest entry in bytes."""
    cdef message m
    cdef int64_t position = 0, largest = 0
    while next_message(records, len(records), &position, &m):
        largest = max(largest, ENTRY_OVERHEAD + m.size)
    return largest


cdef enum:
    # how a kept set differs from the sent set; _message_sets uses these values
    OFFSETS = 0
    HEADERS = 1
    CONTENT = 2


cdef class StoredMessages:
    """Result of validating a message set."""

    cdef readonly bytes records
    cdef readonly int64_t count
    cdef readonly int reasons
    cdef readonly bint is_rebuilt


cdef class MessageValidator(DeepIterator):
    """Validator of one set. `take` is for sets that may be rebuilt."""

    cdef bytes data
    cdef const uint8_t* at
    cdef int64_t size
    cdef int source_codec, target_codec, target_magic
    cdef bint compacted, log_append_time
    cdef int64_t before_max_ms, next_offset, now_ms
    cdef int reasons
    cdef bint in_place, sound   # true of all messages
    cdef int64_t count, newest
    cdef pooled out

    def __dealloc__(self):
        pooled_free(&self.out)

    cdef StoredMessages run(self):
        if self.source_codec or self.target_codec:
            return self.rebuilt_or_kept()
        if self.generation <= V0_9:
            return self.with_offsets()
        return self.with_times() if self.all_match() else self.converted()

    cdef bint all_match(self) except -1:
        cdef message m
        cdef int64_t position = 0
        while next_message(self.at, self.size, &position, &m):
            if magic_of(&m) != self.target_magic:
                return False
        return True

    # -- checks

    cdef int check_key(self, const message* m) except -1:
        """Check the key for a compacted topic; 0.8.2 does not check it here."""
        cdef int64_t size
        if not self.compacted or self.generation == V0_8_2:
            return 0
        size = int_at(m, key_size_at(m, self.generation))
        return refuse(CORRUPT_MESSAGE, "NULL_KEY") if size < 0 else 0

    cdef int check_timestamp(self, const message* m) except -1:
        """Check a timestamp: -1 is compared like any other timestamp, and differences wrap as in Java."""
        cdef int64_t distance = <int64_t>(<uint64_t>timestamp_of(m) - <uint64_t>self.now_ms)
        if distance < 0 and distance != INT64_MIN:
            distance = -distance
        if not self.log_append_time and distance > self.before_max_ms:
            refuse(INVALID_TIMESTAMP, "TIMESTAMP_RANGE")
        if is_append_time(m):
            refuse(INVALID_TIMESTAMP, "LOG_APPEND_TIME_BY_CLIENT")
        return 0

    cdef int check_not_nested(self, const message* m) except -1:
        if not self.source_codec or not codec_of(m):
            return 0
        if codec_of(m) > LAST_CODEC:
            return refuse(UNKNOWN_SERVER_ERROR, "UNKNOWN_CODEC")
        return refuse(CORRUPT_MESSAGE, "NESTED_COMPRESSION")

    # -- in place

    cdef StoredMessages kept(self, bytes records, int64_t count):
        cdef StoredMessages stored = StoredMessages.__new__(StoredMessages)
        stored.records, stored.count = records, count
        return stored

    cdef StoredMessages with_offsets(self):
        """Return the messages with their offsets; an empty key counts as missing here: \"keySize <= 0\"."""
        cdef bytes records = self.copied()
        cdef uint8_t* out = <uint8_t*>PyBytes_AS_STRING(records)
        cdef message m
        cdef int64_t position = 0, count = 0
        cdef bint needs_keys = self.compacted and self.generation > V0_8_2
        while next_message(self.at, self.size, &position, &m):
            if needs_keys and m.position + ENTRY_OVERHEAD + BODY_AT + 4 < self.size and int_at(&m, BODY_AT) <= 0:
                refuse(CORRUPT_MESSAGE, "NULL_KEY")
            rp_store_be64(out + m.position, <uint64_t>(self.next_offset + count))
            count += 1
        return self.kept(records, count)

    cdef StoredMessages with_times(self):
        cdef bytes records = self.copied()
        cdef uint8_t* out = <uint8_t*>PyBytes_AS_STRING(records)
        cdef message m
        cdef int64_t position = 0, count = 0
        while next_message(self.at, self.size, &position, &m):
            self.check_key(&m)
            rp_store_be64(out + m.position, <uint64_t>(self.next_offset + count))
            count += 1
            if magic_of(&m) > 0:
                self.check_timestamp(&m)
                if self.log_append_time:
                    put_timestamp(out + m.position, ENTRY_OVERHEAD + m.size, self.now_ms, True)
        return self.kept(records, count)

    cdef StoredMessages wrapper_kept(self):
        """Return the kept wrapper; the first entry stands for the whole set."""
        cdef bytes records
        cdef uint8_t* out
        cdef message first
        cdef int64_t position = 0, whole = self.size
        if not self.sound:
            refuse(CORRUPT_MESSAGE, "INNER_CHECKSUM")
        records = self.copied()
        out = <uint8_t*>PyBytes_AS_STRING(records)
        next_message(self.at, self.size, &position, &first)
        rp_store_be64(out, <uint64_t>(self.next_offset + self.count - 1))
        if self.generation == V0_10_2:
            whole = ENTRY_OVERHEAD + first.size
        if self.log_append_time:
            put_timestamp(out, whole, self.now_ms, True)
        elif self.generation == V0_10_0:  # it does not write the newest timestamp that it finds
            put_timestamp(out, whole, body_time(&first), False)
        elif body_time(&first) != self.newest or first.data[ATTRIBUTES_AT] & APPEND_TIME:
            put_timestamp(out, whole, self.newest, False)
        return self.kept(records, self.count)

    cdef bytes copied(self):
        return PyBytes_FromStringAndSize(<const char*>self.at, self.size)

    # -- written again

    cdef StoredMessages converted(self):
        cdef message m
        cdef int64_t position = 0
        while next_message(self.at, self.size, &position, &m):
            self.check_key(&m)
            self.check_timestamp(&m)
            self.convert(&m, True)
            self.count += 1
        self.reasons = MAGIC_CONVERSION
        return self.written()

    cdef StoredMessages rebuilt_or_kept(self):
        self.in_place = self.source_codec == self.target_codec and self.target_magic > 0
        if self.source_codec != self.target_codec:
            self.reasons |= CODEC_DIFFERS
        if self.target_magic == 0:
            self.reasons |= TARGET_V0
        self.walk(self.at, self.size)
        if self.in_place:
            return self.wrapper_kept()
        if self.count and self.target_codec:
            self.wrap()
        elif self.count == 0 and self.generation == V0_10_2:
            refuse(UNKNOWN_SERVER_ERROR, "WRAPPER")
        return self.written()

    cdef int take(self, const message* m) except -1:
        self.check_key(m)
        if self.generation <= V0_9:
            self.put(m)
        else:
            self.take_formatted(m)
        self.count += 1
        return 0

    cdef int take_formatted(self, const message* m) except -1:
        """Take a message in a release with two formats."""
        if magic_of(m) > 0 and self.target_magic > 0:
            self.check_timestamp(m)
            if m.offset != self.count:
                self.in_place = False
                self.reasons |= NON_SEQUENTIAL_INNER_OFFSETS
            self.newest = max(self.newest, timestamp_of(m))
        self.check_not_nested(m)
        if magic_of(m) != self.target_magic:
            self.in_place = False
            self.reasons |= MAGIC_CONVERSION
        if self.in_place:
            self.sound &= is_valid(m)
        return self.convert(m, False)

    cdef uint8_t* put_entry(self, int64_t size) except NULL:
        """Reserve room for a message of this size, and write its entry's offset and size."""
        cdef rp_error err
        cdef uint8_t* entry
        cdef bint counts_inside = self.target_codec and self.target_magic > 0
        check(pooled_reserve_more(&self.out, <size_t>(ENTRY_OVERHEAD + size), &err), &err)
        entry = self.out.data + self.out.size
        rp_store_be64(entry, <uint64_t>(self.count if counts_inside else self.next_offset + self.count))
        rp_store_be32(entry + 8, <uint32_t>size)
        self.out.size += <size_t>(ENTRY_OVERHEAD + size)
        return entry + ENTRY_OVERHEAD

    cdef int put(self, const message* m) except -1:
        """Write a message unchanged, checksum included."""
        memcpy(self.put_entry(m.size), m.data, <size_t>m.size)
        return 0

    cdef int convert(self, const message* m, bint is_last_step) except -1:
        """Write a message in the target's format; keep a message that already has it."""
        cdef bint append_time = self.log_append_time and is_last_step
        cdef bint has_format = magic_of(m) == self.target_magic
        if has_format and not is_last_step:
            return self.put(m)
        if magic_of(m) > 1:
            refuse(UNKNOWN_SERVER_ERROR, "UNKNOWN_MAGIC")
        if self.generation == V0_10_2:
            return self.put(m) if has_format else self.write(m, append_time)
        if has_format:
            return self.put_mistaken(m)
        return self.put_other(m, append_time)

    cdef int put_other(self, const message* m, bint append_time) except -1:
        """Write a message with a timestamp added or removed before the same bytes (Message.convertToBuffer)."""
        cdef int64_t after = BODY_AT + (TIMESTAMP_SIZE if magic_of(m) else 0)
        cdef int64_t before = BODY_AT + (0 if magic_of(m) else TIMESTAMP_SIZE)
        cdef uint8_t* out = self.put_entry(before + m.size - after)
        out[MAGIC_AT] = self.target_magic
        out[ATTRIBUTES_AT] = m.data[ATTRIBUTES_AT] & ~APPEND_TIME
        if magic_of(m) == 0:
            out[ATTRIBUTES_AT] |= APPEND_TIME if append_time else 0
            rp_store_be64(out + BODY_AT, <uint64_t>(self.now_ms if append_time else NO_TIMESTAMP))
        memcpy(out + before, m.data + after, <size_t>(m.size - after))
        put_checksum(out, before + m.size - after)
        return 0

    cdef int put_mistaken(self, const message* m) except -1:
        """Write a message that already has the target's format as the broker does by mistake: v1 does not fit, v0 loses
        the first 8 bytes of its body and gets 8 zeros at its end."""
        cdef uint8_t* out
        cdef int64_t lost = BODY_AT + TIMESTAMP_SIZE
        if magic_of(m) or m.size < lost:
            refuse(UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
        out = self.put_entry(m.size)
        out[MAGIC_AT], out[ATTRIBUTES_AT] = 0, m.data[ATTRIBUTES_AT] & ~APPEND_TIME
        memcpy(out + BODY_AT, m.data + lost, <size_t>(m.size - lost))
        memset(out + m.size - TIMESTAMP_SIZE, 0, TIMESTAMP_SIZE)
        put_checksum(out, m.size)
        return 0

    cdef int write(self, const message* m, bint append_time) except -1:
        """Read key and value, and write them in the target's format (Record.convertTo)."""
        cdef int64_t key_at = key_size_at(m, self.generation)
        cdef int64_t key_size = int_at(m, key_at)
        cdef int64_t value_at = key_at + 4 + max(0, key_size)
        cdef int64_t value_size = int_at(m, value_at)
        cdef int64_t end = value_at + 4 + max(0, value_size)
        cdef int64_t time = self.now_ms if append_time else timestamp_of(m)
        cdef int64_t body = BODY_AT + (TIMESTAMP_SIZE if self.target_magic else 0)
        cdef uint8_t* out
        if end > m.size:
            refuse(UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
        if time < NO_TIMESTAMP:
            refuse(UNKNOWN_SERVER_ERROR, "TIMESTAMP_RANGE")
        out = self.put_entry(body + end - key_at)
        out[MAGIC_AT], out[ATTRIBUTES_AT] = self.target_magic, APPEND_TIME if append_time and self.target_magic else 0
        if self.target_magic:
            rp_store_be64(out + BODY_AT, <uint64_t>time)
        memcpy(out + body, m.data + key_at, <size_t>(end - key_at))
        if key_size < 0:  # any negative size is null, and is written as -1
            rp_store_be32(out + body, <uint32_t>-1)
        if value_size < 0:
            rp_store_be32(out + body + value_at - key_at, <uint32_t>-1)
        put_checksum(out, body + end - key_at)
        return 0

    cdef int wrap(self) except -1:
        """Compress the messages written so far into one entry."""
        cdef bytes payload = compressed(self.out.data[:self.out.size], self.target_codec, self.target_magic,
                                        self.generation)
        cdef int64_t body = BODY_AT + (TIMESTAMP_SIZE if self.target_magic else 0)
        cdef int64_t size = body + 8 + len(payload)
        cdef uint8_t* out
        self.out.size = 0
        out = self.put_entry(size)
        rp_store_be64(self.out.data, <uint64_t>(self.next_offset + self.count - 1))
        out[MAGIC_AT], out[ATTRIBUTES_AT] = self.target_magic, self.target_codec
        if self.target_magic:
            out[ATTRIBUTES_AT] |= APPEND_TIME if self.log_append_time else 0
            rp_store_be64(out + BODY_AT, <uint64_t>(self.now_ms if self.log_append_time else self.newest))
        rp_store_be32(out + body, <uint32_t>-1)
        rp_store_be32(out + body + 4, <uint32_t>len(payload))
        memcpy(out + body + 8, PyBytes_AS_STRING(payload), <size_t>len(payload))
        put_checksum(out, size)
        return 0

    cdef StoredMessages written(self):
        cdef StoredMessages stored = self.kept(self.out.data[:self.out.size] if self.count else b"", self.count)
        stored.reasons, stored.is_rebuilt = self.reasons, True
        return stored


cdef void put_checksum(uint8_t* data, int64_t size) noexcept:
    rp_store_be32(data, crc32_update(0, data + MAGIC_AT, <size_t>(size - MAGIC_AT)))


cdef void put_timestamp(uint8_t* entry, int64_t size, int64_t timestamp, bint append_time) noexcept:
    cdef uint8_t* data = entry + ENTRY_OVERHEAD
    data[ATTRIBUTES_AT] = data[ATTRIBUTES_AT] & ~APPEND_TIME | (APPEND_TIME if append_time else 0)
    rp_store_be64(data + BODY_AT, <uint64_t>timestamp)
    put_checksum(data, size - ENTRY_OVERHEAD)


# --- calls -----------------------------------------------------------------------------------------------------------

def validate_messages(bytes data not None, *, int generation, int source_codec, int target_codec, int target_magic,
                      bint compacted, bint log_append_time, int64_t before_max_ms, int64_t next_offset, int64_t now_ms):
    """Return the stored form of a set of complete entries with correct checksums."""
    cdef MessageValidator v = MessageValidator.__new__(MessageValidator)
    v.generation, v.data, v.at, v.size = generation, data, data, len(data)
    v.source_codec, v.target_codec, v.target_magic = source_codec, target_codec, target_magic
    v.compacted, v.log_append_time = compacted, log_append_time
    v.before_max_ms, v.next_offset, v.now_ms = before_max_ms, next_offset, now_ms
    v.sound, v.newest = True, NO_TIMESTAMP
    return v.run()


def compare_messages(bytes sent not None, bytes stored not None):
    """Return how kept entries differ: 0, only in offsets; 1, also in headers; 2, also in key or value."""
    cdef message a, b
    cdef int64_t position = 0, same = 0, head
    cdef int found = OFFSETS
    while next_message(sent, len(sent), &position, &a) and next_message(stored, len(stored), &same, &b):
        if a.size != b.size or magic_of(&a) != magic_of(&b):
            return CONTENT
        head = BODY_AT + (TIMESTAMP_SIZE if magic_of(&a) else 0)
        if memcmp(a.data + head, b.data + head, <size_t>(a.size - head)):
            return CONTENT
        if memcmp(a.data, b.data, <size_t>head):
            found = HEADERS
    return found
