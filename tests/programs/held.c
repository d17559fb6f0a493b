/*
 * First commands of a program that the shim holds back, from two threads, a forked child or a signal handler.
 *
 * usage: held threads    a thread makes its first command, and on a byte of input main makes one
 *        held fork       the same, and before its command main forks a child that makes one, and waits for it
 *        held signal     SIGUSR1's handler makes a command
 *        held stop       SIGTERM's handler makes the program exit with 7 after its command
 *
 * Prints a line before and after each command. For the fake driver, in which every command may be called anywhere.
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void say(const char *line)
{
    must(write(STDOUT_FILENO, line, strlen(line)) == (ssize_t)strlen(line), "write");
}

static void on_usr1(int signal)
{
    (void)signal;
    say("handler\n");
    eglGetError();
    say("handler on\n");
}

static void on_term(int signal)
{
    (void)signal;
    stopped = 1;
}

static void *run(void *unused)
{
    (void)unused;
    say("thread\n");
    eglGetError();
    say("thread on\n");
    return NULL;
}

static void fork_a_child(void)
{
    int status = 1;
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        say("child\n");
        eglQueryAPI();
        say("child on\n");
        _exit(0);
    }
    must(waitpid(child, &status, 0) == child && status == 0, "waitpid");
}

int main(int argc, char **argv)
{
    char byte;
    pthread_t thread;
    must(argc == 2, "usage: held threads|fork|signal|stop");
    signal(SIGUSR1, on_usr1);
    if (strcmp(argv[1], "stop") == 0)
        signal(SIGTERM, on_term);
    int has_thread = strcmp(argv[1], "threads") == 0 || strcmp(argv[1], "fork") == 0;
    if (has_thread) {
        must(pthread_create(&thread, NULL, run, NULL) == 0, "pthread_create");
        must(read(STDIN_FILENO, &byte, 1) == 1, "read");
    }
    if (strcmp(argv[1], "fork") == 0)
        fork_a_child();
    say("main\n");
    eglGetDisplay(EGL_DEFAULT_DISPLAY);
    say("main on\n");
    if (has_thread)
        must(pthread_join(thread, NULL) == 0, "pthread_join");
    return stopped ? 7 : 0;
}
