"""include/kpress/pool.h. Its state is static: kpress/_buffers.pyx alone may cimport this."""


cdef extern from "kpress/pool.h" nogil:
    void kp_pool_init()
    void* kp_pool_take(size_t* size)
    void kp_pool_give(void* p, size_t size)
    size_t kp_pool_release()
    size_t kp_pool_kept "kp_pool.kept"
    size_t kp_pool_in_use "kp_pool.in_use"
