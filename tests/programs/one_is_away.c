/*
 * A thread that draws frames, and another with a context of the same share group that drew once
 * and now does something else: it sleeps, or it computes.
 *
 * usage: one_is_away sleeps|computes FRAMES
 */
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static struct offscreen o;
static EGLSurface other_surface;
static EGLContext other_context;
static atomic_int is_away, is_over;

static void pause_ms(long ms)
{
    struct timespec pause = {0, ms * 1000 * 1000};
    nanosleep(&pause, NULL);
}

static void draw(int frame)
{
    glClearColor((float)(frame % 16) / 15, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
}

static void *other(void *computes)
{
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    must(eglMakeCurrent(o.display, other_surface, other_surface, other_context), "eglMakeCurrent");
    draw(0);
    glFinish();
    is_away = 1;
    while (!is_over)
        if (!computes)
            pause_ms(5);
    must(eglReleaseThread(), "eglReleaseThread");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    must(argc == 3, "usage: one_is_away sleeps|computes FRAMES");
    void *computes = strcmp(argv[1], "computes") == 0 ? argv : NULL;
    o = offscreen_prepare(3);
    other_surface = offscreen_surface(&o);
    other_context = offscreen_context(&o, 3, o.context);
    must(eglMakeCurrent(o.display, o.surface, o.surface, o.context), "eglMakeCurrent");
    must(pthread_create(&thread, NULL, other, computes) == 0, "pthread_create");
    while (!is_away)
        pause_ms(1);
    for (int frame = 0; frame < atoi(argv[2]); frame++) {
        draw(frame);
        offscreen_swap(&o);
    }
    is_over = 1;
    must(pthread_join(thread, NULL) == 0, "pthread_join");
    return 0;
}
