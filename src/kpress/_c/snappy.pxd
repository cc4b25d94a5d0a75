"""libsnappy's C interface (snappy-c.h)."""

cdef extern from "snappy-c.h" nogil:
    ctypedef enum snappy_status:
        SNAPPY_OK
        SNAPPY_INVALID_INPUT
        SNAPPY_BUFFER_TOO_SMALL
    snappy_status snappy_compress(const char* src, size_t size, char* dst, size_t* produced)
    size_t snappy_max_compressed_length(size_t size)
