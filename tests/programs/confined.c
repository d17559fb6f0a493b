/*
 * Confines itself after its first frame, as the GPU process of Chromium does: a seccomp filter hides the file system, refuses
 * most advice about memory, and ends the program at any system call that it does not know.
 *
 * usage: confined [FRAMES]    FRAMES more frames; without it, frames until standard input ends, and 20 more
 *
 * Says `confined` when it has closed the filter.
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES2/gl2.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORDS 16384

static const int allowed[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_close, SYS_dup, SYS_lseek, SYS_fstat, SYS_ftruncate, SYS_fcntl,
    SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk, SYS_ppoll, SYS_sendto, SYS_recvfrom, SYS_sendmsg,
    SYS_recvmsg, SYS_shutdown, SYS_futex, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime, SYS_gettimeofday,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_getpid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getrandom,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_clone, SYS_set_robust_list,
    SYS_setpriority, SYS_exit, SYS_exit_group,
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
};

static const struct {
    int call;
    int error;
} refused[] = {
    {SYS_openat, EACCES}, {SYS_faccessat, EACCES}, {SYS_readlinkat, EACCES}, {SYS_statx, EACCES},
    {SYS_getdents64, EACCES}, {SYS_unlinkat, EACCES}, {SYS_clone3, ENOSYS},
#ifdef SYS_open
    {SYS_open, EACCES}, {SYS_access, EACCES}, {SYS_stat, EACCES}, {SYS_lstat, EACCES}, {SYS_readlink, EACCES},
    {SYS_unlink, EACCES},
#endif
};

static struct sock_filter code[256];
static unsigned short length;

static void add(uint16_t operation, uint32_t value, uint8_t if_true, uint8_t if_false)
{
    must(length < sizeof code / sizeof *code, "the filter");
    code[length++] = (struct sock_filter){operation, if_true, if_false, value};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Answers `then` if the loaded word is `value`. */
static void if_is(uint32_t value, uint32_t then)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, then, 0, 0);
}

/* Answers for system call `call`: `then` if argument `argument` is one of `values`, otherwise `otherwise`. */
static void by_argument(int call, int argument, const uint32_t *values, int count, uint32_t then, uint32_t otherwise)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, (uint8_t)(2 * count + 2));
    load(offsetof(struct seccomp_data, args) + 8 * (size_t)argument);
    for (int at = 0; at < count; at++)
        if_is(values[at], then);
    add(BPF_RET | BPF_K, otherwise, 0, 0);
}

static void confine(void)
{
    const uint32_t names[] = {PR_SET_NAME, PR_GET_NAME}, advice[] = {MADV_NORMAL, MADV_DONTNEED, MADV_FREE};
    const uint32_t empty_path[] = {0x1000};
    load(offsetof(struct seccomp_data, nr));
    for (size_t at = 0; at < sizeof allowed / sizeof *allowed; at++)
        if_is((uint32_t)allowed[at], SECCOMP_RET_ALLOW);
    for (size_t at = 0; at < sizeof refused / sizeof *refused; at++)
        if_is((uint32_t)refused[at].call, SECCOMP_RET_ERRNO | (uint32_t)refused[at].error);
    by_argument(SYS_newfstatat, 3, empty_path, 1, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EACCES);
    by_argument(SYS_madvise, 2, advice, 3, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM);
    by_argument(SYS_prctl, 0, names, 2, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    struct sock_fprog filter = {length, code};
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
    must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0, "seccomp");
}

static GLuint shader(GLenum kind, const char *source)
{
    GLuint name = glCreateShader(kind);
    glShaderSource(name, 1, &source, NULL);
    glCompileShader(name);
    return name;
}

/* Uploads memory of many pages, and draws a point in a colour that depends on it. */
static void frame(const struct offscreen *o, GLint colour, long number)
{
    static float words[WORDS];
    words[2] = (float)(number % 16) / 16.0f;
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof words, words);
    glUniform4f(colour, words[2], 0.5f, 0.25f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_POINTS, 0, 1);
    offscreen_swap(o);
}

int main(int argc, char **argv)
{
    long frames = argc > 1 ? atol(argv[1]) : -1;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    struct offscreen o = offscreen_open(2);
    GLuint program = glCreateProgram(), buffer;
    glAttachShader(program, shader(GL_VERTEX_SHADER, "attribute vec2 at;\n"
                                                     "void main() { gl_Position = vec4(at, 0, 1); gl_PointSize = 40.0; }"));
    glAttachShader(program, shader(GL_FRAGMENT_SHADER, "uniform mediump vec4 colour;\n"
                                                       "void main() { gl_FragColor = colour; }"));
    glLinkProgram(program);
    glUseProgram(program);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, WORDS * sizeof(float), NULL, GL_DYNAMIC_DRAW);
    glEnableVertexAttribArray(0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    GLint colour = glGetUniformLocation(program, "colour");
    frame(&o, colour, 0);
    confine();
    printf("confined\n");
    struct pollfd input = {.fd = 0, .events = POLLIN};
    long number = 1;
    while (frames < 0 && poll(&input, 1, 1) == 0)
        frame(&o, colour, number++);
    for (long last = number + (frames < 0 ? 20 : frames); number < last; number++)
        frame(&o, colour, number);
    must(glGetError() == GL_NO_ERROR, "glGetError");
    offscreen_close(&o);
    return 0;
}
