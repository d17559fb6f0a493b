/*
 * ES 1 on three threads: fixed-function lighting, matrices and fixed-point arguments, names that
 * are shared, deleted and made again, and one context that goes from thread to thread.
 *
 * The threads take turns, so that each of them makes the same calls and gets the same results in
 * every run.
 */
#include "offscreen.h"

#include <GLES/gl.h>
#include <pthread.h>

#define THREADS 3
#define TURNS 4

static struct offscreen shared;
static EGLSurface surfaces[THREADS];
static EGLContext contexts[THREADS];
static GLuint buffers[THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void light_up(int number)
{
    const GLfloat place[] = {0.0f, 0.0f, 1.0f + (float)number, 0.0f};
    const GLfloat red[] = {1.0f, 0.0f, 0.0f, 1.0f};
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glLightfv(GL_LIGHT0, GL_POSITION, place);
    glLightf(GL_LIGHT0, GL_SPOT_EXPONENT, 2.0f);
    glMaterialfv(GL_FRONT_AND_BACK, GL_AMBIENT_AND_DIFFUSE, red);
    glMaterialx(GL_FRONT_AND_BACK, GL_SHININESS, 8 << 16);
    glShadeModel(GL_SMOOTH);
}

static void place_camera(int number)
{
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glOrthox(-0x10000, 0x10000, -0x10000, 0x10000, -0x10000, 0x10000);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glPushMatrix();
    glRotatef(15.0f * (float)number, 0.0f, 0.0f, 1.0f);
    glTranslatex(0x2000, 0, 0);
    glScalef(0.5f, 0.5f, 1.0f);
}

/* Replaces the buffer that this thread created in its last turn. */
static void churn(int number)
{
    static const GLfloat corners[] = {-1, -1, 0, 1, -1, 0, 0, 1, 0};
    if (buffers[number]) {
        must(glIsBuffer(buffers[number]), "glIsBuffer before");
        glDeleteBuffers(1, &buffers[number]);
        must(!glIsBuffer(buffers[number]), "glIsBuffer after");
    }
    glGenBuffers(1, &buffers[number]);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[number]);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glEnableClientState(GL_VERTEX_ARRAY);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glNormal3f(0.0f, 0.0f, 1.0f);
}

static unsigned draw(int number)
{
    unsigned char pixel[4];
    glViewport(0, 0, SIDE, SIDE);
    glClearColorx(0x8000, 0, 0x4000 * number, 0x10000);
    glClear(GL_COLOR_BUFFER_BIT);
    glColor4ub(255, 128, (GLubyte)number, 255);
    glAlphaFuncx(GL_GREATER, 0x1000);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glPopMatrix();
    glReadPixels(SIDE / 2, SIDE / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    must(glGetError() == GL_NO_ERROR, "no error");
    glPopMatrix();
    must(glGetError() == GL_STACK_UNDERFLOW, "GL_STACK_UNDERFLOW");
    return (unsigned)pixel[0] << 16 | (unsigned)pixel[1] << 8 | pixel[2];
}

static void take_turn(int number)
{
    light_up(number);
    place_camera(number);
    churn(number);
    printf("thread %d %06x\n", number, draw(number));
}

/* Once with the thread's own context, and once with the context that all threads pass round. */
static void both_contexts(int number)
{
    EGLDisplay display = shared.display;
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    must(eglMakeCurrent(display, surfaces[number], surfaces[number], contexts[number]), "own");
    take_turn(number);
    must(eglSwapBuffers(display, surfaces[number]), "eglSwapBuffers");
    must(eglMakeCurrent(display, shared.surface, shared.surface, shared.context), "shared");
    take_turn(number);
    offscreen_swap(&shared);
    must(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT), "none");
}

static void *run(void *argument)
{
    int number = (int)(long)argument;
    for (int mine = number; mine < THREADS * TURNS; mine += THREADS) {
        pthread_mutex_lock(&lock);
        while (turn != mine)
            pthread_cond_wait(&turned, &lock);
        both_contexts(number);
        if (mine + THREADS >= THREADS * TURNS)
            must(eglReleaseThread(), "eglReleaseThread");
        turn++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    shared = offscreen_prepare(1);
    for (int i = 0; i < THREADS; i++) {
        surfaces[i] = offscreen_surface(&shared);
        contexts[i] = offscreen_context(&shared, 1, shared.context);
        must(pthread_create(&threads[i], NULL, run, (void *)(long)i) == 0, "pthread_create");
    }
    for (int i = 0; i < THREADS; i++)
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
    for (int i = 0; i < THREADS; i++) {
        must(eglDestroyContext(shared.display, contexts[i]), "eglDestroyContext");
        must(eglDestroySurface(shared.display, surfaces[i]), "eglDestroySurface");
    }
    offscreen_close(&shared);
    return 0;
}
