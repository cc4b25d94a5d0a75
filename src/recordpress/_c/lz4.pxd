"""liblz4: single blocks (lz4.h, lz4hc.h). The frame around them is recordpress/codecs/_lz4.pyx."""

cdef extern from "lz4.h" nogil:
    const char* LZ4_versionString()
    int LZ4_compressBound(int size)
    int LZ4_sizeofState()
    int LZ4_compress_fast_extState(void* state, const char* src, char* dst, int size, int capacity, int acceleration)
    int LZ4_decompress_safe(const char* src, char* dst, int size, int capacity)


cdef extern from "lz4hc.h" nogil:
    int LZ4_sizeofStateHC()
    int LZ4_compress_HC_extStateHC(void* state, const char* src, char* dst, int size, int capacity, int level)
