/* Many frames of large client arrays: most of the data repeats, some of it is new. */
#include "app.h"

#define SIDE 40

static GLuint program, texture;
static GLfloat fixed[SIDE * SIDE][2];
static GLfloat moving[SIDE * SIDE][3];
static GLushort indices[(SIDE - 1) * (SIDE - 1) * 6];

static void start(void)
{
    GLubyte texels[16 * 16 * 4];
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        fixed[i][0] = (float)(i % SIDE) / (SIDE - 1);
        fixed[i][1] = (float)(i / SIDE) / (SIDE - 1);
    }
    for (int y = 0; y < SIDE - 1; y++)
        for (int x = 0; x < SIDE - 1; x++) {
            int corner = y * SIDE + x;
            const int two[] = {0, 1, SIDE, 1, SIDE + 1, SIDE};
            for (int i = 0; i < 6; i++)
                indices[count++] = (GLushort)(corner + two[i]);
        }
    program = program_of("attribute vec3 place;\n"
                         "attribute vec2 colour;\n"
                         "varying vec2 at;\n"
                         "void main() { gl_Position = vec4(place, 1); at = colour; }\n",
                         "precision mediump float;\n"
                         "varying vec2 at;\n"
                         "uniform sampler2D image;\n"
                         "void main() { gl_FragColor = texture2D(image, at); }\n");
    glUseProgram(program);
    texture = new_texture(GL_TEXTURE_2D);
    fill(texels, sizeof texels, 8);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

/* A triangle wave, in steps that floats hold exactly. */
static float wave(int step)
{
    step &= 31;
    return (float)(step < 16 ? step - 8 : 24 - step) / 64.0f;
}

static void move(int frame)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = i % SIDE, y = i / SIDE;
        moving[i][0] = (float)x / (SIDE - 1) * 1.5f - 0.75f + wave(y + frame);
        moving[i][1] = (float)y / (SIDE - 1) * 1.5f - 0.75f + wave(x + 2 * frame);
        moving[i][2] = 0;
    }
}

static void draw(int frame)
{
    GLubyte texel[4] = {255, (GLubyte)(8 * frame), 0, 255};
    clear(0.1f, 0.1f, 0.1f);
    /* Every third frame repeats the previous one. */
    if (frame % 3 != 2)
        move(frame);
    if (frame % 5 == 0)
        glTexSubImage2D(GL_TEXTURE_2D, 0, frame / 5, 7, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, moving);
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, fixed);
    glDrawElements(GL_TRIANGLES, LENGTH(indices), GL_UNSIGNED_SHORT, indices);
}

int main(void)
{
    return app_run(20, 30, start, draw);
}
