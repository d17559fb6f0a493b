/*
 * A context of desktop OpenGL without a window, its functions from eglGetProcAddress alone, and a checksum of each frame.
 *
 * A GL error or a picture of one colour ends the program with a sentence and status 1.
 */
#ifndef DESKTOP_H
#define DESKTOP_H

#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 96
#define HEIGHT 64

/* A function of the driver by its name, at each call: no library of OpenGL is linked. */
#define F(name) ((__typeof__(&name))desktop_function(#name))

struct desktop {
    EGLDisplay display;
    EGLConfig config;
    EGLSurface surface;
    EGLContext context;
    int frame;
};

static struct desktop desktop;

static inline void must(int done, const char *what)
{
    if (!done) {
        fflush(stdout);
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static inline void *desktop_function(const char *name)
{
    static struct {
        const char *name;
        void *function;
    } known[256];
    for (int i = 0; i < 256; i++) {
        if (known[i].name == NULL) {
            known[i].name = name;
            known[i].function = (void *)eglGetProcAddress(name);
            must(known[i].function != NULL, name);
        }
        if (strcmp(known[i].name, name) == 0)
            return known[i].function;
    }
    must(0, "more than 256 functions");
    return NULL;
}

static inline void no_error(const char *where)
{
    GLenum error = F(glGetError)();
    if (error != GL_NO_ERROR) {
        fflush(stdout);
        fprintf(stderr, "%s: GL error 0x%04x\n", where, error);
        exit(1);
    }
}

/* With a version of 0 the driver chooses it. */
static inline EGLContext desktop_context(int version, int profile, EGLContext share)
{
    const EGLint wanted[] = {EGL_CONTEXT_MAJOR_VERSION, version / 10, EGL_CONTEXT_MINOR_VERSION,
                             version % 10, EGL_CONTEXT_OPENGL_PROFILE_MASK, profile, EGL_NONE};
    EGLContext context = eglCreateContext(desktop.display, desktop.config, share,
                                          version == 0 ? NULL : wanted);
    must(context != EGL_NO_CONTEXT, "eglCreateContext");
    return context;
}

static inline void desktop_open(int version, int profile)
{
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8,
                             EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8, EGL_DEPTH_SIZE, 24,
                             EGL_STENCIL_SIZE, 8, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    const EGLint size[] = {EGL_WIDTH, WIDTH, EGL_HEIGHT, HEIGHT, EGL_NONE};
    EGLint count = 0;
    desktop.display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    must(eglInitialize(desktop.display, NULL, NULL), "eglInitialize");
    must(eglBindAPI(EGL_OPENGL_API), "eglBindAPI");
    must(eglChooseConfig(desktop.display, wanted, &desktop.config, 1, &count) && count == 1,
         "eglChooseConfig");
    desktop.surface = eglCreatePbufferSurface(desktop.display, desktop.config, size);
    must(desktop.surface != EGL_NO_SURFACE, "eglCreatePbufferSurface");
    desktop.context = desktop_context(version, profile, EGL_NO_CONTEXT);
    must(eglMakeCurrent(desktop.display, desktop.surface, desktop.surface, desktop.context),
         "eglMakeCurrent");
    no_error("eglMakeCurrent");
}

static inline void desktop_close(void)
{
    must(eglMakeCurrent(desktop.display, NULL, NULL, NULL), "eglMakeCurrent");
    must(eglDestroyContext(desktop.display, desktop.context), "eglDestroyContext");
    must(eglDestroySurface(desktop.display, desktop.surface), "eglDestroySurface");
    must(eglTerminate(desktop.display), "eglTerminate");
}

static inline uint32_t sum_of(const void *memory, size_t length)
{
    const unsigned char *bytes = memory;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

static inline void desktop_end_frame(void)
{
    static unsigned char pixels[HEIGHT][WIDTH][4];
    int others = 0;
    F(glReadPixels)(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    no_error("the frame");
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            others += memcmp(pixels[y][x], pixels[0][0], 4) != 0;
    printf("frame %d %08x\n", desktop.frame, sum_of(pixels, sizeof pixels));
    fflush(stdout);
    must(others > 0, "a picture of more than one colour");
    must(eglSwapBuffers(desktop.display, desktop.surface), "eglSwapBuffers");
    desktop.frame++;
}

static inline GLuint shader_of(GLenum kind, const char *source)
{
    GLint compiled = 0;
    char log[1024] = "";
    GLuint shader = F(glCreateShader)(kind);
    F(glShaderSource)(shader, 1, &source, NULL);
    F(glCompileShader)(shader);
    F(glGetShaderiv)(shader, GL_COMPILE_STATUS, &compiled);
    if (!compiled)
        F(glGetShaderInfoLog)(shader, sizeof log, NULL, log);
    if (!compiled)
        fprintf(stderr, "%s\n", log);
    must(compiled, "glCompileShader");
    return shader;
}

static inline GLuint program_of(const char *vertex, const char *fragment)
{
    GLint linked = 0;
    GLuint program = F(glCreateProgram)();
    F(glAttachShader)(program, shader_of(GL_VERTEX_SHADER, vertex));
    F(glAttachShader)(program, shader_of(GL_FRAGMENT_SHADER, fragment));
    F(glBindAttribLocation)(program, 0, "place");
    F(glBindAttribLocation)(program, 1, "colour");
    F(glLinkProgram)(program);
    F(glGetProgramiv)(program, GL_LINK_STATUS, &linked);
    must(linked, "glLinkProgram");
    return program;
}

#endif
