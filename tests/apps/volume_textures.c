/* Uploads of 3D textures, arrays, cubes and cube arrays, with mipmaps, whole and in parts. */
#include "app.h"

static GLuint programs[4];

static GLuint sampling(const char *kind, const char *where)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 320 es\n"
             "precision highp float;\n"
             "in vec2 at;\n"
             "uniform highp %s image;\n"
             "uniform float level;\n"
             "out vec4 colour;\n"
             "void main() { colour = textureLod(image, %s, level); }\n",
             kind, where);
    return program_of("#version 320 es\n"
                      "in vec4 place;\n"
                      "out vec2 at;\n"
                      "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                      source);
}

static void start(void)
{
    programs[0] = sampling("sampler3D", "vec3(at.x, fract(at.y * 4.0), at.y)");
    programs[1] = sampling("sampler2DArray", "vec3(at.x, fract(at.y * 4.0), floor(at.y * 4.0))");
    programs[2] = sampling("samplerCube", "vec3(at * 2.0 - 1.0, 0.8 - at.x)");
    programs[3] = sampling("samplerCubeArray", "vec4(at * 2.0 - 1.0, 0.5 - at.y, floor(at.x * 2.0))");
}

static void show(int at, int kind, float level)
{
    glUseProgram(programs[kind]);
    glUniform1f(glGetUniformLocation(programs[kind], "level"), level);
    cell(at, 4, 2), quad();
}

static void volume(int frame)
{
    GLubyte texels[4 * 4 * 4 * 4];
    GLuint texture = new_texture(GL_TEXTURE_3D);
    fill(texels, sizeof texels, 1 + (uint32_t)frame);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAX_LEVEL, 1);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 4, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexImage3D(GL_TEXTURE_3D, 1, GL_RGBA8, 2, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels + 7);
    glTexSubImage3D(GL_TEXTURE_3D, 0, 1, 1, 1, 2, 3, 2, GL_RGBA, GL_UNSIGNED_BYTE, texels + 100);
    show(0, 0, 0);
    show(1, 0, 1);
    glDeleteTextures(1, &texture);
}

static void array(int frame)
{
    GLushort texels[4 * 4 * 4];
    GLuint texture = new_texture(GL_TEXTURE_2D_ARRAY);
    fill(texels, sizeof texels, 40);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 3, GL_RGB565, 4, 4, 4);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 4, 4, 4, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, texels);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, frame, 0, 2, 1, 4, 2, GL_RGB, GL_UNSIGNED_SHORT_5_6_5,
                    texels + 30);
    glGenerateMipmap(GL_TEXTURE_2D_ARRAY);
    show(2, 1, 0);
    show(3, 1, 1);
    /* A layer of the screen goes into a layer of the texture. */
    glCopyTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 3, 4, 4, 4, 4);
    show(4, 1, 0);
    glDeleteTextures(1, &texture);
}

static void cube(int frame)
{
    GLubyte texels[8 * 8 * 3];
    GLuint texture = new_texture(GL_TEXTURE_CUBE_MAP);
    for (GLenum face = 0; face < 6; face++) {
        GLenum target = GL_TEXTURE_CUBE_MAP_POSITIVE_X + face;
        fill(texels, sizeof texels, 50 + face);
        glTexImage2D(target, 0, GL_RGB8, 8, 8, 0, GL_RGB, GL_UNSIGNED_BYTE, texels);
        glTexSubImage2D(target, 0, 2, frame, 4, 4, GL_RGB, GL_UNSIGNED_BYTE, texels + 24);
    }
    show(5, 2, 0);
    glDeleteTextures(1, &texture);
}

static void cube_array(int frame)
{
    GLubyte texels[2 * 2 * 4 * 12];
    GLuint texture = new_texture(GL_TEXTURE_CUBE_MAP_ARRAY);
    fill(texels, sizeof texels, 60);
    glTexStorage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 1, GL_RGBA8, 2, 2, 12);
    glTexSubImage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 0, 0, 0, 0, 2, 2, 12, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexSubImage3D(GL_TEXTURE_CUBE_MAP_ARRAY, 0, 0, 1, frame, 2, 1, 7, GL_RGBA, GL_UNSIGNED_BYTE,
                    texels + 16);
    show(6, 3, 0);
    glDeleteTextures(1, &texture);
}

static void draw(int frame)
{
    clear(0.2f, 0.2f, 0);
    volume(frame);
    array(frame);
    cube(frame);
    cube_array(frame);
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
