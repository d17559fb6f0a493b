/*
 * Threads that make cheap calls until they are killed, or until each has made ROUNDS rounds.
 *
 * usage: draw_forever THREADS [ROUNDS]    for the fake driver, which counts
 *
 * A round is ten commands of every kind: without and with a result, creating and destroying; every
 * 16th ends in glFinish (in which the fake driver can spend a while) and a swap. No thread begins
 * its rounds before every thread has a context.
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>

#define THREADS_MAX 16

static struct offscreen shared;
static long rounds;
static pthread_barrier_t all_have_contexts;

static void round_of_calls(long n)
{
    GLuint name;
    GLfloat value = (GLfloat)(n & 1023);
    glUniform4f(1, value, value * 0.5f, value * 0.25f, 1.0f);
    glUniform1i(2, (GLint)n);
    glEnable(GL_BLEND);
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDeleteTextures(1, &name);
    glDisable(GL_BLEND);
    must(glGetError() == GL_NO_ERROR, "glGetError");
    must(glIsEnabled(GL_DITHER), "glIsEnabled");
}

static void *run(void *unused)
{
    (void)unused;
    struct offscreen o = shared;
    o.surface = offscreen_surface(&o);
    o.context = offscreen_context(&o, 2, EGL_NO_CONTEXT);
    must(eglMakeCurrent(o.display, o.surface, o.surface, o.context), "eglMakeCurrent");
    pthread_barrier_wait(&all_have_contexts);
    for (long n = 0; rounds == 0 || n < rounds; n++) {
        round_of_calls(n);
        if (n % 16 == 15) {
            glFinish();
            offscreen_swap(&o);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    must(argc == 2 || argc == 3, "usage: draw_forever THREADS [ROUNDS]");
    int count = atoi(argv[1]);
    rounds = argc == 3 ? atol(argv[2]) : 0;
    must(count > 0 && count <= THREADS_MAX, "THREADS");
    shared = offscreen_prepare(2);
    must(pthread_barrier_init(&all_have_contexts, NULL, (unsigned)count) == 0, "pthread_barrier_init");
    for (int i = 0; i < count; i++)
        must(pthread_create(&threads[i], NULL, run, NULL) == 0, "pthread_create");
    for (int i = 0; i < count; i++)
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
    return 0;
}
