/* Vertex formats and bindings of ES 3.1, and vertex array objects that keep them. */
#include "app.h"

static GLuint program, arrays[2], buffers[2];

static void formats(GLuint array, GLuint offset)
{
    glBindVertexArray(array);
    glVertexAttribFormat(0, 2, GL_FLOAT, GL_FALSE, 0);
    glVertexAttribFormat(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 8);
    glVertexAttribBinding(0, 3);
    glVertexAttribBinding(1, 3);
    glBindVertexBuffer(3, buffers[0], offset, 12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static void start(void)
{
    struct vertex {
        GLfloat place[2];
        GLubyte colour[4];
    } vertices[8];
    const GLubyte indices[] = {4, 5, 6, 7, 0};
    fill(vertices, sizeof vertices, 21);
    for (int i = 0; i < 8; i++) {
        vertices[i].place[0] = (i & 1 ? 1.0f : -1.0f) * (i < 4 ? 1.0f : 0.5f);
        vertices[i].place[1] = (i & 2 ? 1.0f : -1.0f) * (i < 4 ? 0.5f : 1.0f);
    }
    program = colour_program();
    glUseProgram(program);
    glGenVertexArrays(2, arrays);
    buffers[0] = new_buffer(GL_ARRAY_BUFFER, sizeof vertices, vertices);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    formats(arrays[0], 0);
    formats(arrays[1], 0);
    buffers[1] = new_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices);
    glVertexBindingDivisor(3, 0);
}

/* Client arrays belong to the default vertex array object alone. */
static void client(int frame)
{
    const GLfloat places[] = {-1, -1, 1, -1, 0, 0.3f * (float)frame};
    const GLubyte indices[] = {2, 1, 0};
    glBindVertexArray(0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glVertexAttrib4f(1, 1, 0, 1, 1);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, indices);
    glDisableVertexAttribArray(0);
}

static void draw(int frame)
{
    clear(0, 0.3f, 0.3f);
    glBindVertexArray(arrays[0]);
    cell(0, 2, 2), glDrawArrays(GL_TRIANGLE_STRIP, frame, 4);
    glBindVertexArray(arrays[1]);
    cell(1, 2, 2), glDrawElements(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_BYTE, NULL);
    cell(2, 2, 2), client(frame);
    /* Deleting the bound vertex array object binds the default one. */
    GLuint passing = 0;
    glGenVertexArrays(1, &passing);
    formats(passing, 12);
    cell(3, 2, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
    glDeleteVertexArrays(1, &passing);
    GLint bound = -1;
    glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &bound);
    must(bound == 0, "the default vertex array object");
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
