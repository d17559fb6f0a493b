/*
 * Many threads, each of which takes a context, draws and gives the context back.
 *
 * usage: many_threads turns COUNT ROUNDS   COUNT threads, an even number, that live to the end. Two of them run at a time:
 *                                          each wakes the next but one. Each draws ROUNDS times.
 *        many_threads after COUNT          COUNT threads, one after the other
 *
 * Prints at its end
 *
 *     longest N    the longest command, in microseconds, without the time that its thread waited for a processor
 *     rings N      memory of all rings, in KiB; 0 if the program is not recorded
 */
#include "offscreen.h"
#include "timed.h"

#include <GLES2/gl2.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 8192

static struct offscreen shared;
static EGLContext contexts[2];
static EGLSurface surfaces[2];
static sem_t turns[THREADS_MAX];
static pthread_barrier_t end;
static int count, rounds;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long longest_of_all_ns;

static void draw(int i, int context)
{
    begin_timing();
    EGLBoolean taken;
    TIMED(taken = eglMakeCurrent(shared.display, surfaces[context], surfaces[context], contexts[context]));
    must(taken, "eglMakeCurrent");
    TIMED(glScissor(i % SIDE, 0, 1, SIDE));
    TIMED(glClearColor((float)(i % 7) / 7, (float)(i % 11) / 11, (float)(i % 13) / 13, 1));
    TIMED(glClear(GL_COLOR_BUFFER_BIT));
    TIMED(eglMakeCurrent(shared.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT));
}

static void note_longest(void)
{
    pthread_mutex_lock(&lock);
    if (longest_ns > longest_of_all_ns)
        longest_of_all_ns = longest_ns;
    pthread_mutex_unlock(&lock);
}

static void *take_turns(void *number)
{
    int i = (int)(long)number;
    for (int round = 0; round < rounds; round++) {
        while (sem_wait(&turns[i]) != 0)
            ;
        draw(i, i % 2);
        sem_post(&turns[(i + 2) % count]);
    }
    note_longest();
    pthread_barrier_wait(&end);
    return NULL;
}

static void *run_once(void *number)
{
    draw((int)(long)number, 0);
    note_longest();
    return NULL;
}

static pthread_t start(void *(*does)(void *), int i)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    must(pthread_create(&thread, &attributes, does, (void *)(long)i) == 0, "pthread_create");
    pthread_attr_destroy(&attributes);
    return thread;
}

static void all_at_once(void)
{
    static pthread_t threads[THREADS_MAX];
    must(count <= THREADS_MAX && count % 2 == 0, "an even number of threads");
    for (int i = 0; i < count; i++)
        sem_init(&turns[i], 0, 0);
    pthread_barrier_init(&end, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        threads[i] = start(take_turns, i);
    sem_post(&turns[0]);
    sem_post(&turns[1]);
    for (int i = 0; i < count; i++)
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
}

static void one_after_the_other(void)
{
    for (int i = 0; i < count; i++)
        must(pthread_join(start(run_once, i), NULL) == 0, "pthread_join");
}

/* Memory of the file with the rings, in KiB. */
static long long rings_kib(void)
{
    long long kib = 0;
    DIR *files = opendir("/proc/self/fd");
    must(files != NULL, "/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        char name[256] = "";
        struct stat facts;
        if (readlinkat(dirfd(files), entry->d_name, name, sizeof name - 1) > 0 && strstr(name, "gapii-rings") &&
            fstat(atoi(entry->d_name), &facts) == 0)
            kib += facts.st_blocks / 2;
    }
    closedir(files);
    return kib;
}

int main(int argc, char **argv)
{
    must(argc >= 3, "usage: many_threads turns COUNT ROUNDS | after COUNT");
    count = atoi(argv[2]);
    rounds = argc > 3 ? atoi(argv[3]) : 1;
    shared = offscreen_prepare(2);
    for (int i = 0; i < 2; i++) {
        contexts[i] = offscreen_context(&shared, 2, EGL_NO_CONTEXT);
        surfaces[i] = offscreen_surface(&shared);
    }
    /* The first commands set the shim up, and the driver. */
    draw(0, 0);
    longest_ns = 0;
    if (strcmp(argv[1], "turns") == 0)
        all_at_once();
    else
        one_after_the_other();
    printf("longest %lld\nrings %lld\n", longest_of_all_ns / 1000, rings_kib());
    for (int i = 0; i < 2; i++) {
        must(eglDestroyContext(shared.display, contexts[i]), "eglDestroyContext");
        must(eglDestroySurface(shared.display, surfaces[i]), "eglDestroySurface");
    }
    offscreen_close(&shared);
    return 0;
}
