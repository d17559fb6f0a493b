/*
 * Measures a call in which the driver does next to nothing.
 *
 * usage: bench_calls COMMAND RUNS CALLS_PER_RUN PAUSE_MS WARM_UP_RUNS
 *
 * COMMAND is zeKernelGetIndirectAccess, which the shim does not keep for snapshots, or zeKernelSetGroupSize, which it keeps.
 *
 * Makes WARM_UP_RUNS and RUNS runs of CALLS_PER_RUN calls, with a pause after each. Only the calls are timed, by
 * the thread's CPU clock. Prints
 *
 *   thread 0 calls C cpu_ns T     warm-up runs left out
 *   wall_ns W                     from the first call to the last, pauses and warm-up included
 */
#include "ze.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t get_access(ze_kernel_handle_t kernel, long calls)
{
    ze_kernel_indirect_access_flags_t flags;
    uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < calls; i++)
        zeKernelGetIndirectAccess(kernel, &flags);
    return now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

static uint64_t set_size(ze_kernel_handle_t kernel, long calls)
{
    uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < calls; i++)
        zeKernelSetGroupSize(kernel, (uint32_t)i & 63, 1, 1);
    return now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

int main(int count, char **words)
{
    must(count == 6, "COMMAND RUNS CALLS_PER_RUN PAUSE_MS WARM_UP_RUNS");
    int is_kept = strcmp(words[1], "zeKernelSetGroupSize") == 0;
    must(is_kept || strcmp(words[1], "zeKernelGetIndirectAccess") == 0, "COMMAND");
    uint64_t (*run)(ze_kernel_handle_t, long) = is_kept ? set_size : get_access;
    long runs = atol(words[2]), calls = atol(words[3]), warm_up = atol(words[5]);
    struct timespec pause = {atol(words[4]) / 1000, atol(words[4]) % 1000 * 1000000};
    uint64_t spent = 0;
    open_device();
    ze_kernel_handle_t kernel = any_kernel();
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    for (long i = 0; i < warm_up + runs; i++) {
        uint64_t took = run(kernel, calls);
        if (i >= warm_up)
            spent += took;
        nanosleep(&pause, NULL);
    }
    printf("thread 0 calls %ld cpu_ns %llu\n", runs * calls, (unsigned long long)spent);
    printf("wall_ns %llu\n", (unsigned long long)(now_ns(CLOCK_MONOTONIC) - begin));
    return 0;
}
