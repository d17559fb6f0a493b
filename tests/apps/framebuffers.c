/* Framebuffers: several outputs, layers, levels, cleared by kind, invalidated, read from. */
#include "app.h"

static GLuint program, show, framebuffer, colours[3], layers;

static void start(void)
{
    const GLenum outputs[] = {GL_COLOR_ATTACHMENT0, GL_NONE, GL_COLOR_ATTACHMENT2};
    program = program_of("#version 300 es\n"
                         "in vec4 place;\n"
                         "out vec2 at;\n"
                         "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                         "#version 300 es\n"
                         "precision highp float;\n"
                         "in vec2 at;\n"
                         "uniform float blue;\n"
                         "layout(location = 0) out vec4 first;\n"
                         "layout(location = 2) out uvec4 third;\n"
                         "void main() {\n"
                         "  first = vec4(at, blue, 1);\n"
                         "  third = uvec4(at.yx * 255.0, 7, 255);\n"
                         "}\n");
    show = image_program();
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    for (int i = 0; i < 3; i++) {
        colours[i] = new_texture(GL_TEXTURE_2D);
        glTexStorage2D(GL_TEXTURE_2D, 1, i == 2 ? GL_RGBA8UI : GL_RGBA8, 16, 16);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + (GLenum)i, GL_TEXTURE_2D,
                               colours[i], 0);
    }
    glDrawBuffers(3, outputs);
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the framebuffer");
    layers = new_texture(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 2, GL_RGBA8, 16, 16, 3);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void several(int frame)
{
    const GLfloat red[] = {1, 0, 0, 1};
    const GLuint numbers[] = {1, 2, 3, 4};
    GLuint read[4 * 4];
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glClearBufferfv(GL_COLOR, 0, red);
    glClearBufferuiv(GL_COLOR, 2, numbers);
    glViewport(4, 4, 8 + frame, 8);
    glUseProgram(program);
    glUniform1f(glGetUniformLocation(program, "blue"), 0.3f * (float)frame);
    quad();
    glReadBuffer(GL_COLOR_ATTACHMENT2);
    glReadPixels(3, 5, 2, 2, GL_RGBA_INTEGER, GL_UNSIGNED_INT, read);
    printf("integers %08x\n", sum_of(read, sizeof read));
    glReadBuffer(GL_COLOR_ATTACHMENT0);
}

/* Draws into one layer of one level of an array texture, and from there to the screen. */
static void layered(int frame)
{
    GLuint other = 0;
    const GLenum gone[] = {GL_COLOR_ATTACHMENT0};
    glGenFramebuffers(1, &other);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, other);
    glFramebufferTextureLayer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, layers, 1, frame % 3);
    must(glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "a layer");
    glBlitFramebuffer(0, 0, 16, 16, 0, 0, 8, 8, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, other);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, 8, 8, 48, 0, 96, 32, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glInvalidateSubFramebuffer(GL_READ_FRAMEBUFFER, 1, gone, 0, 0, 4, 4);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &other);
}

static void draw(int frame)
{
    GLint kind = 0;
    clear(0.2f, 0.2f, 0.5f);
    several(frame);
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT2,
                                          GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE, &kind);
    printf("kind 0x%x\n", kind);
    layered(frame);
    glUseProgram(show);
    glBindTexture(GL_TEXTURE_2D, colours[0]);
    cell(0, 2, 2), quad();
    glClearBufferfi(GL_DEPTH_STENCIL, 0, 0.5f, 3);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
