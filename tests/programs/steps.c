/*
 * Runs programs of OpenGL ES or of OpenGL that arrive on standard input, one step a line, and prints every answer.
 *
 * A line is `THREAD [RESULT] COMMAND ARGUMENT...`; tests/src/search/program.rs has the table of arguments. Names of
 * constants and of shaders are numbers and hexadecimal here. One thread runs at a time: the thread that a line names.
 *
 *   @pause  says `pause`, and calls a command that needs no context again and again until standard input has a line
 *   @end    says `end`, waits for a line as `@pause` does, and destroys what the program has left
 *   @rest   is `@end` without calls
 *
 * A step with answers prints `NUMBER: ANSWER...`. Names of objects are printed as the step's own words for them, since
 * the driver chooses the names.
 */
#define _GNU_SOURCE
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
#include <GLES2/gl2ext.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KINDS 26
#define OBJECTS 4096
#define THREADS 4
#define ARGUMENTS 16
#define SHOWN_WHOLE 16
/* Commands that the programs of one process may have. The search has about 600. */
#define KNOWN_MAX 2048

/* Contexts, surfaces and images are destroyed at the end. */
enum { CONTEXT = 'c' - 'a', SURFACE = 's' - 'a', SYNC = 'k' - 'a' };

static EGLDisplay display;
static EGLConfig config;
/* Value of each object: a name, a handle or an address. */
static uint64_t objects[KINDS][OBJECTS];
/* All images that were made: a program may forget one, whose storage the next program would find. */
static EGLImage images[OBJECTS];
static int made_images;
/* Whose names they are: the context, or the first context of its share group. */
static EGLContext owners[KINDS][OBJECTS];
static EGLContext first_of_group[OBJECTS];
static int defined[KINDS];
static long step;

/* Memory that the program's commands may still point at. */
static struct memory {
    struct memory *next;
    uint64_t bytes[];
} *memories;

static void *new_memory(size_t size)
{
    struct memory *memory = calloc(1, sizeof *memory + size + 8);
    memory->next = memories;
    memories = memory;
    return memory->bytes;
}

static void must(int done, const char *what, const char *word)
{
    if (!done) {
        fprintf(stderr, "step %ld: %s: %s\n", step, what, word);
        exit(2);
    }
}

static void fill(unsigned char *to, size_t size, uint64_t seed)
{
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (size_t at = 0; at < size; at++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        to[at] = (unsigned char)(state * 0x2545F4914F6CDD1Du >> 56);
    }
}

static void print_bytes(const unsigned char *bytes, size_t size)
{
    if (size <= SHOWN_WHOLE) {
        printf(" ");
        for (size_t at = 0; at < size; at++)
            printf("%02x", bytes[at]);
        return;
    }
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t at = 0; at < size; at++)
        hash = (hash ^ bytes[at]) * 0x100000001B3u;
    printf(" #%016llx", (unsigned long long)hash);
}

/* The object `b12` of a word; null if the word is no object. */
static uint64_t *object(const char *word)
{
    char *end;
    if (word[0] < 'a' || word[0] > 'z' || word[1] < '0' || word[1] > '9')
        return NULL;
    long number = strtol(word + 1, &end, 10);
    if (number >= OBJECTS || (*end != 0 && *end != ','))
        return NULL;
    int kind = word[0] - 'a';
    if (number >= defined[kind])
        defined[kind] = (int)number + 1;
    return &objects[kind][number];
}

/* The owner of names that the current context makes. Framebuffers, vertex arrays, pipelines, feedbacks and queries
 * belong to contexts. */
static EGLContext owner_of(char kind)
{
    EGLContext current = eglGetCurrentContext();
    for (int at = 0; strchr("fvlxq", kind) == NULL && at < defined[CONTEXT]; at++)
        if (objects[CONTEXT][at] == (uint64_t)current)
            return first_of_group[at];
    return current;
}

static void define(uint64_t *object, uint64_t value)
{
    size_t at = (size_t)(object - objects[0]);
    *object = value;
    owners[at / OBJECTS][at % OBJECTS] = owner_of((char)('a' + at / OBJECTS));
}

/* Prints the latest object of a kind that has this name. */
static void print_name(char kind, uint64_t value)
{
    int at = defined[kind - 'a'];
    EGLContext owner = owner_of(kind);
    while (value != 0 && --at >= 0)
        if (objects[kind - 'a'][at] == value && owners[kind - 'a'][at] == owner) {
            printf(" %c%d", kind, at);
            return;
        }
    printf(" %lld", (long long)value);
}

static int64_t number(const char *word)
{
    const uint64_t *named = object(word);
    return named ? (int64_t)*named : strtoll(word, NULL, 0);
}

/* Calls `function` in one way for all signatures: the calling conventions of x86-64 and AArch64 pass integers and
 * floating-point numbers in registers of their own, and what is left of the integers on the stack. A float is the lower
 * half of a register. */
static uint64_t call(void *function, const int64_t *i, const double *f)
{
    typedef uint64_t (*any)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, double, double, double,
                            double, double, double, double, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                            int64_t, int64_t);
    return ((any)function)(i[0], i[1], i[2], i[3], i[4], i[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], i[6],
                           i[7], i[8], i[9], i[10], i[11], i[12], i[13], i[14]);
}

static void *function_of(const char *name)
{
    static struct known {
        char name[64];
        void *function;
    } known[KNOWN_MAX];
    static int count;
    for (int at = 0; at < count; at++)
        if (strcmp(known[at].name, name) == 0)
            return known[at].function;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL)
        found = (void *)eglGetProcAddress(name);
    must(found != NULL, "no such command", name);
    must(count < KNOWN_MAX && strlen(name) < 64, "no room for command", name);
    strcpy(known[count].name, name);
    known[count].function = found;
    return known[count++].function;
}

struct output {
    /* `n`: a new name, `k`: a name to print, `o`: bytes to print */
    char how;
    char kind;
    unsigned char *bytes;
    size_t size;
    uint64_t *to;
};

static char *unhex(const char *hex)
{
    size_t length = strlen(hex) / 2;
    char *text = new_memory(length + 1);
    for (size_t at = 0; at < length; at++) {
        unsigned byte;
        sscanf(hex + 2 * at, "%2x", &byte);
        text[at] = (char)byte;
    }
    return text;
}

static int has(const char *word, const char *prefix, const char **rest)
{
    size_t length = strlen(prefix);
    *rest = word + length;
    return strncmp(word, prefix, length) == 0;
}

/* An array of `size`-byte numbers from words with commas. */
static void *array(const char *words, char how)
{
    int count = 1;
    for (const char *at = words; *at; at++)
        count += *at == ',';
    int32_t *numbers = new_memory((size_t)count * 8);
    char **texts = (char **)numbers;
    for (int at = 0; at < count; at++) {
        size_t length = strcspn(words, ",");
        char word[128];
        must(length < sizeof word, "too long", words);
        memcpy(word, words, length);
        word[length] = 0;
        if (how == 'f')
            ((float *)numbers)[at] = strtof(word, NULL);
        else if (how == 'd')
            ((double *)numbers)[at] = strtod(word, NULL);
        else if (how == 't')
            texts[at] = strcpy(new_memory(length + 1), word);
        else
            numbers[at] = (int32_t)number(word);
        words += length + 1;
    }
    return numbers;
}

/* Adds an argument; returns 1 if it is a floating-point number. */
static int argument(const char *word, int64_t *integer, double *real, struct output *output)
{
    const char *rest;
    output->how = 0;
    if (strcmp(word, "display") == 0)
        *integer = (int64_t)display;
    else if (strcmp(word, "config") == 0)
        *integer = (int64_t)config;
    else if (has(word, "new:", &rest)) {
        *output = (struct output){'n', 0, new_memory(8), 4, object(rest)};
        *integer = (int64_t)output->bytes;
    } else if (has(word, "name:", &rest)) {
        *output = (struct output){'k', rest[0], new_memory(8), 4, NULL};
        *integer = (int64_t)output->bytes;
    } else if (has(word, "out:", &rest)) {
        size_t size = strtoul(rest, NULL, 0);
        *output = (struct output){'o', 0, new_memory(size), size, NULL};
        *integer = (int64_t)output->bytes;
    } else if (has(word, "bytes:", &rest)) {
        char *seed;
        size_t size = strtoul(rest, &seed, 0);
        unsigned char *bytes = new_memory(size);
        fill(bytes, size, strtoull(seed + 1, NULL, 0));
        *integer = (int64_t)bytes;
    } else if (has(word, "ints:", &rest))
        *integer = (int64_t)array(rest, 'i');
    else if (has(word, "floats:", &rest))
        *integer = (int64_t)array(rest, 'f');
    else if (has(word, "doubles:", &rest))
        *integer = (int64_t)array(rest, 'd');
    else if (has(word, "texts:", &rest))
        *integer = (int64_t)array(rest, 't');
    else if (has(word, "text:", &rest))
        *integer = (int64_t)strcpy(new_memory(strlen(rest) + 1), rest);
    else if (has(word, "hex:", &rest)) {
        char **texts = new_memory(sizeof *texts);
        texts[0] = unhex(rest);
        *integer = (int64_t)texts;
    } else if (strncmp(word, "0x", 2) != 0 && word[strlen(word) - 1] == 'f' && object(word) == NULL) {
        float single = strtof(word, NULL);
        memcpy(real, &single, sizeof single);
        return 1;
    } else if (strncmp(word, "0x", 2) != 0 && word[strlen(word) - 1] == 'd' && object(word) == NULL) {
        *real = strtod(word, NULL);
        return 1;
    } else
        *integer = number(word);
    return 0;
}

/* Steps that are no commands: `@name b1 77`, `@write p1 OFFSET SIZE SEED`, `@read p1 OFFSET SIZE`. */
static void own_step(char **words)
{
    uint64_t *at = object(words[1]);
    must(at != NULL, "no object", words[1]);
    if (strcmp(words[0], "@name") == 0) {
        define(at, strtoull(words[2], NULL, 0));
        return;
    }
    unsigned char *memory = (unsigned char *)*at;
    if (memory == NULL)
        return;
    memory += strtoul(words[2], NULL, 0);
    size_t size = strtoul(words[3], NULL, 0);
    if (strcmp(words[0], "@write") == 0)
        fill(memory, size, strtoull(words[4], NULL, 0));
    else {
        printf("%ld:", step);
        print_bytes(memory, size);
        printf("\n");
    }
}

static void run_step(char *line)
{
    char *words[ARGUMENTS + 3] = {NULL}, *next;
    int count = 0;
    for (char *word = strtok_r(line, " \n", &next); word; word = strtok_r(NULL, " \n", &next)) {
        must(count < ARGUMENTS + 2, "too many words", word);
        words[count++] = word;
    }
    char **at = words, *result = NULL;
    must(count > 0, "no command", line);
    if (at[0][0] == '@') {
        own_step(at);
        return;
    }
    if (at[0][0] == '?' || at[0][strlen(at[0]) - 1] == '=')
        result = *at++;
    void *function = function_of(*at++);
    int64_t integers[15] = {0};
    double reals[8] = {0};
    struct output outputs[ARGUMENTS];
    int used = 0, floats = 0, written = 0;
    for (; *at; at++) {
        must(used < 15 && floats < 8, "too many arguments", *at);
        if (argument(*at, &integers[used], &reals[floats], &outputs[written]))
            floats++;
        else
            used++;
        written += outputs[written].how != 0;
    }
    uint64_t value = call(function, integers, reals);
    int said = 0;
    if (result != NULL && result[0] == '?') {
        value = result[1] == '8' ? (value & 0xFF) : (uint64_t)(uint32_t)value;
        printf("%ld: %lld", step, (long long)value);
        said = 1;
    } else if (result != NULL) {
        result[strlen(result) - 1] = 0;
        uint64_t *to = object(result);
        must(to != NULL, "no object", result);
        /* Names are 32 bits wide; handles and addresses have all bits. */
        int is_handle = strchr("ciskyp", result[0]) != NULL;
        define(to, is_handle ? value : (uint32_t)value);
        if (result[0] == 'i' && value && made_images < OBJECTS)
            images[made_images++] = (EGLImage)value;
        if (result[0] == 'c') {
            const uint64_t *shared = object(words[4]);
            long other = shared ? shared - objects[CONTEXT] : -1;
            first_of_group[to - objects[CONTEXT]] = other < 0 ? (EGLContext)value : first_of_group[other];
        }
        printf("%ld: %s", step, *to ? "some" : "none");
        said = 1;
    }
    for (int number = 0; number < written; number++) {
        struct output *output = &outputs[number];
        uint32_t name;
        memcpy(&name, output->bytes, 4);
        if (output->how == 'n') {
            define(output->to, name);
            continue;
        }
        if (!said)
            printf("%ld:", step);
        said = 1;
        if (output->how == 'k')
            print_name(output->kind, name);
        else
            print_bytes(output->bytes, output->size);
    }
    if (said)
        printf("\n");
}

/* The threads, of which only the one that has the turn runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn = -1;
static int is_leaving;
static pthread_t threads[THREADS];
static void (*work)(char *);
static char *work_on;

static void *worker(void *index)
{
    int is_last = 0;
    pthread_mutex_lock(&lock);
    while (!is_last) {
        while (turn != (int)(intptr_t)index)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        work(work_on);
        pthread_mutex_lock(&lock);
        is_last = is_leaving;
        turn = -1;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void on_thread(int index, void (*function)(char *), char *argument)
{
    must(index >= 0 && index < THREADS, "no such thread", argument);
    if (threads[index] == 0)
        pthread_create(&threads[index], NULL, worker, (void *)(intptr_t)index);
    pthread_mutex_lock(&lock);
    work = function;
    work_on = argument;
    turn = index;
    pthread_cond_broadcast(&changed);
    while (turn != -1)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void release(char *unused)
{
    (void)unused;
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

/* Ends the program's threads: the next program has new ones. */
static void leave(void)
{
    is_leaving = 1;
    for (int at = 0; at < THREADS; at++)
        if (threads[at] != 0) {
            on_thread(at, release, NULL);
            pthread_join(threads[at], NULL);
            threads[at] = 0;
        }
    is_leaving = 0;
}

static void attach_shader(GLuint program, GLenum kind, const char *source)
{
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

/* Draws with a new program into a new framebuffer. */
static void draw(void)
{
    GLuint program = glCreateProgram(), framebuffer, renderbuffer, array = 0;
    attach_shader(program, GL_VERTEX_SHADER, "void main() { gl_Position = vec4(0.0); gl_PointSize = 1.0; }");
    attach_shader(program, GL_FRAGMENT_SHADER, "precision mediump float; void main() { gl_FragColor = vec4(0.0); }");
    glLinkProgram(program);
    glUseProgram(program);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA4, 1, 1);
    /* The core profile draws with no other. A context of OpenGL ES 2 refuses these commands. */
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    glDrawArrays(GL_POINTS, 0, 1);
    glFinish();
}

/* Takes from a context the textures and the programs that it alone holds: those whose names are deleted, and executables of
 * programs that were linked again. In Mesa 22.3 they have parts that belong to other contexts, and are freed with the last
 * context that holds them: if one of the others is destroyed before, Mesa waits for ever for a lock in freed memory. A
 * context holds the program of its last draw, and framebuffers without a name, too. Errors do no harm any more. */
static void release_objects(EGLContext context)
{
    enum { NAMES = 256 };
    static const GLenum targets[] = {
        GL_TEXTURE_2D, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE,
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BUFFER, GL_TEXTURE_EXTERNAL_OES };
    GLuint names[NAMES];
    GLint units = 0, images = 0;
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        return;
    for (GLuint at = 0; at < NAMES; at++)
        names[at] = at + 1;
    glEndTransformFeedback();
    glUseProgram(0);
    glDeleteProgramPipelines(NAMES, names);
    glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    for (GLint unit = 0; unit < units || unit < 4; unit++) {
        glActiveTexture(GL_TEXTURE0 + unit);
        for (size_t at = 0; at < sizeof targets / sizeof *targets; at++)
            glBindTexture(targets[at], 0);
    }
    glGetIntegerv(GL_MAX_IMAGE_UNITS, &images);
    for (GLint unit = 0; unit < images; unit++)
        glBindImageTexture(unit, 0, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
    draw();
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

static void destroy(void)
{
    for (int at = 0; at < defined[SYNC]; at++)
        if (objects[SYNC][at])
            eglDestroySync(display, (EGLSync)objects[SYNC][at]);
    while (made_images > 0)
        eglDestroyImage(display, images[--made_images]);
    for (int at = 0; at < defined[CONTEXT]; at++)
        if (objects[CONTEXT][at])
            release_objects((EGLContext)objects[CONTEXT][at]);
    for (int at = 0; at < defined[CONTEXT]; at++)
        if (objects[CONTEXT][at])
            eglDestroyContext(display, (EGLContext)objects[CONTEXT][at]);
    for (int at = 0; at < defined[SURFACE]; at++)
        if (objects[SURFACE][at])
            eglDestroySurface(display, (EGLSurface)objects[SURFACE][at]);
    memset(objects, 0, sizeof objects);
    memset(defined, 0, sizeof defined);
}

/* Reads a line of standard input, which has no buffer of its own: poll must see what is there. */
static char *next_line(void)
{
    static char buffer[1 << 16];
    static size_t begin, end;
    static char text[1 << 16];
    for (;;) {
        char *found = memchr(buffer + begin, '\n', end - begin);
        if (found) {
            size_t length = (size_t)(found - (buffer + begin));
            memcpy(text, buffer + begin, length);
            text[length] = 0;
            begin += length + 1;
            return text;
        }
        memmove(buffer, buffer + begin, end - begin);
        end -= begin;
        begin = 0;
        must(end < sizeof buffer, "line too long", "");
        long got = read(0, buffer + end, sizeof buffer - end);
        if (got <= 0)
            return NULL;
        end += (size_t)got;
    }
}

/* The driver of the search writes nothing between `@pause` and its answer. The pauses between calls grow from 0.2 ms to
 * 4 ms: most captures begin at once, but in a process that has ended a frame they begin after a second. */
static int wait_for_line(const char *said, int calls)
{
    printf("%s\n", said);
    fflush(stdout);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    struct timespec rest = {0, 200000};
    while (poll(&input, 1, calls ? 0 : -1) == 0) {
        eglQueryAPI();
        nanosleep(&rest, NULL);
        if (rest.tv_nsec < 4000000)
            rest.tv_nsec += rest.tv_nsec / 4;
    }
    return next_line() != NULL;
}

/* The line that comes next. */
static char *line;

/* Runs lines on the thread that they name, up to one that names another or none. The thread that has the turn reads on,
 * since to pass the turn takes longer than most steps. */
static void run_lines(char *unused)
{
    (void)unused;
    char thread = line[0];
    do {
        run_step(line + 2);
        step++;
        line = next_line();
    } while (line && line[0] == thread);
}

static int end_program(int calls)
{
    if (!wait_for_line("end", calls))
        return 0;
    leave();
    destroy();
    while (memories) {
        struct memory *next = memories->next;
        free(memories);
        memories = next;
    }
    step = 0;
    printf("gone\n");
    fflush(stdout);
    return 1;
}

/* A step that concerns the runner itself. Returns 0 at the end of input. */
static int run_own(const char *name)
{
    if (strcmp(name, "@end") == 0)
        return end_program(1);
    if (strcmp(name, "@rest") == 0)
        return end_program(0);
    return wait_for_line("pause", 1);
}

int main(void)
{
    static char output[1 << 20];
    setvbuf(stdout, output, _IOFBF, sizeof output);
    display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
    EGLint count = 0;
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT | EGL_OPENGL_BIT,
                             EGL_RED_SIZE, 8, EGL_GREEN_SIZE, 8, EGL_BLUE_SIZE, 8, EGL_ALPHA_SIZE, 8,
                             EGL_DEPTH_SIZE, 24, EGL_STENCIL_SIZE, 8, EGL_NONE};
    must(eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_ES_API) &&
             eglChooseConfig(display, wanted, &config, 1, &count) && count == 1,
         "no display", "");
    line = next_line();
    while (line) {
        if (line[0] != '@')
            on_thread(line[0] - '0', run_lines, line);
        else if (!run_own(line))
            break;
        else
            line = next_line();
    }
    return 0;
}
