/*
 * Locks its memory as programs with deadlines do, and makes commands on three threads.
 *
 * usage: locks_memory WHEN
 *   before   locks present and future memory before its first command
 *   after    locks present memory after the commands of all threads
 *
 * Prints "shared KIB": the shared memory of the process that is in RAM, in KiB.
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define THREADS 3

static pthread_barrier_t barrier;

/* Without this right the program cannot do what it is for. */
static void lock(int what)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_MEMLOCK, &all);
    must(mlockall(what) == 0, "mlockall: needs root, or an unlimited RLIMIT_MEMLOCK");
}

static void *work(void *unused)
{
    (void)unused;
    struct offscreen o = offscreen_open(2);
    for (int i = 0; i < 1000; i++)
        glStencilFunc(GL_ALWAYS, i, 0xFF);
    /* All threads are alive when the memory is locked, and when it is counted. */
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    offscreen_close(&o);
    return NULL;
}

static long shared_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    must(status != NULL, "/proc/self/status");
    while (fgets(line, sizeof line, status))
        sscanf(line, "RssShmem: %ld kB", &kib);
    fclose(status);
    return kib;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    must(argc == 2, "usage: locks_memory before|after");
    int is_before = !strcmp(argv[1], "before");
    if (is_before)
        lock(MCL_CURRENT | MCL_FUTURE);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, work, NULL) == 0, "pthread_create");
    pthread_barrier_wait(&barrier);
    if (!is_before)
        lock(MCL_CURRENT);
    printf("shared %ld\n", shared_kib());
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
