/*
 * Threads that call, and threads that create, enable, disable and destroy tracers meanwhile. Each
 * tracer counts its callbacks: when it is destroyed there were as many epilogues as prologues, and
 * none comes afterwards.
 *
 * usage: churn SECONDS
 *
 * Goes on until there were LEAST tracers, at most for a minute more: a busy machine runs few threads.
 */
#include "ze.h"

#include <time.h>

enum { CALLERS = 8, CHURNERS = 4, LEAST = 100 };

/* Given to the callbacks; kept to the end, so that a late callback is seen. */
struct counts {
    struct counts *older;
    atomic_long prologues;
    atomic_long epilogues;
    atomic_int is_destroyed;
};

static _Atomic(struct counts *) newest;
static atomic_int is_over;
static atomic_long calls, tracers, pairs;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;

static void prologue(ze_kernel_set_group_size_params_t *params, ze_result_t result, void *own,
                     void **instance)
{
    struct counts *counts = own;
    (void)params, (void)result;
    must(!atomic_load(&counts->is_destroyed), "no prologue of a destroyed tracer");
    must(*instance == NULL, "an instance of null");
    *instance = counts;
    atomic_fetch_add(&counts->prologues, 1);
}

static void epilogue(ze_kernel_set_group_size_params_t *params, ze_result_t result, void *own,
                     void **instance)
{
    struct counts *counts = own;
    (void)params, (void)result;
    must(!atomic_load(&counts->is_destroyed), "no epilogue of a destroyed tracer");
    must(*instance == counts, "what the prologue left");
    atomic_fetch_add(&counts->epilogues, 1);
}

static void *call(void *unused)
{
    long own = 0;
    while (!atomic_load(&is_over)) {
        done(zeKernelSetGroupSize(kernel, 1, 1, 1), "a call");
        own++;
    }
    atomic_fetch_add(&calls, own);
    return unused;
}

static void churn_one(struct counts *counts)
{
    zel_tracer_handle_t tracer = new_tracer(counts);
    done(zelTracerKernelSetGroupSizeRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, prologue),
         "to register");
    done(zelTracerKernelSetGroupSizeRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, epilogue),
         "to register");
    enable(tracer, 1);
    for (long seen = atomic_load(&counts->prologues);
         !atomic_load(&is_over) && atomic_load(&counts->prologues) < seen + 8;)
        sched_yield();
    enable(tracer, 0);
    done(zelTracerDestroy(tracer), "to destroy");
    atomic_store(&counts->is_destroyed, 1);
    must(atomic_load(&counts->prologues) == atomic_load(&counts->epilogues), "pairs");
    atomic_fetch_add(&pairs, atomic_load(&counts->prologues));
    atomic_fetch_add(&tracers, 1);
}

static void *churn(void *unused)
{
    while (!atomic_load(&is_over)) {
        struct counts *counts = calloc(1, sizeof *counts);
        must(counts != NULL, "memory");
        counts->older = atomic_load(&newest);
        while (!atomic_compare_exchange_weak(&newest, &counts->older, counts))
            ;
        churn_one(counts);
    }
    return unused;
}

static void open_kernel(void)
{
    ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC};
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "kernel"};
    done(zeModuleCreate(context, device, &module_desc, &module, NULL), "a module");
    done(zeKernelCreate(module, &desc, &kernel), "a kernel");
}

static void close_kernel(void)
{
    done(zeKernelDestroy(kernel), "to destroy");
    done(zeModuleDestroy(module), "to destroy");
    done(zeContextDestroy(context), "to destroy");
}

int main(int count, char **words)
{
    pthread_t threads[CALLERS + CHURNERS];
    must(count == 2, "a number of seconds");
    struct timespec time = {.tv_sec = atoi(words[1])};
    open_device();
    open_kernel();
    for (int i = 0; i < CALLERS + CHURNERS; i++)
        pthread_create(&threads[i], NULL, i < CALLERS ? call : churn, NULL);
    nanosleep(&time, NULL);
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 6000 && atomic_load(&tracers) < LEAST; i++)
        nanosleep(&pause, NULL);
    atomic_store(&is_over, 1);
    for (int i = 0; i < CALLERS + CHURNERS; i++)
        pthread_join(threads[i], NULL);
    close_kernel();
    fprintf(stderr, "%ld calls, %ld tracers, %ld pairs\n", atomic_load(&calls),
            atomic_load(&tracers), atomic_load(&pairs));
    must(atomic_load(&tracers) > 0 && atomic_load(&pairs) > 0, "tracers that were called");
    printf("every prologue had its epilogue\n");
    return 0;
}
