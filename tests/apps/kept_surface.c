/* OpenGL ES 2: each frame continues with the pixels that the previous one left in the surface. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = colour_program();
    glUseProgram(program);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    clear(0.2f, 0.5f, 0.1f);
}

static void draw(int frame)
{
    glVertexAttrib4f(1, 0.2f * (float)frame, 0.3f, 1.0f - 0.2f * (float)frame, 0.6f);
    glViewport(7 * frame, 5 * frame, 40, 30);
    quad();
}

int main(void)
{
    return app_run(20, 5, start, draw);
}
