"""include/recordpress/crc32c.h and crc_shift.h. Tables are static: only recordpress/checksum.pyx may cimport this."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef extern from "recordpress/crc_shift.h" nogil:
    ctypedef struct rp_crc_shift:
        pass
    void rp_crc_shift_init(rp_crc_shift*, uint32_t poly, uint32_t order)
    uint32_t rp_crc_shifted(const rp_crc_shift*, uint32_t crc, uint64_t n)


cdef extern from "recordpress/crc32c.h" nogil:
    ctypedef struct rp_crc32c_path:
        const char* name
        bint (*supported)() noexcept
        uint32_t (*update)(uint32_t crc, const uint8_t* p, size_t n) noexcept
        uint32_t (*shifted)(uint32_t crc, uint64_t n) noexcept
    const rp_crc32c_path rp_crc32c_paths[]
    const rp_crc32c_path* rp_crc32c_active
    enum:
        RP_CRC32C_PATHS
    uint32_t rp_crc32c(uint32_t crc, const uint8_t* p, size_t n)
    uint32_t rp_crc32c_combine(uint32_t a, uint32_t b, uint64_t n)
    uint32_t rp_crc32c_patch(uint32_t crc, const uint8_t* old, const uint8_t* new, size_t n, uint64_t distance)
