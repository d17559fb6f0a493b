/* Invalid enums, counts and sizes with unreadable pointers: the driver reports an error and reads nothing. */
#include "app.h"
#include "edge.h"

static GLuint program;
static void *bad, *bad_lengths;

static void said(const char *what)
{
    printf("%s: 0x%04x\n", what, glGetError());
}

/* An unreadable page, and behind it 1 MiB of lengths of 16 MiB each. */
static void *lengths_behind_a_page(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 1 << 20;
    char *pages = mmap(NULL, page + length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(pages != MAP_FAILED, "mmap");
    uint32_t *lengths = (uint32_t *)(pages + page);
    for (size_t at = 0; at < length / sizeof *lengths; at++)
        lengths[at] = (16 << 20) - 1;
    must(mprotect(pages, page, PROT_NONE) == 0, "mprotect");
    return pages;
}

static void start(void)
{
    bad = nowhere();
    bad_lengths = lengths_behind_a_page();
    program = colour_program();
    glUseProgram(program);
}

static void enums(void)
{
    glTexParameterfv(0x1234, GL_TEXTURE_MIN_FILTER, bad), said("a target");
    glBindBuffer(0x1234, 1), said("a buffer target");
    glBufferData(0x1234, 16, bad, GL_STATIC_DRAW), said("data for no target");
    glBufferData(GL_UNIFORM_BUFFER, 16, bad, GL_STATIC_DRAW), said("data for no buffer");
    glBufferSubData(GL_ARRAY_BUFFER, 0, 16, bad), said("part of no buffer");
    glDrawElements(0x1234, 6, GL_UNSIGNED_SHORT, bad), said("a mode");
    glDrawElements(GL_TRIANGLES, 6, GL_FLOAT, bad), said("a type of indices");
    glVertexAttribPointer(0, 4, 0x1234, GL_FALSE, 0, bad), said("a type");
    glTexImage2D(0x1234, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, bad), said("an image's target");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, 0x1234, GL_UNSIGNED_BYTE, bad), said("a format");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, GL_RGBA, 0x1234, bad), said("a type of texels");
    glTexSubImage2D(GL_TEXTURE_2D, 77, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, bad), said("a level");
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, 0x1234, 4, 4, 0, 16, bad), said("a compressed format");
    glReadPixels(0, 0, 4, 4, 0x1234, GL_UNSIGNED_BYTE, bad), said("a format to read");
    glGetIntegerv(0x1234, bad), said("a state");
    glGetFloatv(0x1234, bad), said("a state of floats");
    glGetBufferParameteriv(GL_ARRAY_BUFFER, 0x1234, bad), said("a parameter");
    glGetProgramiv(program, 0x1234, bad), said("a program's parameter");
    glClearBufferfv(0x1234, 0, bad), said("a buffer to clear");
    glInvalidateFramebuffer(0x1234, 3, bad), said("a framebuffer target");
    glGetString(0x1234), said("a string");
    glObjectLabel(0x1234, 1, 5, bad), said("a kind of object");
    glDebugMessageInsert(0x1234, GL_DEBUG_TYPE_ERROR, 1, GL_DEBUG_SEVERITY_LOW, 5, bad), said("a source");
    glEnable(0x1234), said("a capability");
}

static void counts(void)
{
    glGenTextures(-1, bad), said("-1 textures");
    glDeleteTextures(-5, bad), said("-5 textures");
    glDeleteBuffers(-0x7fffffff, bad), said("few buffers");
    glBufferData(GL_ARRAY_BUFFER, -1, bad, GL_STATIC_DRAW), said("-1 bytes");
    glUniform4fv(0, -1, bad), said("-1 uniforms");
    glUniform4fv(12345, 0x7fffffff, bad), said("a location");
    glDrawArrays(GL_TRIANGLES, 0, -1), said("-1 vertices");
    glDrawArrays(GL_TRIANGLES, -1, 3), said("vertices from -1");
    glDrawElements(GL_TRIANGLES, -3, GL_UNSIGNED_SHORT, bad), said("-3 indices");
    glDrawElementsInstanced(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, bad, -1), said("-1 instances");
    glDrawRangeElements(GL_TRIANGLES, 9, 3, 3, GL_UNSIGNED_SHORT, bad), said("a range from 9 to 3");
    glShaderSource(0, 0x7fffffff, bad, bad), said("many sources of no shader");
    glShaderSource(program, 3, bad, bad), said("sources of a program");
    glShaderSource(0, 0x7fffffff, bad_lengths, bad_lengths), said("lengths behind an unreadable page");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, -4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, bad), said("a width");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 1 << 20, 1 << 20, 0, GL_RGBA, GL_UNSIGNED_BYTE, bad);
    said("a width of 2^20");
    glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA, 1 << 20, 1 << 20, 1 << 20, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, bad);
    said("a volume of 2^60");
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGB8_ETC2, 4, 4, 0, -8, bad), said("-8 bytes");
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGB8_ETC2, 4, 4, 0, 0x7fffffff, bad);
    said("2 GiB for a block");
    glReadPixels(0, 0, -1, 4, GL_RGBA, GL_UNSIGNED_BYTE, bad), said("-1 pixels");
    glVertexAttribPointer(0, 5, GL_FLOAT, GL_FALSE, 0, bad), said("five components");
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, -4, bad), said("a stride of -4");
    glVertexAttribPointer(10000, 4, GL_FLOAT, GL_FALSE, 0, bad), said("attribute 10000");
    glDrawBuffers(0x7fffffff, bad), said("many draw buffers");
    glPixelStorei(GL_UNPACK_ROW_LENGTH, -5), said("a row length of -5");
    glPixelStorei(GL_UNPACK_ALIGNMENT, 3), said("an alignment of 3");
    glGetProgramBinary(program, -1, NULL, bad, bad), said("a binary of -1 bytes");
    glObjectLabel(GL_PROGRAM, program, 0x7fffffff, bad), said("a label of 2 GiB");
}

/* The framebuffer is incomplete: nothing is drawn and nothing is read, whatever the counts. */
static void incomplete(void)
{
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, bad);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 0x7fffffff), said("arrays into nothing");
    glDrawElements(GL_TRIANGLES, 0x7fffffff, GL_UNSIGNED_INT, bad), said("elements into nothing");
    glReadPixels(0, 0, 4096, 4096, GL_RGBA, GL_UNSIGNED_BYTE, bad), said("pixels of nothing");
    glDisableVertexAttribArray(0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
}

/* Vertex array objects other than the default have no client arrays. */
static void no_client_arrays(void)
{
    GLuint array = 0;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, bad), said("a client array in an object");
    glBindVertexArray(0);
    glDeleteVertexArrays(1, &array);
    /* A buffer that is mapped can't be drawn from or written to. */
    GLuint buffer = new_buffer(GL_ARRAY_BUFFER, 64, NULL);
    must(glMapBufferRange(GL_ARRAY_BUFFER, 0, 64, GL_MAP_WRITE_BIT) != NULL, "glMapBufferRange");
    glBufferSubData(GL_ARRAY_BUFFER, 0, 16, bad), said("part of a mapped buffer");
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    said("texels of a mapped buffer");
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glDeleteBuffers(1, &buffer);
}

/* Memory that the driver read a moment ago, unmapped before a command that the driver refuses. */
static void taken_away(void)
{
    const GLfloat one[] = {GL_NEAREST, 0, 0, 0};
    GLfloat *values = at_edge(one, sizeof one);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, values), said("a filter");
    glUniform4fv(-1, 1, values), said("no uniform");
    must(munmap(values + 4 - 1024, 4096) == 0, "munmap");
    glTexParameterfv(0x1234, GL_TEXTURE_MIN_FILTER, values), said("a filter that is gone");
    glUniform4fv(-1, 1, values), said("no uniform that is gone");
}

static void draw(int frame)
{
    clear(0.2f, 0.1f * (float)frame, 0.2f);
    cell(0, 2, 2), quad();
    enums();
    counts();
    /* The shim looks at the counts for a while. */
    if (frame < 2)
        incomplete();
    no_client_arrays();
    taken_away();
    glViewport(0, 0, WIDTH, HEIGHT);
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
