/* Images of all kinds. Each frame checks which objects exist: a snapshot that has read the images must not
 * leave objects behind. */
#include "app.h"

#define SIDE 8
/* Names that are checked. */
#define NAMES 64

static const struct kind {
    const char *name;
    GLboolean (*is)(GLuint name);
    /* Number of names that the program has created. */
    int own;
} kinds[] = {
    {"buffers", glIsBuffer, 1},
    {"framebuffers", glIsFramebuffer, 0},
    {"programs", glIsProgram, 1},
    {"renderbuffers", glIsRenderbuffer, 1},
    {"samplers", glIsSampler, 0},
    {"shaders", glIsShader, 2},
    {"textures", glIsTexture, 7},
    {"vertex arrays", glIsVertexArray, 0},
};

/* A snapshot reads some of these through a framebuffer, and others cannot be read that way. */
static const struct format {
    GLenum internal, format, type;
} formats[] = {
    {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_SRGB8, GL_RGB, GL_UNSIGNED_BYTE},
    {GL_RGBA8_SNORM, GL_RGBA, GL_BYTE},
    {GL_RGB9_E5, GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV},
    {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT},
    {GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8},
};

static GLuint shown;

static void start(void)
{
    GLubyte bytes[SIDE * SIDE * 4];
    GLuint renderbuffer;
    for (int i = 0; i < LENGTH(formats); i++) {
        GLuint texture = new_texture(GL_TEXTURE_2D);
        fill(bytes, sizeof bytes, (uint32_t)i);
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)formats[i].internal, SIDE, SIDE, 0, formats[i].format,
                     formats[i].type, bytes);
        shown = i == 0 ? texture : shown;
    }
    new_texture(GL_TEXTURE_2D);
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGBA8_ETC2_EAC, SIDE, SIDE, 0, SIDE * SIDE,
                           bytes);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glUseProgram(image_program());
}

static void draw(int frame)
{
    clear(0.1f * (float)frame, 0, 0);
    glBindTexture(GL_TEXTURE_2D, shown);
    cell(frame, 3, 2), quad();
    for (int i = 0; i < LENGTH(kinds); i++) {
        int count = 0;
        for (GLuint name = 1; name <= NAMES; name++)
            count += kinds[i].is(name) == GL_TRUE;
        printf("%d %s\n", count, kinds[i].name);
        must(count == kinds[i].own, "objects of the program's alone");
    }
}

int main(void)
{
    return app_run(31, 6, start, draw);
}
