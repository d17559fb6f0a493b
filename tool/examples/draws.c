/*
 * A tool that tints the program's clear color, skips its flushes, calls glFinish at the end of each frame, and runs
 * kernels in groups of one. At the end it reports the driver's time for draws.
 *
 *   cc -std=c11 -shared -fPIC -o draws.so draws.c $(pkg-config --cflags --libs gapii)
 *   gapii-ctl run --tool ./draws.so -o draws.gapii -- PROGRAM
 *   gapii-ctl dump draws.gapii
 */
#define _POSIX_C_SOURCE 199309L
#include <gapii.h>
#include <gapii_commands.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static gapii_tracer tracer;

/* Callbacks run in the thread that makes the call, so shared data must be thread-safe. */
static atomic_ullong draws, nanoseconds;

static unsigned long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

/* Changes a parameter: the driver gets the changed copy. */
static void tint(gapii_call *call, void *user_data, void **instance)
{
    struct gapii_glClearColor_params *color = gapii_call_params(call);
    (void)user_data, (void)instance;
    color->red = 0.5f + color->red / 2;
}

/* Changes a parameter of Level Zero. */
static void ungroup(gapii_call *call, void *user_data, void **instance)
{
    struct gapii_zeKernelSetGroupSize_params *size = gapii_call_params(call);
    (void)user_data, (void)instance;
    size->groupSizeX = size->groupSizeY = size->groupSizeZ = 1;
}

/* Skips the call of the driver. */
static void skip(gapii_call *call, void *user_data, void **instance)
{
    (void)user_data, (void)instance;
    gapii_call_skip(call);
}

/* Instance data: the epilogue gets the pointer that the prologue of the same call stored. */
static void begin_draw(gapii_call *call, void *user_data, void **instance)
{
    unsigned long long *begun = malloc(sizeof *begun);
    (void)call, (void)user_data;
    if (begun != NULL)
        *begun = now();
    *instance = begun;
}

static void end_draw(gapii_call *call, void *user_data, void **instance)
{
    unsigned long long *begun = *instance;
    (void)call, (void)user_data;
    if (begun == NULL)
        return;
    atomic_fetch_add(&draws, 1);
    atomic_fetch_add(&nanoseconds, now() - *begun);
    free(begun);
}

/* Calls a command: no callback runs for it, and the trace marks it as a call of the tool. */
extern void glFinish(void);

static void finish(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
    glFinish();
}

static void set(const char *command, gapii_callback prologue, gapii_callback epilogue)
{
    gapii_result result = gapii_tracer_register_prologue(tracer, command, prologue);
    if (result == GAPII_OK)
        result = gapii_tracer_register_epilogue(tracer, command, epilogue);
    if (result != GAPII_OK)
        fprintf(stderr, "draws: %s: %s\n", command, gapii_result_text(result));
}

__attribute__((constructor)) static void begin(void)
{
    if (gapii_tracer_create(NULL, &tracer) != GAPII_OK)
        return;
    set("glClearColor", tint, NULL);
    set("zeKernelSetGroupSize", ungroup, NULL);
    set("glFlush", skip, NULL);
    set("glDrawArrays", begin_draw, end_draw);
    set("glDrawElements", begin_draw, end_draw);
    set("eglSwapBuffers", NULL, finish);
    gapii_tracer_enable(tracer);
}

__attribute__((destructor)) static void end(void)
{
    /* Disables first. Destroying waits for the calls that still run the callbacks. */
    gapii_tracer_disable(tracer);
    gapii_tracer_destroy(tracer);
    const unsigned long long count = atomic_load(&draws), sum = atomic_load(&nanoseconds);
    fprintf(stderr, "draws: %llu, of %llu ns each\n", count, count ? sum / count : 0);
}
