/*
 * Members hand a token round; each hop makes three calls, then passes it on.
 *
 * usage: order_token threads up|down MEMBERS HOPS
 *        order_token processes up MEMBERS HOPS
 *
 * Hop k is glUniform1i(0, k), a glGenTextures and a glDeleteTextures. `down` hands it in the
 * reverse order of the members' first calls, so that a reader that goes through the rings in slot order
 * reads the hops backwards.
 */
#define _GNU_SOURCE
#include "offscreen.h"
#include "token.h"

#include <GLES2/gl2.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MEMBERS_MAX 16

extern char **environ;

static struct token *token;
static uint32_t members, hops;
static int down;
static struct offscreen shared;

static void hop(uint32_t k)
{
    GLuint name;
    glUniform1i(0, (GLint)k);
    glGenTextures(1, &name);
    glDeleteTextures(1, &name);
}

/* Turns 0 to members-1 are first calls, in the members' order; then come the hops. */
static void take_part(uint32_t number)
{
    uint32_t offset = down ? members - 1 - number : number;
    token_wait(token, number);
    glEnable(GL_BLEND);
    token_pass(token, number + 1);
    for (uint32_t k = offset; k < hops; k += members) {
        token_wait(token, members + k);
        hop(k);
        token_pass(token, members + k + 1);
    }
}

static void *thread_main(void *number)
{
    EGLContext context = offscreen_context(&shared, 2, shared.context);
    must(eglMakeCurrent(shared.display, shared.surface, shared.surface, context), "eglMakeCurrent");
    take_part((uint32_t)(uintptr_t)number);
    must(eglReleaseThread(), "eglReleaseThread");
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[MEMBERS_MAX];
    shared = offscreen_prepare(2);
    for (uintptr_t i = 0; i < members; i++)
        must(pthread_create(&threads[i], NULL, thread_main, (void *)i) == 0, "pthread_create");
    for (uint32_t i = 0; i < members; i++)
        must(pthread_join(threads[i], NULL) == 0, "pthread_join");
}

static void run_member(const char *number)
{
    shared = offscreen_open(2);
    take_part((uint32_t)atoi(number));
    offscreen_close(&shared);
}

static void run_processes(char **argv, const char *descriptor)
{
    pid_t children[MEMBERS_MAX];
    for (uint32_t i = 0; i < members; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        char *command[] = {argv[0], argv[1], argv[2], argv[3], argv[4], (char *)descriptor, number, NULL};
        must(posix_spawn(&children[i], "/proc/self/exe", NULL, NULL, command, environ) == 0, "spawn");
    }
    for (uint32_t i = 0; i < members; i++) {
        int status = -1;
        must(waitpid(children[i], &status, 0) == children[i] && status == 0, "a member");
    }
}

int main(int argc, char **argv)
{
    must(argc == 5 || argc == 7, "usage: order_token threads|processes up|down MEMBERS HOPS");
    int processes = !strcmp(argv[1], "processes");
    down = !strcmp(argv[2], "down");
    members = (uint32_t)atoi(argv[3]);
    hops = (uint32_t)atoi(argv[4]);
    must(members > 0 && members <= MEMBERS_MAX, "MEMBERS");
    int memory = argc == 7 ? atoi(argv[5]) : memfd_create("token", 0);
    must(memory >= 0 && ftruncate(memory, 4096) == 0, "memfd_create");
    token = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    must(token != MAP_FAILED, "mmap");
    char descriptor[16];
    snprintf(descriptor, sizeof descriptor, "%d", memory);
    if (argc == 7)
        run_member(argv[6]);
    else if (processes)
        run_processes(argv, descriptor);
    else
        run_threads();
    if (argc == 5)
        printf("%u hops\n", atomic_load(&token->turn) - members);
    return 0;
}
