/*
 * A library to preload: the calendar clock goes back by an hour as soon as the file that CLOCK_SET_BACK
 * names exists. Clocks for intervals are not affected.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long failed = syscall(SYS_clock_gettime, clock, time);
    const char *file = getenv("CLOCK_SET_BACK");
    if (!failed && clock == CLOCK_REALTIME && file && !access(file, F_OK))
        time->tv_sec -= 3600;
    return (int)failed;
}
