/*
 * Threads that make the process' first commands within some milliseconds, each in a context of its own.
 *
 * usage: first_at_once THREADS    each makes 100 calls of glStencilFunc, numbered from 0
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>
#include <time.h>

#define THREADS_MAX 16
#define CALLS 100

static pthread_barrier_t barrier;

static void *run(void *number)
{
    struct timespec pause = {.tv_nsec = (long)number * 5 * 1000 * 1000};
    pthread_barrier_wait(&barrier);
    nanosleep(&pause, NULL);
    struct offscreen o = offscreen_open(2);
    for (int i = 0; i < CALLS; i++)
        glStencilFunc(GL_ALWAYS, i, 0xFF);
    /* The display is the process' own, so no thread may terminate it before the others are done. */
    pthread_barrier_wait(&barrier);
    offscreen_close(&o);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    must(argc == 2, "usage: first_at_once THREADS");
    int count = atoi(argv[1]);
    must(count >= 1 && count <= THREADS_MAX, "1 to 16 threads");
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (long i = 0; i < count; i++)
        must(pthread_create(&threads[i], NULL, run, (void *)i) == 0, "pthread_create");
    for (int i = 0; i < count; i++)
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
    return 0;
}
