"""POSIX threads: the lock around shared state, and threads that run only C."""

cdef extern from "pthread.h" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    int pthread_mutex_init(pthread_mutex_t*, const void* attributes)
    int pthread_mutex_lock(pthread_mutex_t*)
    int pthread_mutex_unlock(pthread_mutex_t*)
    int pthread_atfork(void (*prepare)() noexcept, void (*parent)() noexcept, void (*child)() noexcept)
    int pthread_mutex_destroy(pthread_mutex_t*)
    ctypedef struct pthread_cond_t:
        pass
    int pthread_cond_init(pthread_cond_t*, const void* attributes)
    int pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*)
    int pthread_cond_signal(pthread_cond_t*)
    int pthread_cond_broadcast(pthread_cond_t*)
    int pthread_cond_destroy(pthread_cond_t*)
    ctypedef struct pthread_t:
        pass
    pthread_t pthread_self()
    bint pthread_equal(pthread_t, pthread_t)
    int pthread_join(pthread_t, void** result)
    int pthread_detach(pthread_t)


cdef extern from "recordpress/threads.h" nogil:
    int rp_thread_start(pthread_t*, void* (*run)(void*) noexcept, void* argument)
    void rp_condition_wait(pthread_cond_t*, pthread_mutex_t*, int ms)
