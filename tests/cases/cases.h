/*
 * Small cases, each run in a process of its own: `PROGRAM` lists their names, `PROGRAM NAME` runs
 * one. A case prints the driver's answers and its picture on stdout; its output does not depend on an
 * address, a clock or a random number. Errors of GL are answers like any other.
 */
#ifndef CASES_H
#define CASES_H

#include "../apps/app.h"

#include <stdarg.h>

struct test_case {
    char name[80];
    int version;
    void (*run)(long value);
    long value;
};

static struct test_case all_cases[1024];
static int number_of_cases;

static inline void __attribute__((format(printf, 4, 5)))
add(int version, void (*run)(long value), long value, const char *name, ...)
{
    struct test_case *new_case = &all_cases[number_of_cases++];
    va_list arguments;
    must(number_of_cases < LENGTH(all_cases), "room for the cases");
    va_start(arguments, name);
    vsnprintf(new_case->name, sizeof new_case->name, name, arguments);
    va_end(arguments);
    new_case->version = version;
    new_case->run = run;
    new_case->value = value;
}

/* Every error that waits, oldest first. */
static inline void say_errors(const char *where)
{
    GLenum error;
    printf("%s:", where);
    for (int i = 0; i < 8 && (error = glGetError()) != GL_NO_ERROR; i++)
        printf(" 0x%04x", error);
    printf("\n");
}

static inline void say_picture(const char *where)
{
    static unsigned char pixels[HEIGHT][WIDTH][4];
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    printf("%s: picture %08x\n", where, sum_of(pixels, sizeof pixels));
    say_errors(where);
}

static inline int run_cases(int count, char **words)
{
    for (int i = 0; i < number_of_cases; i++) {
        if (count < 2) {
            printf("%s\n", all_cases[i].name);
            continue;
        }
        if (strcmp(words[1], all_cases[i].name) != 0)
            continue;
        if (all_cases[i].version != 0)
            app_open(all_cases[i].version);
        all_cases[i].run(all_cases[i].value);
        if (all_cases[i].version != 0) {
            say_errors("end");
            must(eglSwapBuffers(app.display, app.surface), "eglSwapBuffers");
            app_close();
        }
        return 0;
    }
    must(count < 2, "a case of this name");
    return 0;
}

#endif
