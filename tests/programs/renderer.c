/*
 * Prints GL_RENDERER and GL_VERSION of the driver, one per line.
 */
#include <GLES2/gl2.h>

#include "offscreen.h"

static void print(GLenum name, const char *what)
{
    const char *text = (const char *)glGetString(name);
    must(text != NULL, what);
    puts(text);
}

int main(void)
{
    struct offscreen o = offscreen_open(2);
    print(GL_RENDERER, "glGetString(GL_RENDERER)");
    print(GL_VERSION, "glGetString(GL_VERSION)");
    offscreen_close(&o);
    return 0;
}
