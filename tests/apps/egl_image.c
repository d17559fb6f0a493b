/* An EGLImage of a texture, bound to another texture and to a renderbuffer: all share one memory. */
#include "app.h"

static GLuint program, original;
static EGLImageKHR image;

static void start(void)
{
    FUNCTION(PFNEGLCREATEIMAGEKHRPROC, eglCreateImageKHR);
    const EGLint level[] = {EGL_GL_TEXTURE_LEVEL_KHR, 0, EGL_NONE};
    GLubyte texels[16 * 16 * 4];
    need_extension("GL_OES_EGL_image");
    fill(texels, sizeof texels, 4);
    program = image_program();
    glUseProgram(program);
    original = new_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    image = eglCreateImageKHR(app.display, app.context, EGL_GL_TEXTURE_2D_KHR,
                              (EGLClientBuffer)(uintptr_t)original, level);
    must(image != EGL_NO_IMAGE_KHR, "eglCreateImageKHR");
}

static GLuint sibling(void)
{
    FUNCTION(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, glEGLImageTargetTexture2DOES);
    GLuint texture = new_texture(GL_TEXTURE_2D);
    glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, (GLeglImageOES)image);
    return texture;
}

/* Content drawn into the renderbuffer appears in the textures. */
static void drawn_into(int frame)
{
    FUNCTION(PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC, glEGLImageTargetRenderbufferStorageOES);
    GLuint renderbuffer = 0, framebuffer = 0;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glEGLImageTargetRenderbufferStorageOES(GL_RENDERBUFFER, (GLeglImageOES)image);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the framebuffer");
    glEnable(GL_SCISSOR_TEST);
    glScissor(4 * frame, 2, 3, 9);
    clear(1, 0.3f * (float)frame, 0);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
    glFinish();
}

static void draw(int frame)
{
    const GLubyte texels[4 * 4] = {0, 0, 255, 255, 0, 255, 255, 255, 255, 255, 0, 255, 9, 9, 9, 255};
    clear(0, 0.3f, 0.3f);
    GLuint texture = sibling();
    cell(0, 2, 2), quad();
    glTexSubImage2D(GL_TEXTURE_2D, 0, 6, 5 + frame, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glBindTexture(GL_TEXTURE_2D, original);
    cell(1, 2, 2), quad();
    drawn_into(frame);
    glBindTexture(GL_TEXTURE_2D, texture);
    cell(2, 2, 2), quad();
    glDeleteTextures(1, &texture);
}

/* The image outlives the texture that it was made from, and its own handle. */
static void orphaned(void)
{
    FUNCTION(PFNEGLDESTROYIMAGEKHRPROC, eglDestroyImageKHR);
    GLuint texture = sibling();
    glDeleteTextures(1, &original);
    must(eglDestroyImageKHR(app.display, image), "eglDestroyImageKHR");
    glBindTexture(GL_TEXTURE_2D, texture);
    clear(0.3f, 0, 0);
    cell(3, 2, 2), quad();
}

int main(void)
{
    app_open(20);
    start();
    for (int frame = 0; frame < 3; frame++) {
        draw(frame);
        app_end_frame();
    }
    orphaned();
    app_end_frame();
    app_close();
    return 0;
}
