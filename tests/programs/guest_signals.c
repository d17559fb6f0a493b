/*
 * A timer whose signal handler makes calls, while the main thread makes calls.
 *
 * For the fake driver, in which every command may be called anywhere, and glFinish takes a while.
 *
 * Main calls glUniform1i(0, n), n rising; the handler glUniform1i(1, m), m rising, 200 times.
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <signal.h>
#include <sys/time.h>

#define HANDLED 200

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
    (void)signal;
    glUniform1i(1, handled);
    handled++;
}

int main(void)
{
    int n = 0;
    struct offscreen o = offscreen_open(2);
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    must(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
    must(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");
    while (handled < HANDLED) {
        for (int i = 0; i < 100; i++)
            glUniform1i(0, n++);
        glFinish();
    }
    must(setitimer(ITIMER_REAL, &never, NULL) == 0, "setitimer");
    offscreen_close(&o);
    fprintf(stderr, "%d by main, %d by the handler\n", n, (int)handled);
    printf("done\n");
    return 0;
}
