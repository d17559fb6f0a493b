/*
 * A program of two frames, each of which clears, has a queue do something, and is shown.
 *
 * usage: graphics_too           opens a surface first
 *        graphics_too compute   opens a device first
 */
#include "ze.h"

#include <EGL/egl.h>
#include <GLES2/gl2.h>
#include <stdint.h>

static EGLDisplay display;
static EGLSurface surface;

static void open_surface(void)
{
    static const EGLint attributes[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                        EGL_OPENGL_ES2_BIT, EGL_NONE};
    static const EGLint version[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
    static const EGLint size[] = {EGL_WIDTH, 16, EGL_HEIGHT, 16, EGL_NONE};
    EGLConfig config;
    EGLint configs = 0;
    display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    must(eglInitialize(display, NULL, NULL), "a display");
    must(eglChooseConfig(display, attributes, &config, 1, &configs) && configs == 1, "a config");
    surface = eglCreatePbufferSurface(display, config, size);
    EGLContext gles = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
    must(eglMakeCurrent(display, surface, surface, gles), "a context of OpenGL ES");
}

int main(int count, char **words)
{
    int is_compute_first = count > 1 && strcmp(words[1], "compute") == 0;
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    if (is_compute_first)
        open_device();
    open_surface();
    if (!is_compute_first)
        open_device();
    done(zeCommandQueueCreate(context, device, &queue_desc, &queue), "a queue");
    done(zeCommandListCreate(context, device, &list_desc, &list), "a list");
    done(zeCommandListAppendBarrier(list, NULL, 0, NULL), "a barrier");
    done(zeCommandListClose(list), "to close");
    for (int frame = 0; frame < 2; frame++) {
        glClear(GL_COLOR_BUFFER_BIT);
        done(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "to execute");
        done(zeCommandQueueSynchronize(queue, UINT64_MAX), "the queue");
        must(eglSwapBuffers(display, surface), "to swap");
    }
    return 0;
}
