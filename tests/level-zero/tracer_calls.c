/* The callbacks that run around a call, their order, and their arguments. */
#include "ze.h"

#include <stdint.h>

/* The user data of a tracer is its name. */
static void say_prologue(ze_context_get_status_params_t *params, ze_result_t result, void *name,
                         void **instance)
{
    (void)params, (void)result, (void)instance;
    printf(" +%s", (char *)name);
}

static void say_epilogue(ze_context_get_status_params_t *params, ze_result_t result, void *name,
                         void **instance)
{
    (void)params, (void)result, (void)instance;
    printf(" -%s", (char *)name);
}

static zel_tracer_handle_t status_tracer(char *name, ze_pfnContextGetStatusCb_t prologue,
                                         ze_pfnContextGetStatusCb_t epilogue)
{
    zel_tracer_handle_t tracer = new_tracer(name);
    done(zelTracerContextGetStatusRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, prologue),
         "to register");
    done(zelTracerContextGetStatusRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, epilogue),
         "to register");
    return tracer;
}

static zel_tracer_handle_t saying_tracer(char *name)
{
    return status_tracer(name, say_prologue, say_epilogue);
}

static void call(const char *what)
{
    printf("%s:", what);
    zeContextGetStatus(context);
    printf("\n");
}

static void order(void)
{
    open_device();
    zel_tracer_handle_t a = saying_tracer("a"), b = saying_tracer("b"), c = saying_tracer("c");
    enable(b, 1);
    enable(a, 1);
    enable(c, 1);
    call("b, a, c enabled");
    enable(b, 0);
    call("b disabled");
    enable(b, 1);
    call("b enabled again");
}

static void halves(void)
{
    open_device();
    enable(status_tracer("prologue", say_prologue, NULL), 1);
    enable(status_tracer("epilogue", NULL, say_epilogue), 1);
    enable(status_tracer("neither", NULL, NULL), 1);
    call("halves");
}

static int user_data;

static void check_prologue(ze_mem_alloc_host_params_t *params, ze_result_t result, void *data,
                           void **instance)
{
    printf("prologue: size %zu, result %s, user data %s, instance %s\n", *params->psize,
           name_of(result), data == &user_data ? "ours" : "another", *instance ? "set" : "null");
    *instance = &user_data;
}

static void check_epilogue(ze_mem_alloc_host_params_t *params, ze_result_t result, void *data,
                           void **instance)
{
    printf("epilogue: size %zu, result %s, user data %s, instance %s\n", *params->psize,
           name_of(result), data == &user_data ? "ours" : "another",
           *instance == &user_data ? "the prologue's" : "another");
}

static ze_result_t allocate(size_t size, void **memory)
{
    ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    return zeMemAllocHost(context, &desc, size, 0, memory);
}

static zel_tracer_handle_t allocation_tracer(ze_pfnMemAllocHostCb_t prologue,
                                             ze_pfnMemAllocHostCb_t epilogue)
{
    zel_tracer_handle_t tracer = new_tracer(&user_data);
    done(zelTracerMemAllocHostRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, prologue),
         "to register");
    done(zelTracerMemAllocHostRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, epilogue),
         "to register");
    enable(tracer, 1);
    return tracer;
}

static void arguments(void)
{
    void *memory;
    open_device();
    allocation_tracer(check_prologue, check_epilogue);
    allocation_tracer(check_prologue, check_epilogue);
    say("64 bytes", allocate(64, &memory));
    say("none", allocate(0, &memory));
}

static void enlarge(ze_mem_alloc_host_params_t *params, ze_result_t result, void *data,
                    void **instance)
{
    (void)result, (void)data, (void)instance;
    *params->psize = 4096;
}

static void say_size(ze_mem_alloc_host_params_t *params, ze_result_t result, void *data,
                     void **instance)
{
    (void)result, (void)data, (void)instance;
    printf("size %zu\n", *params->psize);
}

static void changed_parameters(void)
{
    void *memory, *base;
    size_t size = 0;
    open_device();
    allocation_tracer(say_size, say_size);
    allocation_tracer(enlarge, NULL);
    allocation_tracer(say_size, NULL);
    say("64 bytes", allocate(64, &memory));
    done(zeMemGetAddressRange(context, memory, &base, &size), "the range");
    printf("allocated: %zu\n", size);
}

static void *call_in_thread(void *unused)
{
    zeContextGetStatus(context);
    return unused;
}

static void call_again(ze_context_get_status_params_t *params, ze_result_t result, void *name,
                       void **instance)
{
    static atomic_int is_inside;
    void *memory;
    say_prologue(params, result, name, instance);
    if (atomic_exchange(&is_inside, 1))
        return;
    zeContextGetStatus(context);
    done(allocate(64, &memory), "memory");
    printf(" [thread:");
    pthread_t thread;
    pthread_create(&thread, NULL, call_in_thread, NULL);
    pthread_join(thread, NULL);
    printf(" ]");
    atomic_store(&is_inside, 0);
}

static void reentry(void)
{
    open_device();
    enable(status_tracer("a", call_again, say_epilogue), 1);
    enable(saying_tracer("b"), 1);
    allocation_tracer(check_prologue, check_epilogue);
    call("call");
    call("and again");
}

static zel_tracer_handle_t others[2];

static void swap_others(ze_context_get_status_params_t *params, ze_result_t result, void *name,
                        void **instance)
{
    say_prologue(params, result, name, instance);
    enable(others[0], 0);
    enable(others[1], 1);
}

static void changes_during_a_call(void)
{
    open_device();
    zel_tracer_handle_t swapper = status_tracer("swapper", swap_others, say_epilogue);
    others[0] = saying_tracer("disabled");
    others[1] = saying_tracer("enabled");
    enable(swapper, 1);
    enable(others[0], 1);
    call("during");
    enable(swapper, 0);
    call("after");
}

static void say_allocation(ze_mem_alloc_host_params_t *params, ze_result_t result, void *data,
                           void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    printf(" allocation");
}

static void say_address(ze_driver_get_extension_function_address_params_t *params,
                        ze_result_t result, void *data, void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    printf(" address");
}

static void call_all(const char *what)
{
    void *memory;
    printf("%s:", what);
    zeContextGetStatus(context);
    done(allocate(64, &memory), "memory");
    zeDriverGetExtensionFunctionAddress(driver, "none", &memory);
    printf("\n");
}

/* zeDriverGetExtensionFunctionAddress came later than the callbacks' structure. */
static void callbacks_in_one_structure(void)
{
    zel_core_callbacks_t callbacks;
    open_device();
    memset(&callbacks, 0, sizeof callbacks);
    zel_tracer_handle_t tracer = new_tracer("a");
    callbacks.Context.pfnGetStatusCb = say_prologue;
    callbacks.Mem.pfnAllocHostCb = say_allocation;
    say("prologues", zelTracerSetPrologues(tracer, &callbacks));
    callbacks.Context.pfnGetStatusCb = say_epilogue;
    say("epilogues", zelTracerSetEpilogues(tracer, &callbacks));
    done(zelTracerDriverGetExtensionFunctionAddressRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE,
                                                                    say_address),
         "to register");
    enable(tracer, 1);
    call_all("all");
    enable(tracer, 0);
    memset(&callbacks, 0, sizeof callbacks);
    say("no prologues", zelTracerSetPrologues(tracer, &callbacks));
    enable(tracer, 1);
    call_all("without prologues");
}

static void say_init(ze_init_params_t *params, ze_result_t result, void *data, void **instance)
{
    (void)params, (void)data, (void)instance;
    printf("zeInit: %s\n", name_of(result));
}

static void later_init(void)
{
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    done(zelTracerInitRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, say_init), "to register");
    enable(tracer, 1);
    say("later", zeInit(0));
}

int main(int count, char **words)
{
    static const struct test_case cases[] = {
        {"order", order},
        {"halves", halves},
        {"arguments", arguments},
        {"changed_parameters", changed_parameters},
        {"reentry", reentry},
        {"changes_during_a_call", changes_during_a_call},
        {"callbacks_in_one_structure", callbacks_in_one_structure},
        {"later_init", later_init},
    };
    must(count == 2, "the name of a case");
    return run_case(cases, LENGTH(cases), words[1]);
}
