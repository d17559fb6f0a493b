/*
 * Two threads create and destroy; only the driver decides which of them gets a freed name.
 *
 * usage: order_names PAIRS    in all; for the fake driver, which hands the last deleted name out first
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <pthread.h>

static struct offscreen shared;
static EGLContext contexts[2];
static EGLSurface surfaces[2];
static int pairs;
static pthread_barrier_t together;

static void *run(void *number)
{
    int i = (int)(long)number;
    must(eglMakeCurrent(shared.display, surfaces[i], surfaces[i], contexts[i]), "eglMakeCurrent");
    pthread_barrier_wait(&together);
    for (int pair = 0; pair < pairs / 2; pair++) {
        GLuint name;
        glGenTextures(1, &name);
        glDeleteTextures(1, &name);
    }
    must(eglReleaseThread(), "eglReleaseThread");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    must(argc == 2, "usage: order_names PAIRS");
    pairs = atoi(argv[1]);
    shared = offscreen_prepare(2);
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; i++) {
        surfaces[i] = offscreen_surface(&shared);
        contexts[i] = offscreen_context(&shared, 2, shared.context);
        must(pthread_create(&threads[i], NULL, run, (void *)(long)i) == 0, "pthread_create");
    }
    for (int i = 0; i < 2; i++)
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
    printf("%d pairs\n", pairs);
    return 0;
}
