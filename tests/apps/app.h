/*
 * Shared by the programs of this folder: a context without a window, a number of frames, and a
 * read-back of each.
 *
 * Each program has one subject and draws the same pictures on every run: no clock, no random
 * numbers, no answer that depends on an address. A frame ends with its checksum on stdout, and with
 * its pixels in DIR/frame-NNNNNN.rgba where GAPII_APP_FRAMES names DIR: width and height as two
 * 32-bit numbers, little endian, then rows of RGBA from the bottom. A GL error, a missing feature
 * or a picture of one colour ends the program with a sentence and status 1.
 *
 * A program for ES 1 defines APP_ES1 before it includes this.
 */
#ifndef APP_H
#define APP_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#ifdef APP_ES1
#include <GLES/gl.h>
#include <GLES/glext.h>
#else
#include <GLES3/gl32.h>

#include <GLES2/gl2ext.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 96
#define HEIGHT 64
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The entry point `name` of an extension, as a local variable of that name. */
#define FUNCTION(type, name) type name = (type)app_function(#name)

struct app {
    EGLDisplay display;
    EGLConfig config;
    EGLSurface surface;
    EGLContext context;
    /* 20 is ES 2.0. */
    int version;
    int frame;
};

static struct app app;

static inline void must(int done, const char *what)
{
    if (!done) {
        fflush(stdout);
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static inline void no_error(const char *where)
{
    GLenum error = glGetError();
    if (error != GL_NO_ERROR) {
        fflush(stdout);
        fprintf(stderr, "%s: GL error 0x%04x\n", where, error);
        exit(1);
    }
}

static inline void expect_error(GLenum expected, const char *where)
{
    GLenum error = glGetError();
    if (error != expected) {
        fflush(stdout);
        fprintf(stderr, "%s: GL error 0x%04x, not 0x%04x\n", where, error, expected);
        exit(1);
    }
}

static inline void *app_function(const char *name)
{
    void *function = (void *)eglGetProcAddress(name);
    must(function != NULL, name);
    return function;
}

static inline int has_extension(const char *name)
{
    const char *all = (const char *)glGetString(GL_EXTENSIONS);
    return all != NULL && strstr(all, name) != NULL;
}

static inline void need_extension(const char *name)
{
    must(has_extension(name), name);
}

/* FNV-1a. */
static inline uint32_t sum_of(const void *memory, size_t length)
{
    const unsigned char *bytes = memory;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

/* Pseudo-random bytes, the same on every run; another `salt` gives other bytes. */
static inline void fill(void *memory, size_t length, uint32_t salt)
{
    unsigned char *bytes = memory;
    uint32_t state = salt * 2654435761u + 12345u;
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
}

static inline EGLContext app_context_of(int version, EGLContext share)
{
    const EGLint wanted[] = {EGL_CONTEXT_MAJOR_VERSION, version / 10, EGL_CONTEXT_MINOR_VERSION,
                             version % 10, EGL_NONE};
    EGLContext context = eglCreateContext(app.display, app.config, share, wanted);
    must(context != EGL_NO_CONTEXT, "eglCreateContext");
    return context;
}

static inline EGLSurface app_surface_of(int width, int height)
{
    const EGLint size[] = {EGL_WIDTH, width, EGL_HEIGHT, height, EGL_NONE};
    EGLSurface surface = eglCreatePbufferSurface(app.display, app.config, size);
    must(surface != EGL_NO_SURFACE, "eglCreatePbufferSurface");
    return surface;
}

/* Everything before eglMakeCurrent. */
static inline void app_prepare(int version)
{
    const EGLint kind = version < 20   ? EGL_OPENGL_ES_BIT
                        : version < 30 ? EGL_OPENGL_ES2_BIT
                                       : EGL_OPENGL_ES3_BIT;
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8,
                             EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8,
                             EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8,
                             EGL_RENDERABLE_TYPE, kind, EGL_NONE};
    EGLint count = 0;
    app.version = version;
    app.frame = 0;
    app.display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    must(app.display != EGL_NO_DISPLAY, "eglGetDisplay");
    must(eglInitialize(app.display, NULL, NULL), "eglInitialize");
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    must(eglChooseConfig(app.display, wanted, &app.config, 1, &count) && count == 1,
         "eglChooseConfig");
    app.surface = app_surface_of(WIDTH, HEIGHT);
    app.context = app_context_of(version, EGL_NO_CONTEXT);
}

static inline void app_current(EGLSurface surface, EGLContext context)
{
    must(eglMakeCurrent(app.display, surface, surface, context), "eglMakeCurrent");
}

static inline void app_open(int version)
{
    app_prepare(version);
    app_current(app.surface, app.context);
    glViewport(0, 0, WIDTH, HEIGHT);
}

static inline void app_close(void)
{
    app_current(EGL_NO_SURFACE, EGL_NO_CONTEXT);
    must(eglDestroyContext(app.display, app.context), "eglDestroyContext");
    must(eglDestroySurface(app.display, app.surface), "eglDestroySurface");
    must(eglTerminate(app.display), "eglTerminate");
    must(eglReleaseThread(), "eglReleaseThread");
}

static inline void app_write(const unsigned char *pixels)
{
    const char *folder = getenv("GAPII_APP_FRAMES");
    const uint32_t size[] = {WIDTH, HEIGHT};
    char path[4096];
    if (folder == NULL)
        return;
    snprintf(path, sizeof path, "%s/frame-%06d.rgba", folder, app.frame);
    FILE *file = fopen(path, "wb");
    must(file != NULL, path);
    must(fwrite(size, sizeof size, 1, file) == 1, path);
    must(fwrite(pixels, WIDTH * HEIGHT * 4, 1, file) == 1, path);
    must(fclose(file) == 0, path);
}

/* The program's bindings must not affect the read-back. */
static inline void app_can_read_back(void)
{
    GLint value = 0;
    glGetIntegerv(GL_PACK_ALIGNMENT, &value);
    must(value == 4, "the default pack alignment at the end of a frame");
#ifndef APP_ES1
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &value);
    must(value == 0, "the default framebuffer at the end of a frame");
    if (app.version >= 30) {
        glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &value);
        must(value == 0, "the default framebuffer for reading at the end of a frame");
        glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &value);
        must(value == 0, "no pixel pack buffer at the end of a frame");
        glGetIntegerv(GL_PACK_ROW_LENGTH, &value);
        must(value == 0, "the default pack row length at the end of a frame");
    }
#endif
}

/* Reads the back buffer, prints its checksum, and swaps. */
static inline void app_end_frame(void)
{
    static unsigned char pixels[HEIGHT][WIDTH][4];
    int others = 0;
    app_can_read_back();
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    no_error("the frame");
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            others += memcmp(pixels[y][x], pixels[0][0], 4) != 0;
    printf("frame %d %08x\n", app.frame, sum_of(pixels, sizeof pixels));
    fflush(stdout);
    app_write(pixels[0][0]);
    must(others > 0, "a picture of more than one colour");
    must(eglSwapBuffers(app.display, app.surface), "eglSwapBuffers");
    app.frame++;
}

/* Runs a program with one context from beginning to end. */
static inline int app_run(int version, int frames, void (*start)(void), void (*draw)(int frame))
{
    app_open(version);
    start();
    no_error("the start");
    for (int frame = 0; frame < frames; frame++) {
        draw(frame);
        app_end_frame();
    }
    app_close();
    return 0;
}

static inline void clear(float red, float green, float blue)
{
    glClearColor(red, green, blue, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
}

/* From now on draws go to one cell of a grid. */
static inline void cell(int number, int columns, int rows)
{
    int width = WIDTH / columns, height = HEIGHT / rows;
    must(number < columns * rows, "a cell of the grid");
    glViewport(number % columns * width, number / columns * height, width, height);
}

#ifndef APP_ES1
static inline GLuint shader_of(GLenum kind, const char *source)
{
    GLint compiled = 0;
    char log[1024] = "";
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (!compiled)
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (!compiled)
        fprintf(stderr, "%s\n", log);
    must(compiled, "glCompileShader");
    return shader;
}

static inline void link_program(GLuint program)
{
    GLint linked = 0;
    char log[1024] = "";
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked)
        glGetProgramInfoLog(program, sizeof log, NULL, log);
    if (!linked)
        fprintf(stderr, "%s\n", log);
    must(linked, "glLinkProgram");
}

/* Attribute `place` is 0 and `colour` is 1, unless the shader sets a location. */
static inline GLuint program_of(const char *vertex_source, const char *fragment_source)
{
    GLuint program = glCreateProgram();
    GLuint vertex = shader_of(GL_VERTEX_SHADER, vertex_source);
    GLuint fragment = shader_of(GL_FRAGMENT_SHADER, fragment_source);
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glBindAttribLocation(program, 0, "place");
    glBindAttribLocation(program, 1, "colour");
    link_program(program);
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    return program;
}

/* Attribute 0 is the position, attribute 1 the colour. */
static inline GLuint colour_program(void)
{
    return program_of("attribute vec4 place;\n"
                      "attribute vec4 colour;\n"
                      "varying vec4 tint;\n"
                      "void main() { gl_Position = place; gl_PointSize = 6.0; tint = colour; }\n",
                      "precision mediump float;\n"
                      "varying vec4 tint;\n"
                      "void main() { gl_FragColor = tint; }\n");
}

/* Draws the texture of unit 0, `image`, over the whole viewport. */
static inline GLuint image_program(void)
{
    return program_of("attribute vec4 place;\n"
                      "varying vec2 at;\n"
                      "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                      "precision mediump float;\n"
                      "varying vec2 at;\n"
                      "uniform sampler2D image;\n"
                      "void main() { gl_FragColor = texture2D(image, at); }\n");
}

/* Fills the viewport, with attribute 0 from a buffer of its own. */
static inline void quad(void)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    static GLuint buffer;
    if (buffer == 0) {
        glGenBuffers(1, &buffer);
        glBindBuffer(GL_ARRAY_BUFFER, buffer);
        glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    }
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDisableVertexAttribArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

static inline GLuint new_buffer(GLenum target, GLsizeiptr size, const void *data)
{
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(target, buffer);
    glBufferData(target, size, data, GL_STATIC_DRAW);
    return buffer;
}

static inline GLuint new_texture(GLenum target)
{
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(target, texture);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(target, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return texture;
}
#endif

#endif
