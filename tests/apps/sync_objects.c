/* Fences of ES 3 and of EGL: client waits, server waits, queries, deletion, long waits. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = colour_program();
    glUseProgram(program);
}

static void triangle(int frame)
{
    const GLfloat places[] = {-1, -1, 1, -1, 0.4f * (float)frame, 1};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glVertexAttrib4f(1, 1, 0.2f * (float)frame, 0, 1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void gl_fence(void)
{
    GLint values[2] = {0, 0};
    GLsizei length = 0;
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    must(fence != NULL && glIsSync(fence), "glFenceSync");
    glWaitSync(fence, 0, GL_TIMEOUT_IGNORED);
    GLenum waited = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, 10000000000ull);
    must(waited == GL_ALREADY_SIGNALED || waited == GL_CONDITION_SATISFIED, "glClientWaitSync");
    glGetSynciv(fence, GL_SYNC_STATUS, 2, &length, values);
    printf("status 0x%x of %d\n", values[0], length);
    glGetSynciv(fence, GL_OBJECT_TYPE, 1, NULL, values);
    printf("type 0x%x\n", values[0]);
    glDeleteSync(fence);
    must(!glIsSync(fence), "a deleted fence");
    glDeleteSync(NULL);
}

static void egl_fence(void)
{
    FUNCTION(PFNEGLCREATESYNCKHRPROC, eglCreateSyncKHR);
    FUNCTION(PFNEGLCLIENTWAITSYNCKHRPROC, eglClientWaitSyncKHR);
    FUNCTION(PFNEGLGETSYNCATTRIBKHRPROC, eglGetSyncAttribKHR);
    FUNCTION(PFNEGLDESTROYSYNCKHRPROC, eglDestroySyncKHR);
    EGLint value = 0;
    EGLSyncKHR sync = eglCreateSyncKHR(app.display, EGL_SYNC_FENCE_KHR, NULL);
    must(sync != EGL_NO_SYNC_KHR, "eglCreateSyncKHR");
    EGLint waited = eglClientWaitSyncKHR(app.display, sync, EGL_SYNC_FLUSH_COMMANDS_BIT_KHR,
                                         EGL_FOREVER_KHR);
    must(waited == EGL_CONDITION_SATISFIED_KHR, "eglClientWaitSyncKHR");
    must(eglGetSyncAttribKHR(app.display, sync, EGL_SYNC_STATUS_KHR, &value), "eglGetSyncAttribKHR");
    printf("EGL status 0x%x\n", value);
    must(eglDestroySyncKHR(app.display, sync), "eglDestroySyncKHR");
}

/* The functions of EGL 1.5, with pointer-sized attributes. */
static void egl_15_fence(void)
{
    const EGLAttrib none[] = {EGL_NONE};
    EGLAttrib value = 0;
    EGLSync sync = eglCreateSync(app.display, EGL_SYNC_FENCE, none);
    must(sync != EGL_NO_SYNC, "eglCreateSync");
    must(eglWaitSync(app.display, sync, 0), "eglWaitSync");
    must(eglClientWaitSync(app.display, sync, 0, 10000000000ull) == EGL_CONDITION_SATISFIED,
         "eglClientWaitSync");
    must(eglGetSyncAttrib(app.display, sync, EGL_SYNC_TYPE, &value), "eglGetSyncAttrib");
    printf("EGL 1.5 type 0x%lx\n", (unsigned long)value);
    must(eglDestroySync(app.display, sync), "eglDestroySync");
}

static void draw(int frame)
{
    clear(0, 0, 0.3f);
    triangle(frame);
    gl_fence();
    egl_fence();
    egl_15_fence();
    must(eglWaitClient() && eglWaitGL() && eglWaitNative(EGL_CORE_NATIVE_ENGINE), "eglWait");
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
