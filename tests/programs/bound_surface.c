/* Pbuffers that are current on no thread when a capture begins: one goes on being drawn to, with the depth that it has, and
 * the color buffer of the other one is the image of a texture until a later frame. Software drivers of Mesa show no pixels
 * in such a texture, so what the pbuffers have is read back. */
#include "../apps/app.h"

#define SIDE 16

static GLuint texture, program;
static EGLSurface kept, bound;

static void say_pixels(const char *where)
{
    GLubyte pixels[SIDE * SIDE * 4];
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    printf("%s %08x\n", where, sum_of(pixels, sizeof pixels));
    no_error(where);
}

static void paint(EGLSurface surface, float red)
{
    app_current(surface, app.context);
    clear(red, 0.6f, 0.2f);
    glClearDepthf(0.75f);
    glClear(GL_DEPTH_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(2, 3, 5, 9);
    glClearDepthf(0.25f);
    glClear(GL_DEPTH_BUFFER_BIT);
    clear(0.1f, red, 1);
    glScissor(9, 1, 3, 2);
    clear(1, 1, red);
    glDisable(GL_SCISSOR_TEST);
    app_current(app.surface, app.context);
}

static void bind(void)
{
    glBindTexture(GL_TEXTURE_2D, texture);
    must(eglBindTexImage(app.display, bound, EGL_BACK_BUFFER), "eglBindTexImage");
}

static void start(void)
{
    const EGLint wanted[] = {EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_TEXTURE_FORMAT, EGL_TEXTURE_RGBA,
                             EGL_TEXTURE_TARGET, EGL_TEXTURE_2D, EGL_NONE};
    bound = eglCreatePbufferSurface(app.display, app.config, wanted);
    must(bound != EGL_NO_SURFACE, "eglCreatePbufferSurface");
    kept = app_surface_of(SIDE, SIDE);
    program = colour_program();
    texture = new_texture(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_B, GL_GREEN);
    paint(kept, 0.8f);
    paint(bound, 0.3f);
    bind();
}

/* Only where the depth that the pbuffer has had since the start lets it through. */
static void go_on(int frame)
{
    app_current(kept, app.context);
    glViewport(0, 0, SIDE, SIDE - frame);
    glEnable(GL_DEPTH_TEST);
    glUseProgram(program);
    glVertexAttrib4f(1, 0.2f * (float)frame, 1, 0, 1);
    quad();
    glDisable(GL_DEPTH_TEST);
    say_pixels("kept");
    app_current(app.surface, app.context);
}

static void draw(int frame)
{
    GLint bits = 0;
    clear(0, 0.1f * (float)frame, 0.3f);
    if (frame == 4) {
        must(eglReleaseTexImage(app.display, bound, EGL_BACK_BUFFER), "eglReleaseTexImage");
        app_current(bound, app.context);
        say_pixels("bound");
        app_current(app.surface, app.context);
        bind();
    }
    if (frame > 3)
        go_on(frame);
    glBindTexture(GL_TEXTURE_2D, texture);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_B, &bits);
    printf("0x%x\n", bits);
    glEnable(GL_SCISSOR_TEST);
    glScissor(frame, frame, 9, 9);
    clear(0.5f, 0, 0);
    glDisable(GL_SCISSOR_TEST);
}

int main(void)
{
    return app_run(31, 6, start, draw);
}
