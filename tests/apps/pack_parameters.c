/* Reading pixels back with every pack parameter, into memory and into pixel pack buffers. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = colour_program();
    glUseProgram(program);
}

static void picture(int frame)
{
    const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 0.5f * (float)frame};
    const GLfloat colours[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0};
    clear(0.2f, 0.4f, 0.6f);
    glViewport(0, 0, WIDTH, HEIGHT);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, colours);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void parameters(GLint alignment, GLint row_length, GLint skip_pixels, GLint skip_rows)
{
    glPixelStorei(GL_PACK_ALIGNMENT, alignment);
    glPixelStorei(GL_PACK_ROW_LENGTH, row_length);
    glPixelStorei(GL_PACK_SKIP_PIXELS, skip_pixels);
    glPixelStorei(GL_PACK_SKIP_ROWS, skip_rows);
}

/* The bytes between the rows stay unchanged, and are part of the checksum. */
static void read(GLint alignment, GLint row_length, GLint skip_pixels, GLint skip_rows)
{
    unsigned char pixels[40 * 40 * 4];
    memset(pixels, 0xa5, sizeof pixels);
    parameters(alignment, row_length, skip_pixels, skip_rows);
    glReadPixels(3, 5, 21, 13, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    parameters(4, 0, 0, 0);
    printf("read %d %d %d %d: %08x\n", alignment, row_length, skip_pixels, skip_rows,
           sum_of(pixels, sizeof pixels));
}

/* Outside the framebuffer nothing is written. */
static void beyond_the_edge(void)
{
    unsigned char pixels[16 * 16 * 4];
    memset(pixels, 0x5a, sizeof pixels);
    glReadPixels(-6, HEIGHT - 9, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    printf("edge: %08x\n", sum_of(pixels, sizeof pixels));
}

static void through_a_buffer(int frame)
{
    GLuint buffer = 0;
    unsigned char untouched[4096];
    memset(untouched, 0x33, sizeof untouched);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_PACK_BUFFER, sizeof untouched, untouched, GL_STREAM_READ);
    parameters(8, 19, 1, 2);
    glReadPixels(10, 10 + frame, 15, 11, GL_RGBA, GL_UNSIGNED_BYTE, (void *)12);
    parameters(4, 0, 0, 0);
    const void *mapping = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, sizeof untouched, GL_MAP_READ_BIT);
    must(mapping != NULL, "glMapBufferRange");
    printf("buffer: %08x\n", sum_of(mapping, sizeof untouched));
    must(glUnmapBuffer(GL_PIXEL_PACK_BUFFER), "glUnmapBuffer");
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glDeleteBuffers(1, &buffer);
}

/* The format that the implementation prefers. */
static void preferred(void)
{
    GLint format = 0, type = 0;
    unsigned char pixels[8 * 8 * 16];
    memset(pixels, 0, sizeof pixels);
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_FORMAT, &format);
    glGetIntegerv(GL_IMPLEMENTATION_COLOR_READ_TYPE, &type);
    glReadPixels(0, 0, 8, 8, (GLenum)format, (GLenum)type, pixels);
    printf("preferred 0x%x 0x%x: %08x\n", format, type, sum_of(pixels, sizeof pixels));
}

static void draw(int frame)
{
    picture(frame);
    read(4, 0, 0, 0);
    read(1, 30, 0, 0);
    read(8, 23, 2, 0);
    read(2, 0, 0, 7);
    read(8, 37, 5, 9);
    beyond_the_edge();
    through_a_buffer(frame);
    preferred();
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
