/*
 * A context that draws into a pbuffer, for programs without a window system.
 *
 * The including file links EGL, or defines each name as something else (see load.h).
 * A failure ends the program with a sentence and status 1: a test must not go on half set up.
 */
#ifndef OFFSCREEN_H
#define OFFSCREEN_H

#include <EGL/egl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 64

struct offscreen {
    EGLDisplay display;
    EGLConfig config;
    EGLSurface surface;
    EGLContext context;
};

static void must(int done, const char *what)
{
    if (!done) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static EGLint renderable_bit(int es_version)
{
    return es_version == 1   ? EGL_OPENGL_ES_BIT
           : es_version == 2 ? EGL_OPENGL_ES2_BIT
                             : EGL_OPENGL_ES3_BIT;
}

static EGLSurface offscreen_surface(const struct offscreen *o)
{
    const EGLint size[] = {EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_NONE};
    EGLSurface surface = eglCreatePbufferSurface(o->display, o->config, size);
    must(surface != EGL_NO_SURFACE, "eglCreatePbufferSurface");
    return surface;
}

static inline EGLContext offscreen_context(const struct offscreen *o, int es_version, EGLContext share)
{
    const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, es_version, EGL_NONE};
    EGLContext context = eglCreateContext(o->display, o->config, share, version);
    must(context != EGL_NO_CONTEXT, "eglCreateContext");
    return context;
}

/* Everything before eglMakeCurrent. */
static inline struct offscreen offscreen_prepare(int es_version)
{
    struct offscreen o;
    o.display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    must(o.display != EGL_NO_DISPLAY, "eglGetDisplay");
    must(eglInitialize(o.display, NULL, NULL), "eglInitialize");
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8,
                             EGL_BLUE_SIZE, 8, EGL_RENDERABLE_TYPE, renderable_bit(es_version),
                             EGL_NONE};
    EGLint count = 0;
    must(eglChooseConfig(o.display, wanted, &o.config, 1, &count) && count == 1, "eglChooseConfig");
    o.surface = offscreen_surface(&o);
    o.context = offscreen_context(&o, es_version, EGL_NO_CONTEXT);
    return o;
}

static inline struct offscreen offscreen_open(int es_version)
{
    struct offscreen o = offscreen_prepare(es_version);
    must(eglMakeCurrent(o.display, o.surface, o.surface, o.context), "eglMakeCurrent");
    return o;
}

static inline void offscreen_swap(const struct offscreen *o)
{
    must(eglSwapBuffers(o->display, o->surface), "eglSwapBuffers");
}

static inline void offscreen_close(const struct offscreen *o)
{
    must(eglMakeCurrent(o->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT),
         "eglMakeCurrent(none)");
    must(eglDestroyContext(o->display, o->context), "eglDestroyContext");
    must(eglDestroySurface(o->display, o->surface), "eglDestroySurface");
    must(eglTerminate(o->display), "eglTerminate");
}

#endif
