"""include/recordpress/pool.h. Its state is static: recordpress/_buffers.pyx alone may cimport this."""


cdef extern from "recordpress/pool.h" nogil:
    void rp_pool_init()
    void* rp_pool_take(size_t* size)
    void rp_pool_give(void* p, size_t size)
    size_t rp_pool_release()
    void rp_pool_bytes(size_t* in_use, size_t* kept)
