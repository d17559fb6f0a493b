/* A buffer texture whose buffer has lost its name: the texture goes on reading the buffer, which another one is called
 * like by now. The program fills it again in each frame, through the binding point that still holds it. */
#include "app.h"

static GLuint texture, texels, other;

static void start(void)
{
    GLubyte bytes[256];
    glUseProgram(program_of("#version 320 es\n"
                            "layout(location = 0) in vec4 place;\n"
                            "void main() { gl_Position = place; }\n",
                            "#version 320 es\n"
                            "precision highp float;\n"
                            "uniform highp samplerBuffer texels;\n"
                            "out vec4 colour;\n"
                            "void main() { colour = texelFetch(texels, int(gl_FragCoord.x) & 63); }\n"));
    fill(bytes, sizeof bytes, 1);
    texels = new_buffer(GL_TEXTURE_BUFFER, sizeof bytes, bytes);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_BUFFER, texture);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA8, texels);
    /* Deleted in another context, it stays bound in this one. */
    EGLContext context = app_context_of(32, app.context);
    app_current(app.surface, context);
    glDeleteBuffers(1, &texels);
    glGenBuffers(1, &other);
    glBindBuffer(GL_ARRAY_BUFFER, other);
    fill(bytes, sizeof bytes, 2);
    glBufferData(GL_ARRAY_BUFFER, sizeof bytes, bytes, GL_STATIC_DRAW);
    app_current(app.surface, app.context);
    must(eglDestroyContext(app.display, context), "eglDestroyContext");
}

static void draw(int frame)
{
    GLubyte bytes[256];
    no_error("a frame's begin");
    fill(bytes, sizeof bytes, 10 + (uint32_t)frame);
    glBufferSubData(GL_TEXTURE_BUFFER, 0, sizeof bytes, bytes);
    clear(0, 0, 0);
    quad();
}

int main(void)
{
    return app_run(32, 6, start, draw);
}
