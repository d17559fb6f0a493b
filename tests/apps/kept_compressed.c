/* Compressed textures of every available format, uploaded once and sampled in each frame. */
#include "app.h"

static const struct {
    GLenum format;
    int width, height, bytes;
    const char *extension;
} FORMATS[] = {
    {GL_COMPRESSED_RGB8_ETC2, 4, 4, 8, NULL},
    {GL_COMPRESSED_SRGB8_ETC2, 4, 4, 8, NULL},
    {GL_COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2, 4, 4, 8, NULL},
    {GL_COMPRESSED_SRGB8_PUNCHTHROUGH_ALPHA1_ETC2, 4, 4, 8, NULL},
    {GL_COMPRESSED_RGBA8_ETC2_EAC, 4, 4, 16, NULL},
    {GL_COMPRESSED_SRGB8_ALPHA8_ETC2_EAC, 4, 4, 16, NULL},
    {GL_COMPRESSED_R11_EAC, 4, 4, 8, NULL},
    {GL_COMPRESSED_SIGNED_R11_EAC, 4, 4, 8, NULL},
    {GL_COMPRESSED_RG11_EAC, 4, 4, 16, NULL},
    {GL_COMPRESSED_SIGNED_RG11_EAC, 4, 4, 16, NULL},
    {GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 4, 4, 8, "GL_EXT_texture_compression_s3tc"},
    {GL_COMPRESSED_RGBA_S3TC_DXT1_EXT, 4, 4, 8, "GL_EXT_texture_compression_s3tc"},
    {GL_COMPRESSED_RGBA_S3TC_DXT3_EXT, 4, 4, 16, "GL_EXT_texture_compression_s3tc"},
    {GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 4, 4, 16, "GL_EXT_texture_compression_s3tc"},
    {GL_COMPRESSED_RED_RGTC1_EXT, 4, 4, 8, "GL_EXT_texture_compression_rgtc"},
    {GL_COMPRESSED_RED_GREEN_RGTC2_EXT, 4, 4, 16, "GL_EXT_texture_compression_rgtc"},
    {GL_COMPRESSED_RGBA_BPTC_UNORM_EXT, 4, 4, 16, "GL_EXT_texture_compression_bptc"},
    {GL_COMPRESSED_RGBA_ASTC_4x4_KHR, 4, 4, 16, "GL_KHR_texture_compression_astc_ldr"},
    {GL_COMPRESSED_RGBA_ASTC_8x5_KHR, 8, 5, 16, "GL_KHR_texture_compression_astc_ldr"},
    {GL_COMPRESSED_SRGB8_ALPHA8_ASTC_6x6_KHR, 6, 6, 16, "GL_KHR_texture_compression_astc_ldr"},
};

#define VERTEX                                                                                     \
    "#version 300 es\n"                                                                            \
    "in vec4 place;\n"                                                                             \
    "out vec2 at;\n"                                                                               \
    "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n"
#define FRAGMENT(kind, where)                                                                      \
    "#version 300 es\n"                                                                            \
    "precision highp float;\n"                                                                     \
    "precision highp sampler2DArray;\n"                                                            \
    "in vec2 at;\n"                                                                                \
    "uniform " kind " image;\n"                                                                    \
    "out vec4 colour;\n"                                                                           \
    "void main() { colour = textureLod(image, " where ", at.x * 1.9); }\n"

static GLuint program, array_program, cube_program;
static GLuint flat[LENGTH(FORMATS)], stored, array, stored_array, cube, alone, plain;

/* Three blocks by two, the last ones cut, and a level of one block. */
static void start_flat(void)
{
    unsigned char bytes[6 * 16];
    for (int i = 0; i < LENGTH(FORMATS); i++) {
        int width = FORMATS[i].width, height = FORMATS[i].height, size = FORMATS[i].bytes;
        if (FORMATS[i].extension != NULL)
            need_extension(FORMATS[i].extension);
        flat[i] = new_texture(GL_TEXTURE_2D);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 1);
        fill(bytes, sizeof bytes, (uint32_t)i);
        glCompressedTexImage2D(GL_TEXTURE_2D, 0, FORMATS[i].format, 2 * width + 2, 2 * height - 1,
                               0, 6 * size, bytes);
        glCompressedTexImage2D(GL_TEXTURE_2D, 1, FORMATS[i].format, width + 1, height - 1, 0,
                               2 * size, bytes + 7);
        no_error("a format");
    }
}

static void start_others(void)
{
    unsigned char bytes[2 * 4 * 16];
    fill(bytes, sizeof bytes, 70);
    stored = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 2, GL_COMPRESSED_RGB8_ETC2, 8, 8);
    glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 8, 8, GL_COMPRESSED_RGB8_ETC2, 32, bytes);
    glCompressedTexSubImage2D(GL_TEXTURE_2D, 1, 0, 0, 4, 4, GL_COMPRESSED_RGB8_ETC2, 8, bytes + 9);
    array = new_texture(GL_TEXTURE_2D_ARRAY);
    glCompressedTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_COMPRESSED_RGBA8_ETC2_EAC, 8, 8, 2, 0,
                           sizeof bytes, bytes);
    stored_array = new_texture(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 8, 8, 2);
    glCompressedTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 8, 8, 2,
                              GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, sizeof bytes, bytes);
    cube = new_texture(GL_TEXTURE_CUBE_MAP);
    for (GLenum face = 0; face < 6; face++) {
        fill(bytes, 8, 80 + face);
        glCompressedTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_COMPRESSED_SRGB8_ETC2, 4, 4,
                               0, 8, bytes);
    }
}

/* The only level of a texture that would be incomplete without the sampler used here. */
static void start_alone(void)
{
    unsigned char bytes[4 * 8];
    fill(bytes, sizeof bytes, 90);
    alone = new_texture(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_LINEAR);
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGB8_ETC2, 8, 8, 0, sizeof bytes, bytes);
    glGenSamplers(1, &plain);
    glSamplerParameteri(plain, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(plain, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static void start(void)
{
    program = program_of(VERTEX, FRAGMENT("sampler2D", "at"));
    array_program =
        program_of(VERTEX, FRAGMENT("sampler2DArray", "vec3(at.x, fract(at.y * 2.0), at.y * 2.0)"));
    cube_program =
        program_of(VERTEX, FRAGMENT("samplerCube", "vec3(at * 3.0 - 1.5, 1.0 - 2.0 * at.x)"));
    start_flat();
    start_others();
    start_alone();
}

static void show(int at, GLuint with, GLenum target, GLuint texture)
{
    glUseProgram(with);
    glBindTexture(target, texture);
    cell(at, 6, 5), quad();
}

static void draw(int frame)
{
    clear(0, 0, 0.1f * (float)frame);
    for (int i = 0; i < LENGTH(FORMATS); i++)
        show(i, program, GL_TEXTURE_2D, flat[i]);
    show(LENGTH(FORMATS), program, GL_TEXTURE_2D, stored);
    show(LENGTH(FORMATS) + 1, array_program, GL_TEXTURE_2D_ARRAY, array);
    show(LENGTH(FORMATS) + 2, array_program, GL_TEXTURE_2D_ARRAY, stored_array);
    show(LENGTH(FORMATS) + 3, cube_program, GL_TEXTURE_CUBE_MAP, cube);
    glBindSampler(0, plain);
    show(LENGTH(FORMATS) + 4, program, GL_TEXTURE_2D, alone);
    glBindSampler(0, 0);
}

int main(void)
{
    return app_run(30, 6, start, draw);
}
