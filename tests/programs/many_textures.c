/*
 * Makes the driver use much memory, or compute for long; its trace is small.
 *
 * usage: many_textures many N    clears N textures of 16 MiB
 *        many_textures one       clears one texture of 512 MiB with one command
 *        many_textures long N    clears one texture of 16 MiB N times
 */
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <stdlib.h>
#include <string.h>

static void texture(GLenum format, GLsizei width, GLsizei height)
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, format, width, height);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0);
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "a framebuffer");
}

static void clear(void)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glFinish();
}

int main(int argc, char **argv)
{
    must(argc >= 2, "usage: many_textures many N | one | long N");
    long count = argc == 3 ? atol(argv[2]) : 1;
    offscreen_open(3);
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glClearColor(0.5f, 0.25f, 1.0f, 1.0f);
    if (strcmp(argv[1], "one") == 0) {
        texture(GL_RGBA32UI, 8192, 4096);
        const GLuint color[4] = {1, 2, 3, 4};
        glClearBufferuiv(GL_COLOR, 0, color);
        glFinish();
        return 0;
    }
    int is_long = strcmp(argv[1], "long") == 0;
    if (is_long)
        texture(GL_RGBA8, 2048, 2048);
    for (long i = 0; i < count; i++) {
        if (!is_long)
            texture(GL_RGBA8, 2048, 2048);
        clear();
    }
    return 0;
}
