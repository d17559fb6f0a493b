/* KHR_debug: labels, groups, messages from the program, a callback, the message log. */
#include "app.h"

static GLuint program, texture;
static int called;

static void GL_APIENTRY on_message(GLenum source, GLenum type, GLuint id, GLenum severity,
                                   GLsizei length, const GLchar *message, const void *user)
{
    must(user == &called, "the user's pointer");
    if (source == GL_DEBUG_SOURCE_APPLICATION || source == GL_DEBUG_SOURCE_THIRD_PARTY) {
        called++;
        printf("message %x %x %u %x: %.*s\n", source, type, id, severity, length, message);
    }
}

static void start(void)
{
    program = colour_program();
    texture = new_texture(GL_TEXTURE_2D);
    glUseProgram(program);
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
}

/* With a length the string need not be NUL-terminated; without one it must be. */
static void labels(int frame)
{
    char label[32] = "", cut[4] = "";
    GLsizei length = 0;
    const char unended[6] = {'p', 'r', 'o', 'g', (char)('0' + frame), '!'};
    glObjectLabel(GL_PROGRAM, program, sizeof unended, unended);
    glObjectLabel(GL_TEXTURE, texture, -1, "a texture");
    glGetObjectLabel(GL_PROGRAM, program, sizeof label, &length, label);
    glGetObjectLabel(GL_TEXTURE, texture, sizeof cut, NULL, cut);
    printf("%s (%d), %s\n", label, length, cut);
    glObjectLabel(GL_TEXTURE, texture, 0, NULL);
    glGetObjectLabel(GL_TEXTURE, texture, sizeof label, &length, label);
    printf("'%s' (%d)\n", label, length);
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glObjectPtrLabel(fence, 5, "fence and more");
    glGetObjectPtrLabel(fence, sizeof label, &length, label);
    printf("%s (%d)\n", label, length);
    glDeleteSync(fence);
}

static void messages(int frame)
{
    const GLuint ids[] = {7, 9};
    glDebugMessageControl(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, GL_DONT_CARE, 2, ids,
                          frame % 2 ? GL_TRUE : GL_FALSE);
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, "a group");
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_MARKER, 5,
                         GL_DEBUG_SEVERITY_NOTIFICATION, 6, "a mark that is cut");
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_OTHER, 7, GL_DEBUG_SEVERITY_HIGH,
                         -1, "seven");
    glPushDebugGroup(GL_DEBUG_SOURCE_THIRD_PARTY, 2, 5, "inner, cut");
    glPopDebugGroup();
    glPopDebugGroup();
}

/* Without a callback messages wait in the log. */
static void logged(void)
{
    GLchar text[256];
    GLenum sources[4], types[4], severities[4];
    GLuint ids[4];
    GLsizei lengths[4];
    glDebugMessageCallback(NULL, NULL);
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_ERROR, 11, GL_DEBUG_SEVERITY_LOW, -1,
                         "logged");
    glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_ERROR, 12,
                         GL_DEBUG_SEVERITY_MEDIUM, 3, "twelve");
    GLuint count = glGetDebugMessageLog(4, sizeof text, sources, types, ids, severities, lengths, text);
    const char *at = text;
    for (GLuint i = 0; i < count; i++) {
        printf("logged %u (%d): %s\n", ids[i], lengths[i], at);
        at += lengths[i];
    }
}

static void draw(int frame)
{
    const GLfloat places[] = {-1, -1, 1, -1, 0.3f * (float)frame, 1};
    void *user = NULL;
    clear(0.4f, 0, 0.4f);
    glDebugMessageCallback(on_message, &called);
    glGetPointerv(GL_DEBUG_CALLBACK_USER_PARAM, &user);
    must(user == &called, "glGetPointerv");
    labels(frame);
    messages(frame);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    logged();
    printf("called %d\n", called);
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
