/* Multisampled renderbuffers and textures, resolved by blits; blits that scale and turn. */
#include "app.h"

static GLuint program, framebuffers[3], renderbuffers[2], texture, resolved;

static void complete(const char *what)
{
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, what);
}

static void start(void)
{
    GLint samples = 0;
    program = colour_program();
    glUseProgram(program);
    glGetInternalformativ(GL_RENDERBUFFER, GL_RGBA8, GL_SAMPLES, 1, &samples);
    must(samples >= 4, "four samples");
    glGenFramebuffers(3, framebuffers);
    glGenRenderbuffers(2, renderbuffers);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[0]);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_RGBA8, 48, 32);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffers[0]);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[1]);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_DEPTH24_STENCIL8, 48, 32);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER,
                              renderbuffers[1]);
    complete("multisampled renderbuffers");
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[1]);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, texture);
    glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 48, 32, GL_TRUE);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE, texture, 0);
    complete("a multisampled texture");
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[2]);
    resolved = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 48, 32);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, resolved, 0);
    complete("a texture");
}

static void star(GLuint framebuffer, int frame)
{
    const GLfloat places[] = {-0.9f, -0.7f, 0.9f, -0.5f, 0, 0.9f, -0.8f, 0.6f, 0.7f, 0.8f,
                              0.2f * (float)frame, -0.9f};
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glViewport(0, 0, 48, 32);
    clear(0.1f, 0.1f, 0.3f);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glVertexAttrib4f(1, 1, 0.9f, 0.1f * (float)frame, 0.5f);
    glDrawArrays(GL_TRIANGLES, 0, 6);
}

/* Resolved into a texture, then blitted to the screen: as it is, scaled, and mirrored. */
static void shown(GLuint from, int row)
{
    const GLenum done[] = {GL_COLOR_ATTACHMENT0};
    int y = 32 * row;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[2]);
    glBlitFramebuffer(0, 0, 48, 32, 0, 0, 48, 32, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glInvalidateFramebuffer(GL_READ_FRAMEBUFFER, 1, done);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[2]);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, 48, 32, 0, y, 48, y + 32, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitFramebuffer(8, 8, 40, 24, 48, y, 72, y + 32, GL_COLOR_BUFFER_BIT, GL_LINEAR);
    glBlitFramebuffer(0, 0, 48, 32, 96, y + 32, 72, y, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
}

static void draw(int frame)
{
    GLfloat position[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        star(framebuffers[i], frame + i);
        if (i == 1)
            glGetMultisamplefv(GL_SAMPLE_POSITION, 1, position);
        shown(framebuffers[i], i);
    }
    printf("sample 1 at %.4f %.4f\n", (double)position[0], (double)position[1]);
    glSampleMaski(0, 0xffffffffu);
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
