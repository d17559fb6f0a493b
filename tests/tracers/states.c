/* The answers of the functions in every state of a tracer, and the calls that destroying a tracer waits for. */
#include "tracers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
}

static void say_callback(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
    printf("callback\n");
}

/* All functions that a tracer's state may forbid. */
static void say_all(gapii_tracer tracer)
{
    say("prologue", gapii_tracer_register_prologue(tracer, "glFlush", say_callback));
    say("epilogue", gapii_tracer_register_epilogue(tracer, "glFlush", NULL));
    say("reset", gapii_tracer_reset(tracer));
}

static void nulls(void)
{
    gapii_tracer tracer = new_tracer(NULL);
    say("create", gapii_tracer_create(NULL, NULL));
    say_all(NULL);
    say("enable", gapii_tracer_enable(NULL));
    say("disable", gapii_tracer_disable(NULL));
    say("destroy", gapii_tracer_destroy(NULL));
    say("prologue of null", gapii_tracer_register_prologue(tracer, NULL, nothing));
    say("epilogue of null", gapii_tracer_register_epilogue(tracer, NULL, nothing));
    say("skip", gapii_call_skip(NULL));
    must(gapii_call_params(NULL) == NULL && gapii_call_result(NULL) == NULL &&
             gapii_call_name(NULL) == NULL && !gapii_call_is_skipped(NULL),
         "to answer null with null");
}

static void names(void)
{
    gapii_tracer tracer = new_tracer(NULL);
    say("glFlush", gapii_tracer_register_prologue(tracer, "glFlush", nothing));
    say("eglSwapBuffers", gapii_tracer_register_prologue(tracer, "eglSwapBuffers", nothing));
    say("glFlushed", gapii_tracer_register_prologue(tracer, "glFlushed", nothing));
    say("nothing", gapii_tracer_register_prologue(tracer, "", nothing));
}

static void disabled(void)
{
    gapii_tracer tracer = new_tracer(NULL);
    say_all(tracer);
    say("disable", gapii_tracer_disable(tracer));
    say("destroy", gapii_tracer_destroy(tracer));
}

static void enabled(void)
{
    offscreen_open(2);
    gapii_tracer tracer = trace("glFlush", say_callback, NULL);
    say("enable", gapii_tracer_enable(tracer));
    say_all(tracer);
    say("destroy", gapii_tracer_destroy(tracer));
    glFlush();
    say("disable", gapii_tracer_disable(tracer));
    glFlush();
    say("destroy", gapii_tracer_destroy(tracer));
}

static void destroyed(void)
{
    gapii_tracer tracer = new_tracer(NULL);
    done(gapii_tracer_destroy(tracer), "gapii_tracer_destroy");
    say_all(tracer);
    say("enable", gapii_tracer_enable(tracer));
    say("disable", gapii_tracer_disable(tracer));
    say("destroy", gapii_tracer_destroy(tracer));
}

/* Each result has a sentence of its own. */
static void texts(void)
{
    for (gapii_result result = GAPII_OK; result <= GAPII_SECURE_EXECUTION + 1; result++)
        printf("%s\n", gapii_result_text(result));
}

/* For a copy of this program with the set-uid bit. */
static void secure(void)
{
    offscreen_open(2);
    gapii_tracer tracer = new_tracer(NULL);
    set(tracer, "glFlush", say_callback, NULL);
    say("enable", gapii_tracer_enable(tracer));
    glFlush();
    say("destroy", gapii_tracer_destroy(tracer));
}

static void unregister(void)
{
    offscreen_open(2);
    gapii_tracer tracer = new_tracer(NULL);
    set(tracer, "glFlush", say_callback, say_callback);
    set(tracer, "glFlush", NULL, say_callback);
    done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    printf("an epilogue:\n");
    glFlush();
    done(gapii_tracer_disable(tracer), "gapii_tracer_disable");
    done(gapii_tracer_reset(tracer), "gapii_tracer_reset");
    done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    printf("nothing:\n");
    glFlush();
}

static void skip_late(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    say("skip", gapii_call_skip(call));
    printf("skipped: %s\n", gapii_call_is_skipped(call) ? "yes" : "no");
}

static void too_late(void)
{
    offscreen_open(2);
    trace("glFlush", NULL, skip_late);
    glFlush();
}

static void say_nothing(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    printf("%s: %s, %s\n", gapii_call_name(call), gapii_call_params(call) ? "parameters" : "none",
           gapii_call_result(call) ? "a result" : "none");
}

/* Null for parts that a command does not have. */
static void parts(void)
{
    offscreen_open(2);
    trace("glFlush", say_nothing, NULL);
    trace("glClear", say_nothing, NULL);
    trace("glGetError", say_nothing, NULL);
    trace("glIsEnabled", say_nothing, NULL);
    glFlush();
    glClear(0);
    glGetError();
    glIsEnabled(GL_BLEND);
}

static atomic_int is_inside, may_leave, has_left;

static void stay_inside(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
    atomic_store(&is_inside, 1);
    while (!atomic_load(&may_leave))
        usleep(100);
}

static void leave(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
    atomic_store(&has_left, 1);
}

static void *flush(void *unused)
{
    glFlush();
    return unused;
}

/* A thread that is in a call of glFlush, in the tracer's prologue. */
static pthread_t begin_call(gapii_tracer *tracer)
{
    pthread_t thread;
    *tracer = trace("glFlush", stay_inside, leave);
    must(pthread_create(&thread, NULL, flush, NULL) == 0, "pthread_create");
    while (!atomic_load(&is_inside))
        usleep(100);
    return thread;
}

static void *let_go(void *unused)
{
    usleep(50 * 1000);
    must(!atomic_load(&has_left), "to be inside still");
    atomic_store(&may_leave, 1);
    return unused;
}

static void draining(void)
{
    offscreen_open(2);
    gapii_tracer tracer;
    pthread_t thread = begin_call(&tracer);
    say("disable", gapii_tracer_disable(tracer));
    say_all(tracer);
    say("enable", gapii_tracer_enable(tracer));
    say("disable again", gapii_tracer_disable(tracer));
    /* Destroying waits for the call's epilogue. */
    pthread_t other;
    must(pthread_create(&other, NULL, let_go, NULL) == 0, "pthread_create");
    say("destroy", gapii_tracer_destroy(tracer));
    printf("the epilogue has %s\n", atomic_load(&has_left) ? "run" : "not run");
    pthread_join(other, NULL);
    pthread_join(thread, NULL);
}

/* It does not wait for calls of other tracers. */
static void others(void)
{
    offscreen_open(2);
    gapii_tracer busy;
    pthread_t thread = begin_call(&busy);
    gapii_tracer tracer = trace("glFinish", nothing, nothing);
    glFinish();
    say("disable", gapii_tracer_disable(tracer));
    say("destroy", gapii_tracer_destroy(tracer));
    printf("the other call %s\n", atomic_load(&has_left) ? "has ended" : "goes on");
    atomic_store(&may_leave, 1);
    pthread_join(thread, NULL);
}

static void destroy_own(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)instance;
    gapii_tracer *tracer = user_data;
    say("disable", gapii_tracer_disable(*tracer));
    say("destroy", gapii_tracer_destroy(*tracer));
}

static void inside(void)
{
    offscreen_open(2);
    gapii_tracer tracer = NULL;
    tracer = new_tracer(&tracer);
    set(tracer, "glFlush", destroy_own, say_callback);
    done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    glFlush();
    glFlush();
}

/* A child that was forked while a thread was inside a traced call; the child does not have that thread. */
static void forked(void)
{
    offscreen_open(2);
    gapii_tracer tracer;
    pthread_t thread = begin_call(&tracer);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        say("disable", gapii_tracer_disable(tracer));
        say("destroy", gapii_tracer_destroy(tracer));
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    must(waitpid(child, &status, 0) == child && status == 0, "the child");
    atomic_store(&may_leave, 1);
    pthread_join(thread, NULL);
}

static const struct scenario scenarios[] = {
    {"nulls", nulls},           {"names", names},       {"disabled", disabled},
    {"enabled", enabled},       {"texts", texts},       {"destroyed", destroyed},
    {"unregister", unregister}, {"too_late", too_late}, {"parts", parts},
    {"draining", draining},     {"others", others},     {"inside", inside},
    {"forked", forked},         {"secure", secure},
};

int main(int argc, char **argv)
{
    return run_scenario(scenarios, sizeof scenarios / sizeof scenarios[0], argc, argv);
}
