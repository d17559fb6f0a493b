/* Textures of every format, made once and sampled in each frame; mipmaps too, and odd parameters. */
#include "formats.h"

static const struct format MORE[] = {
    {GL_RGBA, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, 2, 'f'},
    {GL_RGBA, GL_RGBA, GL_HALF_FLOAT_OES, 8, 'f'},
    {GL_RGB, GL_RGB, GL_HALF_FLOAT_OES, 6, 'f'},
    {GL_RGB, GL_RGB, GL_FLOAT, 12, 'f'},
    {GL_ALPHA, GL_ALPHA, GL_FLOAT, 4, 'f'},
    {GL_LUMINANCE, GL_LUMINANCE, GL_HALF_FLOAT_OES, 2, 'f'},
    {GL_LUMINANCE_ALPHA, GL_LUMINANCE_ALPHA, GL_FLOAT, 8, 'f'},
    {GL_R16_EXT, GL_RED, GL_UNSIGNED_SHORT, 2, 'f'},
    {GL_RGB16_EXT, GL_RGB, GL_UNSIGNED_SHORT, 6, 'f'},
    {GL_RGBA16_EXT, GL_RGBA, GL_UNSIGNED_SHORT, 8, 'f'},
    {GL_RGBA16_SNORM_EXT, GL_RGBA, GL_SHORT, 8, 'f'},
    /* The last one needs GL_EXT_texture_type_2_10_10_10_REV. */
    {GL_RGBA, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV_EXT, 4, 'f'},
};

static GLuint programs[3], textures[LENGTH(FORMATS) + LENGTH(MORE)];
static int formats = LENGTH(textures);

static const struct format *format_of(int number)
{
    return number < LENGTH(FORMATS) ? &FORMATS[number] : &MORE[number - LENGTH(FORMATS)];
}

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
             "  colour = vec4(textureLod(image, at, at.y * 2.0)) * %s;\n"
             "  colour = vec4(fract(colour.rgb * 7.0), 1) + colour.a * 0.1;\n"
             "}\n",
             kind, scale);
    return program_of("#version 300 es\n"
                      "in vec4 place;\n"
                      "out vec2 at;\n"
                      "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                      source);
}

static void image(const struct format *format, int level, int size, uint32_t salt)
{
    union {
        GLfloat aligned;
        char bytes[1024];
    } texels;
    texels_of(format, &texels, size * (size + 1), salt);
    glTexImage2D(GL_TEXTURE_2D, level, (GLint)format->internal, size, size, 0, format->format,
                 format->type, &texels);
}

static void start(void)
{
    need_extension("GL_EXT_texture_norm16");
    need_extension("GL_OES_texture_float");
    if (!has_extension("GL_EXT_texture_type_2_10_10_10_REV"))
        formats--;
    programs[0] = sampling("", "0.9");
    programs[1] = sampling("i", "0.0131");
    programs[2] = sampling("u", "0.0131");
    for (int i = 0; i < formats; i++) {
        const struct format *format = format_of(i);
        textures[i] = new_texture(GL_TEXTURE_2D);
        /* Parameters that would affect a read-back by sampling. */
        if (i % 3 == 1)
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, GL_GREEN);
        if (i % 3 == 2)
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
        image(format, 0, 4, (uint32_t)i);
        image(format, 1, 2, (uint32_t)i + 100);
        image(format, 2, 1, (uint32_t)i + 200);
        no_error("a format");
    }
}

/* Each frame changes one texel; the texels around it stay. */
static void draw_one(int number, int frame)
{
    const struct format *format = format_of(number);
    union {
        GLfloat aligned;
        char bytes[64];
    } texel;
    glBindTexture(GL_TEXTURE_2D, textures[number]);
    texels_of(format, &texel, 2, (uint32_t)(number + 10 * frame));
    glTexSubImage2D(GL_TEXTURE_2D, 0, frame % 4, 1, 1, 1, format->format, format->type, &texel);
    glUseProgram(programs[format->kind == 'f' ? 0 : format->kind == 'i' ? 1 : 2]);
    cell(number, 12, 8), quad();
    no_error("a format");
}

static void draw(int frame)
{
    clear(0, 0, 0);
    for (int i = 0; i < formats; i++)
        draw_one(i, frame);
}

int main(void)
{
    return app_run(30, 6, start, draw);
}
