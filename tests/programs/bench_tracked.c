/*
 * Time per call of several commands that gapii tracks while nothing is recorded, and of one that it does
 * not track.
 *
 * usage: bench_tracked CALLS    of each command, timed with the thread's CPU clock; prints
 *
 *   COMMAND NS    a line each, in nanoseconds a call
 */
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <time.h>

static long calls;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* `call` may use `i`, which counts the calls. */
#define MEASURE(name, call)                                      \
    do {                                                         \
        double before = now_ns();                                \
        for (long i = 0; i < calls; i++)                         \
            call;                                                \
        printf("%s %.3f\n", name, (now_ns() - before) / calls);  \
    } while (0)

int main(int argc, char **argv)
{
    GLuint textures[2] = {1, 2}, buffers[2] = {1, 2};
    must(argc == 2, "usage: bench_tracked CALLS");
    calls = atol(argv[1]);
    must(calls > 0, "CALLS");
    struct offscreen o = offscreen_open(3);
    glGenTextures(2, textures);
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    MEASURE("glUniform1i", glUniform1i(0, (GLint)i));
    MEASURE("glBindBuffer", glBindBuffer(GL_ARRAY_BUFFER, buffers[i & 1]));
    MEASURE("glBindTexture", glBindTexture(GL_TEXTURE_2D, textures[i & 1]));
    MEASURE("glActiveTexture", glActiveTexture(GL_TEXTURE0 + (GLenum)(i & 3)));
    MEASURE("glBindFramebuffer", glBindFramebuffer(GL_FRAMEBUFFER, 0));
    MEASURE("glBindVertexArray", glBindVertexArray(0));
    MEASURE("glUseProgram", glUseProgram(0));
    MEASURE("glPixelStorei", glPixelStorei(GL_UNPACK_ALIGNMENT, 4));
    MEASURE("glVertexAttribPointer",
            glVertexAttribPointer((GLuint)(i & 3), 4, GL_FLOAT, GL_FALSE, 0, (void *)(i & 12)));
    MEASURE("glEnableVertexAttribArray", glEnableVertexAttribArray((GLuint)(i & 3)));
    MEASURE("glBufferSubData", glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof buffers, buffers));
    offscreen_close(&o);
    return 0;
}
