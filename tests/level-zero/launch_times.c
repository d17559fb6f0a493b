/*
 * A tool, as others write them: preloaded, it measures how long zeCommandListAppendLaunchKernel takes
 * in a program that knows nothing of it, and prints the time at the end. Uses only the public headers.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <level_zero/ze_api.h>

struct times {
    atomic_ulong launches;
    atomic_ulong nanoseconds;
};

static struct times times;
static zel_tracer_handle_t tracer;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void on_enter(ze_command_list_append_launch_kernel_params_t *params, ze_result_t result,
                     void *user_data, void **instance)
{
    (void)params, (void)result, (void)user_data;
    *instance = (void *)(uintptr_t)now();
}

static void on_exit_of_launch(ze_command_list_append_launch_kernel_params_t *params,
                              ze_result_t result, void *user_data, void **instance)
{
    struct times *sums = user_data;
    (void)params;
    if (result == ZE_RESULT_SUCCESS) {
        atomic_fetch_add(&sums->launches, 1);
        atomic_fetch_add(&sums->nanoseconds, now() - (uintptr_t)*instance);
    }
}

static void check(ze_result_t result)
{
    if (result != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "launch_times: 0x%x\n", result);
        exit(1);
    }
}

__attribute__((constructor)) static void begin(void)
{
    zel_tracer_desc_t desc = {ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC, NULL, &times};
    zel_core_callbacks_t prologues = {0}, epilogues = {0};
    check(zeInit(0));
    check(zelTracerCreate(&desc, &tracer));
    prologues.CommandList.pfnAppendLaunchKernelCb = on_enter;
    epilogues.CommandList.pfnAppendLaunchKernelCb = on_exit_of_launch;
    check(zelTracerSetPrologues(tracer, &prologues));
    check(zelTracerSetEpilogues(tracer, &epilogues));
    check(zelTracerSetEnabled(tracer, 1));
}

__attribute__((destructor)) static void end(void)
{
    unsigned long launches = atomic_load(&times.launches);
    unsigned long nanoseconds = atomic_load(&times.nanoseconds);
    check(zelTracerSetEnabled(tracer, 0));
    check(zelTracerDestroy(tracer));
    printf("zeCommandListAppendLaunchKernel: %lu calls\n", launches);
    if (launches)
        fprintf(stderr, "%lu ns each\n", nanoseconds / launches);
}
