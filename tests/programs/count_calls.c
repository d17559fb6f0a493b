/*
 * Calls of a few commands, for callgrind to count their instructions (tests/src/instruction_counts.rs).
 *
 * usage: count_calls COMMAND...    such as glUniform4f; glBufferSubData uploads 64 KiB of new memory
 *
 * For each COMMAND it calls the function counted_COMMAND twice, the second time with twice as many calls of the command,
 * so that the difference has no instructions but those of calls. The calls before are not counted: they bind symbols
 * and fault memory in.
 */
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <stdint.h>

#define CALLS 400
#define UPLOADS 4
#define UPLOAD_BYTES (64ul << 10)

static char memory[UPLOAD_BYTES];
static const GLfloat values[4] = {0.5f, 1.0f, 1.5f, 2.0f};

/* Desktop OpenGL's, which the library does not export. */
static void (*vertex)(GLfloat x, GLfloat y, GLfloat z);

/* Memory that was not uploaded before: one byte is enough. Its instructions are counted, and few. */
static void upload(void)
{
    static uint64_t count;
    count++;
    memcpy(memory, &count, sizeof count);
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof memory, memory);
}

/* The compiler must not make variants of it for some values of `calls`. `call` may use `i`, which counts the calls. */
#define COUNTED(name, call)                                              \
    static __attribute__((noipa)) void counted_##name(long calls)        \
    {                                                                    \
        for (long i = 0; i < calls; i++)                                 \
            call;                                                        \
    }

COUNTED(glUniform4f, glUniform4f(0, (GLfloat)i, 0.5f, 1.0f, 2.0f))
COUNTED(glUniform4fv, glUniform4fv(0, 1, values))
COUNTED(glGetError, glGetError())
COUNTED(glVertex3f, vertex((GLfloat)i, 0.5f, 1.0f))
COUNTED(glBindTexture, glBindTexture(GL_TEXTURE_2D, (GLuint)i & 1))
COUNTED(glBufferSubData, upload())

static const struct {
    const char *name;
    void (*counted)(long calls);
    long calls;
} COMMANDS[] = {
    {"glUniform4f", counted_glUniform4f, CALLS},
    {"glUniform4fv", counted_glUniform4fv, CALLS},
    {"glGetError", counted_glGetError, CALLS},
    {"glVertex3f", counted_glVertex3f, CALLS},
    {"glBindTexture", counted_glBindTexture, CALLS},
    {"glBufferSubData", counted_glBufferSubData, UPLOADS},
};

int main(int argc, char **argv)
{
    struct offscreen o = offscreen_open(3);
    *(void **)&vertex = (void *)eglGetProcAddress("glVertex3f");
    must(vertex != NULL, "glVertex3f");
    GLuint buffer = 1;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof memory, NULL, GL_DYNAMIC_DRAW);
    for (int i = 1; i < argc; i++) {
        int found = 0;
        for (size_t n = 0; n < sizeof COMMANDS / sizeof *COMMANDS; n++) {
            if (strcmp(argv[i], COMMANDS[n].name) != 0)
                continue;
            COMMANDS[n].counted(8);
            COMMANDS[n].counted(COMMANDS[n].calls);
            COMMANDS[n].counted(2 * COMMANDS[n].calls);
            printf("%s %ld\n", COMMANDS[n].name, COMMANDS[n].calls);
            found = 1;
        }
        must(found, argv[i]);
    }
    offscreen_close(&o);
    return 0;
}
