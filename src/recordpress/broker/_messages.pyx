"""Messages of magic 0 and 1 as brokers before 0.11 find them: see the .pxd."""

from libc.stdint cimport uint64_t

from recordpress.broker._error_codes cimport CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR
from recordpress.checksum cimport crc32_update

from recordpress.broker import _old_streams
from recordpress.broker._old_streams import Refused, decompressed, too_large

cdef enum:
    LEAST_MESSAGE = 14  # crc, magic, attributes, and the lengths of key and value
    MOST_NESTED = 32    # wrappers that 0.8.2 opens in one another


cdef int refuse(int code, str reason) except -1:
    raise Refused(code, reason)


# --- one message -----------------------------------------------------------------------------------------------------

cdef int64_t key_size_at(const message* m, int generation) noexcept:
    return BODY_AT + (TIMESTAMP_SIZE if generation >= V0_10_0 and magic_of(m) > 0 else 0)


cdef bint is_append_time(const message* m) noexcept:
    """Return the timestamp type: that of the wrapper, if its format has one."""
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


cdef bint is_valid(const message* m) noexcept:
    return crc32_update(0, m.data + MAGIC_AT, <size_t>(m.size - MAGIC_AT)) == rp_load_be32(m.data)


cdef bint next_message(const uint8_t* data, int64_t size, int64_t* position, message* m) except -1:
    """Read the next message; one that is too small is an error."""
    cdef const uint8_t* entry = data + position[0]
    cdef int64_t left = size - position[0]
    if left < ENTRY_OVERHEAD:
        return False
    m.size = <int32_t>rp_load_be32(entry + 8)
    if m.size < LEAST_MESSAGE:
        refuse(CORRUPT_MESSAGE, "ENTRY_SIZE")
    if m.size > left - ENTRY_OVERHEAD:
        return False
    m.position, m.offset = position[0], <int64_t>rp_load_be64(entry)
    m.data, m.wrapper = entry + ENTRY_OVERHEAD, NULL
    position[0] += ENTRY_OVERHEAD + m.size
    return True


cdef bytes unwrapped(const message* wrapper, int generation):
    """Return the set that is compressed in a message."""
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
    """See the .pxd."""

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
        """Return the content of a wrapper. Wrappers may nest a thousand in a thousand, so all bytes are counted."""
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
        if self.generation == V0_8_2:  # deep again: nested compression is decompressed twice
            return self.walk(data, len(block), depth + 1)
        if self.generation == V0_9:
            return self.take_all(block, wrapper, 0)
        m.data = NULL
        while next_message(data, len(block), &position, &m):
            if magic_of(&m) != magic_of(wrapper):
                refuse(UNKNOWN_SERVER_ERROR if self.generation == V0_10_0 else CORRUPT_MESSAGE, "RECORD_MAGIC")
            base = m.offset
        if m.data == NULL:
            if self.generation == V0_10_2:  # DeepRecordsIterator requests the last one
                refuse(UNKNOWN_SERVER_ERROR, "WRAPPER")
            return 0
        base = <int64_t>(<uint64_t>wrapper.offset - <uint64_t>base) if magic_of(wrapper) > 0 else 0
        if self.generation == V0_10_2 and base < 0:
            base = 0
        return self.take_all(block, wrapper, base)

    cdef int take_all(self, bytes block, const message* wrapper, int64_t base) except -1:
        """Take the messages of a wrapper; omit a truncated one at the end."""
        cdef const uint8_t* data = block
        cdef message m
        cdef int64_t position = 0
        while next_message(data, len(block), &position, &m):
            m.offset = <int64_t>(<uint64_t>base + <uint64_t>m.offset)
            m.wrapper = wrapper
            self.take(&m)
        return 0


# --- what the facade asks --------------------------------------------------------------------------------------------

def analyze(bytes data not None, int64_t max_message_bytes):
    """Log.analyzeAndValidateMessageSet: bytes of complete entries, and the codec of the last one that is compressed."""
    cdef message m
    cdef int64_t position = 0
    cdef int source_codec = 0
    while next_message(data, len(data), &position, &m):
        if ENTRY_OVERHEAD + m.size > max_message_bytes:
            refuse(10, "BATCH_TOO_LARGE")
        if not is_valid(&m):
            refuse(CORRUPT_MESSAGE, "CHECKSUM")
        if codec_of(&m) > LAST_CODEC:
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
