/*
 * Three frames in which tracers make every change that they can make. A trace must show each of them.
 *
 * A clear is changed from blue to magenta, a flush is skipped, a result is changed, a result is given in
 * place of a skipped call, and the epilogue of the swap makes two commands of its own.
 */
#include "tracers.h"

static void make_red(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    struct gapii_glClearColor_params *params = gapii_call_params(call);
    params->red = 1;
}

static void skip(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    done(gapii_call_skip(call), "gapii_call_skip");
}

/* Returns that GL_BLEND is enabled, without asking the driver. */
static void answer_yes(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    struct gapii_glIsEnabled_params *params = gapii_call_params(call);
    uint8_t *result = gapii_call_result(call);
    params->cap = GL_BLEND;
    *result = 1;
    done(gapii_call_skip(call), "gapii_call_skip");
}

static void give_4711(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    uint32_t *result = gapii_call_result(call);
    *result = 4711;
}

static void call_on(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
    glFinish();
    glGetError();
}

int main(int argc, char **argv)
{
    /* The tracer is enabled before a capture begins, or while one runs. */
    const int is_late = argc > 1 && strcmp(argv[1], "late") == 0;
    gapii_tracer tracer = new_tracer(NULL);
    set(tracer, "glClearColor", make_red, NULL);
    set(tracer, "glFlush", skip, NULL);
    set(tracer, "glIsEnabled", answer_yes, NULL);
    set(tracer, "glGetError", NULL, give_4711);
    set(tracer, "eglSwapBuffers", NULL, call_on);
    if (!is_late)
        done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    struct offscreen o = offscreen_open(2);
    if (is_late)
        done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    for (int frame = 0; frame < 3; frame++) {
        clear_to(0, 0, 1);
        glFlush();
        must(glIsEnabled(GL_DITHER + 0x1000) == 1, "the tracer's answer");
        must(glGetError() == 4711, "the tracer's result");
        say_pixel("frame");
        offscreen_swap(&o);
    }
    done(gapii_tracer_disable(tracer), "gapii_tracer_disable");
    clear_to(0, 1, 0);
    say_pixel("not traced");
    offscreen_swap(&o);
    offscreen_close(&o);
    done(gapii_tracer_destroy(tracer), "gapii_tracer_destroy");
    return 0;
}
