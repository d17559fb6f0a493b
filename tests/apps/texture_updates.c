/* All ways to update a texture in ES 2: parts, copies of the screen, mipmaps, odd sizes. */
#include "app.h"

static GLuint program, texture;

static void start(void)
{
    GLubyte texels[32 * 32 * 3];
    fill(texels, sizeof texels, 2);
    program = image_program();
    glUseProgram(program);
    texture = new_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 32, 32, 0, GL_RGB, GL_UNSIGNED_BYTE, texels);
}

static void parts(int frame)
{
    GLubyte texels[7 * 8];
    GLushort shorts[5 * 6];
    fill(texels, sizeof texels, 10 + (uint32_t)frame);
    fill(shorts, sizeof shorts, 20 + (uint32_t)frame);
    /* Two texels of three bytes in rows of eight. */
    glPixelStorei(GL_UNPACK_ALIGNMENT, 8);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 4 * frame, 3, 2, 7, GL_RGB, GL_UNSIGNED_BYTE, texels);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 20, 4 * frame, 5, 3, GL_RGB, GL_UNSIGNED_BYTE, texels);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 26, 5, 5, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, shorts);
    /* No texel at all. */
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 5, GL_RGB, GL_UNSIGNED_BYTE, NULL);
}

static void mipmaps(int frame)
{
    static const GLubyte colours[6][4] = {{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255},
                                          {255, 255, 0, 255}, {0, 255, 255, 255}, {255, 0, 255, 255}};
    GLuint levels = new_texture(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    for (int level = 0; level < 6; level++) {
        GLubyte texels[32 * 32][4];
        int side = 32 >> level;
        for (int i = 0; i < side * side; i++)
            memcpy(texels[i], colours[(level + frame) % 6], 4);
        glTexImage2D(GL_TEXTURE_2D, level, GL_RGBA, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    cell(4, 3, 3), quad();
    cell(20, 6, 6), quad();
    cell(5, 3, 3), glGenerateMipmap(GL_TEXTURE_2D), quad();
    glDeleteTextures(1, &levels);
}

static void copies(void)
{
    GLuint copy = new_texture(GL_TEXTURE_2D);
    glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 0, 0, 32, 32, 0);
    cell(6, 3, 3), quad();
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 4, 8, 32, 16, 20, 10);
    cell(7, 3, 3), quad();
    glDeleteTextures(1, &copy);
}

static void draw(int frame)
{
    clear(0, 0, 0.5f);
    glBindTexture(GL_TEXTURE_2D, texture);
    parts(frame);
    cell(0, 3, 3), quad();
    mipmaps(frame);
    copies();
}

int main(void)
{
    return app_run(20, 4, start, draw);
}
