/*
 * Threads with contexts of one share group that draw, swap, and change shared objects, until they
 * are told to end: for tests that attach at any moment.
 *
 * Each thread creates and deletes objects of its own all the time. The shared objects, a texture and a
 * buffer, change under a lock with a glFinish at its end, so that every picture is determined by the
 * order in which the lock was held. A read-back that differs from what was drawn ends the program. At its
 * end (SECONDS, or SIGTERM) it prints the longest time between two swaps of a thread.
 *
 * After each swap a thread rests for REST_US microseconds, 0 unless given.
 *
 * usage: threads_forever THREADS SECONDS [REST_US]
 */
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 4

static struct offscreen shared;
static EGLContext contexts[THREADS_MAX];
static EGLSurface surfaces[THREADS_MAX];
static GLuint texture, buffer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned generation;
static useconds_t rest_us;
static double end, longest[THREADS_MAX];
static volatile sig_atomic_t is_told_to_end;

static void told_to_end(int signal)
{
    is_told_to_end = signal;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static GLuint shader_of(GLenum kind, const char *source)
{
    GLint compiled = 0;
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    must(compiled, "glCompileShader");
    return shader;
}

static GLuint image_program(void)
{
    GLint linked = 0;
    GLuint program = glCreateProgram();
    glAttachShader(program, shader_of(GL_VERTEX_SHADER,
                                      "attribute vec2 place;\n"
                                      "varying vec2 at;\n"
                                      "void main() { gl_Position = vec4(place, 0.0, 1.0);"
                                      " at = place * 0.5 + 0.5; }\n"));
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER,
                                      "precision mediump float;\n"
                                      "varying vec2 at;\n"
                                      "uniform sampler2D image;\n"
                                      "void main() { gl_FragColor = texture2D(image, at); }\n"));
    glBindAttribLocation(program, 0, "place");
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    must(linked, "glLinkProgram");
    return program;
}

static GLuint texture_of(unsigned colour)
{
    GLuint name;
    GLubyte texel[4] = {(GLubyte)colour, (GLubyte)(colour >> 8), (GLubyte)(colour >> 16), 255};
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    return name;
}

/* Draws with the bound objects, and checks a pixel. */
static void draw_and_compare(unsigned colour)
{
    GLubyte pixel[4];
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glReadPixels(SIDE / 2, SIDE / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    must(pixel[0] == (GLubyte)colour && pixel[1] == (GLubyte)(colour >> 8) &&
             pixel[2] == (GLubyte)(colour >> 16),
         "a pixel as drawn");
    must(glGetError() == GL_NO_ERROR, "a round without errors");
}

/* Creates objects of its own, draws with them and deletes them. */
static void draw_own(unsigned colour)
{
    GLuint own = texture_of(colour), corners;
    const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    glGenBuffers(1, &corners);
    glBindBuffer(GL_ARRAY_BUFFER, corners);
    glBufferData(GL_ARRAY_BUFFER, sizeof places, places, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    draw_and_compare(colour);
    glDeleteBuffers(1, &corners);
    glDeleteTextures(1, &own);
}

/* Changes the shared objects and draws with them. */
static void draw_shared(void)
{
    pthread_mutex_lock(&lock);
    unsigned colour = ++generation * 2654435761u >> 8;
    GLubyte texel[4] = {(GLubyte)colour, (GLubyte)(colour >> 8), (GLubyte)(colour >> 16), 255};
    const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    glBindTexture(GL_TEXTURE_2D, texture);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, (const void *)(sizeof places * (generation % 2)));
    glBufferSubData(GL_ARRAY_BUFFER, (GLintptr)sizeof places * (generation % 2), sizeof places, places);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    draw_and_compare(colour);
    glFinish();
    pthread_mutex_unlock(&lock);
}

static void *run(void *number)
{
    int i = (int)(long)number;
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    must(eglMakeCurrent(shared.display, surfaces[i], surfaces[i], contexts[i]), "eglMakeCurrent");
    glUseProgram(image_program());
    glEnableVertexAttribArray(0);
    double swapped = now();
    for (unsigned round = 0; swapped < end && !is_told_to_end; round++) {
        for (int draw = 0; draw < 4; draw++)
            draw_own(round * 7919u + (unsigned)i * 104729u + (unsigned)draw);
        draw_shared();
        must(eglSwapBuffers(shared.display, surfaces[i]), "eglSwapBuffers");
        if (rest_us > 0)
            usleep(rest_us);
        double before = swapped;
        swapped = now();
        longest[i] = swapped - before > longest[i] ? swapped - before : longest[i];
    }
    must(eglReleaseThread(), "eglReleaseThread");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    must(argc == 3 || argc == 4, "usage: threads_forever THREADS SECONDS [REST_US]");
    int count = atoi(argv[1]);
    must(count >= 1 && count <= THREADS_MAX, "1 to 4 threads");
    end = now() + atof(argv[2]);
    rest_us = argc == 4 ? (useconds_t)atol(argv[3]) : 0;
    signal(SIGTERM, told_to_end);
    shared = offscreen_open(3);
    texture = texture_of(0);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, 64, NULL, GL_DYNAMIC_DRAW);
    glFinish();
    for (int i = 0; i < count; i++) {
        surfaces[i] = offscreen_surface(&shared);
        contexts[i] = offscreen_context(&shared, 3, shared.context);
        must(pthread_create(&threads[i], NULL, run, (void *)(long)i) == 0, "pthread_create");
    }
    double pause = 0;
    for (int i = 0; i < count; i++) {
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
        pause = longest[i] > pause ? longest[i] : pause;
    }
    printf("%u rounds, longest pause %.0f ms\n", generation, pause * 1e3);
    offscreen_close(&shared);
    return 0;
}
