/*
 * A framebuffer with an attachment that was deleted while the framebuffer was not bound, and frames that
 * read it.
 *
 * usage: deleted_attachment FRAMES
 */
#include "offscreen.h"

#include <GLES3/gl3.h>

int main(int argc, char **argv)
{
    GLuint renderbuffer, framebuffer;
    must(argc == 2, "usage: deleted_attachment FRAMES");
    struct offscreen o = offscreen_open(3);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteRenderbuffers(1, &renderbuffer);
    for (int frame = 0; frame < atoi(argv[1]); frame++) {
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
        glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        must(glGetError() == GL_NO_ERROR, "a blit of what was deleted");
        glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
        offscreen_swap(&o);
    }
    offscreen_close(&o);
    return 0;
}
