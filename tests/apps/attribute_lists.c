/* EGL's attribute lists: absent, empty, long; queries of configurations, surfaces and contexts. */
#include "app.h"

static void configs(void)
{
    const EGLint nothing[] = {EGL_NONE};
    const EGLint some[] = {EGL_RED_SIZE, 8, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE, 77, 78};
    EGLConfig list[64];
    EGLint all = 0, first = 0, few = 0, asked = 0;
    must(eglGetConfigs(app.display, NULL, 0, &all), "eglGetConfigs");
    must(eglGetConfigs(app.display, list, 3, &first) && first == 3, "eglGetConfigs");
    must(eglChooseConfig(app.display, NULL, list, 64, &few), "eglChooseConfig");
    must(eglChooseConfig(app.display, nothing, NULL, 0, &asked) && asked == few, "eglChooseConfig");
    must(eglChooseConfig(app.display, some, list, 2, &asked) && asked == 2, "eglChooseConfig");
    printf("%d configurations, %d at once\n", all, few);
    const EGLint names[] = {EGL_BUFFER_SIZE, EGL_DEPTH_SIZE, EGL_STENCIL_SIZE, EGL_SAMPLES,
                            EGL_RENDERABLE_TYPE, EGL_SURFACE_TYPE, EGL_MAX_PBUFFER_WIDTH};
    for (int i = 0; i < LENGTH(names); i++) {
        EGLint value = -1;
        must(eglGetConfigAttrib(app.display, app.config, names[i], &value), "eglGetConfigAttrib");
        printf("0x%x: %d\n", names[i], value);
    }
}

static void surfaces(void)
{
    const EGLint wanted[] = {EGL_WIDTH, 33, EGL_LARGEST_PBUFFER, EGL_TRUE, EGL_HEIGHT, 9, EGL_NONE, 5};
    EGLint value = 0;
    EGLSurface surface = eglCreatePbufferSurface(app.display, app.config, wanted);
    must(surface != EGL_NO_SURFACE, "eglCreatePbufferSurface");
    must(eglQuerySurface(app.display, surface, EGL_WIDTH, &value) && value == 33, "EGL_WIDTH");
    must(eglQuerySurface(app.display, surface, EGL_HEIGHT, &value) && value == 9, "EGL_HEIGHT");
    must(eglSurfaceAttrib(app.display, surface, EGL_MIPMAP_LEVEL, 0), "eglSurfaceAttrib");
    must(eglDestroySurface(app.display, surface), "eglDestroySurface");
    surface = eglCreatePbufferSurface(app.display, app.config, NULL);
    printf("a surface of no size: %d, error 0x%x\n", surface != EGL_NO_SURFACE, eglGetError());
    if (surface != EGL_NO_SURFACE)
        must(eglDestroySurface(app.display, surface), "eglDestroySurface");
}

static void contexts(void)
{
    const EGLint robust[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE,
                             EGL_CONTEXT_MINOR_VERSION, 1, EGL_NONE, 1, 2, 3};
    const EGLint wrong[] = {EGL_CONTEXT_MAJOR_VERSION, 9, EGL_NONE};
    const EGLint unknown[] = {0x1234, 1, EGL_NONE};
    EGLint value = 0;
    EGLContext context = eglCreateContext(app.display, app.config, EGL_NO_CONTEXT, robust);
    must(context != EGL_NO_CONTEXT, "eglCreateContext");
    must(eglQueryContext(app.display, context, EGL_CONTEXT_CLIENT_VERSION, &value), "eglQueryContext");
    printf("version %d\n", value);
    must(eglDestroyContext(app.display, context), "eglDestroyContext");
    context = eglCreateContext(app.display, app.config, EGL_NO_CONTEXT, NULL);
    must(context != EGL_NO_CONTEXT, "eglCreateContext");
    must(eglDestroyContext(app.display, context), "eglDestroyContext");
    context = eglCreateContext(app.display, app.config, EGL_NO_CONTEXT, wrong);
    printf("version 9: %d, 0x%x\n", context != EGL_NO_CONTEXT, eglGetError());
    context = eglCreateContext(app.display, app.config, EGL_NO_CONTEXT, unknown);
    printf("unknown: %d, 0x%x\n", context != EGL_NO_CONTEXT, eglGetError());
}

/* An EGL 1.5 display, with pointer-sized attributes; strings that EGL returns. */
static void displays(void)
{
    const EGLAttrib none[] = {EGL_NONE};
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, NULL, none);
    printf("a display: %d, 0x%x\n", display != EGL_NO_DISPLAY, eglGetError());
    printf("client %s, apis %s\n", eglQueryString(EGL_NO_DISPLAY, EGL_VERSION) ? "yes" : "no",
           eglQueryString(app.display, EGL_CLIENT_APIS));
    printf("api 0x%x, current %d\n", eglQueryAPI(), eglGetCurrentDisplay() == app.display);
}

static void start(void)
{
    configs();
    surfaces();
    contexts();
    displays();
}

static void draw(int frame)
{
    glDisable(GL_SCISSOR_TEST);
    clear(0, 0.3f, 0);
    glEnable(GL_SCISSOR_TEST);
    glScissor(8 * frame, 8, 20, 20);
    clear(0.6f, 0, 0);
}

int main(void)
{
    return app_run(20, 4, start, draw);
}
