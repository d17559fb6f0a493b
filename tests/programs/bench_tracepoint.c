/*
 * Time of a tracepoint of LTTng-UST with one number, in bursts like those of bench_calls.c.
 *
 * usage: bench_tracepoint RUNS TRACEPOINTS_PER_RUN PAUSE_MS WARM_UP_RUNS
 *
 * Prints `tracepoint NS`: nanoseconds of the thread's CPU clock for each, without pauses and warm-up runs. Fails if no session
 * records the tracepoint.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_tracepoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: bench_tracepoint RUNS TRACEPOINTS_PER_RUN PAUSE_MS WARM_UP_RUNS\n");
        return 1;
    }
    int runs = atoi(argv[1]), per_run = atoi(argv[2]), warm_up_runs = atoi(argv[4]);
    struct timespec pause_time = {0, atol(argv[3]) * 1000000};
    if (!lttng_ust_tracepoint_enabled(gapii_bench, bare)) {
        fprintf(stderr, "no session records the tracepoint\n");
        return 1;
    }
    double ns = 0;
    for (int run = -warm_up_runs; run < runs; run++) {
        double before = now_ns();
        for (int i = 0; i < per_run; i++)
            lttng_ust_tracepoint(gapii_bench, bare, i);
        if (run >= 0)
            ns += now_ns() - before;
        nanosleep(&pause_time, NULL);
    }
    printf("tracepoint %.3f\n", ns / runs / per_run);
    return 0;
}
