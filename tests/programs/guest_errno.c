/*
 * Compares errno and the floating-point environment before and after each call, including the first calls
 * of the process and of a thread. For the fake driver, which touches neither.
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>

static struct offscreen o;
static int checks;

#define KEEPS(call)                                                                               \
    do {                                                                                          \
        errno = 12345;                                                                            \
        fesetround(FE_UPWARD);                                                                    \
        feclearexcept(FE_ALL_EXCEPT);                                                             \
        call;                                                                                     \
        if (errno != 12345 || fegetround() != FE_UPWARD || fetestexcept(FE_ALL_EXCEPT)) {         \
            printf("%s: errno %d, rounding %d, exceptions %d\n", #call, errno, fegetround(),      \
                   fetestexcept(FE_ALL_EXCEPT));                                                  \
            exit(1);                                                                              \
        }                                                                                         \
        checks++;                                                                                 \
    } while (0)

static void *in_a_thread(void *unused)
{
    GLuint name;
    EGLContext context;
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    (void)unused;
    KEEPS(context = eglCreateContext(o.display, o.config, EGL_NO_CONTEXT, version));
    KEEPS(eglMakeCurrent(o.display, o.surface, o.surface, context));
    KEEPS(glGenTextures(1, &name));
    KEEPS(glDeleteTextures(1, &name));
    KEEPS(eglReleaseThread());
    return NULL;
}

int main(void)
{
    pthread_t thread;
    EGLint count;
    const EGLint any[] = {EGL_NONE};
    KEEPS(o.display = eglGetDisplay(EGL_DEFAULT_DISPLAY));
    KEEPS(eglInitialize(o.display, NULL, NULL));
    KEEPS(eglChooseConfig(o.display, any, &o.config, 1, &count));
    KEEPS(o.surface = eglCreatePbufferSurface(o.display, o.config, NULL));
    KEEPS(o.context = eglCreateContext(o.display, o.config, EGL_NO_CONTEXT, NULL));
    KEEPS(eglMakeCurrent(o.display, o.surface, o.surface, o.context));
    KEEPS(eglGetProcAddress("glClear"));
    KEEPS(glUniform4f(0, 0.1f, 0.2f, 0.3f, 1e-40f));
    KEEPS(glGetString(GL_VERSION));
    /* Enough calls to fill a ring, and wait for room, more than once. */
    for (int n = 0; n < 400000; n++)
        KEEPS(glUniform4f(0, 0.1f, 0.2f, 0.3f, (GLfloat)n));
    for (int n = 0; n < 10; n++)
        KEEPS(eglSwapBuffers(o.display, o.surface));
    must(pthread_create(&thread, NULL, in_a_thread, NULL) == 0, "pthread_create");
    must(pthread_join(thread, NULL) == 0, "pthread_join");
    printf("%d checks\n", checks);
    return 0;
}
