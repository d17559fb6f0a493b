/* Base vertices, including negative ones, and index ranges, with client arrays and with buffers. */
#include "app.h"

static GLuint program;
static GLfloat places[80][2];
static GLubyte colours[80][4];

static void start(void)
{
    for (int i = 0; i < 80; i++) {
        places[i][0] = -1.0f + 2.0f * (float)(i % 8) / 7.0f;
        places[i][1] = -1.0f + 2.0f * (float)(i / 8) / 9.0f;
    }
    fill(colours, sizeof colours, 5);
    program = colour_program();
    glUseProgram(program);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static void client_arrays(void)
{
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colours);
}

static void from_client(int frame)
{
    const GLubyte bytes[] = {0, 3, 24, 27};
    const GLushort shorts[] = {200, 205, 240, 245};
    const GLuint ints[] = {1000, 1002, 1016, 1018};
    client_arrays();
    cell(0, 3, 2);
    glDrawElementsBaseVertex(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_BYTE, bytes, 8 + frame);
    cell(1, 3, 2);
    glDrawElementsBaseVertex(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_SHORT, shorts, -190 + frame);
    cell(2, 3, 2);
    glDrawRangeElementsBaseVertex(GL_TRIANGLE_STRIP, 1000, 1018, 4, GL_UNSIGNED_INT, ints, -960);
    cell(3, 3, 2);
    glDrawElementsInstancedBaseVertex(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_BYTE, bytes, 2, 40);
}

static void from_buffers(int frame)
{
    const GLushort shorts[] = {9, 9, 0, 5, 40, 45};
    GLuint place = new_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    GLuint index = new_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof shorts, shorts);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    cell(4, 3, 2);
    glDrawElementsBaseVertex(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_SHORT, (void *)4, 16 + frame);
    /* The restart index is compared before the base vertex is added. */
    const GLushort restarted[] = {0, 1, 8, 0xffff, 20, 21, 28};
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    client_arrays();
    glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    cell(5, 3, 2);
    glDrawElementsBaseVertex(GL_TRIANGLE_STRIP, 7, GL_UNSIGNED_SHORT, restarted, 30);
    glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    glDeleteBuffers(1, &place);
    glDeleteBuffers(1, &index);
}

static void draw(int frame)
{
    clear(0.4f, 0.2f, 0.0f);
    from_client(frame);
    from_buffers(frame);
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
