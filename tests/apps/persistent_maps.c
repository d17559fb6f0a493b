/* Persistent maps of EXT_buffer_storage: written while drawn from, coherently and with flushes. */
#include "app.h"

#include <signal.h>

#define BYTES (64 * 1024)

static GLuint program, coherent, flushed;
static GLfloat *coherent_map, *flushed_map;
static volatile sig_atomic_t signals;

/* The program's own handler must get the program's faults, even if another library watches pages. */
static void on_fault(int number)
{
    (void)number;
    signals++;
}

static GLuint storage(GLbitfield flags, void **mapping)
{
    FUNCTION(PFNGLBUFFERSTORAGEEXTPROC, glBufferStorageEXT);
    GLuint buffer = 0;
    GLbitfield access = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT_EXT;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferStorageEXT(GL_ARRAY_BUFFER, BYTES, NULL, access | flags | GL_MAP_READ_BIT);
    access |= flags ? flags : GL_MAP_FLUSH_EXPLICIT_BIT;
    *mapping = glMapBufferRange(GL_ARRAY_BUFFER, 0, BYTES, access);
    must(*mapping != NULL, "glMapBufferRange");
    memset(*mapping, 0, BYTES);
    return buffer;
}

static void start(void)
{
    void *mapping = NULL;
    need_extension("GL_EXT_buffer_storage");
    must(signal(SIGUSR1, on_fault) != SIG_ERR, "signal");
    program = colour_program();
    glUseProgram(program);
    coherent = storage(GL_MAP_COHERENT_BIT_EXT, &mapping);
    coherent_map = mapping;
    flushed = storage(0, &mapping);
    flushed_map = mapping;
    glEnableVertexAttribArray(0);
    glVertexAttrib4f(1, 1, 1, 0, 1);
}

static void triangle(GLfloat *at, int number)
{
    for (int i = 0; i < 6; i++)
        at[i] = (float)((i * 7 + number * 3) % 9) / 4.0f - 1.0f;
}

/* Writes to distant pages between two draws of one frame, without a call in between. */
static void coherent_draws(int frame)
{
    glBindBuffer(GL_ARRAY_BUFFER, coherent);
    for (int i = 0; i < 4; i++) {
        size_t at = (size_t)(i * 16000 + frame * 24);
        triangle(coherent_map + at / 4, frame + i);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, (void *)at);
        cell(i, 4, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
        glFinish();
    }
    must(raise(SIGUSR1) == 0, "raise");
}

static void flushed_draws(int frame)
{
    glBindBuffer(GL_ARRAY_BUFFER, flushed);
    for (int i = 0; i < 4; i++) {
        size_t at = (size_t)(i * 12000 + frame * 240);
        triangle(flushed_map + at / 4, 5 + frame + i);
        glFlushMappedBufferRange(GL_ARRAY_BUFFER, (GLintptr)at, 24);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, (void *)at);
        cell(4 + i, 4, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
        glFinish();
    }
}

static void draw(int frame)
{
    clear(0, 0.1f, 0.3f);
    coherent_draws(frame);
    flushed_draws(frame);
    must(signals == frame + 1, "the program's own signal");
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
