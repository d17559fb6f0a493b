/*
 * Clears a surface with a depth buffer of 32 bits and without a stencil buffer: depth 0.25 in a rectangle, 1 elsewhere.
 */
#include "../apps/app.h"

static EGLConfig config_without_stencil(EGLDisplay display)
{
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8, EGL_DEPTH_SIZE, 32,
                             EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE};
    EGLConfig configs[64];
    EGLint count = 0, depth = 0, stencil = 0;
    must(eglChooseConfig(display, wanted, configs, 64, &count), "eglChooseConfig");
    for (int i = 0; i < count; i++) {
        eglGetConfigAttrib(display, configs[i], EGL_DEPTH_SIZE, &depth);
        eglGetConfigAttrib(display, configs[i], EGL_STENCIL_SIZE, &stencil);
        if (depth == 32 && stencil == 0)
            return configs[i];
    }
    must(0, "a config with 32 bits of depth and no stencil");
    return NULL;
}

int main(void)
{
    app.version = 32;
    app.display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    must(eglInitialize(app.display, NULL, NULL), "eglInitialize");
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    app.config = config_without_stencil(app.display);
    app.surface = app_surface_of(WIDTH, HEIGHT);
    app.context = app_context_of(32, EGL_NO_CONTEXT);
    app_current(app.surface, app.context);

    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(8, 4, 16, 8);
    glClearDepthf(0.25f);
    glClear(GL_DEPTH_BUFFER_BIT);
    no_error("the default framebuffer");
    glFlush();
    app_close();
    return 0;
}
