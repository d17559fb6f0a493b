/*
 * Frames of moving pictures, and then a command that passes unmapped memory to the driver.
 *
 * usage: crash_in_driver FRAMES
 */
#include "../apps/app.h"

static GLuint program, texture;
static int last;

static void start(void)
{
    program = image_program();
    glUseProgram(program);
    texture = new_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
}

static void draw(int frame)
{
    static GLubyte row[64 * 4];
    fill(row, sizeof row, frame);
    clear(0, 0, 1);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, frame % 64, 64, 1, GL_RGBA, GL_UNSIGNED_BYTE, row);
    quad();
    if (frame == last)
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, (void *)4096);
}

int main(int argc, char **argv)
{
    must(argc == 2, "usage: crash_in_driver FRAMES");
    last = atoi(argv[1]);
    return app_run(20, last + 1, start, draw);
}
