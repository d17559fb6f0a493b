/*
 * Desktop GL and GLES in one process, through EGL, taking turns on one thread.
 *
 * The desktop half uses the same names (glClear, glReadPixels) as the GLES half, by way of the
 * same symbols: they are desktop calls because a desktop context is current. Its clear colour
 * appears nowhere else, so that a test can tell whose calls were recorded.
 */
#include "scene.h"

#ifndef EGL_OPENGL_BIT
#define EGL_OPENGL_BIT 0x0008
#endif

static struct offscreen desktop_prepare(EGLDisplay display)
{
    struct offscreen o = {.display = display};
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8,
                             EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLint count = 0;
    must(eglBindAPI(EGL_OPENGL_API), "eglBindAPI(EGL_OPENGL_API)");
    must(eglChooseConfig(display, wanted, &o.config, 1, &count) && count == 1, "eglChooseConfig");
    o.surface = offscreen_surface(&o);
    o.context = eglCreateContext(display, o.config, EGL_NO_CONTEXT, NULL);
    must(o.context != EGL_NO_CONTEXT, "eglCreateContext(desktop)");
    return o;
}

static void desktop_frame(const struct offscreen *o)
{
    must(eglMakeCurrent(o->display, o->surface, o->surface, o->context), "eglMakeCurrent(desktop)");
    glClearColor(0.75f, 0.75f, 0.75f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    printf("desktop %08x\n", scene_checksum());
    offscreen_swap(o);
}

int main(void)
{
    struct offscreen es = offscreen_prepare(2);
    struct offscreen desktop = desktop_prepare(es.display);
    desktop_frame(&desktop);
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI(EGL_OPENGL_ES_API)");
    must(eglMakeCurrent(es.display, es.surface, es.surface, es.context), "eglMakeCurrent(es)");
    scene_draw(&es);
    desktop_frame(&desktop);
    must(eglDestroyContext(desktop.display, desktop.context), "eglDestroyContext(desktop)");
    must(eglDestroySurface(desktop.display, desktop.surface), "eglDestroySurface(desktop)");
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI(EGL_OPENGL_ES_API)");
    offscreen_close(&es);
    return 0;
}
