/*
 * Leaves known values in framebuffers, textures, buffers and shaders, each stage ended by a glFlush:
 * the default framebuffer, a framebuffer object with two colours and depth, a multisampled one.
 */
#include "../apps/app.h"

static void at_rectangle(void)
{
    glEnable(GL_SCISSOR_TEST);
    glScissor(8, 4, 16, 8);
}

static void everywhere(void)
{
    glDisable(GL_SCISSOR_TEST);
}

static void clear_all(float red, float depth, int stencil)
{
    glClearColor(red, 0.0f, 1.0f, 1.0f);
    glClearDepthf(depth);
    glClearStencil(stencil);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
}

static void stage(const char *name)
{
    no_error(name);
    glFlush();
}

int main(void)
{
    static const unsigned char texels[2][2][4] = {{{10, 20, 30, 40}, {50, 60, 70, 80}},
                                                  {{90, 100, 110, 120}, {130, 140, 150, 255}}};
    static const unsigned char grey[4] = {1, 2, 3, 4};
    const GLenum both[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    const GLuint number[] = {77, 0, 0, 1};
    unsigned char bytes[1000];
    GLuint framebuffers[2], textures[4], renderbuffers[2];

    app_open(32);
    clear_all(0.0f, 1.0f, 0);
    at_rectangle();
    clear_all(1.0f, 0.25f, 5);
    stage("the default framebuffer");

    glGenFramebuffers(2, framebuffers);
    glGenTextures(4, textures);
    glGenRenderbuffers(2, renderbuffers);
    for (int i = 0; i < 2; i++) {
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        glTexStorage2D(GL_TEXTURE_2D, 1, i == 0 ? GL_RGBA16F : GL_R8UI, 40, 20);
    }
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[0]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT16, 40, 20);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
    for (int i = 0; i < 2; i++)
        glFramebufferTexture2D(GL_FRAMEBUFFER, both[i], GL_TEXTURE_2D, textures[i], 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
                              renderbuffers[0]);
    glDrawBuffers(2, both);
    everywhere();
    glClearBufferfv(GL_COLOR, 0, (const float[]){2.0f, 0.5f, -1.0f, 1.0f});
    glClearBufferuiv(GL_COLOR, 1, number);
    glClearBufferfv(GL_DEPTH, 0, (const float[]){0.5f});
    /* State that a program may leave set and that must not affect a picture. */
    glPixelStorei(GL_PACK_ROW_LENGTH, 7);
    glReadBuffer(GL_NONE);
    glColorMask(GL_FALSE, GL_TRUE, GL_FALSE, GL_TRUE);
    glEnable(GL_RASTERIZER_DISCARD);
    stage("a framebuffer object");
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glDisable(GL_RASTERIZER_DISCARD);

    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[1]);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, GL_RGBA8, 24, 16);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[1]);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              renderbuffers[1]);
    glClearColor(0.0f, 1.0f, 0.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    stage("a multisampled framebuffer object");

    glBindTexture(GL_TEXTURE_2D, textures[2]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glBindTexture(GL_TEXTURE_2D, textures[3]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_LUMINANCE, 4, 1, 0, GL_LUMINANCE, GL_UNSIGNED_BYTE, grey);
    fill(bytes, sizeof bytes, 3);
    new_buffer(GL_ARRAY_BUFFER, sizeof bytes, bytes);
    shader_of(GL_FRAGMENT_SHADER, "void main() { }\n");
    printf("buffer %08x\n", sum_of(bytes, sizeof bytes));
    stage("resources");
    app_close();
    return 0;
}
