/*
 * Desktop GL through GLX and GLES through EGL in one process, taking turns on one thread.
 *
 * libGL exports the same gl* names as libGLESv2, and is linked first: natively both halves call
 * libGL's glClear, which goes to whichever context is current.
 */
#include "scene.h"

#include <GL/glx.h>
#include <X11/Xlib.h>

struct glx {
    Display *display;
    GLXPbuffer surface;
    GLXContext context;
};

static struct glx glx_prepare(void)
{
    struct glx g = {.display = XOpenDisplay(NULL)};
    must(g.display != NULL, "XOpenDisplay");
    const int wanted[] = {GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT, GLX_RENDER_TYPE, GLX_RGBA_BIT,
                          GLX_RED_SIZE, 8, None};
    int count = 0;
    GLXFBConfig *configs = glXChooseFBConfig(g.display, DefaultScreen(g.display), wanted, &count);
    must(configs != NULL && count > 0, "glXChooseFBConfig");
    const int size[] = {GLX_PBUFFER_WIDTH, SIDE, GLX_PBUFFER_HEIGHT, SIDE, None};
    g.surface = glXCreatePbuffer(g.display, configs[0], size);
    g.context = glXCreateNewContext(g.display, configs[0], GLX_RGBA_TYPE, NULL, True);
    must(g.context != NULL, "glXCreateNewContext");
    XFree(configs);
    return g;
}

static void glx_frame(const struct glx *g)
{
    must(glXMakeContextCurrent(g->display, g->surface, g->surface, g->context),
         "glXMakeContextCurrent");
    glClearColor(0.75f, 0.75f, 0.75f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    printf("glx %08x\n", scene_checksum());
    must(glXMakeContextCurrent(g->display, None, None, NULL), "glXMakeContextCurrent(none)");
}

int main(void)
{
    struct glx g = glx_prepare();
    glx_frame(&g);
    scene();
    glx_frame(&g);
    glXDestroyContext(g.display, g.context);
    glXDestroyPbuffer(g.display, g.surface);
    XCloseDisplay(g.display);
    return 0;
}
