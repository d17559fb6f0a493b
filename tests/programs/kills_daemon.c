/*
 * A library to preload into a program that a daemon is to record; gapii's own programs are left alone. The first daemon that the program turns to is killed
 * at the moment that KILLS_DAEMON names: "hello", when the program has sent its hello, or "answer", when it has received
 * the shared memory and nothing else has happened.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int wants(const char *moment)
{
    const char *wanted = getenv("KILLS_DAEMON");
    return wanted && !strcmp(wanted, moment) && strncmp(program_invocation_short_name, "gapii", 5);
}

/* Kills the process at the other end of a socket, once, and returns when it has ended. */
static void kill_peer(int socket)
{
    static int is_done;
    struct ucred peer;
    socklen_t length = sizeof peer;
    struct pollfd ended = { .fd = socket, .events = 0 };

    if (is_done || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length))
        return;
    is_done = 1;
    kill(peer.pid, SIGKILL);
    while (!(ended.revents & POLLHUP))
        poll(&ended, 1, 100);
}

ssize_t send(int socket, const void *bytes, size_t length, int flags)
{
    ssize_t sent = sendto(socket, bytes, length, flags, NULL, 0);

    if (wants("hello"))
        kill_peer(socket);
    return sent;
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
    ssize_t (*next)(int, struct msghdr *, int) = dlsym(RTLD_NEXT, "recvmsg");
    ssize_t received = next(socket, message, flags);

    if (received > 0 && wants("answer"))
        kill_peer(socket);
    return received;
}
