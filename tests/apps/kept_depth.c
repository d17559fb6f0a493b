/* Each frame continues with the depth and stencil that the previous one left in the surface. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = program_of("attribute vec4 place;\n"
                         "uniform vec4 offset;\n"
                         "void main() { gl_Position = place * vec4(0.6, 0.6, 1, 1) + offset; }\n",
                         "precision mediump float;\n"
                         "uniform vec4 tint;\n"
                         "void main() { gl_FragColor = tint; }\n");
    glUseProgram(program);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glStencilFunc(GL_GREATER, 3, 0xFF);
    glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
    glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    clear(0.2f, 0.2f, 0.3f);
}

static void draw(int frame)
{
    const float nearer[] = {0.5f, 0.1f, 0.3f, 0.05f, 0.2f};
    for (int i = 0; i < 2; i++) {
        glUniform4f(glGetUniformLocation(program, "tint"), 0.2f * (float)frame, (float)i, 0.5f, 1);
        glUniform4f(glGetUniformLocation(program, "offset"), 0.1f * (float)frame - 0.3f,
                    0.3f * (float)i - 0.1f, nearer[frame], 0);
        quad();
    }
}

int main(void)
{
    return app_run(30, 5, start, draw);
}
