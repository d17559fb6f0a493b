/*
 * Holds textures or buffers of many different bytes, and draws frames until it is told to end: to measure
 * how long an attach delays a program with much data.
 *
 * usage: holds_images [FORMAT MIB]
 *
 * FORMAT is a name of the table below, or "buffers"; without one, all of them are listed. Each image is 1024 pixels wide and high, so are as
 * many as are needed for MIB times 2^20 bytes as they are uploaded.
 */
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#define WIDTH 1024

static const struct format {
    const char *name;
    GLenum internal, format, type;
    size_t pixel_bytes;
} formats[] = {
    {"rgba8", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {"rgb8", GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3},
    {"srgb8", GL_SRGB8, GL_RGB, GL_UNSIGNED_BYTE, 3},
    {"srgb8_alpha8", GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {"luminance", GL_LUMINANCE, GL_LUMINANCE, GL_UNSIGNED_BYTE, 1},
    {"luminance_alpha", GL_LUMINANCE_ALPHA, GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, 2},
    {"r8", GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1},
    {"r8_snorm", GL_R8_SNORM, GL_RED, GL_BYTE, 1},
    {"rgba8_snorm", GL_RGBA8_SNORM, GL_RGBA, GL_BYTE, 4},
    {"rgb565", GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2},
    {"rgb16f", GL_RGB16F, GL_RGB, GL_HALF_FLOAT, 6},
    {"rgba16f", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8},
    {"r32f", GL_R32F, GL_RED, GL_FLOAT, 4},
    {"rgba32ui", GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {"rgb9_e5", GL_RGB9_E5, GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, 4},
    {"etc2", GL_COMPRESSED_RGBA8_ETC2_EAC, 0, 0, 1},
    {"depth24_stencil8", GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 4},
};

static volatile sig_atomic_t is_told_to_end;

static void told_to_end(int signal)
{
    is_told_to_end = signal;
}

/* Noise without the bits that make floats infinite or NaN. */
static void fill(uint32_t *words, size_t count)
{
    static uint64_t state = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        words[i] = (uint32_t)(state >> 32) & 0xBFFFBFFFu;
    }
}

static void hold(const struct format *format, size_t bytes)
{
    GLuint name;
    size_t image_bytes = WIDTH * WIDTH * (format ? format->pixel_bytes : 4);
    uint32_t *words = malloc(image_bytes);
    must(words != NULL, "malloc");
    for (size_t held = 0; held < bytes; held += image_bytes) {
        fill(words, image_bytes / 4);
        if (!format) {
            glGenBuffers(1, &name);
            glBindBuffer(GL_ARRAY_BUFFER, name);
            glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)image_bytes, words, GL_STATIC_DRAW);
            continue;
        }
        glGenTextures(1, &name);
        glBindTexture(GL_TEXTURE_2D, name);
        if (format->format)
            glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format->internal, WIDTH, WIDTH, 0, format->format,
                         format->type, words);
        else
            glCompressedTexImage2D(GL_TEXTURE_2D, 0, format->internal, WIDTH, WIDTH, 0,
                                   (GLsizei)image_bytes, words);
    }
    free(words);
    must(glGetError() == GL_NO_ERROR, "an upload without errors");
}

int main(int argc, char **argv)
{
    const struct format *format = NULL;
    if (argc == 1) {
        puts("buffers");
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
            puts(formats[i].name);
        return 0;
    }
    must(argc == 3, "usage: holds_images [FORMAT MIB]");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(argv[1], formats[i].name) == 0)
            format = &formats[i];
    must(format != NULL || strcmp(argv[1], "buffers") == 0, "FORMAT");
    struct offscreen o = offscreen_open(3);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    hold(format, (size_t)atol(argv[2]) << 20);
    signal(SIGTERM, told_to_end);
    for (unsigned frame = 0; !is_told_to_end; frame++) {
        struct timespec pause = {0, 10 * 1000 * 1000};
        glClearColor((float)(frame % 256) / 255, 0, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        offscreen_swap(&o);
        nanosleep(&pause, NULL);
    }
    offscreen_close(&o);
    return 0;
}
