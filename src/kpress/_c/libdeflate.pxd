"""libdeflate: gzip members whole, and CRC-32."""

from libc.stdint cimport uint32_t


cdef extern from "libdeflate.h" nogil:
    uint32_t libdeflate_crc32(uint32_t crc, const void* buffer, size_t len)
