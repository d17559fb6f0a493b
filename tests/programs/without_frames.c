/*
 * Ends no frame, for one of several reasons.
 *
 * usage: without_frames load LIBRARY...   loads libraries, prints "waits", and waits for a signal
 *        without_frames exit STATUS       exits before its first command
 *        without_frames abort             aborts before its first command
 *        without_frames finish            draws to a window and calls glFinish
 *        without_frames draw              draws to a window and calls glDrawArrays
 *        without_frames no_context        commands without a context, then waits for a signal
 *        without_frames not_current       makes its context not current, then waits for a signal
 *        without_frames window            draws to a window and exits, without a swap
 *        without_frames window_waits      draws to a window and waits for a signal, without a swap
 *        without_frames window_aborts     draws to a window and aborts, without a swap
 *        without_frames swaps             swaps a surface that does not exist, then waits for a signal
 *        without_frames no_surface        has a context current and no surface, then waits for a signal
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <dlfcn.h>
#include <unistd.h>

/* dlmopen is not replaced by the shim, so the library itself is loaded. */
static void load(char **libraries)
{
    for (; *libraries; libraries++)
        must(dlmopen(LM_ID_BASE, *libraries, RTLD_NOW) != NULL, *libraries);
}

static void commands_without_context(void)
{
    eglInitialize(eglGetDisplay(EGL_DEFAULT_DISPLAY), NULL, NULL);
    glClear(GL_COLOR_BUFFER_BIT);
}

static void without_surface(void)
{
    struct offscreen o = {.display = eglGetDisplay(EGL_DEFAULT_DISPLAY)};
    must(eglInitialize(o.display, NULL, NULL), "eglInitialize");
    EGLint count = 0;
    must(eglChooseConfig(o.display, NULL, &o.config, 1, &count) && count == 1, "eglChooseConfig");
    o.context = offscreen_context(&o, 2, EGL_NO_CONTEXT);
    must(eglMakeCurrent(o.display, EGL_NO_SURFACE, EGL_NO_SURFACE, o.context), "eglMakeCurrent");
    glClear(GL_COLOR_BUFFER_BIT);
}

/* The fake driver takes any number for a window. */
static void window(void)
{
    struct offscreen o = offscreen_open(2);
    EGLSurface surface = eglCreateWindowSurface(o.display, o.config, (EGLNativeWindowType)1, NULL);
    must(eglMakeCurrent(o.display, surface, surface, o.context), "eglMakeCurrent");
    glClear(GL_COLOR_BUFFER_BIT);
}

int main(int argc, char **argv)
{
    must(argc > 1, "usage: without_frames WAY");
    const char *way = argv[1];
    if (!strcmp(way, "exit"))
        return atoi(argv[2]);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "load"))
        load(argv + 2);
    else if (!strcmp(way, "finish")) {
        window();
        glFinish();
    } else if (!strcmp(way, "draw")) {
        window();
        glDrawArrays(GL_TRIANGLES, 0, 3);
    } else if (!strcmp(way, "no_context"))
        commands_without_context();
    else if (!strcmp(way, "not_current"))
        offscreen_prepare(2);
    else if (!strcmp(way, "no_surface"))
        without_surface();
    else if (!strcmp(way, "swaps"))
        eglSwapBuffers(offscreen_open(2).display, EGL_NO_SURFACE);
    else
        window();
    if (!strcmp(way, "window_aborts"))
        abort();
    if (!strcmp(way, "window"))
        return 0;
    printf("waits\n");
    fflush(stdout);
    pause();
    return 0;
}
