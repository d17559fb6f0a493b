/*
 * The ways in which a process ends while another of its threads draws.
 *
 * usage: guest_exit return|exit|_exit|destructor|thread|abort|terminate    for the fake driver
 *
 *   return, exit, _exit    status 7, with the other thread in the middle of a call
 *   destructor             a handler of atexit and a destructor make calls of their own
 *   thread                 the main thread ends by pthread_exit, the other one by exit
 *   abort                  SIGABRT
 *   terminate              SIGTERM
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static struct offscreen shared;
static atomic_int drawn;
static int last_by_thread;

static void *draw(void *unused)
{
    (void)unused;
    EGLContext context = offscreen_context(&shared, 2, EGL_NO_CONTEXT);
    must(eglMakeCurrent(shared.display, shared.surface, shared.surface, context), "eglMakeCurrent");
    for (int n = 0;; n++) {
        glUniform1i(0, n);
        atomic_store(&drawn, n);
        if (last_by_thread && n == 10000)
            exit(7);
    }
    return NULL;
}

static void call_at_exit(void)
{
    for (int n = 0; n < 100; n++)
        glUniform1i(1, n);
}

__attribute__((destructor)) static void call_in_destructor(void)
{
    if (atomic_load(&drawn) > 0 && shared.display)
        for (int n = 0; n < 100; n++)
            glUniform1i(2, n);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    must(argc == 2, "usage: guest_exit return|exit|_exit|destructor|thread|abort|terminate");
    last_by_thread = !strcmp(argv[1], "thread");
    shared = offscreen_prepare(2);
    if (!strcmp(argv[1], "destructor"))
        must(atexit(call_at_exit) == 0, "atexit");
    printf("ending by %s\n", argv[1]);
    fflush(stdout);
    must(pthread_create(&thread, NULL, draw, NULL) == 0, "pthread_create");
    while (atomic_load(&drawn) < 1000)
        ;
    if (!strcmp(argv[1], "exit"))
        exit(7);
    if (!strcmp(argv[1], "_exit"))
        _exit(7);
    if (!strcmp(argv[1], "abort"))
        abort();
    if (!strcmp(argv[1], "terminate"))
        raise(SIGTERM);
    if (last_by_thread)
        pthread_exit(NULL);
    return 7;
}
