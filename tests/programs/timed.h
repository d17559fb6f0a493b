/*
 * The longest command of a thread, without the time that the thread waited for a processor.
 *
 * Include it behind offscreen.h. A thread calls begin_timing() before it times commands with TIMED, and now and then
 * afterwards: the time for which it waited since then is taken from a command that was long.
 */
#ifndef TIMED_H
#define TIMED_H

#include <time.h>

static __thread long long longest_ns;
static __thread long long delay_ns;

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* For how long the thread has waited for a processor so far. */
static long long waited_for_processor_ns(void)
{
    long long ran = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    must(file != NULL && fscanf(file, "%lld %lld", &ran, &waited) == 2, "/proc/thread-self/schedstat");
    fclose(file);
    return waited;
}

static void begin_timing(void)
{
    delay_ns = waited_for_processor_ns();
}

static void note(long long began_ns)
{
    long long took_ns = now_ns() - began_ns;
    if (took_ns <= longest_ns)
        return;
    took_ns -= waited_for_processor_ns() - delay_ns;
    if (took_ns > longest_ns)
        longest_ns = took_ns;
}

#define TIMED(command)                                                                                      \
    do {                                                                                                    \
        long long began_ns = now_ns();                                                                      \
        command;                                                                                            \
        note(began_ns);                                                                                     \
    } while (0)

#endif
