/* Contents of buffers that a snapshot may not map, or not as a whole: immutable ones without GL_MAP_READ_BIT, and mapped
 * ones. No error reaches the program. */
#include "app.h"

#define BYTES 64

static GLuint program, fixed, mapped, plain, half;
static GLubyte *mapping, *half_mapping;
static PFNGLBUFFERSTORAGEEXTPROC buffer_storage;

static void start(void)
{
    GLubyte bytes[BYTES];
    need_extension("GL_EXT_buffer_storage");
    buffer_storage = (PFNGLBUFFERSTORAGEEXTPROC)app_function("glBufferStorageEXT");
    program = colour_program();
    glUseProgram(program);
    glGenBuffers(1, &fixed);
    glBindBuffer(GL_ARRAY_BUFFER, fixed);
    buffer_storage(GL_ARRAY_BUFFER, BYTES, NULL, GL_DYNAMIC_STORAGE_BIT_EXT);
    fill(bytes, BYTES, 1);
    glBufferSubData(GL_ARRAY_BUFFER, 0, BYTES, bytes);
    fill(bytes, BYTES, 2);
    plain = new_buffer(GL_ARRAY_BUFFER, BYTES, bytes);
    fill(bytes, BYTES, 3);
    glGenBuffers(1, &mapped);
    glBindBuffer(GL_ARRAY_BUFFER, mapped);
    buffer_storage(GL_ARRAY_BUFFER, BYTES, bytes,
                   GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT_EXT | GL_MAP_COHERENT_BIT_EXT);
    mapping = glMapBufferRange(GL_ARRAY_BUFFER, 16, 16,
                               GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT_EXT
                                   | GL_MAP_COHERENT_BIT_EXT);
    must(mapping != NULL, "glMapBufferRange");
    /* The driver copies nothing out of this one: only the mapped part is known. */
    fill(bytes, BYTES, 4);
    half = new_buffer(GL_ARRAY_BUFFER, BYTES, bytes);
    half_mapping = glMapBufferRange(GL_ARRAY_BUFFER, 16, 16, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    must(half_mapping != NULL, "glMapBufferRange");
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

static void colours(GLuint buffer, int first)
{
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(1, 3, GL_UNSIGNED_BYTE, GL_TRUE, 4, (void *)(intptr_t)first);
    glEnableVertexAttribArray(1);
}

static void draw(int frame)
{
    no_error("a frame's begin");
    clear(0, 0, 0.1f * (float)frame);
    colours(fixed, 4 * frame);
    cell(0, 2, 2), quad();
    colours(plain, 4 * frame);
    cell(1, 2, 2), quad();
    mapping[frame] = (GLubyte)(40 * frame);
    colours(mapped, 4 * frame);
    cell(2, 2, 2), quad();
    half_mapping[frame] = (GLubyte)(30 * frame);
    if (frame == 5) {
        glBindBuffer(GL_ARRAY_BUFFER, half);
        must(glUnmapBuffer(GL_ARRAY_BUFFER), "glUnmapBuffer");
        colours(half, 16);
        cell(3, 2, 2), quad();
    }
    glDisableVertexAttribArray(1);
}

int main(void)
{
    return app_run(31, 6, start, draw);
}
