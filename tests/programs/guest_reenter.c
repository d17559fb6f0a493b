/*
 * A driver that calls itself through the exported symbol: FAKE_DRIVER_REENTER makes glFlush do so.
 *
 * usage: guest_reenter COUNT
 */
#include "offscreen.h"

#include <GLES2/gl2.h>

int main(int argc, char **argv)
{
    must(argc == 2, "usage: guest_reenter COUNT");
    struct offscreen o = offscreen_open(2);
    for (int n = 0; n < atoi(argv[1]); n++) {
        glUniform1i(0, n);
        glFlush();
    }
    offscreen_close(&o);
    printf("done\n");
    return 0;
}
