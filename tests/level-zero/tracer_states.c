/* The answers of the tracer functions in every state of a tracer. */
#include "ze.h"

static void say_callback(ze_context_get_status_params_t *params, ze_result_t result, void *data,
                         void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    printf("callback\n");
}

static ze_result_t do_register(zel_tracer_handle_t tracer)
{
    return zelTracerContextGetStatusRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, say_callback);
}

static void say_registrations(zel_tracer_handle_t tracer)
{
    zel_core_callbacks_t none;
    memset(&none, 0, sizeof none);
    say("register", do_register(tracer));
    say("set prologues", zelTracerSetPrologues(tracer, &none));
    say("set epilogues", zelTracerSetEpilogues(tracer, &none));
}

static void call(const char *what)
{
    printf("%s:\n", what);
    zeContextGetStatus(context);
}

static void create_only(void)
{
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zel_tracer_handle_t tracer;
    say("create", zelTracerCreate(&desc, &tracer));
}

static void before_initialisation(void)
{
    create_only();
}

static void initialised(void)
{
    open_device();
    create_only();
}

static void any_description(void)
{
    zel_tracer_desc_t desc = {.stype = 0x1234};
    zel_tracer_handle_t tracer;
    open_device();
    say("create", zelTracerCreate(&desc, &tracer));
}

static void disabled(void)
{
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    say_registrations(tracer);
    say("disable", zelTracerSetEnabled(tracer, 0));
    say("destroy", zelTracerDestroy(tracer));
}

static void enabled(void)
{
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    done(do_register(tracer), "to register");
    say("enable", zelTracerSetEnabled(tracer, 1));
    say("enable again", zelTracerSetEnabled(tracer, 1));
    say_registrations(tracer);
    say("destroy", zelTracerDestroy(tracer));
    call("call");
    say("disable", zelTracerSetEnabled(tracer, 0));
    say("disable again", zelTracerSetEnabled(tracer, 0));
    call("call");
    say("destroy", zelTracerDestroy(tracer));
}

static void other_moments(void)
{
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    say("register", zelTracerContextGetStatusRegisterCallback(tracer, 7, say_callback));
    enable(tracer, 1);
    call("call");
    enable(tracer, 0);
    say("unregister epilogue",
        zelTracerContextGetStatusRegisterCallback(tracer, ZEL_REGISTER_EPILOGUE, NULL));
    enable(tracer, 1);
    call("call");
}

static ze_event_handle_t event;
static atomic_int is_in_call;

static void enter(ze_event_host_synchronize_params_t *params, ze_result_t result, void *data,
                  void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    atomic_store(&is_in_call, 1);
}

static void *wait_in_driver(void *unused)
{
    zeEventHostSynchronize(event, UINT64_MAX);
    return unused;
}

static pthread_t begin_call(zel_tracer_handle_t tracer)
{
    pthread_t thread;
    event = new_event();
    done(zelTracerEventHostSynchronizeRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, enter),
         "to register");
    enable(tracer, 1);
    pthread_create(&thread, NULL, wait_in_driver, NULL);
    wait_for(&is_in_call);
    return thread;
}

static void end_call(pthread_t thread)
{
    done(zeEventHostSignal(event), "to signal");
    pthread_join(thread, NULL);
}

static void draining(void)
{
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    pthread_t thread = begin_call(tracer);
    say("disable", zelTracerSetEnabled(tracer, 0));
    say_registrations(tracer);
    say("enable", zelTracerSetEnabled(tracer, 1));
    say("disable again", zelTracerSetEnabled(tracer, 0));
    end_call(thread);
    say("destroy", zelTracerDestroy(tracer));
}

static void drained(void)
{
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    pthread_t thread = begin_call(tracer);
    enable(tracer, 0);
    end_call(thread);
    say_registrations(tracer);
    say("enable", zelTracerSetEnabled(tracer, 1));
}

static zel_tracer_handle_t own;

static void disable_own(ze_context_get_status_params_t *params, ze_result_t result, void *data,
                        void **instance)
{
    (void)params, (void)result, (void)data, (void)instance;
    say("disable", zelTracerSetEnabled(own, 0));
    say("enable", zelTracerSetEnabled(own, 1));
}

static void disabled_by_its_callback(void)
{
    open_device();
    own = new_tracer(NULL);
    done(zelTracerContextGetStatusRegisterCallback(own, ZEL_REGISTER_PROLOGUE, disable_own),
         "to register");
    enable(own, 1);
    call("call");
    call("call");
    say("enable", zelTracerSetEnabled(own, 1));
}

static void nulls(void)
{
    zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_EXP_DESC};
    zel_tracer_handle_t tracer;
    open_device();
    say("create without description", zelTracerCreate(NULL, &tracer));
    say("create without a place", zelTracerCreate(&desc, NULL));
    tracer = new_tracer(NULL);
    say("no prologues", zelTracerSetPrologues(tracer, NULL));
    say("no epilogues", zelTracerSetEpilogues(tracer, NULL));
    say_registrations(NULL);
    say("enable", zelTracerSetEnabled(NULL, 1));
    say("destroy", zelTracerDestroy(NULL));
}

static void destroyed(void)
{
    open_device();
    zel_tracer_handle_t tracer = new_tracer(NULL);
    done(zelTracerDestroy(tracer), "to destroy");
    say_registrations(tracer);
    say("enable", zelTracerSetEnabled(tracer, 1));
    say("destroy", zelTracerDestroy(tracer));
}

int main(int count, char **words)
{
    static const struct test_case cases[] = {
        {"before_initialisation", before_initialisation},
        {"initialised", initialised},
        {"any_description", any_description},
        {"disabled", disabled},
        {"enabled", enabled},
        {"other_moments", other_moments},
        {"draining", draining},
        {"drained", drained},
        {"disabled_by_its_callback", disabled_by_its_callback},
        {"nulls", nulls},
        {"destroyed", destroyed},
    };
    must(count == 2, "the name of a case");
    return run_case(cases, LENGTH(cases), words[1]);
}
