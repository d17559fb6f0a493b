/*
 * Threads that live one after the other: each draws a stripe with the only context, and ends.
 *
 * usage: short_threads COUNT    the last thread is the first one again, which reads the picture back
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>

static struct offscreen shared;

static void take(void)
{
    must(eglMakeCurrent(shared.display, shared.surface, shared.surface, shared.context), "eglMakeCurrent");
}

static void *run(void *number)
{
    int i = (int)(long)number;
    take();
    glEnable(GL_SCISSOR_TEST);
    glScissor(i % SIDE, 0, 1, SIDE);
    glClearColor((float)(i % 7) / 7, (float)(i % 11) / 11, (float)(i % 13) / 13, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    must(eglReleaseThread(), "eglReleaseThread");
    return NULL;
}

int main(int argc, char **argv)
{
    static unsigned char pixels[SIDE * SIDE * 4];
    unsigned sum = 0;
    must(argc == 2, "usage: short_threads COUNT");
    shared = offscreen_open(2);
    glClear(GL_COLOR_BUFFER_BIT);
    must(eglReleaseThread(), "eglReleaseThread");
    for (int i = 0; i < atoi(argv[1]); i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, run, (void *)(long)i) == 0, "pthread_create");
        must(pthread_join(thread, NULL) == 0, "pthread_join");
    }
    take();
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (unsigned i = 0; i < sizeof pixels; i++)
        sum = sum * 31 + pixels[i];
    printf("%08x\n", sum);
    offscreen_swap(&shared);
    offscreen_close(&shared);
    return 0;
}
