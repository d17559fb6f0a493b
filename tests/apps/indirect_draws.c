/* Indirect draws of arrays and of elements: the counts lie in a buffer. */
#include "app.h"

static GLuint program, array, places, indices, commands;

static void start(void)
{
    GLfloat place[64][2];
    GLushort index[40];
    for (int i = 0; i < 64; i++) {
        place[i][0] = -1.0f + 2.0f * (float)(i % 8) / 7.0f;
        place[i][1] = -1.0f + 2.0f * (float)(i / 8) / 7.0f;
    }
    for (int i = 0; i < 40; i++)
        index[i] = (GLushort)(i / 2 + i % 2 * 8);
    program = program_of("#version 310 es\n"
                         "in vec2 place;\n"
                         "out vec4 tint;\n"
                         "void main() {\n"
                         "  gl_Position = vec4(place, 0, 1);\n"
                         "  tint = vec4(float(gl_VertexID) / 64.0, float(gl_InstanceID), 1, 1);\n"
                         "}\n",
                         "#version 310 es\n"
                         "precision mediump float;\n"
                         "in vec4 tint;\n"
                         "out vec4 colour;\n"
                         "void main() { colour = tint; }\n");
    glUseProgram(program);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    places = new_buffer(GL_ARRAY_BUFFER, sizeof place, place);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    indices = new_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof index, index);
    commands = new_buffer(GL_DRAW_INDIRECT_BUFFER, 256, NULL);
}

static void draw(int frame)
{
    const GLuint of_arrays[] = {4, 2, 8 * (GLuint)frame, 0};
    const GLuint of_elements[] = {16, 1, 2 * (GLuint)frame, 16, 0};
    clear(0.5f, 0.1f, 0.1f);
    glBufferSubData(GL_DRAW_INDIRECT_BUFFER, 16, sizeof of_arrays, of_arrays);
    glBufferSubData(GL_DRAW_INDIRECT_BUFFER, 64, sizeof of_elements, of_elements);
    glDrawArraysIndirect(GL_TRIANGLE_STRIP, (void *)16);
    glDrawElementsIndirect(GL_TRIANGLE_STRIP, GL_UNSIGNED_SHORT, (void *)64);
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
