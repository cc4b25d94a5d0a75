"""include/kpress/pool.h. Its state is static: kpress/_buffers.pyx alone may cimport this."""


cdef extern from "kpress/pool.h" nogil:
    void kp_pool_init()
    void* kp_pool_take(size_t* size)
    void kp_pool_give(void* p, size_t size)
    size_t kp_pool_release()
    void kp_pool_bytes(size_t* in_use, size_t* kept)
