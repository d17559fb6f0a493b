/*
 * Shared parts of the programs in this folder: a tracer made of its callbacks, and words for results.
 *
 * The programs are their own tools: linked with libgapii, they set tracers around their own calls.
 */
#ifndef TRACERS_H
#define TRACERS_H

#include <GLES2/gl2.h>

#include <gapii.h>
#include <gapii_commands.h>

#include "../programs/offscreen.h"

/* Results by name, so that a test reads as the header does. */
static inline const char *name_of(gapii_result result)
{
    static const char *const names[] = {
        "OK",      "NULL_HANDLE", "NULL_POINTER", "NO_SUCH_TRACER", "NO_SUCH_COMMAND",
        "ENABLED", "DRAINING",    "TOO_LATE",     "SECURE_EXECUTION",
    };
    const int known = (int)(sizeof names / sizeof names[0]);
    return result >= 0 && result < known ? names[result] : "?";
}

static inline void say(const char *what, gapii_result result)
{
    printf("%s: %s\n", what, name_of(result));
}

static inline void done(gapii_result result, const char *what)
{
    must(result == GAPII_OK, what);
}

static inline gapii_tracer new_tracer(void *user_data)
{
    gapii_tracer tracer = NULL;
    done(gapii_tracer_create(user_data, &tracer), "gapii_tracer_create");
    return tracer;
}

static inline void set(gapii_tracer tracer, const char *command, gapii_callback prologue,
                       gapii_callback epilogue)
{
    done(gapii_tracer_register_prologue(tracer, command, prologue), "to register a prologue");
    done(gapii_tracer_register_epilogue(tracer, command, epilogue), "to register an epilogue");
}

/* An enabled tracer of one command. */
static inline gapii_tracer trace(const char *command, gapii_callback prologue, gapii_callback epilogue)
{
    gapii_tracer tracer = new_tracer(NULL);
    set(tracer, command, prologue, epilogue);
    done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    return tracer;
}

/* Prints the pixel that the driver has drawn, at the lower left. */
static inline void say_pixel(const char *what)
{
    unsigned char pixel[4] = {0};
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    printf("%s: %d %d %d\n", what, pixel[0], pixel[1], pixel[2]);
}

/* Clears to a colour. */
static inline void clear_to(float red, float green, float blue)
{
    glClearColor(red, green, blue, 1);
    glClear(GL_COLOR_BUFFER_BIT);
}

/* Runs the case that the program was asked for. */
struct scenario {
    const char *name;
    void (*run)(void);
};

static inline int run_scenario(const struct scenario *all, size_t count, int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            all[i].run();
            return 0;
        }
    fprintf(stderr, "usage: %s CASE\n", argv[0]);
    return 2;
}

#endif
