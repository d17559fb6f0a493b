/* Index ranges with and without primitive restart: with restart, the largest index of a type refers to no vertex. */
#include "app.h"

static GLuint program;
static GLfloat places[300][2];
static GLubyte colours[300][4];

static void start(void)
{
    for (int i = 0; i < 300; i++) {
        places[i][0] = -1.0f + 2.0f * (float)(i / 2 % 16) / 15.0f;
        places[i][1] = i % 2 ? 1.0f : -1.0f;
    }
    fill(colours, sizeof colours, 3);
    program = colour_program();
    glUseProgram(program);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colours);
}

static void restarted(int frame)
{
    const GLubyte bytes[] = {0, 1, 2, 3, 0xff, 8, 9, 10, 11, 0xff, 0xff, 20, 21, 22, 23};
    const GLushort shorts[] = {0xffff, 30, 31, 32, 0xffff, 12, 13, 14, 15, 0xffff};
    const GLuint ints[] = {4, 5, 6, 0xffffffff, 16, 17, 18, 19};
    glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    cell(0, 2, 3), glDrawElements(GL_TRIANGLE_STRIP, 11 + frame, GL_UNSIGNED_BYTE, bytes);
    cell(1, 2, 3), glDrawElements(GL_TRIANGLE_STRIP, LENGTH(shorts), GL_UNSIGNED_SHORT, shorts);
    cell(2, 2, 3), glDrawElements(GL_LINE_STRIP, LENGTH(ints), GL_UNSIGNED_INT, ints);
    glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
}

/* Restart indices only: no vertex is read. */
static void only_restarts(void)
{
    const GLushort shorts[] = {0xffff, 0xffff, 0xffff};
    glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    glDrawElements(GL_TRIANGLES, LENGTH(shorts), GL_UNSIGNED_SHORT, shorts);
    glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
}

/* 255 is a vertex like any other here, and so is 256. */
static void not_restarted(void)
{
    const GLubyte bytes[] = {252, 253, 254, 255};
    const GLushort shorts[] = {255, 256, 257, 258, 0xff};
    cell(3, 2, 3), glDrawElements(GL_TRIANGLE_STRIP, LENGTH(bytes), GL_UNSIGNED_BYTE, bytes);
    glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    cell(4, 2, 3), glDrawElements(GL_TRIANGLE_STRIP, LENGTH(shorts), GL_UNSIGNED_SHORT, shorts);
    glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
}

/* The indices lie in a buffer, the vertices do not. */
static void from_buffer(void)
{
    const GLubyte bytes[] = {7, 0, 1, 2, 3, 0xff, 8, 9, 10, 11, 0xff};
    GLuint buffer = new_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof bytes, bytes);
    glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    cell(5, 2, 3);
    glDrawElements(GL_TRIANGLE_STRIP, LENGTH(bytes) - 1, GL_UNSIGNED_BYTE, (void *)1);
    glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glDeleteBuffers(1, &buffer);
}

static void draw(int frame)
{
    clear(0.0f, 0.0f, 0.4f);
    restarted(frame);
    only_restarts();
    not_restarted();
    from_buffer();
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
