/*
 * A driver that draws nothing and misbehaves in chosen ways: libEGL.so.1 and libGLESv2.so.2 in one.
 *
 * It hands the last deleted name out first, as real drivers may and Mesa does not; a context that
 * is current on one thread can't be made current on another. Built with -DUNCOUNTED it counts
 * nothing, so that a call costs next to nothing.
 *
 * Environment:
 *   FAKE_DRIVER_PAGE      a file that gets the counts of page.h; readable after a SIGKILL
 *   FAKE_DRIVER_CRASH_AT  the process gets SIGSEGV in its Nth call to glDrawArrays
 *   FAKE_DRIVER_REENTER   glFlush calls glIsEnabled through the exported symbol, as drivers do
 *   FAKE_DRIVER_FINISH    iterations of an empty loop in glFinish (default 0)
 *   FAKE_DRIVER_SLEEP     microseconds that glFinish sleeps (default 0)
 *   FAKE_DRIVER_LINGER    iterations of an empty loop between the moment when a name or a context is free
 *                         for others, and the return of the command that freed it (default 0)
 */
#define _GNU_SOURCE
#define EGL_EGL_PROTOTYPES 1
#define GL_GLEXT_PROTOTYPES 1
#include "page.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
#include <GLES2/gl2ext.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "functions.h"

enum function {
#define NUMBER(name) F_##name,
    FUNCTIONS(NUMBER)
#undef NUMBER
    FUNCTION_COUNT
};

#define FAST __thread __attribute__((tls_model("initial-exec")))

/* ---- counting ---------------------------------------------------------------------------- */

#ifdef UNCOUNTED

#define ENTER(name)

#else

static struct page *page;
static FAST struct row *mine;
static FAST int depth;

static struct page *open_page(void)
{
    static const char *const names[] = {
#define QUOTE(name) #name,
        FUNCTIONS(QUOTE)
#undef QUOTE
    };
    const char *path = getenv("FAKE_DRIVER_PAGE");
    int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    if (file >= 0 && ftruncate(file, sizeof(struct page)) != 0)
        abort();
    struct page *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
    if (p == MAP_FAILED)
        abort();
    if (file >= 0)
        close(file);
    for (int i = 0; i < FUNCTION_COUNT; i++)
        strncpy(p->names[i], names[i], NAME_BYTES - 1);
    p->functions = FUNCTION_COUNT;
    p->pid = (uint64_t)getpid();
    p->magic = PAGE_MAGIC;
    return p;
}

__attribute__((constructor)) static void start_counting(void) { page = open_page(); }

static __attribute__((noinline, cold)) struct row *claim_row(void)
{
    uint64_t index = __atomic_fetch_add(&page->threads, 1, __ATOMIC_RELAXED);
    if (index >= ROWS_MAX)
        abort();
    page->rows[index].tid = (uint64_t)syscall(SYS_gettid);
    return mine = &page->rows[index];
}

/* A call from inside the driver is not counted: the program did not make it. */
static inline struct row *entered(enum function f)
{
    struct row *row = mine ? mine : claim_row();
    if (depth++ > 0)
        return NULL;
    row->counts[f]++;
    __atomic_store_n(&row->current, (uint64_t)f + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&row->calls, row->calls + 1, __ATOMIC_RELEASE);
    return row;
}

static inline void returned(struct row **row)
{
    depth--;
    if (*row) {
        __atomic_store_n(&(*row)->current, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&(*row)->returned, (*row)->returned + 1, __ATOMIC_RELEASE);
    }
}

#define ENTER(name)                                                                                \
    __attribute__((cleanup(returned), unused)) struct row *in_driver = entered(F_##name)

#endif

/* ---- settings ------------------------------------------------------------------------------ */

static unsigned long setting(const char *name)
{
    const char *value = getenv(name);
    return value ? strtoul(value, NULL, 0) : 0;
}

static unsigned long crash_at, finish_turns, sleep_us, linger_turns;
static int reenter;

__attribute__((constructor)) static void read_settings(void)
{
    crash_at = setting("FAKE_DRIVER_CRASH_AT");
    finish_turns = setting("FAKE_DRIVER_FINISH");
    sleep_us = setting("FAKE_DRIVER_SLEEP");
    linger_turns = setting("FAKE_DRIVER_LINGER");
    reenter = setting("FAKE_DRIVER_REENTER") != 0;
}

static void loop(unsigned long turns)
{
    for (volatile unsigned long i = 0; i < turns; i++)
        ;
}

/* ---- EGL ----------------------------------------------------------------------------------- */

struct context {
    atomic_uintptr_t owner; /* the thread in which it is current */
    EGLint version;
};

static FAST char self; /* its address names the thread */
static FAST struct context *current_context;
static FAST EGLSurface current_draw, current_read;
static FAST EGLint egl_error = EGL_SUCCESS;
static FAST EGLenum bound_api = EGL_OPENGL_ES_API;

static EGLBoolean fail(EGLint error)
{
    egl_error = error;
    return EGL_FALSE;
}

#define DISPLAY ((EGLDisplay)0x1000)
#define CONFIG ((EGLConfig)0x2000)

EGLDisplay eglGetDisplay(EGLNativeDisplayType native)
{
    ENTER(eglGetDisplay);
    (void)native;
    return DISPLAY;
}

EGLDisplay eglGetPlatformDisplay(EGLenum platform, void *native, const EGLAttrib *attributes)
{
    ENTER(eglGetPlatformDisplay);
    (void)platform, (void)native, (void)attributes;
    return DISPLAY;
}

EGLBoolean eglInitialize(EGLDisplay display, EGLint *major, EGLint *minor)
{
    ENTER(eglInitialize);
    (void)display;
    if (major)
        *major = 1;
    if (minor)
        *minor = 5;
    return EGL_TRUE;
}

EGLBoolean eglTerminate(EGLDisplay display)
{
    ENTER(eglTerminate);
    (void)display;
    return EGL_TRUE;
}

EGLBoolean eglBindAPI(EGLenum api)
{
    ENTER(eglBindAPI);
    bound_api = api;
    return EGL_TRUE;
}

EGLenum eglQueryAPI(void)
{
    ENTER(eglQueryAPI);
    return bound_api;
}

EGLBoolean eglChooseConfig(EGLDisplay display, const EGLint *wanted, EGLConfig *configs,
                           EGLint size, EGLint *count)
{
    ENTER(eglChooseConfig);
    (void)display, (void)wanted;
    if (configs && size > 0)
        configs[0] = CONFIG;
    *count = 1;
    return EGL_TRUE;
}

EGLBoolean eglGetConfigAttrib(EGLDisplay display, EGLConfig config, EGLint name, EGLint *value)
{
    ENTER(eglGetConfigAttrib);
    (void)display, (void)config;
    *value = name == EGL_CONFIG_ID ? 1 : 8;
    return EGL_TRUE;
}

static EGLSurface new_surface(void)
{
    static atomic_uintptr_t next = 0x3000;
    return (EGLSurface)atomic_fetch_add(&next, 16);
}

EGLSurface eglCreatePbufferSurface(EGLDisplay display, EGLConfig config, const EGLint *attributes)
{
    ENTER(eglCreatePbufferSurface);
    (void)display, (void)config, (void)attributes;
    return new_surface();
}

EGLSurface eglCreateWindowSurface(EGLDisplay display, EGLConfig config, EGLNativeWindowType window,
                                  const EGLint *attributes)
{
    ENTER(eglCreateWindowSurface);
    (void)display, (void)config, (void)window, (void)attributes;
    return new_surface();
}

EGLBoolean eglDestroySurface(EGLDisplay display, EGLSurface surface)
{
    ENTER(eglDestroySurface);
    (void)display, (void)surface;
    return EGL_TRUE;
}

EGLBoolean eglQuerySurface(EGLDisplay display, EGLSurface surface, EGLint name, EGLint *value)
{
    ENTER(eglQuerySurface);
    (void)display, (void)surface;
    *value = name == EGL_WIDTH || name == EGL_HEIGHT ? 64 : 0;
    return EGL_TRUE;
}

EGLContext eglCreateContext(EGLDisplay display, EGLConfig config, EGLContext share,
                            const EGLint *attributes)
{
    ENTER(eglCreateContext);
    (void)display, (void)config, (void)share;
    struct context *context = calloc(1, sizeof *context);
    context->version = 1;
    for (; attributes && *attributes != EGL_NONE; attributes += 2)
        if (*attributes == EGL_CONTEXT_CLIENT_VERSION)
            context->version = attributes[1];
    return context;
}

EGLBoolean eglDestroyContext(EGLDisplay display, EGLContext context)
{
    ENTER(eglDestroyContext);
    (void)display, (void)context; /* not freed: a current context lives on, and memory is cheap */
    return EGL_TRUE;
}

EGLBoolean eglMakeCurrent(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext wanted)
{
    ENTER(eglMakeCurrent);
    struct context *context = wanted;
    uintptr_t nobody = 0;
    (void)display;
    if (context != current_context) {
        if (context && !atomic_compare_exchange_strong(&context->owner, &nobody, (uintptr_t)&self))
            return fail(EGL_BAD_ACCESS);
        if (current_context) {
            atomic_store(&current_context->owner, 0);
            loop(linger_turns);
        }
    }
    current_context = context;
    current_draw = draw;
    current_read = read;
    return EGL_TRUE;
}

EGLContext eglGetCurrentContext(void)
{
    ENTER(eglGetCurrentContext);
    return current_context;
}

EGLSurface eglGetCurrentSurface(EGLint which)
{
    ENTER(eglGetCurrentSurface);
    return which == EGL_DRAW ? current_draw : current_read;
}

EGLDisplay eglGetCurrentDisplay(void)
{
    ENTER(eglGetCurrentDisplay);
    return current_context ? DISPLAY : EGL_NO_DISPLAY;
}

EGLBoolean eglQueryContext(EGLDisplay display, EGLContext context, EGLint name, EGLint *value)
{
    ENTER(eglQueryContext);
    (void)display;
    switch (name) {
    case EGL_CONTEXT_CLIENT_TYPE:
        *value = EGL_OPENGL_ES_API;
        return EGL_TRUE;
    case EGL_CONTEXT_CLIENT_VERSION:
        *value = ((struct context *)context)->version;
        return EGL_TRUE;
    default:
        *value = 0;
        return EGL_TRUE;
    }
}

EGLBoolean eglSwapBuffers(EGLDisplay display, EGLSurface surface)
{
    ENTER(eglSwapBuffers);
    (void)display, (void)surface;
    return EGL_TRUE;
}

EGLBoolean eglSwapInterval(EGLDisplay display, EGLint interval)
{
    ENTER(eglSwapInterval);
    (void)display, (void)interval;
    return EGL_TRUE;
}

EGLBoolean eglReleaseThread(void)
{
    ENTER(eglReleaseThread);
    if (current_context)
        atomic_store(&current_context->owner, 0);
    current_context = NULL;
    return EGL_TRUE;
}

EGLBoolean eglWaitClient(void)
{
    ENTER(eglWaitClient);
    return EGL_TRUE;
}

EGLint eglGetError(void)
{
    ENTER(eglGetError);
    EGLint error = egl_error;
    egl_error = EGL_SUCCESS;
    return error;
}

const char *eglQueryString(EGLDisplay display, EGLint name)
{
    ENTER(eglQueryString);
    (void)display;
    switch (name) {
    case EGL_VENDOR:
        return "fake";
    case EGL_VERSION:
        return "1.5 fake";
    case EGL_CLIENT_APIS:
        return "OpenGL_ES";
    default:
        return "";
    }
}

__eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name)
{
    ENTER(eglGetProcAddress);
    static void *driver;
    Dl_info here;
    if (!driver && dladdr((void *)new_surface, &here))
        driver = dlopen(here.dli_fname, RTLD_NOW | RTLD_LOCAL);
    return driver ? (__eglMustCastToProperFunctionPointerType)dlsym(driver, name) : NULL;
}

/* ---- object names: the last deleted is the next handed out --------------------------------- */

#define NAMES_MAX 65536

struct names {
    pthread_mutex_t lock;
    GLuint next;
    GLuint freed_count;
    GLuint freed[NAMES_MAX];
    unsigned char live[NAMES_MAX];
};

static struct names textures = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct names buffers = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct names others = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void make_names(struct names *n, GLsizei count, GLuint *out)
{
    pthread_mutex_lock(&n->lock);
    for (GLsizei i = 0; i < count; i++) {
        out[i] = n->freed_count ? n->freed[--n->freed_count] : ++n->next;
        if (out[i] >= NAMES_MAX)
            abort();
        n->live[out[i]] = 1;
    }
    pthread_mutex_unlock(&n->lock);
}

static void free_names(struct names *n, GLsizei count, const GLuint *names)
{
    pthread_mutex_lock(&n->lock);
    for (GLsizei i = 0; i < count; i++)
        if (names[i] && names[i] < NAMES_MAX && n->live[names[i]]) {
            n->live[names[i]] = 0;
            n->freed[n->freed_count++] = names[i];
        }
    pthread_mutex_unlock(&n->lock);
    loop(linger_turns);
}

static GLboolean is_name(struct names *n, GLuint name)
{
    pthread_mutex_lock(&n->lock);
    GLboolean live = name && name < NAMES_MAX && n->live[name];
    pthread_mutex_unlock(&n->lock);
    return live;
}

#define OBJECTS(Kind, names)                                                                       \
    void glGen##Kind##s(GLsizei count, GLuint *out)                                                \
    {                                                                                              \
        ENTER(glGen##Kind##s);                                                                     \
        make_names(&names, count, out);                                                            \
    }                                                                                              \
    void glDelete##Kind##s(GLsizei count, const GLuint *gone)                                      \
    {                                                                                              \
        ENTER(glDelete##Kind##s);                                                                  \
        free_names(&names, count, gone);                                                           \
    }                                                                                              \
    GLboolean glIs##Kind(GLuint name)                                                              \
    {                                                                                              \
        ENTER(glIs##Kind);                                                                         \
        return is_name(&names, name);                                                              \
    }

OBJECTS(Texture, textures)
OBJECTS(Buffer, buffers)
OBJECTS(Framebuffer, others)
OBJECTS(Renderbuffer, others)
OBJECTS(VertexArray, others)

/* ---- commands that only are counted --------------------------------------------------------- */

#define QUIET(name, parameters)                                                                    \
    void name parameters                                                                           \
    {                                                                                              \
        ENTER(name);                                                                               \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"

QUIET(glActiveTexture, (GLenum unit))
QUIET(glAttachShader, (GLuint program, GLuint shader))
QUIET(glBindBuffer, (GLenum target, GLuint name))
QUIET(glBindFramebuffer, (GLenum target, GLuint name))
QUIET(glBindRenderbuffer, (GLenum target, GLuint name))
QUIET(glBindTexture, (GLenum target, GLuint name))
QUIET(glBindVertexArray, (GLuint name))
QUIET(glBlendFunc, (GLenum source, GLenum destination))
QUIET(glBufferData, (GLenum target, GLsizeiptr size, const void *data, GLenum usage))
QUIET(glBufferSubData, (GLenum target, GLintptr offset, GLsizeiptr size, const void *data))
/* Desktop OpenGL's, which a context of this driver takes, too. */
QUIET(glBegin, (GLenum mode))
QUIET(glColor3f, (GLfloat r, GLfloat g, GLfloat b))
QUIET(glEnd, (void))
QUIET(glVertex3f, (GLfloat x, GLfloat y, GLfloat z))

QUIET(glClear, (GLbitfield mask))
QUIET(glClearColor, (GLfloat r, GLfloat g, GLfloat b, GLfloat a))
QUIET(glCompileShader, (GLuint shader))
QUIET(glDeleteProgram, (GLuint program))
QUIET(glDeleteShader, (GLuint shader))
QUIET(glDepthFunc, (GLenum function))
QUIET(glDisable, (GLenum capability))
QUIET(glDisableVertexAttribArray, (GLuint index))
QUIET(glDrawElements, (GLenum mode, GLsizei count, GLenum type, const void *indices))
QUIET(glEnable, (GLenum capability))
QUIET(glEnableVertexAttribArray, (GLuint index))
QUIET(glLineWidth, (GLfloat width))
QUIET(glLinkProgram, (GLuint program))
QUIET(glPixelStorei, (GLenum name, GLint value))
QUIET(glScissor, (GLint x, GLint y, GLsizei width, GLsizei height))
QUIET(glShaderSource, (GLuint shader, GLsizei count, const GLchar *const *strings, const GLint *lengths))
QUIET(glTexParameteri, (GLenum target, GLenum name, GLint value))
QUIET(glUniform1f, (GLint location, GLfloat x))
QUIET(glUniform1i, (GLint location, GLint x))
QUIET(glUniform2f, (GLint location, GLfloat x, GLfloat y))
QUIET(glUniform2i, (GLint location, GLint x, GLint y))
QUIET(glUniform3f, (GLint location, GLfloat x, GLfloat y, GLfloat z))
QUIET(glUniform4f, (GLint location, GLfloat x, GLfloat y, GLfloat z, GLfloat w))
QUIET(glUniform4fv, (GLint location, GLsizei count, const GLfloat *value))
QUIET(glUniformMatrix4fv, (GLint location, GLsizei count, GLboolean transpose, const GLfloat *value))
QUIET(glUseProgram, (GLuint program))
QUIET(glVertexAttribPointer, (GLuint index, GLint size, GLenum type, GLboolean normalized, GLsizei stride, const void *pointer))
QUIET(glViewport, (GLint x, GLint y, GLsizei width, GLsizei height))

/* ---- commands that answer, or misbehave ------------------------------------------------------ */

GLuint glCreateProgram(void)
{
    ENTER(glCreateProgram);
    GLuint name;
    make_names(&others, 1, &name);
    return name;
}

GLuint glCreateShader(GLenum kind)
{
    ENTER(glCreateShader);
    GLuint name;
    (void)kind;
    make_names(&others, 1, &name);
    return name;
}

void glGetShaderiv(GLuint shader, GLenum name, GLint *value)
{
    ENTER(glGetShaderiv);
    *value = name == GL_COMPILE_STATUS;
}

void glGetProgramiv(GLuint program, GLenum name, GLint *value)
{
    ENTER(glGetProgramiv);
    *value = name == GL_LINK_STATUS;
}

GLint glGetUniformLocation(GLuint program, const GLchar *name)
{
    ENTER(glGetUniformLocation);
    return name[0];
}

GLint glGetAttribLocation(GLuint program, const GLchar *name)
{
    ENTER(glGetAttribLocation);
    return name[0] & 7;
}

GLenum glGetError(void)
{
    ENTER(glGetError);
    return GL_NO_ERROR;
}

GLboolean glIsEnabled(GLenum capability)
{
    ENTER(glIsEnabled);
    return capability == GL_DITHER;
}

const GLubyte *glGetString(GLenum name)
{
    ENTER(glGetString);
    switch (name) {
    case GL_VERSION:
        return (const GLubyte *)"OpenGL ES 3.2 fake";
    case GL_SHADING_LANGUAGE_VERSION:
        return (const GLubyte *)"OpenGL ES GLSL ES 3.20";
    case GL_EXTENSIONS:
        return (const GLubyte *)"GL_KHR_debug";
    default:
        return (const GLubyte *)"fake";
    }
}

const GLubyte *glGetStringi(GLenum name, GLuint index)
{
    ENTER(glGetStringi);
    return name == GL_EXTENSIONS && index == 0 ? (const GLubyte *)"GL_KHR_debug" : NULL;
}

void glGetIntegerv(GLenum name, GLint *value)
{
    ENTER(glGetIntegerv);
    switch (name) {
    case GL_VIEWPORT:
    case GL_SCISSOR_BOX:
    case GL_MAX_VIEWPORT_DIMS:
        memset(value, 0, (name == GL_MAX_VIEWPORT_DIMS ? 2 : 4) * sizeof *value);
        return;
    case GL_NUM_EXTENSIONS:
        *value = 1;
        return;
    case GL_MAJOR_VERSION:
        *value = 3;
        return;
    case GL_MINOR_VERSION:
        *value = 2;
        return;
    case GL_MAX_VERTEX_ATTRIBS:
        *value = 16;
        return;
    default:
        *value = 0;
    }
}

void glReadPixels(GLint x, GLint y, GLsizei width, GLsizei height, GLenum format, GLenum type,
                  void *pixels)
{
    ENTER(glReadPixels);
    memset(pixels, 0, 4 * (size_t)width * (size_t)height);
}

static atomic_ulong draws;

void glDrawArrays(GLenum mode, GLint first, GLsizei count)
{
    ENTER(glDrawArrays);
    if (crash_at && atomic_fetch_add(&draws, 1) + 1 == crash_at)
        raise(SIGSEGV);
}

void glFinish(void)
{
    ENTER(glFinish);
    loop(finish_turns);
    if (sleep_us > 0) {
        struct timespec rest = {(time_t)(sleep_us / 1000000), (long)(sleep_us % 1000000 * 1000)};
        nanosleep(&rest, NULL);
    }
}

void glFlush(void)
{
    ENTER(glFlush);
    GLboolean (*exported)(GLenum) = reenter ? (GLboolean(*)(GLenum))dlsym(RTLD_DEFAULT, "glIsEnabled") : NULL;
    if (exported && exported(GL_DITHER) != GL_TRUE)
        abort();
}

/* The callback runs inside the command that caused it, on its thread. */
static GLDEBUGPROC debug_callback;
static const void *debug_parameter;

void glDebugMessageCallbackKHR(GLDEBUGPROCKHR callback, const void *parameter)
{
    ENTER(glDebugMessageCallbackKHR);
    debug_callback = callback;
    debug_parameter = parameter;
}

void glDebugMessageInsertKHR(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length,
                             const GLchar *text)
{
    ENTER(glDebugMessageInsertKHR);
    if (debug_callback)
        debug_callback(source, type, id, severity, length < 0 ? (GLsizei)strlen(text) : length, text,
                       debug_parameter);
}
