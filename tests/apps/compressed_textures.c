/* ETC2 and EAC uploads: whole, in parts, arrays, cubes, from a buffer. */
#include "app.h"

static GLuint program, array_program, cube_program;

#define VERTEX                                                                                     \
    "#version 300 es\n"                                                                            \
    "in vec4 place;\n"                                                                             \
    "out vec2 at;\n"                                                                               \
    "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n"
#define FRAGMENT(kind, where)                                                                      \
    "#version 300 es\n"                                                                            \
    "precision mediump float;\n"                                                                   \
    "precision mediump sampler2DArray;\n"                                                          \
    "in vec2 at;\n"                                                                                \
    "uniform " kind " image;\n"                                                                    \
    "out vec4 colour;\n"                                                                           \
    "void main() { colour = texture(image, " where "); }\n"

static void start(void)
{
    program = image_program();
    array_program =
        program_of(VERTEX, FRAGMENT("sampler2DArray", "vec3(at.x, fract(at.y * 2.0), at.y * 2.0)"));
    cube_program =
        program_of(VERTEX, FRAGMENT("samplerCube", "vec3(at * 3.0 - 1.5, 1.0 - 2.0 * at.x)"));
}

/* 10 x 7 texels are three blocks by two. */
static void whole(int at, GLenum format, int block, int frame)
{
    unsigned char bytes[6 * 16];
    GLuint texture = new_texture(GL_TEXTURE_2D);
    fill(bytes, (size_t)(6 * block), (uint32_t)(at + frame));
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, format, 10, 7, 0, 6 * block, bytes);
    glUseProgram(program);
    cell(at, 4, 3), quad();
    glDeleteTextures(1, &texture);
}

static void parts(int at, int frame)
{
    unsigned char bytes[16 * 8];
    GLuint texture = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 2, GL_COMPRESSED_RGB8_ETC2, 16, 16);
    fill(bytes, sizeof bytes, 5);
    glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_COMPRESSED_RGB8_ETC2, 16 * 8, bytes);
    glCompressedTexSubImage2D(GL_TEXTURE_2D, 1, 0, 0, 8, 8, GL_COMPRESSED_RGB8_ETC2, 4 * 8, bytes);
    fill(bytes, sizeof bytes, 60 + (uint32_t)frame);
    glCompressedTexSubImage2D(GL_TEXTURE_2D, 0, 4, 8, 8, 4, GL_COMPRESSED_RGB8_ETC2, 2 * 8, bytes);
    glUseProgram(program);
    cell(at, 4, 3), quad();
    glDeleteTextures(1, &texture);
}

static void array(int at, int frame)
{
    unsigned char bytes[2 * 4 * 16];
    GLuint texture = new_texture(GL_TEXTURE_2D_ARRAY);
    fill(bytes, sizeof bytes, 70);
    glCompressedTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_COMPRESSED_RGBA8_ETC2_EAC, 8, 8, 2, 0,
                           sizeof bytes, bytes);
    glCompressedTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 4, 0, 1, 4, 4, 1,
                              GL_COMPRESSED_RGBA8_ETC2_EAC, 16, bytes + 16 * frame);
    glUseProgram(array_program);
    cell(at, 4, 3), quad();
    glDeleteTextures(1, &texture);
}

static void cube(int at, int frame)
{
    unsigned char bytes[8];
    GLuint texture = new_texture(GL_TEXTURE_CUBE_MAP);
    for (GLenum face = 0; face < 6; face++) {
        fill(bytes, sizeof bytes, 80 + face + (uint32_t)frame);
        glCompressedTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_COMPRESSED_SRGB8_ETC2, 4, 4,
                               0, sizeof bytes, bytes);
    }
    glUseProgram(cube_program);
    cell(at, 4, 3), quad();
    glDeleteTextures(1, &texture);
}

static void from_a_buffer(int at, int frame)
{
    unsigned char bytes[200];
    GLuint texture = new_texture(GL_TEXTURE_2D);
    fill(bytes, sizeof bytes, 90);
    GLuint buffer = new_buffer(GL_PIXEL_UNPACK_BUFFER, sizeof bytes, bytes);
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGBA8_ETC2_EAC, 8, 8, 0, 64,
                           (void *)(8L * frame + 8));
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glUseProgram(program);
    cell(at, 4, 3), quad();
    glDeleteTextures(1, &texture);
    glDeleteBuffers(1, &buffer);
}

static void draw(int frame)
{
    clear(0, 0, 0);
    whole(0, GL_COMPRESSED_RGB8_ETC2, 8, frame);
    whole(1, GL_COMPRESSED_SRGB8_ETC2, 8, frame);
    whole(2, GL_COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2, 8, frame);
    whole(3, GL_COMPRESSED_RGBA8_ETC2_EAC, 16, frame);
    whole(4, GL_COMPRESSED_SRGB8_ALPHA8_ETC2_EAC, 16, frame);
    whole(5, GL_COMPRESSED_R11_EAC, 8, frame);
    whole(6, GL_COMPRESSED_SIGNED_RG11_EAC, 16, frame);
    parts(7, frame);
    array(8, frame);
    cube(9, frame);
    from_a_buffer(10, frame);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
