/*
 * Measures a call of glViewport on a driver that does next to nothing.
 *
 * usage: bench_tracers CALLS    by the thread's CPU clock; prints
 *
 *   untraced NS    no tracer enabled, in nanoseconds a call
 *   traced NS      with a prologue and an epilogue that do nothing
 */
#include "tracers.h"

#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void nothing(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
}

static void measure(const char *name, long calls)
{
    double before = now_ns();
    for (long i = 0; i < calls; i++)
        glViewport(0, 0, SIDE, SIDE);
    printf("%s %.3f\n", name, (now_ns() - before) / (double)calls);
}

int main(int count, char **words)
{
    must(count == 2 && atol(words[1]) > 0, "a number of calls");
    offscreen_open(2);
    measure("untraced", atol(words[1]));
    trace("glViewport", nothing, nothing);
    measure("traced", atol(words[1]));
    return 0;
}
