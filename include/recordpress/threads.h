/* What a reader's threads need beyond plain POSIX calls: a start without signals, and a wait with a time limit. */
#ifndef RECORDPRESS_THREADS_H
#define RECORDPRESS_THREADS_H

#include <pthread.h>
#include <signal.h>
#include <time.h>

#ifdef __linux__
extern int pthread_setname_np(pthread_t, const char *); /* pthread.h has it for _GNU_SOURCE only */
#endif

/* Start a thread that takes no signals from outside: these are for the interpreter's threads, whose system calls they
 * interrupt. Signals of faults remain unblocked, for faulthandler. Return 0 or an errno. */
static inline int rp_thread_start(pthread_t *thread, void *(*run)(void *), void *argument) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int status = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#ifdef __linux__
    if (!status) pthread_setname_np(*thread, "recordpress"); /* as top and gdb show it */
#endif
    return status;
}

/* Wait until the condition is signalled, or about `ms` milliseconds; setting the clock changes that time. */
static inline void rp_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(condition, lock, &until);
}

#endif
