/*
 * Many short-lived threads, eight at a time: each makes a context current, calls, and ends, half of
 * them without releasing the context.
 *
 * usage: guest_threads COUNT    thread k calls glUniform1i(0, k) four times
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>

#define AT_ONCE 8

static struct offscreen shared;

static void *run(void *argument)
{
    long k = (long)argument;
    EGLContext context = offscreen_context(&shared, 2, shared.context);
    EGLSurface surface = offscreen_surface(&shared);
    must(eglMakeCurrent(shared.display, surface, surface, context), "eglMakeCurrent");
    for (int i = 0; i < 4; i++)
        glUniform1i(0, (GLint)k);
    must(eglDestroyContext(shared.display, context), "eglDestroyContext");
    if (k % 2)
        must(eglReleaseThread(), "eglReleaseThread");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[AT_ONCE];
    must(argc == 2, "usage: guest_threads COUNT");
    long count = atol(argv[1]);
    shared = offscreen_prepare(2);
    for (long k = 0; k < count + AT_ONCE; k++) {
        if (k >= AT_ONCE && k - AT_ONCE < count)
            must(pthread_join(threads[k % AT_ONCE], NULL) == 0, "pthread_join");
        if (k < count)
            must(pthread_create(&threads[k % AT_ONCE], NULL, run, (void *)k) == 0, "pthread_create");
    }
    printf("%ld threads\n", count);
    return 0;
}
