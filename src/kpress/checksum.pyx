"""CRC-32C (record batches v2) and CRC-32 (messages v0 and v1): compute, combine, patch."""

from cpython.buffer cimport Py_buffer, PyBuffer_Release
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.long cimport PyLong_AsUnsignedLongLong

from kpress._buffers cimport acquire
from kpress._c.crc32c cimport (
    KP_CRC32C_PATHS,
    kp_crc32c,
    kp_crc32c_active,
    kp_crc32c_combine,
    kp_crc32c_patch,
    kp_crc32c_path,
    kp_crc32c_paths,
    kp_crc_shift,
    kp_crc_shift_init,
    kp_crc_shifted,
)
from kpress._c.libdeflate cimport libdeflate_crc32

from kpress.errors import ArgumentTypeError, InvalidArgumentError

ctypedef uint32_t (*update_function)(uint32_t, const uint8_t*, size_t) noexcept nogil
ctypedef uint32_t (*combine_function)(uint32_t, uint32_t, uint64_t) noexcept nogil
ctypedef uint32_t (*patch_function)(uint32_t, const uint8_t*, const uint8_t*, size_t, uint64_t) noexcept nogil

# From this size on the GIL is released: about a microsecond of work, many times what releasing costs.
cdef enum:
    RELEASE_GIL = 1 << 15

# CRC-32 of RFC 1952: its polynomial is primitive, so x has the order 2^32 - 1.
cdef kp_crc_shift crc32_shift
kp_crc_shift_init(&crc32_shift, 0xEDB88320, 0xFFFFFFFF)


cdef uint32_t crc32c_update(uint32_t crc, const uint8_t* p, size_t n) noexcept nogil:
    return kp_crc32c(crc, p, n)


cdef uint32_t crc32_update(uint32_t crc, const uint8_t* p, size_t n) noexcept nogil:
    return libdeflate_crc32(crc, p, n) if n else crc  # to libdeflate, NULL means start anew


cdef uint32_t crc32c_combined(uint32_t a, uint32_t b, uint64_t size_b) noexcept nogil:
    return kp_crc32c_combine(a, b, size_b)


cdef uint32_t crc32_combined(uint32_t a, uint32_t b, uint64_t size_b) noexcept nogil:
    return kp_crc_shifted(&crc32_shift, a, size_b) ^ b


cdef uint32_t crc32c_patched(uint32_t crc, const uint8_t* old, const uint8_t* new, size_t size,
                             uint64_t distance) noexcept nogil:
    return kp_crc32c_patch(crc, old, new, size, distance)


cdef uint32_t crc32_patched(uint32_t crc, const uint8_t* old, const uint8_t* new, size_t size,
                            uint64_t distance) noexcept nogil:
    return crc32_combined(crc32_update(0, old, size) ^ crc32_update(0, new, size), crc, distance)
