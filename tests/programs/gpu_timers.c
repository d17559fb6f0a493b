/*
 * Frames of draws, after which the program looks at its errors and queries. With the argument `own` it also measures times on
 * the GPU itself, from its third frame on. With `forever` it prints nothing and goes on until a signal ends it.
 */
#include "offscreen.h"

#include <GLES3/gl3.h>

#include <GLES2/gl2ext.h>

#define FRAMES 6
#define DRAWS 5

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

int main(int count, char **words)
{
    struct offscreen o = offscreen_open(3);
    int is_own = count > 1 && strcmp(words[1], "own") == 0;
    int is_forever = count > 1 && strcmp(words[1], "forever") == 0;
    GLint current = -1;
    gen_queries = (PFNGLGENQUERIESEXTPROC)command("glGenQueriesEXT");
    query_counter = (PFNGLQUERYCOUNTEREXTPROC)command("glQueryCounterEXT");
    get_result = (PFNGLGETQUERYOBJECTUI64VEXTPROC)command("glGetQueryObjectui64vEXT");
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
