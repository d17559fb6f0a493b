/* Enabled client arrays with invalid pointers, for attributes that the program does not use. */
#include "app.h"
#include "edge.h"

static GLuint program;

static void start(void)
{
    program = program_of("attribute vec4 place;\n"
                         "attribute vec4 colour;\n"
                         "void main() { gl_Position = place; }\n",
                         "void main() { gl_FragColor = vec4(1, 0.5, 0, 1); }\n");
    glUseProgram(program);
}

static void draw(int frame)
{
    const GLfloat places[] = {-1, -1, 1, -1, 0.4f * (float)frame, 1};
    const GLushort indices[] = {0, 1, 2};
    clear(0, 0, 0.3f);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 0, nowhere());
    glVertexAttribPointer(2, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glVertexAttribPointer(3, 4, GL_FLOAT, GL_FALSE, 0x7fffff, (void *)-4096);
    /* Some drivers refuse the stride. */
    glGetError();
    for (GLuint i = 0; i < 4; i++)
        glEnableVertexAttribArray(i);
    cell(0, 2, 1), glDrawArrays(GL_TRIANGLES, 0, 3);
    cell(1, 2, 1), glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, indices);
    no_error("the draws");
}

int main(void)
{
    return app_run(20, 4, start, draw);
}
