/* Shaders deleted while attached, programs deleted in use, linked again, failed, detached. */
#include "app.h"

#define VERTEX "attribute vec4 place;\nvoid main() { gl_Position = place; }\n"

static GLuint plain(const char *tint)
{
    char source[160];
    GLint deleted = 0;
    snprintf(source, sizeof source, "precision mediump float;\nvoid main() { gl_FragColor = vec4(%s, 1); }\n",
             tint);
    GLuint program = glCreateProgram();
    GLuint vertex = shader_of(GL_VERTEX_SHADER, VERTEX);
    GLuint fragment = shader_of(GL_FRAGMENT_SHADER, source);
    glAttachShader(program, vertex);
    glDeleteShader(vertex);
    glGetShaderiv(vertex, GL_DELETE_STATUS, &deleted);
    must(deleted && glIsShader(vertex), "a deleted shader that is attached");
    glAttachShader(program, fragment);
    glBindAttribLocation(program, 0, "place");
    link_program(program);
    glDetachShader(program, vertex);
    must(!glIsShader(vertex), "a deleted shader that is detached is gone");
    glDetachShader(program, fragment);
    glDeleteShader(fragment);
    return program;
}

/* The program stays in use until another one replaces it. */
static void deleted_in_use(void)
{
    GLint deleted = 0;
    GLuint program = plain("1, 0, 0");
    glUseProgram(program);
    glDeleteProgram(program);
    glGetProgramiv(program, GL_DELETE_STATUS, &deleted);
    must(deleted, "a deleted program that is in use");
    cell(0, 3, 2), quad();
    glUseProgram(0);
    must(!glIsProgram(program), "a deleted program out of use is gone");
}

/* The shader of a program gets another source; the program changes when it is linked again. */
static void linked_again(int frame)
{
    static const char *const other = "precision mediump float;\n"
                                     "uniform float blue;\n"
                                     "void main() { gl_FragColor = vec4(0, 1, blue, 1); }\n";
    GLuint program = program_of(VERTEX, "void main() { gl_FragColor = vec4(0.5); }\n");
    GLuint shaders[3];
    GLsizei count = 0;
    glUseProgram(program);
    glGetAttachedShaders(program, 3, &count, shaders);
    must(count == 2, "the attached shaders");
    /* They are marked as deleted, and live on. */
    glShaderSource(shaders[1], 1, &other, NULL);
    glCompileShader(shaders[1]);
    cell(1, 3, 2), quad();
    link_program(program);
    glUniform1f(glGetUniformLocation(program, "blue"), 0.3f * (float)frame);
    cell(2, 3, 2), quad();
    glDeleteProgram(program);
}

/* A link that fails leaves the executable that is in use. */
static void failed_link(void)
{
    GLint linked = 1;
    GLuint program = plain("0, 0.5, 1");
    glUseProgram(program);
    GLuint lonely = shader_of(GL_VERTEX_SHADER, VERTEX);
    glAttachShader(program, lonely);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    must(!linked, "a link that fails");
    cell(3, 3, 2), quad();
    glDeleteShader(lonely);
    glUseProgram(0);
    glDeleteProgram(program);
}

/* A source in pieces: with lengths, NUL-terminated, and both. */
static void pieces(void)
{
    const GLchar *const parts[] = {"precision mediump float;\nXXXX", "void main() {",
                                   " gl_FragColor = vec4(1, 1, 0, 1);YYY", "", "}\n"};
    const GLint lengths[] = {25, -1, 33, 0, -1};
    char source[256], cut[10];
    GLsizei length = 0;
    GLuint fragment = glCreateShader(GL_FRAGMENT_SHADER);
    glShaderSource(fragment, 5, parts, lengths);
    glCompileShader(fragment);
    glGetShaderSource(fragment, sizeof source, &length, source);
    glGetShaderSource(fragment, sizeof cut, NULL, cut);
    printf("source of %d: %08x, %s\n", length, sum_of(source, (size_t)length), cut);
    GLuint program = glCreateProgram(), vertex = shader_of(GL_VERTEX_SHADER, VERTEX);
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glBindAttribLocation(program, 0, "place");
    link_program(program);
    glUseProgram(program);
    cell(4, 3, 2), quad();
    glDeleteProgram(program);
    glDeleteShader(vertex);
    glDeleteShader(fragment);
}

static void nothing(void)
{
}

static void draw(int frame)
{
    clear(0.2f, 0.2f, 0.3f);
    deleted_in_use();
    linked_again(frame);
    failed_link();
    pieces();
}

int main(void)
{
    return app_run(20, 4, nothing, draw);
}
