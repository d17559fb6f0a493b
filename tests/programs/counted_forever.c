/*
 * Threads that draw, check what they drew, and number and count their calls, until they are told to end
 * (SECONDS, or SIGTERM): for tests that no call is lost.
 *
 * At its end each thread prints how many calls it made, numbered from 0, and the program prints the longest
 * time between two swaps of a thread.
 *
 * usage: counted_forever THREADS SECONDS REST    microseconds between two rounds
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 8
/* Numbered calls in one round. */
#define NUMBERED 40

struct counts {
    long tid, numbered, clears, reads, swaps;
    double longest;
};

static struct offscreen shared;
static EGLContext contexts[THREADS_MAX];
static EGLSurface surfaces[THREADS_MAX];
static struct counts counts[THREADS_MAX];
static double end;
static struct timespec rest;
static volatile sig_atomic_t is_told_to_end;

static void told_to_end(int signal)
{
    is_told_to_end = signal;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void round_of_calls(struct counts *c)
{
    GLubyte pixel[4], red = (GLubyte)(c->clears * 7), green = (GLubyte)(c->clears >> 5);
    for (int i = 0; i < NUMBERED; i++)
        glStencilFunc(GL_ALWAYS, (GLint)c->numbered++, ~0u);
    glClearColor((GLfloat)red / 255.0f, (GLfloat)green / 255.0f, 0.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    c->clears++;
    glReadPixels(SIDE / 2, SIDE / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    c->reads++;
    must(pixel[0] == red && pixel[1] == green, "a pixel as drawn");
}

static void *run(void *number)
{
    int i = (int)(long)number;
    struct counts *c = &counts[i];
    c->tid = syscall(SYS_gettid);
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    must(eglMakeCurrent(shared.display, surfaces[i], surfaces[i], contexts[i]), "eglMakeCurrent");
    double swapped = now();
    while (swapped < end && !is_told_to_end) {
        round_of_calls(c);
        must(eglSwapBuffers(shared.display, surfaces[i]), "eglSwapBuffers");
        c->swaps++;
        if (rest.tv_nsec > 0)
            nanosleep(&rest, NULL);
        double before = swapped;
        swapped = now();
        c->longest = swapped - before > c->longest ? swapped - before : c->longest;
    }
    must(eglReleaseThread(), "eglReleaseThread");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    must(argc == 4, "usage: counted_forever THREADS SECONDS REST");
    int count = atoi(argv[1]);
    must(count >= 1 && count <= THREADS_MAX, "1 to 8 threads");
    end = now() + atof(argv[2]);
    rest.tv_nsec = atol(argv[3]) * 1000;
    signal(SIGTERM, told_to_end);
    shared = offscreen_open(2);
    for (int i = 0; i < count; i++) {
        surfaces[i] = offscreen_surface(&shared);
        contexts[i] = offscreen_context(&shared, 2, EGL_NO_CONTEXT);
        must(pthread_create(&threads[i], NULL, run, (void *)(long)i) == 0, "pthread_create");
    }
    double pause = 0;
    for (int i = 0; i < count; i++) {
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
        struct counts c = counts[i];
        printf("thread %ld glStencilFunc %ld glClear %ld glReadPixels %ld eglSwapBuffers %ld\n", c.tid,
               c.numbered, c.clears, c.reads, c.swaps);
        pause = c.longest > pause ? c.longest : pause;
    }
    printf("longest pause %.0f ms\n", pause * 1e3);
    offscreen_close(&shared);
    return 0;
}
