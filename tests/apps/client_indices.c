/* Client index arrays of bytes, shorts and ints: only the vertices that they refer to are read. */
#include "app.h"

#define GRID 9

static GLuint program;
static GLfloat places[GRID * GRID][2];
static GLubyte colours[GRID * GRID][4];

static void start(void)
{
    for (int i = 0; i < GRID * GRID; i++) {
        places[i][0] = -1.0f + 2.0f * (float)(i % GRID) / (GRID - 1);
        places[i][1] = -1.0f + 2.0f * (float)(i / GRID) / (GRID - 1);
    }
    fill(colours, sizeof colours, 7);
    program = colour_program();
    glUseProgram(program);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static void arrays(void)
{
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colours);
}

static void bytes(int frame)
{
    GLubyte indices[6 * 4];
    int count = 0;
    for (int i = 0; i < 4; i++) {
        GLubyte corner = (GLubyte)(frame * GRID + 2 * i);
        const GLubyte two[] = {corner, corner + 1, corner + GRID, corner + 1, corner + GRID + 1,
                               corner + GRID};
        memcpy(indices + count, two, sizeof two);
        count += 6;
    }
    glDrawElements(GL_TRIANGLES, count, GL_UNSIGNED_BYTE, indices);
}

/* Descending, with repeated indices. */
static void shorts(void)
{
    GLushort indices[2 * GRID];
    for (int i = 0; i < GRID; i++) {
        indices[2 * i] = (GLushort)(GRID * GRID - 1 - i);
        indices[2 * i + 1] = (GLushort)(GRID * GRID - 1 - GRID - i);
    }
    glDrawElements(GL_TRIANGLE_STRIP, LENGTH(indices), GL_UNSIGNED_SHORT, indices);
}

/* At an odd address. */
static void ints(void)
{
    const GLuint indices[] = {40, 44, 76, 40, 40, 36, 4};
    unsigned char memory[sizeof indices + 1];
    memcpy(memory + 1, indices, sizeof indices);
    glDrawElements(GL_TRIANGLE_FAN, LENGTH(indices), GL_UNSIGNED_INT, memory + 1);
}

static void draw(int frame)
{
    static const GLushort one[] = {GRID * GRID / 2};
    clear(0.3f, 0.3f, 0.3f);
    arrays();
    cell(0, 2, 2), bytes(frame);
    cell(1, 2, 2), shorts();
    cell(2, 2, 2), ints();
    cell(3, 2, 2), glDrawElements(GL_POINTS, 1, GL_UNSIGNED_SHORT, one);
    glDrawElements(GL_TRIANGLES, 0, GL_UNSIGNED_SHORT, NULL);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
