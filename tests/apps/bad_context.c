/* Calls without a context: before the first, after the last, and in a thread that never had one. */
#include "app.h"
#include "edge.h"

#include <pthread.h>

static void *calls(void *where)
{
    void *bad = nowhere();
    GLuint name = 7;
    glClear(GL_COLOR_BUFFER_BIT);
    glGenTextures(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, 1);
    glBufferData(GL_ARRAY_BUFFER, 100, bad, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, bad);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 1000000);
    glDrawElements(GL_TRIANGLES, 1000000, GL_UNSIGNED_INT, bad);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, bad);
    glUniform4fv(0, 100, bad);
    glShaderSource(1, 1, bad, bad);
    glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, bad);
    printf("%s: name %u, error %u, string %d\n", (const char *)where, name, glGetError(),
           glGetString(GL_VERSION) != NULL);
    printf("create %u, map %d, current %d\n", glCreateShader(GL_VERTEX_SHADER),
           glMapBufferRange(GL_ARRAY_BUFFER, 0, 4, GL_MAP_WRITE_BIT) != NULL,
           eglGetCurrentContext() != EGL_NO_CONTEXT);
    return NULL;
}

static void egl_calls(void)
{
    printf("swap %d", eglSwapBuffers(app.display, app.surface)), printf(" 0x%x\n", eglGetError());
    printf("interval %d", eglSwapInterval(app.display, 0)), printf(" 0x%x\n", eglGetError());
    printf("query %d", eglQueryContext(app.display, (EGLContext)8, EGL_CONFIG_ID, NULL));
    printf(" 0x%x\n", eglGetError());
    printf("destroy %d", eglDestroyContext(app.display, EGL_NO_CONTEXT)), printf(" 0x%x\n", eglGetError());
    printf("current %d", eglMakeCurrent(app.display, app.surface, EGL_NO_SURFACE, EGL_NO_CONTEXT));
    printf(" 0x%x\n", eglGetError());
}

int main(void)
{
    pthread_t thread;
    calls("before");
    app_open(30);
    must(pthread_create(&thread, NULL, calls, "elsewhere") == 0, "pthread_create");
    must(pthread_join(thread, NULL) == 0, "pthread_join");
    for (int frame = 0; frame < 4; frame++) {
        clear(0, 0, 0);
        glEnable(GL_SCISSOR_TEST);
        glScissor(1 + frame, 2, 3, 4);
        clear(1, 1, 1);
        glDisable(GL_SCISSOR_TEST);
        app_end_frame();
    }
    app_current(EGL_NO_SURFACE, EGL_NO_CONTEXT);
    calls("between");
    egl_calls();
    app_current(app.surface, app.context);
    app_close();
    calls("after");
    printf("terminated %d", eglSwapBuffers(app.display, app.surface)), printf(" 0x%x\n", eglGetError());
    return 0;
}
