/* Mapped buffers: whole and in ranges, invalidated, unsynchronized, flushed explicitly, read. */
#include "app.h"

static GLuint program, places, colours;

static void start(void)
{
    static const GLfloat zeros[64];
    program = colour_program();
    glUseProgram(program);
    places = new_buffer(GL_ARRAY_BUFFER, sizeof zeros, zeros);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    colours = new_buffer(GL_ARRAY_BUFFER, sizeof zeros, zeros);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static void *mapped(GLuint buffer, GLintptr offset, GLsizeiptr length, GLbitfield access)
{
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    void *mapping = glMapBufferRange(GL_ARRAY_BUFFER, offset, length, access);
    must(mapping != NULL, "glMapBufferRange");
    return mapping;
}

static void unmap(void)
{
    must(glUnmapBuffer(GL_ARRAY_BUFFER), "glUnmapBuffer");
}

static void whole(int frame)
{
    GLfloat *mapping = mapped(places, 0, 256, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    for (int i = 0; i < 32; i++) {
        mapping[2 * i] = (float)(i % 6) / 2.5f - 1.0f;
        mapping[2 * i + 1] = (float)((i * 5 + frame) % 7) / 3.0f - 1.0f;
    }
    unmap();
    mapping = mapped(colours, 0, 256, GL_MAP_WRITE_BIT);
    for (int i = 0; i < 64; i++)
        mapping[i] = (float)((i * 7 + frame) % 10) / 10.0f;
    unmap();
}

/* One triangle is moved; the rest of the buffer stays. */
static void range(int frame)
{
    const GLfloat moved[] = {-1, -1, 0.3f * (float)frame, 1, 1, -1};
    void *mapping = mapped(places, 24, sizeof moved, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT);
    memcpy(mapping, moved, sizeof moved);
    unmap();
}

static void unsynchronized(int frame)
{
    /* The draws before this read the same range, and a driver may draw late. */
    glFinish();
    GLfloat *mapping = mapped(places, 48, 24, GL_MAP_WRITE_BIT | GL_MAP_UNSYNCHRONIZED_BIT);
    for (int i = 0; i < 6; i++)
        mapping[i] = (float)((i * 3 + frame) % 5) / 2.0f - 1.0f;
    unmap();
}

/* Two pieces are flushed, at offsets from the beginning of the mapping. */
static void flushed(int frame)
{
    GLfloat *mapping = mapped(colours, 36, 100, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
    for (int i = 0; i < 3; i++) {
        mapping[1 + i] = 0.25f * (float)(frame + 1);
        mapping[9 + i] = 1.0f - 0.25f * (float)frame;
    }
    glFlushMappedBufferRange(GL_ARRAY_BUFFER, 4, 12);
    glFlushMappedBufferRange(GL_ARRAY_BUFFER, 36, 12);
    unmap();
}

static void read(void)
{
    const void *mapping = mapped(places, 16, 100, GL_MAP_READ_BIT);
    printf("places %08x\n", sum_of(mapping, 100));
    unmap();
    GLfloat *both = mapped(colours, 0, 64, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    printf("colours %08x\n", sum_of(both, 64));
    for (int i = 0; i < 16; i++)
        both[i] = 1.0f - both[i];
    unmap();
}

/* Mapped, queried, and deleted while mapped. */
static void deleted(void)
{
    GLuint passing = new_buffer(GL_ARRAY_BUFFER, 64, NULL);
    void *mapping = mapped(passing, 0, 64, GL_MAP_WRITE_BIT), *asked = NULL;
    GLint is_mapped = 0;
    glGetBufferPointerv(GL_ARRAY_BUFFER, GL_BUFFER_MAP_POINTER, &asked);
    glGetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_MAPPED, &is_mapped);
    must(asked == mapping && is_mapped, "the mapping that was made");
    memset(mapping, 1, 64);
    glDeleteBuffers(1, &passing);
}

/* Does the same with OES_mapbuffer. */
static void oes(int frame)
{
    FUNCTION(PFNGLMAPBUFFEROESPROC, glMapBufferOES);
    FUNCTION(PFNGLUNMAPBUFFEROESPROC, glUnmapBufferOES);
    glBindBuffer(GL_ARRAY_BUFFER, places);
    GLfloat *mapping = glMapBufferOES(GL_ARRAY_BUFFER, GL_WRITE_ONLY_OES);
    must(mapping != NULL, "glMapBufferOES");
    for (int i = 24; i < 30; i++)
        mapping[i] = (float)((i + frame) % 4) / 1.5f - 1.0f;
    must(glUnmapBufferOES(GL_ARRAY_BUFFER), "glUnmapBufferOES");
}

static void draw(int frame)
{
    clear(0.1f, 0.1f, 0.1f);
    whole(frame);
    cell(0, 2, 3), glDrawArrays(GL_TRIANGLES, 0, 18);
    range(frame);
    cell(1, 2, 3), glDrawArrays(GL_TRIANGLES, 0, 18);
    unsynchronized(frame);
    cell(2, 2, 3), glDrawArrays(GL_TRIANGLES, 0, 18);
    flushed(frame);
    cell(3, 2, 3), glDrawArrays(GL_TRIANGLES, 0, 18);
    read();
    deleted();
    cell(4, 2, 3), glDrawArrays(GL_TRIANGLES, 0, 18);
    oes(frame);
    cell(5, 2, 3), glDrawArrays(GL_TRIANGLES, 0, 18);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
