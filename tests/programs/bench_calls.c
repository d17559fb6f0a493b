/*
 * Measures how long cheap calls take: uniforms with changing values, enables, draws; or immediate mode.
 *
 * usage: bench_calls THREADS RUNS CALLS_PER_RUN PAUSE_MS WARM_UP_RUNS [immediate]
 *
 * Each thread has a context of its own and makes RUNS runs of CALLS_PER_RUN calls, with a pause
 * after each; all begin a run together. Only the calls are timed, by the thread's CPU clock. Prints
 *
 *   thread N calls C cpu_ns T     for each thread, warm-up runs left out
 *   wall_ns W                     from the first call to the last, pauses and warm-up included
 *
 * The scene is a grid of 256 objects that drift and pulse, each at a speed of its own; an object is
 * ten calls, a frame a grid. In immediate mode the calls are a glBegin, four glColor3f and glVertex3f, and a glEnd.
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define THREADS_MAX 16
#define OBJECTS 256
#define CALLS_PER_OBJECT 10

struct worker {
    pthread_t thread;
    int number;
    struct offscreen o;
    GLint place, colour, tint, time, unit, size;
    long object;
    long calls;
    uint64_t cpu_ns;
};

static int runs, warm_up_runs, immediate;
static void (*begin)(GLenum mode);
static void (*color)(GLfloat r, GLfloat g, GLfloat b);
static void (*vertex)(GLfloat x, GLfloat y, GLfloat z);
static void (*end)(void);
static long objects_per_run;
static struct timespec pause_time;
static pthread_barrier_t together;
static int threads;
static atomic_int arrived;

static const char *const VERTEX =
    "attribute vec4 corner;\n"
    "uniform vec2 place;\nuniform float time;\nuniform vec3 size;\n"
    "void main() { gl_Position = corner * size.x + vec4(place, time, 1.0); }\n";
static const char *const FRAGMENT =
    "precision mediump float;\n"
    "uniform vec4 colour;\nuniform vec4 tint;\nuniform int unit;\n"
    "void main() { gl_FragColor = colour * tint + vec4(float(unit)); }\n";

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void attach(GLuint program, GLenum kind, const char *source)
{
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
}

static void set_up(struct worker *w)
{
    GLuint program = glCreateProgram();
    attach(program, GL_VERTEX_SHADER, VERTEX);
    attach(program, GL_FRAGMENT_SHADER, FRAGMENT);
    glLinkProgram(program);
    glUseProgram(program);
    w->place = glGetUniformLocation(program, "place");
    w->colour = glGetUniformLocation(program, "colour");
    w->tint = glGetUniformLocation(program, "tint");
    w->time = glGetUniformLocation(program, "time");
    w->unit = glGetUniformLocation(program, "unit");
    w->size = glGetUniformLocation(program, "size");
    glEnable(GL_RASTERIZER_DISCARD);
    must(glGetError() == GL_NO_ERROR, "setting up");
}

static inline void draw_object(const struct worker *w, long object)
{
    int i = (int)(object % OBJECTS);
    float time = (float)(object / OBJECTS) * (1.0f / 60.0f);
    float x = (float)(i % 16) * 0.125f - 1.0f, y = (float)(i / 16) * 0.125f - 1.0f;
    float phase = time * (0.3f + 0.01f * (float)i);
    float pulse = phase - (float)(long)phase;
    if (immediate) {
        begin(6 /* GL_TRIANGLE_FAN */);
        for (int corner = 0; corner < 4; corner++) {
            color(x, pulse, 0.25f * (float)corner);
            vertex(x + 0.05f * pulse, y + 0.1f * (float)(corner & 2), time);
        }
        end();
        return;
    }
    glUniform1f(w->time, time);
    glUniform2f(w->place, x + 0.05f * pulse, y - 0.05f * pulse * pulse);
    glUniform4f(w->colour, x, y, pulse, 1.0f);
    glUniform1i(w->unit, i & 3);
    glEnable(GL_BLEND);
    glUniform4f(w->tint, 1.0f, 0.5f, 0.25f * (float)(i & 7), 1.0f);
    glUniform3f(w->size, 0.1f, 0.1f * pulse, 0.0f);
    glDisable(GL_BLEND);
    glUniform1i(w->unit, 0);
    glDrawArrays(GL_TRIANGLES, 3 * (i & 15), 3);
}

/* Within nanoseconds of each other, where there are enough cores: a barrier that sleeps would let
 * short runs pass one another. */
static void begin_together(int run)
{
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < threads * (run + 1))
        sched_yield();
}

static void run_once(struct worker *w, int timed)
{
    uint64_t before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (long n = 0; n < objects_per_run; n++) {
        draw_object(w, w->object);
        if (++w->object % OBJECTS == 0)
            eglSwapBuffers(w->o.display, w->o.surface);
    }
    uint64_t after = now_ns(CLOCK_THREAD_CPUTIME_ID);
    if (timed) {
        w->cpu_ns += after - before;
        w->calls += objects_per_run * CALLS_PER_OBJECT;
    }
    if (pause_time.tv_sec || pause_time.tv_nsec)
        nanosleep(&pause_time, NULL);
}

/* Several threads have a core each, as far as there are: left alone they may share one for as long
 * as a short run takes. */
static void take_a_core(int number)
{
    cpu_set_t allowed, mine;
    if (threads == 1 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    int left = number % CPU_COUNT(&allowed);
    CPU_ZERO(&mine);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && left-- == 0)
            CPU_SET(cpu, &mine);
    must(sched_setaffinity(0, sizeof mine, &mine) == 0, "sched_setaffinity");
}

static void *work(void *argument)
{
    struct worker *w = argument;
    take_a_core(w->number);
    w->o.surface = offscreen_surface(&w->o);
    w->o.context = offscreen_context(&w->o, 3, EGL_NO_CONTEXT);
    must(eglMakeCurrent(w->o.display, w->o.surface, w->o.surface, w->o.context), "eglMakeCurrent");
    set_up(w);
    pthread_barrier_wait(&together);
    for (int run = 0; run < warm_up_runs + runs; run++) {
        begin_together(run);
        run_once(w, run >= warm_up_runs);
    }
    pthread_barrier_wait(&together);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    immediate = argc == 7 && strcmp(argv[6], "immediate") == 0;
    must(argc == 6 || immediate,
         "usage: bench_calls THREADS RUNS CALLS_PER_RUN PAUSE_MS WARM_UP_RUNS [immediate]");
    threads = atoi(argv[1]);
    must(threads > 0 && threads <= THREADS_MAX, "THREADS");
    runs = atoi(argv[2]);
    objects_per_run = atol(argv[3]) / CALLS_PER_OBJECT;
    pause_time = (struct timespec){atol(argv[4]) / 1000, atol(argv[4]) % 1000 * 1000000};
    warm_up_runs = atoi(argv[5]);
    struct offscreen shared = offscreen_prepare(3);
    *(void **)&begin = (void *)eglGetProcAddress("glBegin");
    *(void **)&color = (void *)eglGetProcAddress("glColor3f");
    *(void **)&vertex = (void *)eglGetProcAddress("glVertex3f");
    *(void **)&end = (void *)eglGetProcAddress("glEnd");
    must(!immediate || (begin && color && vertex && end), "the driver has no immediate mode");
    pthread_barrier_init(&together, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        workers[i].o = shared;
        workers[i].number = i;
        must(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "pthread_create");
    }
    pthread_barrier_wait(&together);
    uint64_t before = now_ns(CLOCK_MONOTONIC);
    pthread_barrier_wait(&together);
    uint64_t after = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < threads; i++) {
        must(pthread_join(workers[i].thread, NULL) == 0, "pthread_join");
        printf("thread %d calls %ld cpu_ns %llu\n", i, workers[i].calls,
               (unsigned long long)workers[i].cpu_ns);
    }
    printf("wall_ns %llu\n", (unsigned long long)(after - before));
    return 0;
}
