/* The values that callbacks see and change, and the order in which they run. */
#include "tracers.h"

#include <GLES2/gl2ext.h>
#include <pthread.h>

static void make_red(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    struct gapii_glClearColor_params *params = gapii_call_params(call);
    params->red = 1;
}

static void say_color(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    const struct gapii_glClearColor_params *params = gapii_call_params(call);
    printf("%s(%g, %g, %g, %g)\n", gapii_call_name(call), params->red, params->green, params->blue,
           params->alpha);
}

static void skip(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    done(gapii_call_skip(call), "gapii_call_skip");
}

static void parameter(void)
{
    offscreen_open(2);
    gapii_tracer one = trace("glClearColor", make_red, NULL);
    gapii_tracer two = trace("glClearColor", say_color, say_color);
    clear_to(0, 0, 1);
    say_pixel("traced");
    done(gapii_tracer_disable(one), "gapii_tracer_disable");
    done(gapii_tracer_disable(two), "gapii_tracer_disable");
    clear_to(0, 0, 1);
    say_pixel("not traced");
}

static void say_skipped(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    printf("skipped: %s\n", gapii_call_is_skipped(call) ? "yes" : "no");
}

static void skipped(void)
{
    offscreen_open(2);
    clear_to(0, 1, 0);
    /* The second tracer's callbacks run all the same. */
    gapii_tracer one = trace("glClear", skip, NULL);
    trace("glClear", say_skipped, say_skipped);
    clear_to(1, 0, 0);
    say_pixel("skipped");
    done(gapii_tracer_disable(one), "gapii_tracer_disable");
    glClear(GL_COLOR_BUFFER_BIT);
    say_pixel("not skipped");
}

static void answer_itself(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    uint32_t *result = gapii_call_result(call);
    printf("in the prologue: %u\n", *result);
    *result = 4711;
    done(gapii_call_skip(call), "gapii_call_skip");
}

static void one_more(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    uint32_t *result = gapii_call_result(call);
    printf("in the epilogue: %u\n", *result);
    *result += 1;
}

static void result(void)
{
    offscreen_open(2);
    glEnable(0);
    gapii_tracer changes = trace("glGetError", NULL, one_more);
    printf("changed: %u\n", glGetError());
    done(gapii_tracer_disable(changes), "gapii_tracer_disable");
    glEnable(0);
    gapii_tracer skips = trace("glGetError", answer_itself, NULL);
    printf("skipped: %u\n", glGetError());
    done(gapii_tracer_enable(changes), "gapii_tracer_enable");
    printf("skipped and changed: %u\n", glGetError());
    done(gapii_tracer_disable(skips), "gapii_tracer_disable");
    done(gapii_tracer_disable(changes), "gapii_tracer_disable");
    printf("the driver's own: %u\n", glGetError());
}

static void says_label(gapii_call *call, void *user_data, void **instance)
{
    (void)call;
    printf(" %s%s", *instance ? "-" : "+", (const char *)user_data);
    must(*instance == NULL || *instance == user_data, "to find what the prologue left");
    *instance = user_data;
}

static void order(void)
{
    offscreen_open(2);
    static char labels[][2] = {"a", "b", "c"};
    gapii_tracer tracers[3];
    for (int i = 0; i < 3; i++) {
        tracers[i] = new_tracer(labels[i]);
        set(tracers[i], "glFlush", says_label, says_label);
    }
    for (int i = 2; i >= 0; i--)
        done(gapii_tracer_enable(tracers[i]), "gapii_tracer_enable");
    printf("enabled c, b, a:");
    glFlush();
    done(gapii_tracer_disable(tracers[2]), "gapii_tracer_disable");
    done(gapii_tracer_enable(tracers[2]), "gapii_tracer_enable");
    printf("\nc once more:");
    glFlush();
    printf("\n");
}

static void say_name(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    printf("%s\n", gapii_call_name(call));
}

static void *flush_elsewhere(void *unused)
{
    glFlush();
    return unused;
}

static void call_others(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
    /* None of these calls is traced, ... */
    glFinish();
    glFlush();
    clear_to(0, 0, 1);
    /* ... and a call of another thread is. */
    pthread_t thread;
    must(pthread_create(&thread, NULL, flush_elsewhere, NULL) == 0, "pthread_create");
    must(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void reentrant(void)
{
    offscreen_open(2);
    trace("glFinish", call_others, call_others);
    trace("glFlush", say_name, NULL);
    trace("glClearColor", say_name, NULL);
    printf("the outer call:\n");
    glFinish();
    printf("afterwards:\n");
    glFlush();
    /* The driver has got the calls of the callbacks. */
    say_pixel("drawn");
}

/* Enabled before anything was called: the process' first command is traced. */
static void first_command(void)
{
    gapii_tracer tracer = new_tracer(NULL);
    set(tracer, "eglGetDisplay", say_name, say_name);
    set(tracer, "glClearColor", make_red, NULL);
    done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    offscreen_open(2);
    clear_to(0, 0, 1);
    say_pixel("drawn");
}

/* A command that only eglGetProcAddress hands out: requested before it is traced, and afterwards. */
static void handed_out(void)
{
    offscreen_open(2);
    PFNGLGENQUERIESEXTPROC before =
        (PFNGLGENQUERIESEXTPROC)(void *)eglGetProcAddress("glGenQueriesEXT");
    must(before != NULL, "eglGetProcAddress");
    GLuint query = 0;
    gapii_tracer tracer = trace("glGenQueriesEXT", say_name, NULL);
    trace("glIsQueryEXT", say_name, NULL);
    before(1, &query);
    PFNGLISQUERYEXTPROC after = (PFNGLISQUERYEXTPROC)(void *)eglGetProcAddress("glIsQueryEXT");
    must(after != NULL, "eglGetProcAddress");
    after(query);
    done(gapii_tracer_disable(tracer), "gapii_tracer_disable");
    before(1, &query);
}

static const struct scenario scenarios[] = {
    {"parameter", parameter},   {"skipped", skipped},     {"result", result},
    {"order", order},           {"reentrant", reentrant}, {"first_command", first_command},
    {"handed_out", handed_out},
};

int main(int argc, char **argv)
{
    return run_scenario(scenarios, sizeof scenarios / sizeof scenarios[0], argc, argv);
}
