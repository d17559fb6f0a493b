/* Instance divisors with client arrays: how much is read depends on the number of instances. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = program_of("#version 300 es\n"
                         "in vec2 place;\n"
                         "in vec4 colour;\n"
                         "layout(location = 2) in vec2 offset;\n"
                         "layout(location = 3) in float scale;\n"
                         "out vec4 tint;\n"
                         "void main() {\n"
                         "  gl_Position = vec4(place * scale + offset, 0, 1);\n"
                         "  tint = colour;\n"
                         "}\n",
                         "#version 300 es\n"
                         "precision mediump float;\n"
                         "in vec4 tint;\n"
                         "out vec4 colour;\n"
                         "void main() { colour = tint; }\n");
    glUseProgram(program);
    for (GLuint i = 0; i < 4; i++)
        glEnableVertexAttribArray(i);
}

static void divisors(GLuint colour, GLuint offset, GLuint scale)
{
    glVertexAttribDivisor(1, colour);
    glVertexAttribDivisor(2, offset);
    glVertexAttribDivisor(3, scale);
}

/* Arrays of exactly as many elements as seven instances use: ceil(7 / divisor). */
static void arrays(int frame, int elements)
{
    const GLfloat places[] = {-1, -1, 1, -1, 0, 1};
    const GLfloat offsets[7][2] = {{-0.8f, -0.8f}, {0, -0.8f},    {0.8f, -0.5f},          {-0.5f, 0},
                                   {0.3f, 0.2f},   {-0.6f, 0.7f}, {0.1f * (float)frame, 0.8f}};
    const GLfloat scales[2] = {0.2f, 0.35f};
    const GLubyte colours[4][4] = {{255, 0, 0, 255}, {0, 255, 0, 255}, {90, 90, 255, 255},
                                   {255, 255, 0, 255}};
    const GLubyte indices[] = {2, 0, 1, 2};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colours);
    glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, 0, offsets);
    glVertexAttribPointer(3, 1, GL_FLOAT, GL_FALSE, 0, scales);
    if (elements)
        glDrawElementsInstanced(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_BYTE, indices, 7);
    else
        glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 7);
}

/* Without an instanced draw there is one instance: one element of each array with a divisor. */
static void single(void)
{
    const GLfloat places[] = {-1, -1, 1, -1, 0, 1, 1, 1};
    const GLfloat offset[] = {0.1f, 0.1f}, scale[] = {0.7f};
    const GLubyte colour[] = {255, 128, 0, 255};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colour);
    glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, 0, offset);
    glVertexAttribPointer(3, 1, GL_FLOAT, GL_FALSE, 0, scale);
    glDrawArrays(GL_TRIANGLES, 1, 3);
}

static void draw(int frame)
{
    clear(0, 0, 0);
    divisors(2, 1, 4);
    cell(0, 2, 2), arrays(frame, 0);
    divisors(3, 1, 100);
    cell(1, 2, 2), arrays(frame, 1);
    divisors(2, 1, 4);
    cell(2, 2, 2), single();
    /* No instance: nothing is read. */
    glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 0);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
