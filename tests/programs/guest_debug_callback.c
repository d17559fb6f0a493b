/* A debug callback that makes calls itself, while the driver is inside the command that caused it. */
#define GL_GLEXT_PROTOTYPES 1
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <GLES2/gl2ext.h>

static PFNGLDEBUGMESSAGECALLBACKKHRPROC set_callback;
static PFNGLDEBUGMESSAGEINSERTKHRPROC insert_message;
static int called;

static void GL_APIENTRY on_message(GLenum source, GLenum type, GLuint id, GLenum severity,
                                   GLsizei length, const GLchar *text, const void *parameter)
{
    (void)source, (void)type, (void)severity, (void)length;
    must(parameter == &called, "the callback's parameter");
    printf("message %u: %s, dither %d\n", id, text, glIsEnabled(GL_DITHER));
    called++;
}

int main(void)
{
    struct offscreen o = offscreen_open(2);
    set_callback = (PFNGLDEBUGMESSAGECALLBACKKHRPROC)eglGetProcAddress("glDebugMessageCallbackKHR");
    insert_message = (PFNGLDEBUGMESSAGEINSERTKHRPROC)eglGetProcAddress("glDebugMessageInsertKHR");
    must(set_callback && insert_message, "GL_KHR_debug");
    glEnable(GL_DEBUG_OUTPUT_KHR);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS_KHR);
    set_callback(on_message, &called);
    for (GLuint id = 0; id < 20; id++) {
        insert_message(GL_DEBUG_SOURCE_APPLICATION_KHR, GL_DEBUG_TYPE_MARKER_KHR, id,
                       GL_DEBUG_SEVERITY_HIGH_KHR, -1, "hello");
        glClear(GL_COLOR_BUFFER_BIT);
    }
    printf("called %d\n", called);
    set_callback(NULL, NULL);
    offscreen_swap(&o);
    offscreen_close(&o);
    return 0;
}
