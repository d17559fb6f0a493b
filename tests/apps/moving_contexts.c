/* Contexts that move between threads, and contexts and surfaces destroyed while current. */
#include "app.h"
#include "turns.h"

#define FRAMES 6

static GLuint program;
static GLfloat places[FRAMES][6];
static EGLContext passing;

static void triangle(int number)
{
    for (int i = 0; i < 6; i++)
        places[number][i] = (float)((i * i * 3 + i + number * 2) % 7) / 3.0f - 1.0f;
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places[number]);
    glEnableVertexAttribArray(0);
    glVertexAttrib4f(1, 1, 0.15f * (float)number, 0.5f, 1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* The frame begins in one thread and ends in the other; the state goes with the context. */
static void half(int number)
{
    wait_for_turn(number);
    app_current(app.surface, app.context);
    if (number % 2 == 0) {
        clear(0, 0.1f * (float)number, 0.4f);
        glEnable(GL_SCISSOR_TEST);
        glScissor(0, 0, WIDTH * 3 / 4, HEIGHT);
        triangle(number / 2);
    } else {
        must(glIsEnabled(GL_SCISSOR_TEST), "the state of the other thread");
        /* The other thread set this array. */
        cell(1, 2, 1), glDrawArrays(GL_TRIANGLES, 0, 3);
        glViewport(0, 0, WIDTH, HEIGHT);
        glDisable(GL_SCISSOR_TEST);
        app_end_frame();
    }
    app_current(EGL_NO_SURFACE, EGL_NO_CONTEXT);
    next_turn();
}

/* A context that is destroyed while current lives until it is no longer current. */
static void destroyed_while_current(void)
{
    EGLSurface surface = app_surface_of(8, 8);
    GLubyte pixel[4] = {0};
    passing = app_context_of(20, app.context);
    app_current(surface, passing);
    must(eglDestroyContext(app.display, passing), "eglDestroyContext");
    must(eglDestroySurface(app.display, surface), "eglDestroySurface");
    must(eglGetCurrentContext() == passing, "a context that is destroyed and current");
    clear(0.2f, 0.4f, 0.6f);
    glReadPixels(1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    printf("pixel %02x%02x%02x%02x\n", pixel[0], pixel[1], pixel[2], pixel[3]);
    no_error("a destroyed context");
    app_current(EGL_NO_SURFACE, EGL_NO_CONTEXT);
    must(!eglMakeCurrent(app.display, surface, surface, passing), "a destroyed context stays destroyed");
    printf("EGL error 0x%x\n", eglGetError());
}

static void *other(void *unused)
{
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    for (int number = 1; number < 2 * FRAMES; number += 2)
        half(number);
    wait_for_turn(2 * FRAMES);
    destroyed_while_current();
    must(eglReleaseThread(), "eglReleaseThread");
    next_turn();
    return unused;
}

int main(void)
{
    pthread_t thread;
    app_open(20);
    program = colour_program();
    glUseProgram(program);
    app_current(EGL_NO_SURFACE, EGL_NO_CONTEXT);
    must(pthread_create(&thread, NULL, other, NULL) == 0, "pthread_create");
    for (int number = 0; number < 2 * FRAMES; number += 2)
        half(number);
    must(pthread_join(thread, NULL) == 0, "pthread_join");
    app_close();
    return 0;
}
