/*
 * Swaps while all state is set that affects a read-back: pack parameters, a pixel pack buffer,
 * another read framebuffer, no read buffer at all, debug output, and a pending GL error. Checks that
 * the state is unchanged afterwards. Uses surfaces of several kinds.
 */
#include "../apps/app.h"

struct kind {
    const char *name;
    int version, red, alpha, samples;
};

static const struct kind kinds[] = {
    {"RGBA", 32, 8, 8, 0},
    {"RGBA of ES 2", 20, 8, 8, 0},
    {"RGB", 30, 8, 0, 0},
    {"565", 30, 5, 0, 0},
    {"multisampled", 31, 8, 8, 4},
};

static const GLenum asked[] = {
    GL_PACK_ALIGNMENT,   GL_PACK_ROW_LENGTH,           GL_PACK_SKIP_ROWS,
    GL_PACK_SKIP_PIXELS, GL_PIXEL_PACK_BUFFER_BINDING, GL_READ_FRAMEBUFFER_BINDING,
    GL_READ_BUFFER,      GL_DRAW_FRAMEBUFFER_BINDING,
};

static int messages;

static void GL_APIENTRY count(GLenum source, GLenum type, GLuint id, GLenum severity,
                              GLsizei length, const GLchar *message, const void *user)
{
    (void)source, (void)type, (void)id, (void)severity, (void)length, (void)message, (void)user;
    messages++;
}

static EGLConfig config_of(const struct kind *kind)
{
    static const EGLint names[] = {EGL_RED_SIZE, EGL_ALPHA_SIZE, EGL_SAMPLES};
    const EGLint expected[] = {kind->red, kind->alpha, kind->samples};
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                             EGL_OPENGL_ES3_BIT, EGL_SAMPLES, kind->samples, EGL_NONE};
    EGLConfig configs[256];
    EGLint count = 0;
    must(eglChooseConfig(app.display, wanted, configs, LENGTH(configs), &count), "eglChooseConfig");
    for (int i = 0; i < count; i++) {
        int fits = 1;
        for (int j = 0; j < LENGTH(names); j++) {
            EGLint value = -1;
            eglGetConfigAttrib(app.display, configs[i], names[j], &value);
            fits &= value == expected[j];
        }
        if (fits)
            return configs[i];
    }
    must(0, kind->name);
    return NULL;
}

static void say(const char *when)
{
    printf("%s:", when);
    for (int i = 0; i < LENGTH(asked); i++) {
        GLint value = -1;
        glGetIntegerv(asked[i], &value);
        printf(" %d", value);
    }
    printf(" %d\n", glIsEnabled(GL_DEBUG_OUTPUT_KHR));
}

static void draw(int number)
{
    clear(0.1f * number, 0.5f, 0.75f);
    glEnable(GL_SCISSOR_TEST);
    glScissor(10 + number, 20, 30, 17);
    clear(1.0f, 0.25f, 0.1f * number);
    glDisable(GL_SCISSOR_TEST);
}

static void swap_bent(GLuint framebuffer, GLuint buffer)
{
    unsigned char before[64], *mapped;
    fill(before, sizeof before, 7);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_PACK_BUFFER, sizeof before, before, GL_STREAM_READ);
    glPixelStorei(GL_PACK_ALIGNMENT, 8);
    glPixelStorei(GL_PACK_ROW_LENGTH, WIDTH + 3);
    glPixelStorei(GL_PACK_SKIP_ROWS, 2);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 1);
    glReadBuffer(GL_NONE);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    messages = 0;
    glEnable(GL_DEBUG_OUTPUT_KHR);
    say("before");
    no_error("what bends a read-back");
    glPixelStorei(0xDEAD, 1);
    int heard = messages;
    must(eglSwapBuffers(app.display, app.surface), "eglSwapBuffers");
    printf("%d messages more\n", messages - heard);
    say("after");
    expect_error(GL_INVALID_ENUM, "the error from before the swap");
    no_error("the swap");

    mapped = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, sizeof before, GL_MAP_READ_BIT);
    must(mapped != NULL && memcmp(mapped, before, sizeof before) == 0, "what the buffer has");
    glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    say("default framebuffer");
    glReadBuffer(GL_BACK);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glPixelStorei(GL_PACK_SKIP_ROWS, 0);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 0);
    glDisable(GL_DEBUG_OUTPUT_KHR);
    no_error("the end of the frame");
}

static void picture(int number)
{
    static unsigned char pixels[HEIGHT][WIDTH][4];
    draw(number);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    no_error("the frame");
    printf("frame %d %08x\n", number, sum_of(pixels, sizeof pixels));
    app.frame = number;
    app_write(pixels[0][0]);
}

int main(void)
{
    int number = 0;
    for (int i = 0; i < LENGTH(kinds); i++) {
        GLuint framebuffer = 0, buffer = 0;
        app_prepare(kinds[i].version);
        must(eglDestroyContext(app.display, app.context), "eglDestroyContext");
        must(eglDestroySurface(app.display, app.surface), "eglDestroySurface");
        app.config = config_of(&kinds[i]);
        app.surface = app_surface_of(WIDTH, HEIGHT);
        app.context = app_context_of(kinds[i].version, EGL_NO_CONTEXT);
        app_current(app.surface, app.context);
        printf("%s\n", kinds[i].name);
        FUNCTION(PFNGLDEBUGMESSAGECALLBACKKHRPROC, glDebugMessageCallbackKHR);
        glDebugMessageCallbackKHR(count, NULL);
        glDisable(GL_DEBUG_OUTPUT_KHR);
        glGenFramebuffers(1, &framebuffer);
        glGenBuffers(1, &buffer);
        for (int frame = 0; frame < 2; frame++) {
            picture(number++);
            swap_bent(framebuffer, buffer);
        }
        app_close();
    }
    return 0;
}
