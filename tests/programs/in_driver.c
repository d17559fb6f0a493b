/*
 * One thread swaps, another is in glFinish nearly all the time; both have a context of OpenGL ES 3, for which the shim
 * makes no glFinish of its own.
 *
 * usage: in_driver    runs until it is killed; for the fake driver, whose glFinish can be made slow
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>
#include <unistd.h>

static struct offscreen shared;
static EGLSurface other_surface;
static EGLContext other_context;

static void *finish(void *unused)
{
    must(eglMakeCurrent(shared.display, other_surface, other_surface, other_context),
         "eglMakeCurrent");
    for (;;)
        glFinish();
    return unused;
}

int main(void)
{
    pthread_t thread;
    shared = offscreen_open(3);
    other_surface = offscreen_surface(&shared);
    other_context = offscreen_context(&shared, 3, shared.context);
    must(pthread_create(&thread, NULL, finish, NULL) == 0, "pthread_create");
    for (;;) {
        glClear(GL_COLOR_BUFFER_BIT);
        offscreen_swap(&shared);
        usleep(1000);
    }
}
