/*
 * Measures commands of Level Zero in which the null driver does next to nothing: one that gapii passes on, and
 * commands that a snapshot repeats.
 *
 * usage: bench_kept RUNS [COMMAND]
 *
 * Makes RUNS runs of CALLS calls of each command, or only of COMMAND, and prints the nanoseconds per call of the
 * fastest run:
 *
 *   zeKernelSetGroupSize 13.5
 */
#include "ze.h"

#include <stdint.h>
#include <time.h>

enum { CALLS = 1000 };

static ze_kernel_handle_t kernel;
static ze_command_list_handle_t list;
static uint64_t target[8], source[8];

static void pass(uint32_t i)
{
    ze_kernel_indirect_access_flags_t flags = i;
    zeKernelGetIndirectAccess(kernel, &flags);
}

static void set_group(uint32_t i)
{
    zeKernelSetGroupSize(kernel, 1 + (i & 63), 1, 1);
}

static void set_argument(uint32_t i)
{
    zeKernelSetArgumentValue(kernel, 1, sizeof i, &i);
}

static void launch(uint32_t i)
{
    ze_group_count_t groups = {1 + (i & 63), 1, 1};
    zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL);
}

static void set_and_launch(uint32_t i)
{
    set_argument(i);
    launch(i);
}

static void copy(uint32_t i)
{
    zeCommandListAppendMemoryCopy(list, &target[i & 7], &source[i & 7], 8, NULL, 0, NULL);
}

static void wait_on_host(uint32_t i)
{
    (void)i;
    zeCommandListAppendBarrier(list, NULL, 0, NULL);
}

static const struct {
    const char *name;
    void (*call)(uint32_t i);
} commands[] = {
    {"zeKernelGetIndirectAccess", pass},
    {"zeKernelSetGroupSize", set_group},
    {"zeKernelSetArgumentValue", set_argument},
    {"zeCommandListAppendLaunchKernel", launch},
    {"zeKernelSetArgumentValue+zeCommandListAppendLaunchKernel", set_and_launch},
    {"zeCommandListAppendMemoryCopy", copy},
    {"zeCommandListAppendBarrier", wait_on_host},
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double fastest_ns(void (*call)(uint32_t i), long runs)
{
    double fastest = 1e18;
    for (long run = 0; run < runs; run++) {
        double begin = now_ns();
        for (uint32_t i = 0; i < CALLS; i++)
            call(i);
        double took = now_ns() - begin;
        fastest = took < fastest ? took : fastest;
        done(zeCommandListReset(list), "to reset");
    }
    return fastest / CALLS;
}

int main(int count, char **words)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    must(count >= 2, "a number of runs");
    open_device();
    kernel = any_kernel();
    done(zeCommandListCreate(context, device, &desc, &list), "a list");
    for (uint32_t argument = 0; argument < 6; argument++)
        done(zeKernelSetArgumentValue(kernel, argument, sizeof argument, &argument), "an argument");
    for (size_t i = 0; i < LENGTH(commands); i++)
        if (count < 3 || strcmp(words[2], commands[i].name) == 0)
            printf("%s %.1f\n", commands[i].name, fastest_ns(commands[i].call, atol(words[1])));
    return 0;
}
