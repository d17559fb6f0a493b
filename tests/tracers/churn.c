/*
 * Threads that call, and threads that create, enable, disable and destroy tracers meanwhile. Each tracer
 * counts its callbacks: when it is destroyed there were as many epilogues as prologues, and none comes
 * afterwards.
 *
 * usage: churn SECONDS    0: until standard input ends
 *
 * Goes on until there were LEAST tracers, at most for a minute more: a busy machine runs few threads.
 */
#include "tracers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { CALLERS = 4, CHURNERS = 3, LEAST = 100 };

/* Given to the callbacks; never freed, so that a late callback is seen. */
struct counts {
    struct counts *older;
    atomic_long prologues;
    atomic_long epilogues;
    atomic_int is_destroyed;
};

static _Atomic(struct counts *) newest;
static atomic_int is_over;
static atomic_long calls, tracers, pairs;

static void prologue(gapii_call *call, void *user_data, void **instance)
{
    struct counts *counts = user_data;
    (void)call;
    must(!atomic_load(&counts->is_destroyed), "no prologue of a destroyed tracer");
    must(*instance == NULL, "an instance of null");
    *instance = counts;
    atomic_fetch_add(&counts->prologues, 1);
}

static void epilogue(gapii_call *call, void *user_data, void **instance)
{
    struct counts *counts = user_data;
    (void)call;
    must(!atomic_load(&counts->is_destroyed), "no epilogue of a destroyed tracer");
    must(*instance == counts, "what the prologue left");
    atomic_fetch_add(&counts->epilogues, 1);
}

static void *call(void *unused)
{
    long own = 0;
    struct offscreen o = offscreen_open(2);
    while (!atomic_load(&is_over)) {
        glScissor(0, 0, (int)own % SIDE, SIDE);
        /* A capture may begin or end here. */
        if (++own % 1024 == 0)
            must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    }
    must(eglMakeCurrent(o.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT), "to let go");
    atomic_fetch_add(&calls, own);
    return unused;
}

static void churn_one(struct counts *counts)
{
    gapii_tracer tracer = new_tracer(counts);
    set(tracer, "glScissor", prologue, epilogue);
    done(gapii_tracer_enable(tracer), "gapii_tracer_enable");
    const time_t begun = time(NULL);
    while (!atomic_load(&is_over) && atomic_load(&counts->prologues) < 8) {
        must(time(NULL) - begun < 20, "to be called while enabled");
        sched_yield();
    }
    done(gapii_tracer_disable(tracer), "gapii_tracer_disable");
    done(gapii_tracer_destroy(tracer), "gapii_tracer_destroy");
    atomic_store(&counts->is_destroyed, 1);
    must(atomic_load(&counts->prologues) == atomic_load(&counts->epilogues), "pairs");
    atomic_fetch_add(&pairs, atomic_load(&counts->prologues));
    atomic_fetch_add(&tracers, 1);
}

static void *churn(void *unused)
{
    while (!atomic_load(&is_over)) {
        struct counts *counts = calloc(1, sizeof *counts);
        must(counts != NULL, "memory");
        counts->older = atomic_load(&newest);
        while (!atomic_compare_exchange_weak(&newest, &counts->older, counts))
            ;
        churn_one(counts);
    }
    return unused;
}

int main(int count, char **words)
{
    pthread_t threads[CALLERS + CHURNERS];
    must(count == 2, "a number of seconds");
    const struct timespec length = {.tv_sec = atoi(words[1])};
    for (int i = 0; i < CALLERS + CHURNERS; i++)
        must(pthread_create(&threads[i], NULL, i < CALLERS ? call : churn, NULL) == 0, "a thread");
    if (length.tv_sec == 0)
        while (getchar() != EOF)
            ;
    nanosleep(&length, NULL);
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 6000 && atomic_load(&tracers) < LEAST; i++)
        nanosleep(&pause, NULL);
    atomic_store(&is_over, 1);
    for (int i = 0; i < CALLERS + CHURNERS; i++)
        must(pthread_join(threads[i], NULL) == 0, "a thread's end");
    must(atomic_load(&pairs) > 0, "callbacks");
    fprintf(stderr, "%ld calls, %ld tracers, %ld pairs\n", atomic_load(&calls),
            atomic_load(&tracers), atomic_load(&pairs));
    printf("every prologue had its epilogue\n");
    return 0;
}
