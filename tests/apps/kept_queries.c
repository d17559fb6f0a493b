/* Queries that end long before their results are read, one that counts for several frames, and syncs that
 * are waited for late. */
#include "app.h"

static GLuint program, ended, running, never;
static GLsync fence;
static EGLSyncKHR egl_fence, reusable;
static PFNEGLCREATESYNCKHRPROC create;
static PFNEGLCLIENTWAITSYNCKHRPROC wait_for;

static void start(void)
{
    FUNCTION(PFNEGLSIGNALSYNCKHRPROC, eglSignalSyncKHR);
    create = (PFNEGLCREATESYNCKHRPROC)app_function("eglCreateSyncKHR");
    wait_for = (PFNEGLCLIENTWAITSYNCKHRPROC)app_function("eglClientWaitSyncKHR");
    program = colour_program();
    glUseProgram(program);
    glVertexAttrib4f(1, 0.9f, 0.8f, 0.1f, 1);
    glGenQueries(1, &ended);
    glGenQueries(1, &running);
    glGenQueries(1, &never);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, ended);
    quad();
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    egl_fence = create(app.display, EGL_SYNC_FENCE_KHR, NULL);
    reusable = create(app.display, EGL_SYNC_REUSABLE_KHR, NULL);
    must(fence != NULL && egl_fence != EGL_NO_SYNC_KHR && reusable != EGL_NO_SYNC_KHR, "the syncs");
    must(eglSignalSyncKHR(app.display, reusable, EGL_SIGNALED_KHR), "eglSignalSyncKHR");
    glFinish();
    glBeginQuery(GL_ANY_SAMPLES_PASSED, running);
}

static void draw(int frame)
{
    GLint current = 0;
    glGetQueryiv(GL_ANY_SAMPLES_PASSED, GL_CURRENT_QUERY, &current);
    must(frame == 4 || current == (GLint)running, "the query that runs");
    clear(0.1f * (float)frame, 0, 0.3f);
    cell(frame, 3, 2), quad();
}

static void ask(void)
{
    PFNEGLDESTROYSYNCKHRPROC destroy =
        (PFNEGLDESTROYSYNCKHRPROC)app_function("eglDestroySyncKHR");
    GLuint first = 0, second = 0;
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    glGetQueryObjectuiv(ended, GL_QUERY_RESULT, &first);
    glGetQueryObjectuiv(running, GL_QUERY_RESULT, &second);
    printf("passed %u, %u; %d %d %d\n", first, second, glIsQuery(ended), glIsQuery(running),
           glIsQuery(never));
    GLenum waited = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000);
    must(waited == GL_ALREADY_SIGNALED || waited == GL_CONDITION_SATISFIED, "glClientWaitSync");
    for (int i = 0; i < 2; i++) {
        EGLSyncKHR sync = i ? egl_fence : reusable;
        must(wait_for(app.display, sync, EGL_SYNC_FLUSH_COMMANDS_BIT_KHR, 10000000000) ==
                 EGL_CONDITION_SATISFIED_KHR,
             "eglClientWaitSyncKHR");
        must(destroy(app.display, sync), "eglDestroySyncKHR");
    }
    glDeleteSync(fence);
}

int main(void)
{
    app_open(30);
    start();
    for (int frame = 0; frame < 4; frame++) {
        draw(frame);
        app_end_frame();
    }
    ask();
    draw(4);
    app_end_frame();
    app_close();
    return 0;
}
