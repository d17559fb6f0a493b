/*
 * Frames of draws, after which the program looks at its errors and queries. With the argument `own` it
 * also measures times on the GPU itself, from its third frame on. With `forever` it prints nothing and
 * goes on until a signal ends it. With `cost` it prints the CPU time that the thread takes for a draw of
 * one point, in nanoseconds: the median of frames of 200 draws.
 */
#include "offscreen.h"

#include <GLES3/gl3.h>

#include <GLES2/gl2ext.h>
#include <stdint.h>
#include <time.h>

#define FRAMES 6
#define DRAWS 5
#define COST_FRAMES 301
#define COST_DRAWS 200

static PFNGLGENQUERIESEXTPROC gen_queries;
static PFNGLQUERYCOUNTEREXTPROC query_counter;
static PFNGLGETQUERYOBJECTUI64VEXTPROC get_result;

static void *command(const char *name)
{
    void *found = (void *)eglGetProcAddress(name);
    must(found != NULL, name);
    return found;
}

/* The program's own timer: the second moment is not before the first. */
static void own_time(void)
{
    GLuint moments[2];
    GLuint64 results[2];
    GLint disjoint = -1;
    gen_queries(2, moments);
    query_counter(moments[0], GL_TIMESTAMP_EXT);
    glDrawArrays(GL_POINTS, 0, 1);
    query_counter(moments[1], GL_TIMESTAMP_EXT);
    for (int i = 0; i < 2; i++)
        get_result(moments[i], GL_QUERY_RESULT_EXT, &results[i]);
    glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
    printf("own %d, disjoint %d\n", results[0] <= results[1], disjoint);
}

/* Queries of samples, around draws that are measured. */
static void samples(void)
{
    GLuint query, any = 0;
    glGenQueries(1, &query);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
    glDrawArrays(GL_POINTS, 0, 1);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &any);
    must(any <= 1, "a result of samples");
    glDeleteQueries(1, &query);
}

static int64_t thread_ns(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0, "the thread's clock");
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int compare(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static void cost(struct offscreen *o)
{
    static int64_t times[COST_FRAMES];
    for (int frame = 0; frame < COST_FRAMES; frame++) {
        int64_t begin = thread_ns();
        for (int i = 0; i < COST_DRAWS; i++)
            glDrawArrays(GL_POINTS, 0, 1);
        times[frame] = thread_ns() - begin;
        offscreen_swap(o);
    }
    qsort(times, COST_FRAMES, sizeof *times, compare);
    printf("%lld ns\n", (long long)(times[COST_FRAMES / 2] / COST_DRAWS));
}

int main(int count, char **words)
{
    struct offscreen o = offscreen_open(3);
    int is_own = count > 1 && strcmp(words[1], "own") == 0;
    int is_forever = count > 1 && strcmp(words[1], "forever") == 0;
    GLint current = -1;
    gen_queries = (PFNGLGENQUERIESEXTPROC)command("glGenQueriesEXT");
    query_counter = (PFNGLQUERYCOUNTEREXTPROC)command("glQueryCounterEXT");
    get_result = (PFNGLGETQUERYOBJECTUI64VEXTPROC)command("glGetQueryObjectui64vEXT");
    if (count > 1 && strcmp(words[1], "cost") == 0) {
        cost(&o);
        offscreen_close(&o);
        return 0;
    }
    for (int frame = 0; frame < FRAMES || is_forever; frame++) {
        glClear(GL_COLOR_BUFFER_BIT);
        /* An error that stays until the program asks. */
        glEnable(0);
        for (int i = 0; i < DRAWS; i++)
            glDrawArrays(GL_TRIANGLES, 0, 3);
        samples();
        if (is_own && frame >= 2)
            own_time();
        glGetQueryiv(GL_ANY_SAMPLES_PASSED, GL_CURRENT_QUERY, &current);
        GLenum first = glGetError(), then = glGetError();
        must(first == GL_INVALID_ENUM && then == GL_NO_ERROR, "the program's own error");
        if (!is_forever)
            printf("frame %d, query %d\n", frame, current);
        offscreen_swap(&o);
    }
    offscreen_close(&o);
    return 0;
}
