/*
 * Shared parts of the programs in this folder: a device, and the printing of answers. A program
 * `NAME CASE` runs one case, which prints its observations on stdout; its output does not depend on an
 * address, a clock or a random number.
 */
#ifndef ZE_H
#define ZE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <level_zero/ze_api.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct test_case {
    const char *name;
    void (*run)(void);
};

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static inline void must(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "expected %s\n", what);
        exit(1);
    }
}

static inline void done(ze_result_t result, const char *what)
{
    must(result == ZE_RESULT_SUCCESS, what);
}

static inline const char *name_of(ze_result_t result)
{
    static const struct {
        ze_result_t result;
        const char *name;
    } names[] = {
        {ZE_RESULT_SUCCESS, "SUCCESS"},
        {ZE_RESULT_ERROR_UNINITIALIZED, "UNINITIALIZED"},
        {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "UNSUPPORTED_FEATURE"},
        {ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "UNSUPPORTED_SIZE"},
        {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"},
        {ZE_RESULT_ERROR_INVALID_ARGUMENT, "INVALID_ARGUMENT"},
        {ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "INVALID_NULL_HANDLE"},
        {ZE_RESULT_ERROR_INVALID_NULL_POINTER, "INVALID_NULL_POINTER"},
        {ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "HANDLE_OBJECT_IN_USE"},
    };
    for (size_t i = 0; i < LENGTH(names); i++)
        if (names[i].result == result)
            return names[i].name;
    return "another";
}

static inline void say(const char *what, ze_result_t result)
{
    printf("%s: %s\n", what, name_of(result));
}

static inline void open_device(void)
{
    uint32_t one = 1;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    done(zeInit(0), "zeInit");
    done(zeDriverGet(&one, &driver), "a driver");
    done(zeDeviceGet(driver, &one, &device), "a device");
    done(zeContextCreate(driver, &desc, &context), "a context");
}

static inline ze_event_handle_t new_event(void)
{
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    done(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool), "a pool");
    done(zeEventCreate(pool, &desc, &event), "an event");
    return event;
}

static inline ze_kernel_handle_t any_kernel(void)
{
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC};
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "kernel"};
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    done(zeModuleCreate(context, device, &module_desc, &module, NULL), "a module");
    done(zeKernelCreate(module, &desc, &kernel), "a kernel");
    return kernel;
}

static inline zel_tracer_handle_t new_tracer(void *user_data)
{
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC, .pUserData = user_data};
    zel_tracer_handle_t tracer;
    done(zelTracerCreate(&desc, &tracer), "a tracer");
    return tracer;
}

static inline void enable(zel_tracer_handle_t tracer, int yes)
{
    done(zelTracerSetEnabled(tracer, yes), yes ? "to enable" : "to disable");
}

static inline void wait_for(atomic_int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

static inline int run_case(const struct test_case *cases, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    fprintf(stderr, "there is no case %s\n", name);
    return 2;
}

#endif
