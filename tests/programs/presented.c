/*
 * A library to preload into a program with an X window: the first GAPII_PRESENTED_FRAMES pictures that
 * Mesa's software driver puts on the window are also written to the file GAPII_PRESENTED.
 *
 * Each picture is its width and height as two 32-bit numbers, little endian, then its rows of BGRX
 * from the top; it is as large as the driver's buffer, which may be larger than the window.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xcb/xcb.h>

typedef xcb_void_cookie_t put_image(xcb_connection_t *, uint8_t, xcb_drawable_t, xcb_gcontext_t,
                                    uint16_t, uint16_t, int16_t, int16_t, uint8_t, uint8_t, uint32_t,
                                    const uint8_t *);

static FILE *output(void)
{
    static FILE *file;
    const char *path = getenv("GAPII_PRESENTED");
    if (file == NULL && path != NULL)
        file = fopen(path, "wb");
    if (file == NULL) {
        fprintf(stderr, "can't write GAPII_PRESENTED\n");
        abort();
    }
    return file;
}

static void keep(uint16_t width, uint16_t height, uint32_t length, const uint8_t *pixels)
{
    static long kept;
    const char *frames = getenv("GAPII_PRESENTED_FRAMES");
    const uint32_t size[] = {width, height};
    if (frames == NULL || kept >= atol(frames))
        return;
    kept++;
    if (fwrite(size, sizeof size, 1, output()) != 1 || fwrite(pixels, length, 1, output()) != 1 ||
        fflush(output()) != 0)
        abort();
}

xcb_void_cookie_t xcb_put_image(xcb_connection_t *connection, uint8_t format,
                                xcb_drawable_t drawable, xcb_gcontext_t gc, uint16_t width,
                                uint16_t height, int16_t x, int16_t y, uint8_t left_pad,
                                uint8_t depth, uint32_t length, const uint8_t *pixels)
{
    static put_image *next;
    if (next == NULL)
        next = (put_image *)dlsym(RTLD_NEXT, "xcb_put_image");
    /* Any other image, such as an icon, is no frame. */
    if (x == 0 && y == 0 && length == 4u * width * height)
        keep(width, height, length, pixels);
    return next(connection, format, drawable, gc, width, height, x, y, left_pad, depth, length,
                pixels);
}
