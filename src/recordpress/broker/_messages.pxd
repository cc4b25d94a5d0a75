"""Messages of magic 0 and 1 as brokers before 0.11 find them: entries of a set, and what is compressed in them.

Only what a release looks at is looked at. There, a field that lies outside of its message is an exception without an
error code, so -1. All that is wrong is raised as Refused.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from recordpress._c.wire cimport rp_load_be32, rp_load_be64
from recordpress.broker._error_codes cimport UNKNOWN_SERVER_ERROR

cdef enum:
    # the code that takes sets, by the release in which it came: MessageSets
    V0_8_2 = 0
    V0_9 = 1
    V0_10_0 = 2
    V0_10_1 = 3
    V0_10_2 = 4

    ENTRY_OVERHEAD = 12  # offset and size
    # in a message: crc, magic, attributes, and the body, which begins with the timestamp, or the key's length
    MAGIC_AT = 4
    ATTRIBUTES_AT = 5
    BODY_AT = 6
    TIMESTAMP_SIZE = 8
    CODEC_MASK = 0x07
    APPEND_TIME = 0x08
    LAST_CODEC = 3
    NO_TIMESTAMP = -1


ctypedef struct message:
    int64_t position         # of its entry
    int64_t offset
    const uint8_t* data      # after the entry's offset and size
    int64_t size
    const message* wrapper   # that it was in, or NULL


cdef inline int magic_of(const message* m) noexcept:
    return m.data[MAGIC_AT]


cdef inline int codec_of(const message* m) noexcept:
    return m.data[ATTRIBUTES_AT] & CODEC_MASK


cdef int refuse(int code, str reason) except -1

# ByteBuffer.getInt in a message
cdef inline int64_t int_at(const message* m, int64_t at) except? -9223372036854775807:
    if at + 4 > m.size:
        refuse(UNKNOWN_SERVER_ERROR, "RECORD_STRUCTURE")
    return <int32_t>rp_load_be32(m.data + at)


# Every message is as long as this one needs.
cdef inline int64_t body_time(const message* m) noexcept:
    return <int64_t>rp_load_be64(m.data + BODY_AT)


cdef int64_t key_size_at(const message* m, int generation) noexcept
cdef bint is_append_time(const message* m) noexcept
cdef int64_t timestamp_of(const message* m) noexcept
cdef bint is_valid(const message* m) noexcept

# The complete entry at `position`, which continues to the next; False at the end, or at a truncated one.
cdef bint next_message(const uint8_t* data, int64_t size, int64_t* position, message* m) except -1


cdef class DeepIterator:
    """Gives each message of a set to `take`, those in wrappers with the offset that they have outside."""

    cdef int generation
    cdef int64_t unwrapped   # bytes that were in wrappers, so far

    cdef int take(self, const message* m) except -1
    cdef int walk(self, const uint8_t* data, int64_t size, int depth=*) except -1
    cdef int walk_wrapper(self, const message* wrapper, int depth) except -1
    cdef bytes open_wrapper(self, const message* wrapper)
    cdef int take_all(self, bytes block, const message* wrapper, int64_t base) except -1
