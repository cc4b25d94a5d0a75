"""The threads of a call: tasks run in order, and a thread that waits for a task runs others.

These are C threads, not Python's: no signal handler runs in them, or between their start and the record of it, and an
interpreter that shuts down need not end them first. Until a task has been waited for, it holds a reference to the owner
of its data, so that neither an exception nor the garbage collector frees the data while the task runs.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdlib cimport calloc, free
from posix.unistd cimport getpid

from recordpress._c.threads cimport (
    rp_condition_wait, rp_thread_start, pthread_cond_broadcast, pthread_cond_destroy, pthread_cond_init,
    pthread_cond_signal, pthread_cond_t, pthread_cond_wait, pthread_detach, pthread_equal, pthread_join,
    pthread_mutex_destroy, pthread_mutex_init, pthread_mutex_lock, pthread_mutex_t, pthread_mutex_unlock, pthread_self,
    pthread_t,
)
from recordpress._c.wire cimport rp_flag_set

from recordpress.errors import ClosedError


def cores():
    """Return the number of cores that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


cdef enum:
    # How often a waiting caller checks for signals: below 100 ms, Ctrl-C seems immediate.
    SIGNALS_MS = 50


cdef struct crew:
    pthread_mutex_t lock
    pthread_cond_t put         # there is a task to run, or the crew is closing
    pthread_cond_t done
    task* first                # not begun
    task* last
    task* running              # begun, and not waited for yet
    bint closing
    int cancelled
    int n
    pthread_t* threads
    int pid                    # a child of fork has none of the threads


cdef task* take(crew* c) noexcept nogil:
    """Return the next task that no thread has begun, or NULL. Called with the lock held."""
    cdef task* work = c.first
    if work != NULL:
        c.first = work.next
        if c.first == NULL:
            c.last = NULL
        work.next = c.running
        c.running = work
    return work


cdef void do(crew* c, task* work) noexcept nogil:
    """Run a task. The caller holds the lock, which is released while the task runs."""
    pthread_mutex_unlock(&c.lock)
    work.run(work)
    pthread_mutex_lock(&c.lock)
    work.done = True
    pthread_cond_broadcast(&c.done)


cdef void* work_off(void* argument) noexcept nogil:
    """Run tasks in a thread until the crew closes."""
    cdef crew* c = <crew*>argument
    cdef task* work
    pthread_mutex_lock(&c.lock)
    while not c.closing:
        work = take(c)
        if work == NULL:
            pthread_cond_wait(&c.put, &c.lock)
        else:
            do(c, work)
    pthread_mutex_unlock(&c.lock)
    return NULL


cdef bint help_until(crew* c, task* wanted) noexcept nogil:
    """Return whether the task is done. If not, this thread has run another task or waited for SIGNALS_MS."""
    cdef task* work
    pthread_mutex_lock(&c.lock)
    if not wanted.done:
        work = take(c)
        if work == NULL:
            rp_condition_wait(&c.done, &c.lock, SIGNALS_MS)
        else:
            do(c, work)
    cdef bint done = wanted.done
    pthread_mutex_unlock(&c.lock)
    return done


cdef void append(crew* c, task* work) noexcept nogil:
    """Add a task. Called with the lock held, or without any other thread."""
    if c.last == NULL:
        c.first = work
    else:
        c.last.next = work
    c.last = work


cdef void remove(crew* c, task* work) noexcept nogil:
    """Remove a task that was waited for. Called under the same conditions as `append`."""
    cdef task** link = &c.running
    while link[0] != work:
        link = &link[0].next
    link[0] = work.next


cdef void add(crew* c, task* work) noexcept nogil:
    """Add a task for any thread. The lock is never held for long, so a thread may wait for it with the GIL."""
    pthread_mutex_lock(&c.lock)
    append(c, work)
    pthread_cond_signal(&c.put)
    pthread_mutex_unlock(&c.lock)


cdef void forget(crew* c, task* work) noexcept nogil:
    """Remove a task that was waited for, while other threads take tasks too."""
    pthread_mutex_lock(&c.lock)
    remove(c, work)
    pthread_mutex_unlock(&c.lock)


cdef void do_until(crew* c, const task* wanted) noexcept nogil:
    """Run tasks up to `wanted`, without any other thread."""
    cdef task* work
    while not wanted.done:
        work = take(c)
        work.run(work)
        work.done = True


cdef bint end_all(crew* c) noexcept nogil:
    """End the threads and wait for them. Return False if one of them is the caller, which then continues."""
    cdef bint own = False
    cdef int i
    pthread_mutex_lock(&c.lock)
    c.closing = True
    rp_flag_set(&c.cancelled)
    pthread_cond_broadcast(&c.put)
    pthread_mutex_unlock(&c.lock)
    for i in range(c.n):
        if pthread_equal(c.threads[i], pthread_self()):
            pthread_detach(c.threads[i])
            own = True
        else:
            pthread_join(c.threads[i], NULL)
    return not own


cdef void drop_owners(task* work):
    cdef task* after
    while work != NULL:
        after = work.next  # the task may be freed with its owner
        owner = <object>work.owner
        Py_DECREF(owner)
        work = after


cdef class Threads:
    """Up to `others` threads, as many as the system allows; without any, the caller works alone, without a lock."""

    def __cinit__(self, int others):
        cdef crew* c = <crew*>calloc(1, sizeof(crew))
        if c == NULL:
            raise MemoryError()
        self.crew = c
        if others == 0:
            return
        pthread_mutex_init(&c.lock, NULL)
        pthread_cond_init(&c.put, NULL)
        pthread_cond_init(&c.done, NULL)
        c.pid = getpid()
        c.threads = <pthread_t*>calloc(<size_t>others, sizeof(pthread_t))
        if c.threads == NULL:
            raise MemoryError()
        while c.n < others and rp_thread_start(&c.threads[c.n], work_off, c) == 0:
            c.n += 1

    def __dealloc__(self):
        self.close()

    cdef int put(self, object owner, task* work) except -1:
        """Append a task. `owner` owns the task and all that it reads and writes."""
        cdef crew* c = self._crew()
        Py_INCREF(owner)
        work.owner = <PyObject*>owner
        work.cancelled = &c.cancelled
        work.next = NULL
        work.done = False
        if c.n:
            add(c, work)
        else:
            append(c, work)
        return 0

    cdef int wait(self, task* work) except -1:
        """Wait for a task, and run tasks that no thread has begun. A signal handler may raise an exception."""
        cdef crew* c = self._crew()
        cdef bint done = False
        if c.n:
            while not done:
                with nogil:
                    done = help_until(c, work)
                PyErr_CheckSignals()
            forget(c, work)
        else:
            with nogil:
                do_until(c, work)
            PyErr_CheckSignals()
            remove(c, work)
        owner = <object>work.owner
        Py_DECREF(owner)
        return 0

    cdef close(self):
        """End the threads. Tasks that were not begun are dropped; others may end early."""
        cdef crew* c = self.crew
        cdef bint ended = False
        self.crew = NULL
        if c == NULL or (c.n and c.pid != getpid()):
            return  # in a child of fork the lock may be held by a thread that does not exist there: leave it all
        if c.n:
            with nogil:
                ended = end_all(c)
        if c.n and not ended:
            return  # a plug-in made the garbage collector run in one of these threads
        drop_owners(c.first)
        drop_owners(c.running)
        if c.threads != NULL:
            pthread_cond_destroy(&c.put)
            pthread_cond_destroy(&c.done)
            pthread_mutex_destroy(&c.lock)
            free(c.threads)
        free(c)

    cdef crew* _crew(self) except NULL:
        if self.crew == NULL:
            raise ClosedError("the threads have ended")
        if self.crew.n and self.crew.pid != getpid():
            raise ClosedError("an iteration with threads cannot continue in a forked process, which lacks the threads")
        return self.crew
