/* Uploads of every colour format and type of ES 3, sampled; a row of an odd width each. */
#include "formats.h"

static GLuint programs[3];

static GLuint sampling(const char *kind, const char *scale)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 300 es\n"
             "precision highp float;\n"
             "in vec2 at;\n"
             "uniform highp %ssampler2D image;\n"
             "out vec4 colour;\n"
             "void main() {\n"
             "  colour = vec4(texture(image, at)) * %s;\n"
             "  colour = vec4(fract(colour.rgb), 1) + colour.a * 0.1;\n"
             "}\n",
             kind, scale);
    return program_of("#version 300 es\n"
                      "in vec4 place;\n"
                      "out vec2 at;\n"
                      "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                      source);
}

static void start(void)
{
    need_extension("GL_EXT_texture_format_BGRA8888");
    programs[0] = sampling("", "0.9");
    programs[1] = sampling("i", "0.0131");
    programs[2] = sampling("u", "0.0131");
}

/* 3 x 3 texels, and one of them once more by glTexSubImage2D. */
static void draw_one(int number, int frame)
{
    const struct format *format = &FORMATS[number];
    union {
        GLfloat aligned;
        char bytes[256];
    } texels;
    int row = (3 * format->bytes + 3) / 4 * 4;
    GLuint texture = new_texture(GL_TEXTURE_2D);
    texels_of(format, &texels, (2 * row + 3 * format->bytes) / format->bytes,
              (uint32_t)(number + 1000 * frame));
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format->internal, 3, 3, 0, format->format, format->type,
                 &texels);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 2, 1, 1, 1, format->format, format->type, &texels);
    glUseProgram(programs[format->kind == 'f' ? 0 : format->kind == 'i' ? 1 : 2]);
    cell(number, 12, 8), quad();
    no_error("a format");
    glDeleteTextures(1, &texture);
}

static void draw(int frame)
{
    clear(0, 0, 0);
    for (int i = 0; i < LENGTH(FORMATS); i++)
        draw_one(i, frame);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
