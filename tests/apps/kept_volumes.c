/* Cubes, volumes, arrays and buffers as textures, made once and sampled in each frame. */
#include "app.h"

static GLuint programs[5], textures[9];

static GLuint sampling(const char *kind, const char *fetch)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 320 es\n"
             "precision highp float;\n"
             "in vec2 at;\n"
             "uniform highp %s image;\n"
             "out vec4 colour;\n"
             "void main() { colour = fract(vec4(%s)) + 0.1; }\n",
             kind, fetch);
    return program_of("#version 320 es\n"
                      "in vec4 place;\n"
                      "out vec2 at;\n"
                      "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                      source);
}

static void start_volumes(const unsigned char *bytes)
{
    textures[0] = new_texture(GL_TEXTURE_3D);
    glTexStorage3D(GL_TEXTURE_3D, 2, GL_RGB9_E5, 4, 4, 4);
    glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, 4, 4, 4, GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, bytes);
    textures[1] = new_texture(GL_TEXTURE_3D);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8_SNORM, 3, 2, 5, 0, GL_RGBA, GL_BYTE, bytes);
    textures[2] = new_texture(GL_TEXTURE_2D_ARRAY);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_LUMINANCE_ALPHA, 4, 4, 3, 0, GL_LUMINANCE_ALPHA,
                 GL_UNSIGNED_BYTE, bytes);
    textures[3] = new_texture(GL_TEXTURE_2D_ARRAY);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_DEPTH_COMPONENT24, 4, 4, 3, 0, GL_DEPTH_COMPONENT,
                 GL_UNSIGNED_INT, bytes);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_SWIZZLE_G, GL_RED);
}

static void start_cubes(const unsigned char *bytes)
{
    GLenum formats[] = {GL_RGBA, GL_LUMINANCE, GL_RGB};
    for (int i = 0; i < 3; i++) {
        textures[4 + i] = new_texture(GL_TEXTURE_CUBE_MAP);
        for (GLenum face = 0; face < 6; face++)
            glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, i == 2 ? GL_SRGB8 : (GLint)formats[i],
                         4, 4, 0, formats[i], GL_UNSIGNED_BYTE, bytes + 50 * face);
    }
    textures[7] = new_texture(GL_TEXTURE_CUBE_MAP_ARRAY);
    glTexStorage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 2, GL_SRGB8, 4, 4, 12);
    glTexSubImage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 0, 0, 0, 0, 4, 4, 12, GL_RGB, GL_UNSIGNED_BYTE, bytes);
    glTexSubImage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 1, 0, 0, 0, 2, 2, 12, GL_RGB, GL_UNSIGNED_BYTE, bytes);
}

static void start(void)
{
    unsigned char bytes[1024];
    fill(bytes, sizeof bytes, 4);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    programs[0] = sampling("sampler3D", "texture(image, vec3(at.x, fract(at.y * 4.0), at.y)) * 3.0");
    programs[1] = sampling("sampler2DArray",
                           "texture(image, vec3(at.x, fract(at.y * 3.0), floor(at.y * 3.0)))");
    programs[2] = sampling("samplerCube", "texture(image, vec3(at * 3.0 - 1.5, 1.0 - at.x * 2.0))");
    programs[3] = sampling(
        "samplerCubeArray",
        "textureLod(image, vec4(at * 3.0 - 1.5, 0.8 - at.y * 2.0, floor(at.x * 2.0)), at.y * 2.0)");
    programs[4] = sampling("samplerBuffer", "texelFetch(image, int(at.x * 8.0) + int(at.y * 2.0))");
    start_volumes(bytes);
    start_cubes(bytes);
    GLuint buffer = new_buffer(GL_TEXTURE_BUFFER, sizeof bytes, bytes);
    glGenTextures(1, &textures[8]);
    glBindTexture(GL_TEXTURE_BUFFER, textures[8]);
    glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, buffer, 256, 64);
}

static void show(int at, int program, GLenum target)
{
    glUseProgram(programs[program]);
    glBindTexture(target, textures[at]);
    cell(at, 4, 3), quad();
}

static void draw(int frame)
{
    clear(0.2f, 0.1f * (float)frame, 0);
    show(0, 0, GL_TEXTURE_3D);
    show(1, 0, GL_TEXTURE_3D);
    show(2, 1, GL_TEXTURE_2D_ARRAY);
    show(3, 1, GL_TEXTURE_2D_ARRAY);
    show(4, 2, GL_TEXTURE_CUBE_MAP);
    show(5, 2, GL_TEXTURE_CUBE_MAP);
    show(6, 2, GL_TEXTURE_CUBE_MAP);
    show(7, 3, GL_TEXTURE_CUBE_MAP_ARRAY);
    show(8, 4, GL_TEXTURE_BUFFER);
}

int main(void)
{
    return app_run(32, 6, start, draw);
}
