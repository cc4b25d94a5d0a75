"""Checksums for the other modules: this module has the tables and chooses the CPU's path."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

# The checksum of the bytes so far (0 at the start) and n more.
cdef uint32_t crc32c_update(uint32_t crc, const uint8_t* p, size_t n) noexcept nogil
cdef uint32_t crc32_update(uint32_t crc, const uint8_t* p, size_t n) noexcept nogil

# The checksum of A followed by B, from the checksums of A and B, and the size of B.
cdef uint32_t crc32c_combined(uint32_t a, uint32_t b, uint64_t size_b) noexcept nogil
cdef uint32_t crc32_combined(uint32_t a, uint32_t b, uint64_t size_b) noexcept nogil

# The checksum of a message after a field of `size` bytes changed; `distance` bytes lie between its end and
# the message's end. The rest of the message is not read.
cdef uint32_t crc32c_patched(uint32_t crc, const uint8_t* old, const uint8_t* new, size_t size,
                             uint64_t distance) noexcept nogil
cdef uint32_t crc32_patched(uint32_t crc, const uint8_t* old, const uint8_t* new, size_t size,
                            uint64_t distance) noexcept nogil
