/* Two contexts of one share group in two threads: one makes objects, the other draws with them. */
#include "app.h"
#include "turns.h"

#define FRAMES 4

static GLuint texture, buffer, program;
static EGLContext helper_context;
static EGLSurface helper_surface;

/* The helper has the even turns; the main thread sees what the helper has finished. */
static void *helper(void *unused)
{
    must(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
    wait_for_turn(0);
    app_current(helper_surface, helper_context);
    program = image_program();
    texture = new_texture(GL_TEXTURE_2D);
    buffer = new_buffer(GL_ARRAY_BUFFER, 64, NULL);
    for (int frame = 0; frame < FRAMES; frame++) {
        GLubyte texels[8 * 8 * 4];
        const GLfloat places[] = {-1, -1, 1, -1, 0.4f * (float)frame - 0.6f, 1};
        wait_for_turn(2 * frame);
        fill(texels, sizeof texels, (uint32_t)frame);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        glBufferSubData(GL_ARRAY_BUFFER, 8, sizeof places, places);
        /* A client array of one context does not affect the other. */
        glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
        no_error("the helper");
        glFinish();
        next_turn();
    }
    wait_for_turn(2 * FRAMES);
    glDeleteTextures(1, &texture);
    glDeleteBuffers(1, &buffer);
    glDeleteProgram(program);
    app_current(EGL_NO_SURFACE, EGL_NO_CONTEXT);
    must(eglReleaseThread(), "eglReleaseThread");
    return unused;
}

static void draw(int frame)
{
    const GLfloat own[] = {-1, 1, 0, 1, -1, 0};
    clear(0, 0, 0.1f * (float)frame);
    glUseProgram(program);
    /* Changes by another context are guaranteed to be visible once the object is bound again. */
    glBindTexture(GL_TEXTURE_2D, texture);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, (void *)8);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, own);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

int main(void)
{
    pthread_t thread;
    app_open(20);
    helper_context = app_context_of(20, app.context);
    helper_surface = app_surface_of(4, 4);
    must(pthread_create(&thread, NULL, helper, NULL) == 0, "pthread_create");
    for (int frame = 0; frame < FRAMES; frame++) {
        wait_for_turn(2 * frame + 1);
        draw(frame);
        app_end_frame();
        next_turn();
    }
    must(pthread_join(thread, NULL) == 0, "pthread_join");
    must(eglDestroyContext(app.display, helper_context), "eglDestroyContext");
    must(eglDestroySurface(app.display, helper_surface), "eglDestroySurface");
    app_close();
    return 0;
}
