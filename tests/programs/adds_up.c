/* Four frames, each of which moves a column of what the frame before has shown. */
#include "offscreen.h"

#include <GLES3/gl3.h>

static GLuint framebuffer_with_storage(void)
{
    GLuint renderbuffer, framebuffer;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    return framebuffer;
}

static void blit(GLuint from, GLuint to, int by)
{
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
    glBlitFramebuffer(0, 0, SIDE - by, SIDE, by, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

int main(void)
{
    struct offscreen o = offscreen_open(3);
    GLuint moved = framebuffer_with_storage(), shown = framebuffer_with_storage();
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, 8, SIDE);
    glClearColor(1, 1, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    for (int i = 0; i < 4; i++) {
        blit(shown, moved, 8);
        blit(moved, shown, 0);
        blit(shown, 0, 0);
        must(glGetError() == GL_NO_ERROR, "the frame");
        offscreen_swap(&o);
    }
    offscreen_close(&o);
    return 0;
}
