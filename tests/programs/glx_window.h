/*
 * A context of OpenGL ES that draws into a window of X, through GLX: in place of offscreen.h for scene.h.
 *
 * The including file defines find_glx, which returns the address of a function of GLX, or NULL.
 */
#ifndef WINDOW_OF_GLX_H
#define WINDOW_OF_GLX_H

#include <GL/glx.h>
#include <GL/glxext.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 64

struct offscreen {
    Display *display;
    Window window;
    GLXContext context;
};

static void *find_glx(const char *name);

#define GLX(name) ((__typeof__(&name))find_glx(#name))

static void must(int done, const char *what)
{
    if (!done) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static Window glx_window(Display *display, const XVisualInfo *visual)
{
    Window root = RootWindow(display, visual->screen);
    XSetWindowAttributes set = {.colormap =
                                    XCreateColormap(display, root, visual->visual, AllocNone)};
    Window window = XCreateWindow(display, root, 0, 0, SIDE, SIDE, 0, visual->depth, InputOutput,
                                  visual->visual, CWColormap, &set);
    XMapWindow(display, window);
    XSync(display, False);
    return window;
}

static struct offscreen offscreen_open(int es_version)
{
    struct offscreen o = {.display = XOpenDisplay(NULL)};
    must(o.display != NULL, "XOpenDisplay");
    const int wanted[] = {GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT, GLX_DOUBLEBUFFER, True, GLX_RED_SIZE, 8,
                          GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8, None};
    int count = 0;
    GLXFBConfig *configs =
        GLX(glXChooseFBConfig)(o.display, DefaultScreen(o.display), wanted, &count);
    must(configs != NULL && count > 0, "glXChooseFBConfig");
    XVisualInfo *visual = GLX(glXGetVisualFromFBConfig)(o.display, configs[0]);
    must(visual != NULL, "glXGetVisualFromFBConfig");
    o.window = glx_window(o.display, visual);
    const int version[] = {GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_ES2_PROFILE_BIT_EXT,
                           GLX_CONTEXT_MAJOR_VERSION_ARB, es_version, None};
    PFNGLXCREATECONTEXTATTRIBSARBPROC create =
        (PFNGLXCREATECONTEXTATTRIBSARBPROC)GLX(glXGetProcAddressARB)(
            (const GLubyte *)"glXCreateContextAttribsARB");
    must(create != NULL, "glXGetProcAddressARB");
    o.context = create(o.display, configs[0], NULL, True, version);
    must(o.context != NULL, "glXCreateContextAttribsARB");
    XFree(visual);
    XFree(configs);
    must(GLX(glXMakeCurrent)(o.display, o.window, o.context), "glXMakeCurrent");
    return o;
}

static void offscreen_swap(const struct offscreen *o)
{
    GLX(glXSwapBuffers)(o->display, o->window);
}

static void offscreen_close(const struct offscreen *o)
{
    must(GLX(glXMakeCurrent)(o->display, None, NULL), "glXMakeCurrent(none)");
    GLX(glXDestroyContext)(o->display, o->context);
    XDestroyWindow(o->display, o->window);
    XCloseDisplay(o->display);
}

#endif
