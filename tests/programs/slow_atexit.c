/*
 * A library to preload: whoever registers a function to be called at exit waits for 50 ms. The shim does so when a capture
 * begins; other threads have this time to make commands that the capture must have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    int (*next)(void (*)(void *), void *, void *) = dlsym(RTLD_NEXT, "__cxa_atexit");
    struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

    nanosleep(&pause, NULL);
    return next(function, argument, library);
}
