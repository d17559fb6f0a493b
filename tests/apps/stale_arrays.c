/* Arrays that are disabled, or have no part in a draw, keep pointers that must not be read. */
#include "app.h"

#include <sys/mman.h>

static GLuint program;
static void *gone;

static void start(void)
{
    const long page = 4096;
    program = colour_program();
    glUseProgram(program);
    gone = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(gone != MAP_FAILED, "mmap");
    must(munmap(gone, (size_t)page) == 0, "munmap");
}

static void stale(void)
{
    glVertexAttribPointer(2, 4, GL_FLOAT, GL_FALSE, 0, gone);
    glVertexAttribPointer(3, 4, GL_FLOAT, GL_FALSE, 0, (void *)1);
    glVertexAttribPointer(4, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glVertexAttribPointer(5, 4, GL_FLOAT, GL_FALSE, 0, (void *)-16);
    glEnableVertexAttribArray(2);
    glEnableVertexAttribArray(3);
    for (GLuint i = 2; i < 6; i++)
        glDisableVertexAttribArray(i);
}

/* The memory of the arrays is changed, moved and freed between draws. */
static void moving(int frame)
{
    static const GLubyte colours[] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255};
    GLfloat *places = malloc(6 * sizeof *places);
    const GLfloat values[] = {-1, -1, 1, -1, 0, 0.2f * (float)frame};
    must(places != NULL, "malloc");
    memcpy(places, values, sizeof values);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colours);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    cell(0, 2, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
    places[5] = 1.0f;
    cell(1, 2, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisableVertexAttribArray(0);
    free(places);
}

/* A deleted buffer leaves its attributes without a buffer; disabled attributes do no harm. */
static void deleted_buffer(void)
{
    static const GLfloat places[] = {-1, 0, 0, -1, 1, 1};
    GLuint buffer = new_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, 0, (void *)8);
    glDeleteBuffers(1, &buffer);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glDisableVertexAttribArray(1);
    glVertexAttrib3f(1, 1, 1, 0);
    cell(2, 2, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void draw(int frame)
{
    clear(0.2f, 0.2f, 0.2f);
    stale();
    moving(frame);
    deleted_buffer();
}

int main(void)
{
    return app_run(20, 4, start, draw);
}
