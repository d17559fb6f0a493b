/* Errors that are asked for one frame after the command that fails, and one of a context that is not current meanwhile. */
#include "offscreen.h"

#include <GLES3/gl32.h>

static void fail(GLenum error)
{
    GLuint framebuffer;
    switch (error) {
    case GL_INVALID_ENUM:
        glCullFace(GL_NONE);
        break;
    case GL_INVALID_VALUE:
        glLineWidth(0);
        break;
    case GL_INVALID_OPERATION:
        glUniform1i(0, 0);
        break;
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        glGenFramebuffers(1, &framebuffer);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glClear(GL_COLOR_BUFFER_BIT);
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        break;
    case GL_STACK_UNDERFLOW:
        glPopDebugGroup();
        break;
    }
}

int main(void)
{
    static const GLenum errors[] = {
        GL_NO_ERROR,          GL_INVALID_ENUM, GL_INVALID_VALUE,
        GL_INVALID_OPERATION, GL_INVALID_FRAMEBUFFER_OPERATION, GL_STACK_UNDERFLOW,
    };
    struct offscreen o = offscreen_open(3);
    EGLContext other = offscreen_context(&o, 3, EGL_NO_CONTEXT);
    must(eglMakeCurrent(o.display, o.surface, o.surface, other), "eglMakeCurrent(other)");
    fail(GL_INVALID_VALUE);
    must(eglMakeCurrent(o.display, o.surface, o.surface, o.context), "eglMakeCurrent");
    for (int i = 0; i < (int)(sizeof errors / sizeof errors[0]); i++) {
        glClear(GL_COLOR_BUFFER_BIT);
        fail(errors[i]);
        offscreen_swap(&o);
        must(glGetError() == errors[i], "the error");
        must(glGetError() == GL_NO_ERROR, "no error");
    }
    must(eglMakeCurrent(o.display, o.surface, o.surface, other), "eglMakeCurrent(other)");
    must(glGetError() == GL_INVALID_VALUE, "the other context's error");
    offscreen_swap(&o);
    offscreen_close(&o);
    return 0;
}
