/* The calls that zelTracerDestroy waits for, and those that it does not wait for. */
#include "ze.h"

/* The event that a thread waits for inside a call, and the work that it has done there. */
struct held_call {
    ze_event_handle_t event;
    pthread_t thread;
    atomic_int has_begun;
    atomic_int has_ended;
};

static void begin(ze_event_host_synchronize_params_t *params, ze_result_t result, void *call,
                  void **instance)
{
    (void)params, (void)result, (void)instance;
    atomic_store(&((struct held_call *)call)->has_begun, 1);
}

static void end(ze_event_host_synchronize_params_t *params, ze_result_t result, void *call,
                void **instance)
{
    (void)params, (void)result, (void)instance;
    atomic_store(&((struct held_call *)call)->has_ended, 1);
}

static void *wait_in_driver(void *call)
{
    zeEventHostSynchronize(((struct held_call *)call)->event, UINT64_MAX);
    return NULL;
}

/* An enabled tracer of a call that goes on until `end_call`. */
static zel_tracer_handle_t begin_call(struct held_call *call)
{
    zel_tracer_handle_t tracer = new_tracer(call);
    call->event = new_event();
    done(zelTracerEventHostSynchronizeRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, begin),
         "to register");
    done(zelTracerEventHostSynchronizeRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, end),
         "to register");
    enable(tracer, 1);
    pthread_create(&call->thread, NULL, wait_in_driver, call);
    wait_for(&call->has_begun);
    return tracer;
}

static void end_call(struct held_call *call)
{
    done(zeEventHostSignal(call->event), "to signal");
    pthread_join(call->thread, NULL);
}

/* A thread that destroys a tracer. */
struct destroyer {
    zel_tracer_handle_t tracer;
    struct held_call *call;
    pthread_t thread;
    atomic_int begins;
    atomic_int has_returned;
};

static void *destroy(void *own)
{
    struct destroyer *destroyer = own;
    atomic_store(&destroyer->begins, 1);
    done(zelTracerDestroy(destroyer->tracer), "to destroy");
    atomic_store(&destroyer->has_returned, 1);
    if (destroyer->call)
        printf("destroyed %s the call's end\n",
               atomic_load(&destroyer->call->has_ended) ? "after" : "before");
    return NULL;
}

static void begin_destroying(struct destroyer *destroyer)
{
    pthread_create(&destroyer->thread, NULL, destroy, destroyer);
    wait_for(&destroyer->begins);
    /* Number of attempts to see zelTracerDestroy return too early. */
    for (int i = 0; i < 1000; i++)
        sched_yield();
}

static void own_calls(void)
{
    static struct held_call call;
    static struct destroyer destroyer;
    open_device();
    destroyer.tracer = begin_call(&call);
    destroyer.call = &call;
    enable(destroyer.tracer, 0);
    begin_destroying(&destroyer);
    end_call(&call);
    pthread_join(destroyer.thread, NULL);
}

static void no_callback(ze_context_get_status_params_t *params, ze_result_t result, void *data,
                        void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
}

/* The other tracer's call ends only after the destruction. */
static void other_calls(void)
{
    static struct held_call call;
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    done(zelTracerContextGetStatusRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, no_callback),
         "to register");
    enable(tracer, 1);
    begin_call(&call);
    enable(tracer, 0);
    say("destroy", zelTracerDestroy(tracer));
    printf("the call %s\n", atomic_load(&call.has_ended) ? "has ended" : "goes on");
    end_call(&call);
}

static zel_tracer_handle_t own;

static void destroy_own(ze_context_get_status_params_t *params, ze_result_t result, void *data,
                        void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    enable(own, 0);
    say("destroy", zelTracerDestroy(own));
}

static void say_epilogue(ze_context_get_status_params_t *params, ze_result_t result, void *data,
                         void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    printf("epilogue\n");
}

static void own_tracer(void)
{
    open_device();
    own = new_tracer(NULL);
    done(zelTracerContextGetStatusRegisterCallback(own, ZEL_REGISTER_PROLOGUE, destroy_own),
         "to register");
    done(zelTracerContextGetStatusRegisterCallback(own, ZEL_REGISTER_EPILOGUE, say_epilogue),
         "to register");
    enable(own, 1);
    say("call", zeContextGetStatus(context));
    say("call", zeContextGetStatus(context));
}

static zel_tracer_handle_t pair[2];
static pthread_barrier_t both_inside;
static _Thread_local int own_index;

static void destroy_one(ze_context_get_status_params_t *params, ze_result_t result, void *data,
                        void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    pthread_barrier_wait(&both_inside);
    enable(pair[own_index], 0);
    done(zelTracerDestroy(pair[own_index]), "to destroy");
}

static void *call_as(void *index)
{
    own_index = *(int *)index;
    done(zeContextGetStatus(context), "a call");
    return NULL;
}

/* Both threads hold both tracers. */
static void each_others_calls(void)
{
    static int indices[] = {0, 1};
    pthread_t threads[2];
    open_device();
    pthread_barrier_init(&both_inside, NULL, 2);
    for (int i = 0; i < 2; i++) {
        pair[i] = new_tracer(NULL);
        done(zelTracerContextGetStatusRegisterCallback(pair[i], ZEL_REGISTER_PROLOGUE,
                                                       i ? no_callback : destroy_one),
             "to register");
        enable(pair[i], 1);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, call_as, &indices[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("both destroyed\n");
}

static zel_tracer_handle_t bystander;
static atomic_int may_enable;

static void enable_bystander(ze_context_get_status_params_t *params, ze_result_t result,
                             void *has_begun, void **instance)
{
    (void)params, (void)result, (void)instance;
    atomic_store((atomic_int *)has_begun, 1);
    wait_for(&may_enable);
    say("enable", zelTracerSetEnabled(bystander, 1));
}

static void *call_status(void *unused)
{
    zeContextGetStatus(context);
    return unused;
}

static void callback_that_enables(void)
{
    static atomic_int has_begun;
    static struct destroyer destroyer;
    pthread_t thread;
    open_device();
    bystander = new_tracer(NULL);
    destroyer.tracer = new_tracer(&has_begun);
    done(zelTracerContextGetStatusRegisterCallback(destroyer.tracer, ZEL_REGISTER_PROLOGUE,
                                                   enable_bystander),
         "to register");
    enable(destroyer.tracer, 1);
    pthread_create(&thread, NULL, call_status, NULL);
    wait_for(&has_begun);
    enable(destroyer.tracer, 0);
    begin_destroying(&destroyer);
    atomic_store(&may_enable, 1);
    pthread_join(thread, NULL);
    pthread_join(destroyer.thread, NULL);
    printf("destroyed\n");
}

int main(int count, char **words)
{
    static const struct test_case cases[] = {
        {"own_calls", own_calls},
        {"other_calls", other_calls},
        {"own_tracer", own_tracer},
        {"each_others_calls", each_others_calls},
        {"callback_that_enables", callback_that_enables},
    };
    must(count == 2, "the name of a case");
    return run_case(cases, LENGTH(cases), words[1]);
}
