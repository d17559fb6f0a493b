/* An index buffer with client vertex arrays: the buffer's content determines which vertices are read. */
#include "app.h"

static GLuint program, indices;
static GLfloat places[64][2];
static GLfloat colours[64][3];

static void start(void)
{
    const GLushort first[] = {0, 1, 8, 9, 16, 17, 40, 48, 41, 49};
    for (int i = 0; i < 64; i++) {
        places[i][0] = -1.0f + 2.0f * (float)(i % 8) / 7.0f;
        places[i][1] = -1.0f + 2.0f * (float)(i / 8) / 7.0f;
        colours[i][0] = (float)(i % 8) / 8.0f;
        colours[i][1] = (float)(i % 5) / 5.0f;
        colours[i][2] = (float)(i % 3) / 3.0f;
    }
    program = colour_program();
    glUseProgram(program);
    indices = new_buffer(GL_ELEMENT_ARRAY_BUFFER, 64, NULL);
    glBufferSubData(GL_ELEMENT_ARRAY_BUFFER, 0, sizeof first, first);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

/* Before each frame a part of the buffer is rewritten and another part is copied from another buffer. */
static void change(int frame)
{
    const GLushort more[] = {(GLushort)(50 + frame), (GLushort)(58 + frame), 59, 63};
    const GLushort copied[] = {24, 31, (GLushort)(33 + frame)};
    GLuint source = new_buffer(GL_COPY_READ_BUFFER, sizeof copied, copied);
    glBufferSubData(GL_ELEMENT_ARRAY_BUFFER, 20, sizeof more, more);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_ELEMENT_ARRAY_BUFFER, 0, 28, sizeof copied);
    glDeleteBuffers(1, &source);
}

static void mapped(int frame)
{
    GLushort *mapping = glMapBufferRange(GL_ELEMENT_ARRAY_BUFFER, 40, 8, GL_MAP_WRITE_BIT);
    must(mapping != NULL, "glMapBufferRange");
    for (int i = 0; i < 4; i++)
        mapping[i] = (GLushort)(5 + frame + 9 * i + i % 2);
    must(glUnmapBuffer(GL_ELEMENT_ARRAY_BUFFER), "glUnmapBuffer");
}

static void draw(int frame)
{
    clear(0.2f, 0.0f, 0.2f);
    change(frame);
    mapped(frame);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, colours);
    cell(0, 2, 2), glDrawElements(GL_TRIANGLE_STRIP, 10, GL_UNSIGNED_SHORT, NULL);
    cell(1, 2, 2), glDrawElements(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_SHORT, (void *)20);
    cell(2, 2, 2), glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, (void *)28);
    cell(3, 2, 2), glDrawElements(GL_TRIANGLE_FAN, 4, GL_UNSIGNED_SHORT, (void *)40);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
