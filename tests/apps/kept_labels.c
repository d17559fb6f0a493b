/* Labels of every kind of object, and debug groups that stay open over frames. */
#include "app.h"

static GLuint program, texture, buffer, framebuffer, renderbuffer, vertex_array, sampler, query;

static void label(GLenum kind, GLuint name, const char *text)
{
    glObjectLabel(kind, name, -1, text);
}

static void start(void)
{
    program = image_program();
    glUseProgram(program);
    texture = new_texture(GL_TEXTURE_2D);
    GLubyte texels[4 * 4 * 4];
    fill(texels, sizeof texels, 7);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    buffer = new_buffer(GL_ARRAY_BUFFER, sizeof texels, texels);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 4, 4);
    glGenVertexArrays(1, &vertex_array);
    glBindVertexArray(vertex_array);
    glBindVertexArray(0);
    glGenSamplers(1, &sampler);
    glBindSampler(3, sampler);
    glGenQueries(1, &query);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    label(GL_PROGRAM, program, "a program");
    label(GL_TEXTURE, texture, "a texture");
    label(GL_BUFFER, buffer, "a buffer");
    label(GL_FRAMEBUFFER, framebuffer, "a framebuffer");
    label(GL_RENDERBUFFER, renderbuffer, "a renderbuffer");
    label(GL_VERTEX_ARRAY, vertex_array, "a vertex array");
    label(GL_SAMPLER, sampler, "a sampler");
    label(GL_QUERY, query, "a query");
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, "outer");
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 2, -1, "inner");
}

static void say(GLenum kind, GLuint name)
{
    char text[64] = "";
    glGetObjectLabel(kind, name, sizeof text, NULL, text);
    printf("%s\n", text);
}

static void draw(int frame)
{
    GLint depth = 0;
    clear(0, 0.1f * (float)frame, 0.4f);
    cell(frame, 2, 2), quad();
    say(GL_PROGRAM, program), say(GL_TEXTURE, texture), say(GL_BUFFER, buffer);
    say(GL_FRAMEBUFFER, framebuffer), say(GL_RENDERBUFFER, renderbuffer);
    say(GL_VERTEX_ARRAY, vertex_array), say(GL_SAMPLER, sampler), say(GL_QUERY, query);
    if (frame == 3)
        glPopDebugGroup();
    glGetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &depth);
    printf("depth %d\n", depth);
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
