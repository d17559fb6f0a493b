/* EGL images whose handle, or source, is gone before they are drawn with; one made from a
 * renderbuffer. */
#include "app.h"

static GLuint program, originals[3], siblings[3], renderbuffer, framebuffer, seen;
static EGLImageKHR images[3], drawn;

static EGLImageKHR image_of(EGLenum kind, GLuint name)
{
    FUNCTION(PFNEGLCREATEIMAGEKHRPROC, eglCreateImageKHR);
    EGLImageKHR image = eglCreateImageKHR(app.display, app.context, kind,
                                          (EGLClientBuffer)(uintptr_t)name, NULL);
    must(image != EGL_NO_IMAGE_KHR, "eglCreateImageKHR");
    return image;
}

static GLuint texture_of(EGLImageKHR image)
{
    FUNCTION(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, glEGLImageTargetTexture2DOES);
    GLuint texture = new_texture(GL_TEXTURE_2D);
    glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, (GLeglImageOES)image);
    return texture;
}

static void start(void)
{
    FUNCTION(PFNEGLDESTROYIMAGEKHRPROC, eglDestroyImageKHR);
    GLubyte texels[8 * 8 * 4];
    program = image_program();
    glUseProgram(program);
    for (int i = 0; i < 3; i++) {
        originals[i] = new_texture(GL_TEXTURE_2D);
        fill(texels, sizeof texels, 20 + (uint32_t)i);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        images[i] = image_of(EGL_GL_TEXTURE_2D_KHR, originals[i]);
        siblings[i] = texture_of(images[i]);
    }
    must(eglDestroyImageKHR(app.display, images[0]), "eglDestroyImageKHR");
    glDeleteTextures(1, &originals[1]);
    /* The source of the third image has another image now. */
    glBindTexture(GL_TEXTURE_2D, originals[2]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8_OES, 16, 16);
    drawn = image_of(EGL_GL_RENDERBUFFER_KHR, renderbuffer);
    seen = texture_of(drawn);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    clear(0.2f, 0.9f, 0.4f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void draw(int frame)
{
    const GLubyte texel[4] = {255, (GLubyte)(60 * frame), 0, 255};
    clear(0, 0.1f, 0.3f);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glEnable(GL_SCISSOR_TEST);
    glScissor(3 * frame, 1, 2, 9);
    clear(1, 0.3f * (float)frame, 0);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    for (int i = 0; i < 3; i++) {
        glBindTexture(GL_TEXTURE_2D, siblings[i]);
        glTexSubImage2D(GL_TEXTURE_2D, 0, frame, i, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
        cell(i, 3, 2), quad();
    }
    for (int i = 0; i < 3; i += 2) {
        glBindTexture(GL_TEXTURE_2D, originals[i]);
        cell(3 + i / 2, 3, 2), quad();
    }
    glBindTexture(GL_TEXTURE_2D, seen);
    cell(5, 3, 2), quad();
    glFinish();
    if (frame == 4) {
        FUNCTION(PFNEGLDESTROYIMAGEKHRPROC, eglDestroyImageKHR);
        for (int i = 1; i < 3; i++)
            must(eglDestroyImageKHR(app.display, images[i]), "eglDestroyImageKHR");
        must(eglDestroyImageKHR(app.display, drawn), "eglDestroyImageKHR");
    }
}

int main(void)
{
    return app_run(20, 5, start, draw);
}
