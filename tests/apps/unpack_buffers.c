/* Pixel unpack buffers: the pointer of an upload is an offset. */
#include "app.h"

static GLuint program, texture, buffer;

static void start(void)
{
    unsigned char bytes[4096];
    fill(bytes, sizeof bytes, 17);
    program = image_program();
    glUseProgram(program);
    texture = new_texture(GL_TEXTURE_2D);
    buffer = new_buffer(GL_PIXEL_UNPACK_BUFFER, sizeof bytes, bytes);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

/* The same numbers as pointers, once with a buffer and once without. */
static void both(int frame)
{
    unsigned char own[8 * 8 * 4];
    fill(own, sizeof own, 30 + (uint32_t)frame);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, own);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 8, 0, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, (void *)(64L * frame));
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 11);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 2);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 8, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, (void *)128);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, own);
}

/* A frame drawn so far goes through a buffer into another texture. */
static void from_screen(void)
{
    GLuint copy = new_texture(GL_TEXTURE_2D), passing = 0;
    glGenBuffers(1, &passing);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, passing);
    glBufferData(GL_PIXEL_PACK_BUFFER, 32 * 32 * 4, NULL, GL_STREAM_COPY);
    glReadPixels(8, 8, 32, 32, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, passing);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    cell(1, 2, 2), quad();
    glDeleteTextures(1, &copy);
    glDeleteBuffers(1, &passing);
    glBindTexture(GL_TEXTURE_2D, texture);
}

static void draw(int frame)
{
    clear(0.3f, 0, 0);
    both(frame);
    cell(0, 2, 2), quad();
    from_screen();
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
