/* Rectangular textures, one with a name and one without, that are enabled before the first frame. Also below OpenGL 3.1. */
#include "desktop.h"

#define FRAMES 4

static void image(unsigned seed)
{
    unsigned char texels[7 * 5 * 4];
    for (size_t i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 37 + seed * 91);
    F(glTexParameteri)(GL_TEXTURE_RECTANGLE, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glTexImage2D)(GL_TEXTURE_RECTANGLE, 0, GL_RGBA, 7, 5, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
}

static void square(GLfloat x)
{
    F(glBegin)(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 4; i++) {
        F(glTexCoord2f)(7.0f * (GLfloat)(i % 2), 5.0f * (GLfloat)(i / 2));
        F(glVertex2f)(x + 0.8f * (GLfloat)(i % 2), (GLfloat)(i / 2) - 0.5f);
    }
    F(glEnd)();
}

int main(void)
{
    GLuint texture = 0;
    desktop_open(0, 0);
    image(1);
    F(glGenTextures)(1, &texture);
    F(glBindTexture)(GL_TEXTURE_RECTANGLE, texture);
    image(2);
    F(glEnable)(GL_TEXTURE_RECTANGLE);
    for (int frame = 0; frame < FRAMES; frame++) {
        /* The rest of the frame before stays. */
        F(glEnable)(GL_SCISSOR_TEST);
        F(glScissor)(0, 0, WIDTH, HEIGHT - 8 * frame);
        F(glClearColor)(0.2f * (GLfloat)frame, 0.5f, 0.0f, 1.0f);
        F(glClear)(GL_COLOR_BUFFER_BIT);
        square(-0.9f);
        F(glBindTexture)(GL_TEXTURE_RECTANGLE, 0);
        square(0.1f);
        F(glBindTexture)(GL_TEXTURE_RECTANGLE, texture);
        printf("enabled %d\n", F(glIsEnabled)(GL_TEXTURE_RECTANGLE));
        desktop_end_frame();
    }
    desktop_close();
    return 0;
}
