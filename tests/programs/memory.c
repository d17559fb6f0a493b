/*
 * Passes large amounts of memory to glUniform4fv, which reads none of it without a current program, and
 * gets some back.
 *
 * usage: memory KIND [COUNT]
 *   same         COUNT uploads of one array of 1 MiB
 *   threads      the same by each of four threads, all of the same bytes
 *   distinct     COUNT uploads of 1 KiB, each of other bytes
 *   changing     COUNT uploads of an array that another thread never stops writing to
 *   large        two uploads of COUNT MiB
 *   unreadable   uploads of memory that is unmapped or ends too early: for a driver that reads hardly any
 *   text         a long name of a uniform, COUNT times
 *   written      names of textures from the driver, and back to it
 *   buffer       COUNT uploads of one array to a buffer, and one of 100 bytes of it
 *   fork         an upload, a child with the same upload, and an upload
 *   forever      an upload of the same 1 MiB and a swap, until it is killed
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <EGL/eglext.h>
#include <GLES2/gl2.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static struct offscreen shared;
static long count;

/* Bytes that the test recomputes: each 8 bytes are a counter mixed with the seed. */
static uint64_t *bytes_of(size_t size, uint64_t seed)
{
    uint64_t *words = malloc(size);
    must(words != NULL, "malloc");
    for (size_t i = 0; i < size / 8; i++)
        words[i] = (i + seed) * 0x9E3779B97F4A7C15u;
    return words;
}

static void upload(const void *data, size_t size)
{
    glUniform4fv(0, (GLsizei)(size / 16), data);
}

static void same(void)
{
    void *data = bytes_of(MIB, 1);
    for (long n = 0; n < count; n++)
        upload(data, MIB);
}

static void *same_on_thread(void *unused)
{
    (void)unused;
    struct offscreen o = shared;
    o.surface = offscreen_surface(&o);
    o.context = offscreen_context(&o, 2, EGL_NO_CONTEXT);
    must(eglMakeCurrent(o.display, o.surface, o.surface, o.context), "eglMakeCurrent");
    same();
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        must(pthread_create(&all[i], NULL, same_on_thread, NULL) == 0, "pthread_create");
    for (int i = 0; i < 4; i++)
        must(pthread_join(all[i], NULL) == 0, "pthread_join");
}

static void distinct(void)
{
    for (long n = 0; n < count; n++) {
        void *data = bytes_of(1024, (uint64_t)n << 32);
        upload(data, 1024);
        free(data);
    }
}

static volatile int stop;

static void *change(void *data)
{
    volatile uint64_t *words = data;
    for (uint64_t n = 1; !stop; n++)
        for (size_t i = 0; i < MIB / 8; i += 61)
            words[i] = n * 0x9E3779B97F4A7C15u + i;
    return NULL;
}

static void changing(void)
{
    pthread_t thread;
    void *data = bytes_of(MIB, 1);
    must(pthread_create(&thread, NULL, change, data) == 0, "pthread_create");
    for (long n = 0; n < count; n++)
        upload(data, MIB);
    stop = 1;
    must(pthread_join(thread, NULL) == 0, "pthread_join");
}

static void large(void)
{
    size_t size = (size_t)count * MIB;
    void *data = bytes_of(size, 3);
    upload(data, size);
    upload(data, size);
}

static void unreadable(void)
{
    char *memory = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED, "mmap");
    memset(memory, 7, 4 * MIB);
    must(mprotect(memory + MIB, MIB, PROT_NONE) == 0, "mprotect");
    errno = 12345;
    upload(memory + MIB, MIB);
    upload(memory, MIB + 4096);
    upload(memory + 2 * MIB - 16, 1024);
    upload(memory + 2 * MIB, 2 * MIB);
    upload((void *)16, MIB);
    upload((void *)(UINTPTR_MAX - 4095), MIB);
    upload(memory + MIB, 96);
    upload(memory + MIB - 48, 96);
    upload(memory + MIB - 48, 48);
    upload((void *)16, 16);
    glGetUniformLocation(1, memory + MIB - 5);
    memory[MIB - 1] = 0;
    glGetUniformLocation(1, memory + MIB - 5);
    must(errno == 12345, "errno");
}

static void text(void)
{
    static char name[5000];
    memset(name, 'x', sizeof name - 1);
    for (long n = 0; n < count; n++)
        glGetUniformLocation(0, name);
}

static void written(void)
{
    GLuint names[200];
    glGenTextures(200, names);
    glDeleteTextures(200, names);
}

static void buffer(void)
{
    GLuint name;
    char *data = (char *)bytes_of(MIB, 1);
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    for (long n = 0; n < count; n++)
        glBufferData(GL_ARRAY_BUFFER, MIB, data, GL_STATIC_DRAW);
    glBufferSubData(GL_ARRAY_BUFFER, 8, 100, data + 8);
}

static void in_child(void)
{
    PFNEGLQUERYDEVICESEXTPROC query =
        (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    EGLDeviceEXT device;
    EGLint devices = 0;
    must(query && query(1, &device, &devices) && devices == 1, "eglQueryDevicesEXT");
    /* The parent's display has threads that did not survive the fork. */
    struct offscreen o = {.display = eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, device, NULL)};
    must(eglInitialize(o.display, NULL, NULL), "eglInitialize in the child");
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                             EGL_OPENGL_ES2_BIT, EGL_NONE};
    must(eglChooseConfig(o.display, wanted, &o.config, 1, &devices) && devices, "eglChooseConfig");
    o.surface = offscreen_surface(&o);
    o.context = offscreen_context(&o, 2, EGL_NO_CONTEXT);
    must(eglMakeCurrent(o.display, o.surface, o.surface, o.context), "eglMakeCurrent");
    same();
    _exit(0);
}

static void forks(void)
{
    int status = 0;
    same();
    pid_t child = fork();
    if (child == 0)
        in_child();
    must(waitpid(child, &status, 0) == child && status == 0, "the child");
    same();
}

static void forever(const struct offscreen *o)
{
    void *data = bytes_of(MIB, 1);
    for (;;) {
        upload(data, MIB);
        offscreen_swap(o);
    }
}

int main(int argc, char **argv)
{
    must(argc == 2 || argc == 3, "usage: memory KIND [COUNT]");
    const char *kind = argv[1];
    count = argc == 3 ? atol(argv[2]) : 1;
    if (!strcmp(kind, "threads")) {
        shared = offscreen_prepare(2);
        threads();
        return 0;
    }
    struct offscreen o = offscreen_open(2);
    if (!strcmp(kind, "same"))
        same();
    else if (!strcmp(kind, "distinct"))
        distinct();
    else if (!strcmp(kind, "changing"))
        changing();
    else if (!strcmp(kind, "large"))
        large();
    else if (!strcmp(kind, "unreadable"))
        unreadable();
    else if (!strcmp(kind, "text"))
        text();
    else if (!strcmp(kind, "written"))
        written();
    else if (!strcmp(kind, "buffer"))
        buffer();
    else if (!strcmp(kind, "fork"))
        forks();
    else if (!strcmp(kind, "forever"))
        forever(&o);
    else
        must(0, kind);
    return 0;
}
