/* Vertices in buffers and indices in client memory; then one attribute in each. */
#include "app.h"

static GLuint program, places, colours;

static void start(void)
{
    GLfloat place[64][2];
    GLubyte colour[64][4];
    for (int i = 0; i < 64; i++) {
        place[i][0] = -1.0f + 2.0f * (float)(i % 8) / 7.0f;
        place[i][1] = -1.0f + 2.0f * (float)(i / 8) / 7.0f;
    }
    fill(colour, sizeof colour, 11);
    program = colour_program();
    glUseProgram(program);
    places = new_buffer(GL_ARRAY_BUFFER, sizeof place, place);
    colours = new_buffer(GL_ARRAY_BUFFER, sizeof colour, colour);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static void both_in_buffers(int frame)
{
    const GLubyte indices[] = {0, 7, (GLubyte)(56 + frame), 63};
    glBindBuffer(GL_ARRAY_BUFFER, places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, colours);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, NULL);
    glDrawElements(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_BYTE, indices);
}

/* The buffer that is bound during the draw affects neither attribute. */
static void one_in_a_buffer(int frame)
{
    const GLushort indices[] = {9, 14, (GLushort)(49 + frame), 54};
    GLfloat own[64][4];
    for (int i = 0; i < 64; i++)
        own[i][0] = (float)i / 64.0f, own[i][1] = 0.5f, own[i][2] = 0.1f, own[i][3] = 1.0f;
    glBindBuffer(GL_ARRAY_BUFFER, places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 0, own);
    glBindBuffer(GL_ARRAY_BUFFER, colours);
    glDrawElements(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_SHORT, indices);
}

static void with_offsets(void)
{
    const GLuint indices[] = {0, 3, 24, 27};
    glBindBuffer(GL_ARRAY_BUFFER, places);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 8, (void *)(8 * 18));
    glBindBuffer(GL_ARRAY_BUFFER, colours);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 8, (void *)4);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDrawElements(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_INT, indices);
}

static void draw(int frame)
{
    clear(0.1f, 0.3f, 0.1f);
    cell(0, 2, 2), both_in_buffers(frame);
    cell(1, 2, 2), one_in_a_buffer(frame);
    cell(2, 2, 2), with_offsets();
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
