/*
 * Threads that live for one call: the main thread calls, then a new thread makes its first and only
 * call, then the main thread calls again, COUNT times over.
 *
 * usage: order_first_call COUNT    round k is glUniform1i(0, 2k) by main, glUniform1i(0, 2k + 1) by the thread
 *
 * The thread tells main by a word in memory, before it ends, and is joined a round later: its ring is
 * new when main already goes on.
 */
#include "offscreen.h"
#include "token.h"

#include <GLES2/gl2.h>
#include <pthread.h>

static struct token token;

static void *run(void *argument)
{
    uint32_t k = (uint32_t)(uintptr_t)argument;
    glUniform1i(0, (GLint)(2 * k + 1));
    token_pass(&token, k + 1);
    return NULL;
}

int main(int argc, char **argv)
{
    must(argc == 2, "usage: order_first_call COUNT");
    uint32_t count = (uint32_t)atoi(argv[1]);
    struct offscreen o = offscreen_open(2);
    pthread_t thread, last;
    for (uint32_t k = 0; k < count; k++) {
        glUniform1i(0, (GLint)(2 * k));
        must(pthread_create(&thread, NULL, run, (void *)(uintptr_t)k) == 0, "pthread_create");
        token_wait(&token, k + 1);
        if (k > 0)
            must(pthread_join(last, NULL) == 0, "pthread_join");
        last = thread;
    }
    must(count == 0 || pthread_join(last, NULL) == 0, "pthread_join");
    offscreen_close(&o);
    printf("%u rounds\n", count);
    return 0;
}
