/*
 * Draws five frames, prints a line, waits until its input ends, draws five more and ends.
 */
#include "scene.h"

#include <unistd.h>

int main(void)
{
    char byte;
    struct offscreen o = offscreen_open(2);
    scene_draw(&o);
    printf("idle\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    scene_draw(&o);
    offscreen_close(&o);
    return 0;
}
