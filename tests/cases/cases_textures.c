/* Uploads of every format in every way, and the ways that are errors. */
#include "cases.h"

#include "../apps/formats.h"

static GLuint sampling(char kind)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 300 es\n"
             "precision highp float;\n"
             "in vec2 at;\n"
             "uniform highp %ssampler2D image;\n"
             "out vec4 colour;\n"
             "void main() { colour = fract(vec4(texture(image, at)) * %s); }\n",
             kind == 'f' ? "" : kind == 'i' ? "i" : "u", kind == 'f' ? "0.9" : "0.0131");
    return program_of("#version 300 es\n"
                      "in vec4 place;\n"
                      "out vec2 at;\n"
                      "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                      source);
}

/* Rows of 9 texels, of which 5 from the second on are used; then a part, then from a buffer. */
static void upload(long number)
{
    const struct format *format = &FORMATS[number];
    union {
        GLfloat aligned;
        char bytes[4096];
    } texels;
    texels_of(format, &texels, (int)sizeof texels / format->bytes, (uint32_t)number);
    glUseProgram(sampling(format->kind));
    GLuint texture = new_texture(GL_TEXTURE_2D);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 9);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format->internal, 5, 7, 0, format->format, format->type, &texels);
    quad();
    say_picture("image");
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 1, 2, 3, 3, format->format, format->type, &texels);
    quad();
    say_picture("part");
    GLuint buffer = new_buffer(GL_PIXEL_UNPACK_BUFFER, sizeof texels, &texels);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 2, 5, format->format, format->type, (void *)16);
    quad();
    say_picture("buffer");
    glDeleteBuffers(1, &buffer);
    glDeleteTextures(1, &texture);
}

/* Every format against the types of another: most are errors, and some are not. */
static void mismatched(long number)
{
    static GLubyte texels[4096];
    const struct format *own = &FORMATS[number];
    GLuint texture = new_texture(GL_TEXTURE_2D);
    for (int i = 0; i < LENGTH(FORMATS); i += 3) {
        const struct format *other = &FORMATS[(i + number) % LENGTH(FORMATS)];
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)own->internal, 4, 4, 0, other->format, own->type, texels);
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)own->internal, 4, 4, 0, own->format, other->type, texels);
        printf("0x%x 0x%x", other->format, other->type);
        say_errors("");
    }
    glDeleteTextures(1, &texture);
}

/* Drawn to where that is possible, and read back in the implementation's own format. */
static void rendered(long number)
{
    const struct format *format = &FORMATS[number];
    GLuint texture = new_texture(GL_TEXTURE_2D), framebuffer = 0;
    unsigned char pixels[8 * 8 * 16];
    GLint kind = 0, type = 0;
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format->internal, 8, 8, 0, format->format, format->type, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    printf("status 0x%x\n", status);
    if (status == GL_FRAMEBUFFER_COMPLETE) {
        memset(pixels, 0x77, sizeof pixels);
        if (format->kind == 'f')
            clear(0.25f, 0.5f, 0.75f);
        glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_FORMAT, &kind);
        glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_TYPE, &type);
        glReadPixels(2, 2, 3, 3, (GLenum)kind, (GLenum)type, pixels);
        printf("0x%x 0x%x %08x\n", kind, type, format->kind == 'f' ? sum_of(pixels, sizeof pixels) : 0);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

int main(int count, char **words)
{
    for (int i = 0; i < LENGTH(FORMATS); i++) {
        const struct format *f = &FORMATS[i];
        add(30, upload, i, "upload_%04x_%04x", f->internal, f->type);
        if (i % 3 == 0)
            add(30, mismatched, i, "mismatched_%04x_%04x", f->internal, f->type);
        if (i % 2 == 0)
            add(30, rendered, i, "rendered_%04x_%04x", f->internal, f->type);
    }
    return run_cases(count, words);
}
