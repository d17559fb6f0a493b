/* Loads the binary of one program into another, and draws with that. */
#include "app.h"

static GLuint original;

static void start(void)
{
    original = glCreateProgram();
    glProgramParameteri(original, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    glAttachShader(original, shader_of(GL_VERTEX_SHADER,
                                       "attribute vec4 place;\n"
                                       "void main() { gl_Position = place; }\n"));
    glAttachShader(original, shader_of(GL_FRAGMENT_SHADER,
                                       "precision mediump float;\n"
                                       "uniform vec4 tint;\n"
                                       "void main() { gl_FragColor = tint; }\n"));
    glBindAttribLocation(original, 0, "place");
    link_program(original);
}

static GLuint copy_of(GLuint program)
{
    GLint length = 0, linked = 0;
    GLsizei written = 0;
    GLenum format = 0;
    glGetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &length);
    must(length > 0, "a program binary");
    void *binary = malloc((size_t)length);
    must(binary != NULL, "malloc");
    glGetProgramBinary(program, length, &written, &format, binary);
    must(written == length, "the whole binary");
    GLuint copy = glCreateProgram();
    glProgramBinary(copy, format, binary, length);
    free(binary);
    glGetProgramiv(copy, GL_LINK_STATUS, &linked);
    must(linked, "glProgramBinary");
    return copy;
}

static void tinted(GLuint program, float red, float green)
{
    glUseProgram(program);
    glUniform4f(glGetUniformLocation(program, "tint"), red, green, 0.5f, 1.0f);
    quad();
}

/* Bytes that are no program binary leave the program unlinked. */
static void rubbish(void)
{
    const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    GLint formats = 0, linked = 1, format = 0;
    GLuint program = glCreateProgram();
    glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    must(formats == 1, "one format of binaries");
    glGetIntegerv(GL_PROGRAM_BINARY_FORMATS, &format);
    glProgramBinary(program, (GLenum)format, bytes, sizeof bytes);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    printf("rubbish: linked %d, error 0x%x\n", linked, glGetError());
    glDeleteProgram(program);
}

static void draw(int frame)
{
    clear(0, 0.2f, 0.4f);
    GLuint copy = copy_of(original);
    cell(0, 2, 2), tinted(original, 0.25f * (float)frame, 1);
    cell(3, 2, 2), tinted(copy, 1, 0.3f * (float)frame);
    glUseProgram(0);
    glDeleteProgram(copy);
    rubbish();
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
