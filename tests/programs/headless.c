/*
 * Draws into a framebuffer object until it gets SIGTERM, and makes no EGL command after its start. Then prints
 *
 *     rounds N
 *     start N        the time of the program's start, with its first commands, in microseconds
 *     longest N      the longest command after them, in microseconds
 *
 * Both times are without the time that the thread waited for a processor.
 *
 * usage: headless REST          REST: microseconds of sleep after each round of commands
 *        headless REST check    the pixels must be those that were drawn, which a fake driver can't give
 */
#include "offscreen.h"
#include "timed.h"

#include <GLES2/gl2.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t ends;

static void on_term(int signal)
{
    (void)signal;
    ends = 1;
}

static void draw(unsigned n, int checks)
{
    unsigned char red = n & 0xff, pixel[4] = {0};
    TIMED(glScissor((GLint)(n % SIDE), (GLint)(n / SIDE % SIDE), 1, 1));
    TIMED(glClearColor((GLfloat)red / 255.0f, 0.0f, 1.0f, 1.0f));
    TIMED(glClear(GL_COLOR_BUFFER_BIT));
    TIMED(glDepthFunc(GL_LESS));
    if (n % 64 == 63) {
        TIMED(glReadPixels((GLint)(n % SIDE), (GLint)(n / SIDE % SIDE), 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel));
        must(!checks || (pixel[0] == red && pixel[2] == 255), "a pixel");
    }
}

int main(int argc, char **argv)
{
    must(argc == 2 || argc == 3, "usage: headless REST [check]");
    long long began_ns = now_ns();
    begin_timing();
    int checks = argc == 3;
    struct offscreen o = offscreen_open(2);
    (void)o;
    GLuint framebuffer, texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    signal(SIGTERM, on_term);
    /* The first commands set the shim up, and the driver. */
    draw(0, checks);
    longest_ns = 0;
    note(began_ns);
    long long start_ns = longest_ns;
    longest_ns = 0;
    unsigned rounds = 0;
    for (; !ends; rounds++) {
        begin_timing();
        for (unsigned n = 0; n < SIDE; n++)
            draw(rounds * SIDE + n, checks);
        usleep((useconds_t)atoi(argv[1]));
    }
    printf("rounds %u\nstart %lld\nlongest %lld\n", rounds, start_ns / 1000, longest_ns / 1000);
    return 0;
}
