/*
 * Finds the code that calls the driver's glFlush, as witness.c sees it: the program's own if the command's
 * slot holds the driver's function, and the shim's if it holds another function.
 */
#define _GNU_SOURCE
#include "tracers.h"

#include <dlfcn.h>

static void nothing(gapii_call *call, void *user_data, void **instance)
{
    (void)call, (void)user_data, (void)instance;
}

static void say_caller(const char *when)
{
    const char *(*caller)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "witness_caller");
    must(caller != NULL, "to find the witness");
    glFlush();
    printf("%s: %s\n", when, caller());
}

int main(void)
{
    gapii_tracer tracer = new_tracer(NULL);
    set(tracer, "glFlush", NULL, nothing);
    gapii_tracer other = new_tracer(NULL);
    set(other, "glFinish", nothing, nothing);
    say_caller("no tracer");
    done(gapii_tracer_enable(other), "gapii_tracer_enable");
    say_caller("a tracer of another command");
    done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    say_caller("a tracer of this one");
    done(gapii_tracer_disable(tracer), "gapii_tracer_disable");
    say_caller("none any more");
    return 0;
}
