/*
 * A program that draws, creates a child process, and draws again.
 *
 * usage: child KIND [PROGRAM]
 *   fork         the child draws with a context of its own, on a display opened anew
 *   fork-ask     the child queries the context that it inherited, and draws nothing
 *   clone        the same, made by the system call itself: no atfork handler runs
 *   fork-exec, vfork-exec, spawn      the child becomes PROGRAM
 *
 * The child ends before the parent goes on, so the output has one order.
 */
#define _GNU_SOURCE
#include "scene.h"

#include <EGL/eglext.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The parent's display has threads that did not survive the fork. */
static EGLDisplay device_display(void)
{
    EGLDeviceEXT device;
    EGLint count = 0;
    PFNEGLQUERYDEVICESEXTPROC query =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    must(query && query(1, &device, &count) && count == 1, "eglQueryDevicesEXT");
    return eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, device, NULL);
}

static void child_draws(void)
{
    struct offscreen o = {.display = device_display()};
    must(eglInitialize(o.display, NULL, NULL), "eglInitialize in the child");
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RED_SIZE, 8,
                             EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT, EGL_NONE};
    EGLint count = 0;
    must(eglChooseConfig(o.display, wanted, &o.config, 1, &count) && count == 1, "eglChooseConfig");
    o.surface = offscreen_surface(&o);
    o.context = offscreen_context(&o, 2, EGL_NO_CONTEXT);
    must(eglMakeCurrent(o.display, o.surface, o.surface, o.context), "eglMakeCurrent");
    scene_draw(&o);
    _exit(0);
}

static void child_asks(void)
{
    for (int i = 0; i < 100; i++)
        must(!glIsEnabled(GL_BLEND) && glGetError() == GL_NO_ERROR, "asking in the child");
    printf("asked\n");
    fflush(stdout);
    _exit(0);
}

static pid_t start_child(const char *kind, char *program)
{
    char *command[] = {program, NULL};
    pid_t child = -1;
    if (!strcmp(kind, "fork")) {
        if ((child = fork()) == 0)
            child_draws();
    } else if (!strcmp(kind, "fork-ask")) {
        if ((child = fork()) == 0)
            child_asks();
    } else if (!strcmp(kind, "clone")) {
        if ((child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)) == 0)
            child_draws();
    } else if (!strcmp(kind, "fork-exec")) {
        if ((child = fork()) == 0) {
            execv(program, command);
            _exit(127);
        }
    } else if (!strcmp(kind, "vfork-exec")) {
        if ((child = vfork()) == 0) {
            execv(program, command);
            _exit(127);
        }
    } else if (!strcmp(kind, "spawn")) {
        must(posix_spawn(&child, program, NULL, NULL, command, environ) == 0, "posix_spawn");
    }
    must(child > 0, kind);
    return child;
}

int main(int argc, char **argv)
{
    must(argc >= 2, "usage: child KIND [PROGRAM]");
    int status = 0;
    struct offscreen o = offscreen_open(2);
    scene_draw(&o);
    pid_t child = start_child(argv[1], argc > 2 ? argv[2] : NULL);
    must(waitpid(child, &status, 0) == child, "waitpid");
    printf("child ended with 0x%x\n", status);
    scene_draw(&o);
    offscreen_close(&o);
    return 0;
}
