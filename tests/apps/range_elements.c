/* glDrawRangeElements: the range is a hint, and the indices determine what is read. */
#include "app.h"

static GLuint program;
static GLfloat places[100][3];

static void start(void)
{
    for (int i = 0; i < 100; i++) {
        places[i][0] = -1.0f + 2.0f * (float)(i % 10) / 9.0f;
        places[i][1] = -1.0f + 2.0f * (float)(i / 10) / 9.0f;
        places[i][2] = (float)(i % 4) / 4.0f;
    }
    program = program_of("attribute vec3 place;\n"
                         "varying vec3 at;\n"
                         "void main() { gl_Position = vec4(place.xy, 0, 1); at = place; }\n",
                         "precision mediump float;\n"
                         "varying vec3 at;\n"
                         "void main() { gl_FragColor = vec4(abs(at), 1); }\n");
    glUseProgram(program);
    glEnableVertexAttribArray(0);
}

static void draw(int frame)
{
    const GLubyte bytes[] = {0, 4, 40, 44};
    const GLushort shorts[] = {95, 99, 55, 59};
    const GLuint ints[] = {(GLuint)frame, 8, 91};
    clear(1, 1, 1);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, places);
    /* Exactly the range, a wide one, one from zero. */
    glDrawRangeElements(GL_TRIANGLE_STRIP, 0, 44, 4, GL_UNSIGNED_BYTE, bytes);
    glDrawRangeElements(GL_TRIANGLE_STRIP, 20, 99, 4, GL_UNSIGNED_SHORT, shorts);
    glDrawRangeElements(GL_TRIANGLES, 0, 99, 3, GL_UNSIGNED_INT, ints);
    glDrawRangeElements(GL_TRIANGLES, 5, 5, 0, GL_UNSIGNED_INT, ints);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
