/*
 * Measures a call of zeKernelSetGroupSize, in which the driver does next to nothing.
 *
 * usage: bench_tracers CALLS    by the thread's CPU clock; prints
 *
 *   untraced NS    no tracer enabled, in nanoseconds a call
 *   traced NS      with a prologue and an epilogue that do nothing; not without a layer
 */
#include "ze.h"

#include <time.h>

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void nothing(ze_kernel_set_group_size_params_t *params, ze_result_t result, void *data,
                    void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
}

static void measure(const char *name, ze_kernel_handle_t kernel, long calls)
{
    double before = now_ns();
    for (long i = 0; i < calls; i++)
        zeKernelSetGroupSize(kernel, 1, 1, 1);
    printf("%s %.3f\n", name, (now_ns() - before) / (double)calls);
}

int main(int count, char **words)
{
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zel_tracer_handle_t tracer;
    must(count == 2 && atol(words[1]) > 0, "a number of calls");
    open_device();
    ze_kernel_handle_t kernel = any_kernel();
    measure("untraced", kernel, atol(words[1]));
    if (zelTracerCreate(&desc, &tracer) != ZE_RESULT_SUCCESS)
        return 0;
    done(zelTracerKernelSetGroupSizeRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, nothing),
         "to register");
    done(zelTracerKernelSetGroupSizeRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, nothing),
         "to register");
    enable(tracer, 1);
    measure("traced", kernel, atol(words[1]));
    return 0;
}
