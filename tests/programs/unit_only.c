/* A texture and a renderbuffer whose names were deleted while nothing but another context's binding points hold them. That
 * context gives the texture new pixels in each frame, and the renderbuffer new storage. */
#include "../apps/app.h"

#define SIDE 8

static GLuint target, program, renderbuffer;
static EGLContext other;
static EGLSurface surface;

static void start(void)
{
    GLubyte bytes[SIDE * SIDE * 4];
    GLuint texture, framebuffer = 0;
    program = image_program();
    other = app_context_of(30, app.context);
    surface = app_surface_of(WIDTH, HEIGHT);
    fill(bytes, sizeof bytes, 1);
    target = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
    texture = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glGenRenderbuffers(1, &renderbuffer);
    glFinish();
    app_current(surface, other);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    glBindTexture(GL_TEXTURE_2D, texture);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glUseProgram(program);
    app_current(app.surface, app.context);
    glDeleteTextures(1, &texture);
    glDeleteRenderbuffers(1, &renderbuffer);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 2, 2);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glUseProgram(program);
}

static void draw(int frame)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    GLubyte bytes[SIDE * SIDE * 4];
    GLint width = 0;
    fill(bytes, sizeof bytes, 10 + (uint32_t)frame);
    glFinish();
    app_current(surface, other);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE + frame, SIDE);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &width);
    printf("%d\n", width);
    glViewport(0, 0, SIDE, SIDE);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    no_error("the other context");
    glFinish();
    app_current(app.surface, app.context);
    glGetRenderbufferParameteriv(GL_RENDERBUFFER, GL_RENDERBUFFER_WIDTH, &width);
    printf("%d\n", width);
    clear(0, 0, 0.2f);
    glBindTexture(GL_TEXTURE_2D, target);
    cell(frame, 3, 2), quad();
}

int main(void)
{
    return app_run(30, 6, start, draw);
}
