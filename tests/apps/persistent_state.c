/* Everything is set once; the frames only change memory that arrays point to, and draw. */
#include "app.h"

static GLuint program;
static GLfloat places[3][2] = {{-1, -1}, {1, -1}, {0, 1}};
static GLubyte colours[3][4] = {{255, 0, 0, 255}, {0, 255, 0, 128}, {0, 0, 255, 60}};
static GLushort indices[3] = {0, 1, 2};

static void start(void)
{
    program = colour_program();
    glUseProgram(program);
    clear(0.1f, 0.1f, 0.1f);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colours);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ZERO);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_NOTEQUAL, 1, 0xff);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    glEnable(GL_SCISSOR_TEST);
    glScissor(5, 5, WIDTH - 20, HEIGHT - 10);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_FALSE);
    glClearColor(0.2f, 0.3f, 0.4f, 1.0f);
}

static void draw(int frame)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    places[2][0] = 0.25f * (float)frame - 0.5f;
    colours[1][3] = (GLubyte)(40 * frame);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, indices);
    indices[0] = (GLushort)((indices[0] + 1) % 3);
    places[0][1] += 0.125f;
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

int main(void)
{
    return app_run(20, 6, start, draw);
}
