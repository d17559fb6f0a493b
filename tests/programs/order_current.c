/*
 * Two threads compete for one context; only the driver decides which thread has it.
 *
 * usage: order_current TURNS    in all; for the fake driver, which refuses a context that is current elsewhere
 *
 * The thread that has it calls glUniform1i(0, n), with n one more than the last time.
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct offscreen shared;
static atomic_int next; /* relaxed: the driver alone orders the threads */
static int turns;

static void *run(void *unused)
{
    (void)unused;
    for (;;) {
        while (!eglMakeCurrent(shared.display, shared.surface, shared.surface, shared.context)) {
            must(eglGetError() == EGL_BAD_ACCESS, "EGL_BAD_ACCESS");
            sched_yield();
        }
        int n = atomic_load_explicit(&next, memory_order_relaxed);
        if (n < turns) {
            glUniform1i(0, n);
            atomic_store_explicit(&next, n + 1, memory_order_relaxed);
        }
        must(eglMakeCurrent(shared.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT),
             "eglMakeCurrent(none)");
        if (n >= turns)
            return NULL;
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    must(argc == 2, "usage: order_current TURNS");
    turns = atoi(argv[1]);
    shared = offscreen_prepare(2);
    for (int i = 0; i < 2; i++)
        must(pthread_create(&threads[i], NULL, run, NULL) == 0, "pthread_create");
    for (int i = 0; i < 2; i++)
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
    printf("%d turns\n", atomic_load(&next));
    return 0;
}
