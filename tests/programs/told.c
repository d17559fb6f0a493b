/*
 * Draws a frame every few milliseconds until its input ends. Each letter that it reads is an order for one
 * frame: e causes a GL error and queries it, f flushes, s sleeps for a second, l for three.
 *
 * usage: told
 */
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <poll.h>
#include <unistd.h>

static int told(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    char letter;
    if (poll(&input, 1, 3) == 0)
        return ' ';
    return read(STDIN_FILENO, &letter, 1) == 1 ? letter : EOF;
}

int main(void)
{
    struct offscreen o = offscreen_open(2);
    int letter;
    for (int frame = 0; (letter = told()) != EOF; frame++) {
        glClearColor((float)(frame % 16) / 15, 0, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        must(glGetError() == GL_NO_ERROR, "glGetError");
        if (letter == 'e') {
            glEnable(GL_NONE);
            must(glGetError() == GL_INVALID_ENUM, "glGetError after an error");
        } else if (letter == 'f') {
            glFlush();
        } else if (letter == 's') {
            sleep(1);
        } else if (letter == 'l') {
            sleep(3);
        }
        offscreen_swap(&o);
    }
    offscreen_close(&o);
    return 0;
}
