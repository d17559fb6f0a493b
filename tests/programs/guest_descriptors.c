/*
 * A program that closes descriptors that it did not open, and opens its own in their place, in the
 * middle of drawing. No other library's output may land in its files.
 *
 * usage: guest_descriptors DIRECTORY
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 1024

static void calls(const struct offscreen *o, int from)
{
    for (int n = from; n < from + 1000; n++)
        glUniform1i(0, n);
    offscreen_swap(o);
}

int main(int argc, char **argv)
{
    char path[4096];
    int opened = 0, spoilt = 0;
    must(argc == 2, "usage: guest_descriptors DIRECTORY");
    struct offscreen o = offscreen_open(2);
    calls(&o, 0);
    for (int descriptor = 3; descriptor < FILES; descriptor++)
        close(descriptor);
    calls(&o, 1000);
    for (int i = 0; i < FILES - 3; i++) {
        snprintf(path, sizeof path, "%s/%d", argv[1], i);
        opened += open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) >= 0;
    }
    for (int k = 2; k < 200; k++)
        calls(&o, 1000 * k);
    for (int i = 0; i < opened; i++) {
        struct stat status;
        snprintf(path, sizeof path, "%s/%d", argv[1], i);
        spoilt += stat(path, &status) != 0 || status.st_size != 0;
    }
    offscreen_close(&o);
    printf("%d opened, %d spoilt\n", opened, spoilt);
    return 0;
}
