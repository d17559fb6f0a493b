/*
 * Renders as a compositor does that never swaps: a context without a surface, and two textures that take turns as the target
 * of each frame. A frame is one colour, which `colour` computes from its number, inside a debug group "frame" with another group
 * "pass" in it. Each frame ends with a fence and a flush.
 *
 * usage: compositor FRAMES             0: until SIGTERM, with 2 ms between frames
 *        compositor FRAMES swap        also swaps a pbuffer after every second frame
 */
#include "offscreen.h"

#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t ends;

static void on_term(int signal)
{
    (void)signal;
    ends = 1;
}

static GLubyte colour(unsigned frame)
{
    return (GLubyte)(frame * 20 % 256);
}

int main(int argc, char **argv)
{
    must(argc == 2 || argc == 3, "usage: compositor FRAMES [swap]");
    unsigned frames = (unsigned)atoi(argv[1]);
    int swaps = argc == 3;
    signal(SIGTERM, on_term);
    struct offscreen o = offscreen_prepare(2);
    must(eglMakeCurrent(o.display, swaps ? o.surface : EGL_NO_SURFACE, swaps ? o.surface : EGL_NO_SURFACE, o.context),
         "eglMakeCurrent");
    PFNEGLCREATESYNCKHRPROC create_sync = (PFNEGLCREATESYNCKHRPROC)eglGetProcAddress("eglCreateSyncKHR");
    PFNEGLDESTROYSYNCKHRPROC destroy_sync = (PFNEGLDESTROYSYNCKHRPROC)eglGetProcAddress("eglDestroySyncKHR");
    PFNGLPUSHDEBUGGROUPKHRPROC push = (PFNGLPUSHDEBUGGROUPKHRPROC)eglGetProcAddress("glPushDebugGroupKHR");
    PFNGLPOPDEBUGGROUPKHRPROC pop = (PFNGLPOPDEBUGGROUPKHRPROC)eglGetProcAddress("glPopDebugGroupKHR");
    must(create_sync && destroy_sync && push && pop, "eglGetProcAddress");
    GLuint framebuffers[2], textures[2];
    glGenFramebuffers(2, framebuffers);
    glGenTextures(2, textures);
    for (int n = 0; n < 2; n++) {
        glBindTexture(GL_TEXTURE_2D, textures[n]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[n]);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[n], 0);
        must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "glCheckFramebufferStatus");
    }
    for (unsigned frame = 0; !ends && (frames == 0 || frame < frames); frame++) {
        push(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, -1, "frame");
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[frame % 2]);
        push(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, 4, "pass of a frame");
        glClearColor((GLfloat)colour(frame) / 255.0f, 0.5f, 1.0f, 1.0f);
        glClear(GL_COLOR_BUFFER_BIT);
        pop();
        EGLSyncKHR sync = create_sync(o.display, EGL_SYNC_FENCE_KHR, NULL);
        must(sync != EGL_NO_SYNC_KHR, "eglCreateSyncKHR");
        glFlush();
        pop();
        destroy_sync(o.display, sync);
        if (swaps && frame % 2)
            offscreen_swap(&o);
        if (frames == 0)
            usleep(2000);
    }
    GLubyte pixel[4];
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    must(glGetError() == GL_NO_ERROR, "a command");
    printf("last %d\n", pixel[0]);
    return 0;
}
