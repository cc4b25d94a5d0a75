"""libdeflate: raw deflate, and CRC-32."""

from libc.stdint cimport uint32_t


cdef extern from "libdeflate.h" nogil:
    const char* LIBDEFLATE_VERSION_STRING
    struct libdeflate_compressor:
        pass
    struct libdeflate_decompressor:
        pass
    enum libdeflate_result:
        LIBDEFLATE_SUCCESS
        LIBDEFLATE_INSUFFICIENT_SPACE
    libdeflate_compressor* libdeflate_alloc_compressor(int level)
    size_t libdeflate_deflate_compress(libdeflate_compressor*, const void* src, size_t size, void* dst, size_t capacity)
    size_t libdeflate_deflate_compress_bound(libdeflate_compressor*, size_t size)
    void libdeflate_free_compressor(libdeflate_compressor*)
    libdeflate_decompressor* libdeflate_alloc_decompressor()
    libdeflate_result libdeflate_deflate_decompress_ex(libdeflate_decompressor*, const void* src, size_t size,
                                                       void* dst, size_t capacity, size_t* consumed, size_t* produced)
    void libdeflate_free_decompressor(libdeflate_decompressor*)
    uint32_t libdeflate_crc32(uint32_t crc, const void* data, size_t size)
