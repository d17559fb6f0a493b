/* EGL: configurations, surfaces, contexts, images and syncs, in good order and in bad. */
#include "cases.h"

#include <pthread.h>

static void say_egl(const char *what, long answer)
{
    printf("%s: %ld, 0x%04x\n", what, answer, eglGetError());
}

/* A context of every version, and of versions that do not exist. */
static void version(long number)
{
    const EGLint wanted[] = {EGL_CONTEXT_MAJOR_VERSION, (EGLint)number / 10, EGL_CONTEXT_MINOR_VERSION,
                             (EGLint)number % 10, EGL_NONE};
    app_prepare(20);
    EGLContext context = eglCreateContext(app.display, app.config, EGL_NO_CONTEXT, wanted);
    say_egl("created", context != EGL_NO_CONTEXT);
    if (context == EGL_NO_CONTEXT)
        return;
    say_egl("current", eglMakeCurrent(app.display, app.surface, app.surface, context));
    printf("%.12s\n", (const char *)glGetString(GL_VERSION));
    clear(0.25f, 0.5f, 0.75f);
    say_picture("cleared");
}

/* One attribute of a context, with a value. */
struct attribute {
    EGLint name, value;
};

static const struct attribute CONTEXT_ATTRIBUTES[] = {
    {EGL_CONTEXT_OPENGL_DEBUG, EGL_TRUE},
    {EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE},
    {EGL_CONTEXT_OPENGL_FORWARD_COMPATIBLE, EGL_TRUE},
    {EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT},
    {EGL_CONTEXT_FLAGS_KHR, EGL_CONTEXT_OPENGL_DEBUG_BIT_KHR},
    {EGL_CONTEXT_FLAGS_KHR, 0x1000},
    {EGL_CONTEXT_PRIORITY_LEVEL_IMG, EGL_CONTEXT_PRIORITY_HIGH_IMG},
    {EGL_CONTEXT_OPENGL_NO_ERROR_KHR, EGL_TRUE},
    {EGL_CONTEXT_RELEASE_BEHAVIOR_KHR, EGL_CONTEXT_RELEASE_BEHAVIOR_NONE_KHR},
    {EGL_WIDTH, 5},
    {0x1234, 5},
};

static void context_attribute(long number)
{
    const struct attribute *attribute = &CONTEXT_ATTRIBUTES[number];
    const EGLint wanted[] = {EGL_CONTEXT_CLIENT_VERSION, 2, attribute->name, attribute->value, EGL_NONE};
    app_prepare(20);
    EGLContext context = eglCreateContext(app.display, app.config, EGL_NO_CONTEXT, wanted);
    say_egl("created", context != EGL_NO_CONTEXT);
    if (context == EGL_NO_CONTEXT)
        return;
    say_egl("current", eglMakeCurrent(app.display, app.surface, app.surface, context));
    glDrawArrays(0x1234, 0, 3);
    say_errors("draw");
    say_egl("destroyed", eglDestroyContext(app.display, context));
}

static const EGLint SURFACE_ATTRIBUTES[][2] = {
    {EGL_LARGEST_PBUFFER, EGL_TRUE},
    {EGL_TEXTURE_FORMAT, EGL_TEXTURE_RGBA},
    {EGL_TEXTURE_TARGET, EGL_TEXTURE_2D},
    {EGL_MIPMAP_TEXTURE, EGL_TRUE},
    {EGL_GL_COLORSPACE_KHR, EGL_GL_COLORSPACE_SRGB_KHR},
    {EGL_VG_COLORSPACE, EGL_VG_COLORSPACE_LINEAR},
    {EGL_WIDTH, -1},
    {EGL_HEIGHT, 1000000},
    {EGL_RENDER_BUFFER, EGL_SINGLE_BUFFER},
    {0x1234, 1},
};

static void surface_attribute(long number)
{
    const EGLint wanted[] = {EGL_WIDTH, 16, EGL_HEIGHT, 16, SURFACE_ATTRIBUTES[number][0],
                             SURFACE_ATTRIBUTES[number][1], EGL_NONE};
    const EGLint asked[] = {EGL_WIDTH, EGL_HEIGHT, EGL_LARGEST_PBUFFER, EGL_TEXTURE_FORMAT,
                            EGL_RENDER_BUFFER, EGL_SWAP_BEHAVIOR, EGL_CONFIG_ID, 0x1234};
    app_prepare(20);
    EGLSurface surface = eglCreatePbufferSurface(app.display, app.config, wanted);
    say_egl("created", surface != EGL_NO_SURFACE);
    for (int i = 0; surface != EGL_NO_SURFACE && i < LENGTH(asked); i++) {
        EGLint value = -7;
        say_egl("asked", eglQuerySurface(app.display, surface, asked[i], &value));
        printf("0x%x is %d\n", asked[i], value);
    }
}

static void config_attribute(long name)
{
    EGLint count = 0, total = 0;
    EGLConfig configs[128];
    app_prepare(20);
    must(eglGetConfigs(app.display, configs, LENGTH(configs), &total), "eglGetConfigs");
    for (int i = 0; i < total; i += 3) {
        EGLint value = -7;
        EGLBoolean done = eglGetConfigAttrib(app.display, configs[i], (EGLint)name, &value);
        printf("%d %d\n", done, value);
    }
    const EGLint wanted[] = {(EGLint)name, 1, EGL_NONE};
    say_egl("chosen", eglChooseConfig(app.display, wanted, configs, LENGTH(configs), &count));
    printf("%d of %d\n", count, total);
}

/* eglMakeCurrent with arguments that cannot be made current. */
static void current(long way)
{
    app_prepare(20);
    EGLContext context = app.context, other = app_context_of(11, EGL_NO_CONTEXT);
    EGLSurface surface = app.surface, second = app_surface_of(8, 8);
    EGLDisplay display = app.display;
    switch (way) {
    case 0: say_egl("a surface alone", eglMakeCurrent(display, surface, surface, EGL_NO_CONTEXT)); break;
    case 1: say_egl("a context alone", eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)); break;
    case 2: say_egl("one surface", eglMakeCurrent(display, surface, EGL_NO_SURFACE, context)); break;
    case 3: say_egl("two surfaces", eglMakeCurrent(display, surface, second, context)); break;
    case 4: say_egl("no display", eglMakeCurrent(EGL_NO_DISPLAY, surface, surface, context)); break;
    case 5: say_egl("no such context", eglMakeCurrent(display, surface, surface, (EGLContext)0x1230)); break;
    case 6: say_egl("no such surface", eglMakeCurrent(display, (EGLSurface)0x1230, surface, context)); break;
    case 7: say_egl("ES 1", eglMakeCurrent(display, surface, surface, other)); break;
    case 8: say_egl("nothing", eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT)); break;
    }
    printf("context %d, draw %d %d, read %d %d\n", eglGetCurrentContext() == context,
           eglGetCurrentSurface(EGL_DRAW) == surface, eglGetCurrentSurface(EGL_DRAW) == second,
           eglGetCurrentSurface(EGL_READ) == surface, eglGetCurrentSurface(EGL_READ) == second);
    if (eglGetCurrentContext() == context) {
        clear(0.1f, 0.2f, 0.3f);
        printf("framebuffer 0x%x\n", glCheckFramebufferStatus(GL_FRAMEBUFFER));
        say_errors("cleared");
    }
    say_egl("swapped", eglSwapBuffers(display, surface));
}

/* A context that is current on another thread, and a bound API per thread. */
static void *elsewhere(void *unused)
{
    (void)unused;
    printf("api 0x%x\n", eglQueryAPI());
    say_egl("taken", eglMakeCurrent(app.display, app.surface, app.surface, app.context));
    EGLSurface surface = app_surface_of(8, 8);
    say_egl("its surface", eglMakeCurrent(app.display, app.surface, app.surface,
                                          app_context_of(20, app.context)));
    say_egl("its own", eglMakeCurrent(app.display, surface, surface, app_context_of(20, app.context)));
    glClearColor(1, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    GLubyte pixel[4] = {0};
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    printf("pixel %02x%02x%02x%02x\n", pixel[0], pixel[1], pixel[2], pixel[3]);
    say_egl("released", eglReleaseThread());
    printf("api 0x%x, current %d\n", eglQueryAPI(), eglGetCurrentContext() != EGL_NO_CONTEXT);
    return NULL;
}

static void threads(long count)
{
    app_open(20);
    for (long i = 0; i < count; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, elsewhere, NULL) == 0, "pthread_create");
        must(pthread_join(thread, NULL) == 0, "pthread_join");
    }
    clear(0, 1, 0);
    say_picture("here");
}

static void api(long name)
{
    app_prepare(20);
    say_egl("bound", eglBindAPI((EGLenum)name));
    printf("api 0x%x\n", eglQueryAPI());
    EGLContext context = eglCreateContext(app.display, app.config, EGL_NO_CONTEXT, NULL);
    say_egl("created", context != EGL_NO_CONTEXT);
}

static void string(long name)
{
    app_prepare(20);
    const char *text = eglQueryString(app.display, (EGLint)name);
    printf("%s\n", text != NULL ? text : "nothing");
    say_egl("asked", text != NULL);
    say_egl("without a display", eglQueryString(EGL_NO_DISPLAY, (EGLint)name) != NULL);
}

/* Images of objects that exist, and of objects that do not. */
static void image(long kind)
{
    app_open(30);
    GLuint texture = new_texture(kind == 2 ? GL_TEXTURE_CUBE_MAP : GL_TEXTURE_2D), renderbuffer = 0;
    const EGLAttrib level[] = {EGL_GL_TEXTURE_LEVEL, kind == 4 ? 5 : 0, EGL_NONE};
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    for (GLenum i = 0; kind == 2 && i < 6; i++)
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + i, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 8, 8);
    say_errors("made");
    EGLenum target = kind == 1   ? EGL_GL_RENDERBUFFER
                     : kind == 2 ? EGL_GL_TEXTURE_CUBE_MAP_POSITIVE_Y
                     : kind == 5 ? 0x1234
                                 : EGL_GL_TEXTURE_2D;
    EGLClientBuffer client = (EGLClientBuffer)(uintptr_t)(kind == 1 ? renderbuffer : kind == 3 ? 777 : texture);
    EGLImage made = eglCreateImage(app.display, app.context, target, client, kind == 1 ? NULL : level);
    say_egl("image", made != EGL_NO_IMAGE);
    if (made == EGL_NO_IMAGE)
        return;
    FUNCTION(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, glEGLImageTargetTexture2DOES);
    new_texture(GL_TEXTURE_2D);
    glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, (GLeglImageOES)made);
    say_errors("bound");
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    printf("framebuffer 0x%x\n", glCheckFramebufferStatus(GL_FRAMEBUFFER));
    say_egl("destroyed", eglDestroyImage(app.display, made));
    say_egl("destroyed again", eglDestroyImage(app.display, made));
}

static void sync(long kind)
{
    static const EGLenum kinds[] = {EGL_SYNC_FENCE, EGL_SYNC_REUSABLE_KHR, EGL_SYNC_CL_EVENT, 0x1234};
    app_open(20);
    EGLAttrib value = -1;
    EGLSync made = eglCreateSync(app.display, kinds[kind], NULL);
    say_egl("made", made != EGL_NO_SYNC);
    if (made == EGL_NO_SYNC)
        return;
    say_egl("type", eglGetSyncAttrib(app.display, made, EGL_SYNC_TYPE, &value));
    printf("0x%lx\n", (long)value);
    say_egl("an unknown attribute", eglGetSyncAttrib(app.display, made, 0x1234, &value));
    if (kind == 1) {
        FUNCTION(PFNEGLSIGNALSYNCKHRPROC, eglSignalSyncKHR);
        say_egl("waited", eglClientWaitSync(app.display, made, 0, 0));
        say_egl("signalled", eglSignalSyncKHR(app.display, made, EGL_SIGNALED_KHR));
    }
    say_egl("waited", eglClientWaitSync(app.display, made, EGL_SYNC_FLUSH_COMMANDS_BIT, EGL_FOREVER));
    say_egl("destroyed", eglDestroySync(app.display, made));
}

/* eglTerminate and eglInitialize again, with a context and surfaces that are current. */
static void terminated(long times)
{
    for (long i = 0; i < times; i++) {
        app_open(20);
        clear(0.1f * (float)i, 0.5f, 0.5f);
        say_picture("cleared");
        say_egl("terminated", eglTerminate(app.display));
        say_egl("current", eglGetCurrentContext() != EGL_NO_CONTEXT);
        if (i % 2)
            say_egl("released", eglReleaseThread());
        else
            say_egl("let go", eglMakeCurrent(app.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT));
    }
}

static void platform(long name)
{
    const EGLAttrib attributes[] = {EGL_NONE};
    EGLDisplay display = eglGetPlatformDisplay((EGLenum)name, EGL_DEFAULT_DISPLAY, attributes);
    say_egl("display", display != EGL_NO_DISPLAY);
    if (display == EGL_NO_DISPLAY)
        return;
    EGLint major = 0, minor = 0;
    say_egl("initialized", eglInitialize(display, &major, &minor));
    printf("%d.%d\n", major, minor);
    say_egl("the same", eglGetPlatformDisplay((EGLenum)name, EGL_DEFAULT_DISPLAY, NULL) == display);
}

/* Every name of the API and of some extensions, and whether it has an address. */
static void addresses(long unused)
{
    static const char *const names[] = {
        "eglInitialize", "eglCreateImageKHR", "eglGetPlatformDisplayEXT", "eglNothing", "glDrawArrays",
        "glGenQueriesEXT", "glBufferStorageEXT", "glDrawTexfOES", "glBegin", "glNothingAtAll",
        "glDebugMessageCallbackKHR", "glMultiDrawArraysEXT", "glDiscardFramebufferEXT", "notGL", ""};
    (void)unused;
    app_prepare(20);
    for (int i = 0; i < LENGTH(names); i++) {
        void *first = (void *)eglGetProcAddress(names[i]);
        printf("%s: %d, %d\n", names[i], first != NULL, first == (void *)eglGetProcAddress(names[i]));
    }
}

int main(int count, char **words)
{
    static const EGLint versions[] = {10, 11, 20, 21, 30, 31, 32, 33, 40, 0};
    static const EGLint names[] = {EGL_RED_SIZE, EGL_DEPTH_SIZE, EGL_CONFIG_CAVEAT, EGL_CONFORMANT, EGL_LEVEL,
                                   EGL_NATIVE_RENDERABLE, EGL_SAMPLES, EGL_TRANSPARENT_TYPE,
                                   EGL_COLOR_BUFFER_TYPE, EGL_MIN_SWAP_INTERVAL, EGL_MATCH_NATIVE_PIXMAP, 0x1234};
    static const EGLint apis[] = {EGL_OPENGL_ES_API, EGL_OPENGL_API, EGL_OPENVG_API, 0x1234};
    static const EGLint strings[] = {EGL_VENDOR, EGL_VERSION, EGL_EXTENSIONS, EGL_CLIENT_APIS, 0x1234};
    static const EGLint platforms[] = {EGL_PLATFORM_SURFACELESS_MESA, EGL_PLATFORM_DEVICE_EXT, 0x1234};
    for (int i = 0; i < LENGTH(versions); i++)
        add(0, version, versions[i], "version_%d", versions[i]);
    for (int i = 0; i < LENGTH(CONTEXT_ATTRIBUTES); i++)
        add(0, context_attribute, i, "context_%d", i);
    for (int i = 0; i < LENGTH(SURFACE_ATTRIBUTES); i++)
        add(0, surface_attribute, i, "surface_%d", i);
    for (int i = 0; i < LENGTH(names); i++)
        add(0, config_attribute, names[i], "config_%04x", names[i]);
    for (int i = 0; i < 9; i++)
        add(0, current, i, "current_%d", i);
    for (int i = 1; i < 4; i++)
        add(0, threads, i, "threads_%d", i);
    for (int i = 0; i < LENGTH(apis); i++)
        add(0, api, apis[i], "api_%04x", apis[i]);
    for (int i = 0; i < LENGTH(strings); i++)
        add(0, string, strings[i], "string_%04x", strings[i]);
    for (int i = 0; i < 6; i++)
        add(0, image, i, "image_%d", i);
    for (int i = 0; i < 4; i++)
        add(0, sync, i, "sync_%d", i);
    for (int i = 1; i < 5; i++)
        add(0, terminated, i, "terminated_%d", i);
    for (int i = 0; i < LENGTH(platforms); i++)
        add(0, platform, platforms[i], "platform_%04x", platforms[i]);
    add(0, addresses, 0, "addresses");
    return run_cases(count, words);
}
