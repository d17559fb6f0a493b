/* Names made by binding them, deleted while bound, and used again for something else. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = image_program();
    glUseProgram(program);
}

static void texels(uint32_t salt, GLint side)
{
    GLubyte bytes[8 * 8 * 4];
    fill(bytes, sizeof bytes, salt);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

/* A texture that is deleted while bound gives its unit back to texture 0. */
static void textures(int frame)
{
    const GLuint own = 4711;
    GLint bound = -1;
    glBindTexture(GL_TEXTURE_2D, own);
    texels(1 + (uint32_t)frame, 8);
    cell(0, 3, 2), quad();
    glDeleteTextures(1, &own);
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    must(bound == 0 && !glIsTexture(own), "a texture that is gone");
    texels(2, 2);
    cell(1, 3, 2), quad();
    glBindTexture(GL_TEXTURE_2D, own);
    texels(3 + (uint32_t)frame, 4);
    cell(2, 3, 2), quad();
    glBindTexture(GL_TEXTURE_2D, 0);
    glDeleteTextures(1, &own);
}

/* A buffer's name means new data after it was deleted; offset 0 is an address again. */
static void buffers(int frame)
{
    const GLuint own = 815;
    const GLfloat first[] = {-1, -1, 1, -1, 0, 1}, second[] = {-1, 1, 1, 1, 0, -1};
    const GLfloat memory[] = {-1, 0, 0, -1, 1, 1};
    glBindBuffer(GL_ARRAY_BUFFER, own);
    glBufferData(GL_ARRAY_BUFFER, sizeof first, first, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    cell(3, 3, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
    glDeleteBuffers(1, &own);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, memory);
    cell(4, 3, 2), glDrawArrays(GL_TRIANGLES, 0, frame ? 3 : 2);
    glBindBuffer(GL_ARRAY_BUFFER, own);
    glBufferData(GL_ARRAY_BUFFER, sizeof second, second, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    cell(5, 3, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisableVertexAttribArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteBuffers(1, &own);
}

/* Deletes the bound framebuffer, so that drawing goes to the window's again. */
static void framebuffers(void)
{
    const GLuint own = 99, target = 100;
    GLint bound = -1;
    glBindTexture(GL_TEXTURE_2D, target);
    texels(9, 8);
    glBindFramebuffer(GL_FRAMEBUFFER, own);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the framebuffer");
    clear(1, 0, 0);
    glDeleteFramebuffers(1, &own);
    glGetIntegerv(GL_FRAMEBUFFER_BINDING, &bound);
    must(bound == 0, "a framebuffer that is gone");
    cell(1, 6, 6), quad();
    glDeleteTextures(1, &target);
}

/* Names from glGen* are no objects before they are bound; deleting 0 or unknown names is silently ignored. */
static void nothing_yet(void)
{
    GLuint names[3] = {0, 0, 123456};
    glGenTextures(1, names);
    must(names[0] != 0 && !glIsTexture(names[0]), "a name that is no texture yet");
    glDeleteTextures(3, names);
    glGenBuffers(1, names);
    must(names[0] != 0 && !glIsBuffer(names[0]), "a name that is no buffer yet");
    glDeleteBuffers(3, names);
}

static void draw(int frame)
{
    clear(0.1f, 0.1f, 0.1f);
    textures(frame);
    buffers(frame);
    framebuffers();
    nothing_yet();
}

int main(void)
{
    return app_run(20, 4, start, draw);
}
