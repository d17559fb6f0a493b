/* Programs and shaders that were changed after their last link or compilation. */
#include "app.h"

#define VERTEX                                                                                      \
    "#version 310 es\n"                                                                             \
    "in vec4 place;\n"                                                                              \
    "in vec4 first, second;\n"                                                                      \
    "out vec4 mixed, other;\n"                                                                      \
    "void main() { gl_Position = place; mixed = first * 0.5 + second; other = second; }\n"
#define HEAD "#version 310 es\nprecision mediump float;\nin vec4 mixed;\nin vec4 other;\n"
#define FRAGMENT HEAD "out vec4 colour;\nvoid main() { colour = mixed; }\n"
#define SWAPPED HEAD "out vec4 colour;\nuniform float blue;\nvoid main() { colour = vec4(other.yx, blue, 1); }\n"

static GLuint captured, late_capture, located, detached, blended, failed, unlinked, validated;
static GLuint loaded, rubbish, bare;
static GLuint changed, broken, mended, replacement, sourceless;
static PFNGLBINDFRAGDATALOCATIONINDEXEDEXTPROC bind_output;
static PFNGLBINDFRAGDATALOCATIONEXTPROC bind_first_output;

static GLuint program_with(GLuint vertex, GLuint fragment)
{
    GLuint program = glCreateProgram();
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glBindAttribLocation(program, 0, "place");
    return program;
}

static GLuint mixing(void)
{
    return program_with(shader_of(GL_VERTEX_SHADER, VERTEX), shader_of(GL_FRAGMENT_SHADER, FRAGMENT));
}

static void varyings(GLuint program, int count, const char *first, const char *second, GLenum mode)
{
    const char *const names[] = {first, second};
    glTransformFeedbackVaryings(program, count, names, mode);
}

static void start_links(void)
{
    /* The next link captures other varyings than the last one. */
    captured = mixing();
    varyings(captured, 1, "other", "", GL_INTERLEAVED_ATTRIBS);
    link_program(captured);
    varyings(captured, 2, "mixed", "other", GL_SEPARATE_ATTRIBS);
    /* Nothing was captured by the last link. No shader has these. */
    late_capture = mixing();
    link_program(late_capture);
    varyings(late_capture, 2, "none", "nothing", GL_INTERLEAVED_ATTRIBS);

    located = mixing();
    glBindAttribLocation(located, 3, "first");
    glBindAttribLocation(located, 5, "second");
    link_program(located);
    glBindAttribLocation(located, 6, "first");
    glBindAttribLocation(located, 2, "unknown");
    glProgramParameteri(located, GL_PROGRAM_SEPARABLE, GL_TRUE);
    glProgramParameteri(located, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);

    /* Another fragment shader is attached than the one that was linked. */
    GLuint linked = shader_of(GL_FRAGMENT_SHADER, FRAGMENT);
    replacement = shader_of(GL_FRAGMENT_SHADER, SWAPPED);
    detached = program_with(shader_of(GL_VERTEX_SHADER, VERTEX), linked);
    glProgramParameteri(detached, GL_PROGRAM_SEPARABLE, GL_TRUE);
    glProgramParameteri(detached, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    link_program(detached);
    glProgramParameteri(detached, GL_PROGRAM_SEPARABLE, GL_FALSE);
    glProgramParameteri(detached, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_FALSE);
    glDetachShader(detached, linked);
    glDeleteShader(linked);
    glAttachShader(detached, replacement);
    /* A driver refuses a second fragment shader, a name of a built-in variable and a location too many. */
    glAttachShader(detached, shader_of(GL_FRAGMENT_SHADER, FRAGMENT));
    expect_error(GL_INVALID_OPERATION, "a second fragment shader");
    glBindAttribLocation(detached, 1, "gl_Vertex");
    expect_error(GL_INVALID_OPERATION, "a built-in attribute");
    glBindAttribLocation(detached, 9999, "first");
    expect_error(GL_INVALID_VALUE, "location 9999");
}

/* The outputs of dual-source blending change their places with the next link. */
static void start_blending(void)
{
    need_extension("GL_EXT_blend_func_extended");
    bind_output = (PFNGLBINDFRAGDATALOCATIONINDEXEDEXTPROC)app_function("glBindFragDataLocationIndexedEXT");
    bind_first_output = (PFNGLBINDFRAGDATALOCATIONEXTPROC)app_function("glBindFragDataLocationEXT");
    GLuint fragment = shader_of(GL_FRAGMENT_SHADER, "#version 310 es\n"
                                                    "#extension GL_EXT_blend_func_extended : require\n"
                                                    "precision mediump float;\n"
                                                    "out vec4 one, two;\n"
                                                    "void main() { one = vec4(1, 0.5, 0, 1); two = vec4(0, 0.7, 1, 1); }\n");
    blended = program_with(shader_of(GL_VERTEX_SHADER, VERTEX), fragment);
    bind_output(blended, 0, 1, "one");
    bind_output(blended, 0, 0, "two");
    link_program(blended);
    bind_first_output(blended, 0, "one");
    bind_output(blended, 0, 1, "two");
    bind_first_output(blended, 0, "nothing");
}

static void start_shaders(void)
{
    static const char *const other = FRAGMENT;
    static const char *const wrong = "#version 310 es\nthis is no shader";
    GLint status = 1;
    changed = shader_of(GL_FRAGMENT_SHADER, SWAPPED);
    glShaderSource(changed, 1, &other, NULL);
    glShaderSource(changed, 1, &wrong, NULL);
    broken = shader_of(GL_FRAGMENT_SHADER, FRAGMENT);
    glShaderSource(broken, 1, &wrong, NULL);
    glCompileShader(broken);
    glGetShaderiv(broken, GL_COMPILE_STATUS, &status);
    must(!status, "a shader that fails");
    mended = glCreateShader(GL_FRAGMENT_SHADER);
    glShaderSource(mended, 1, &wrong, NULL);
    glCompileShader(mended);
    glShaderSource(mended, 1, &other, NULL);
    sourceless = glCreateShader(GL_VERTEX_SHADER);
    failed = program_with(shader_of(GL_VERTEX_SHADER, VERTEX), mended);
    glBindAttribLocation(failed, 4, "second");
    glLinkProgram(failed);
    unlinked = program_with(shader_of(GL_VERTEX_SHADER, VERTEX), replacement);
    glBindAttribLocation(unlinked, 7, "second");
    varyings(unlinked, 1, "other", "", GL_SEPARATE_ATTRIBS);
    glProgramParameteri(unlinked, GL_PROGRAM_SEPARABLE, GL_TRUE);
    bare = glCreateProgram();
    validated = mixing();
    link_program(validated);
    glValidateProgram(validated);
}

/* Programs from binaries: of another program, with shaders that it was not linked from, and of no program. */
static void start_binaries(void)
{
    static const unsigned char none[] = {1, 2, 3, 4, 5, 6, 7, 8};
    GLint length = 0, linked = 0;
    GLenum format = 0;
    GLuint vertex = shader_of(GL_VERTEX_SHADER, VERTEX);
    GLuint original = program_with(vertex, shader_of(GL_FRAGMENT_SHADER, SWAPPED));
    glBindAttribLocation(original, 6, "second");
    link_program(original);
    glGetProgramiv(original, GL_PROGRAM_BINARY_LENGTH, &length);
    must(length > 0, "a program binary");
    void *binary = malloc((size_t)length);
    must(binary != NULL, "malloc");
    glGetProgramBinary(original, length, NULL, &format, binary);
    loaded = program_with(vertex, shader_of(GL_FRAGMENT_SHADER, FRAGMENT));
    glProgramBinary(loaded, format, binary, length);
    glGetProgramiv(loaded, GL_LINK_STATUS, &linked);
    must(linked, "glProgramBinary");
    glUseProgram(loaded);
    glUniform1f(glGetUniformLocation(loaded, "blue"), 0.4f);
    glDeleteProgram(original);
    free(binary);
    rubbish = program_with(vertex, shader_of(GL_FRAGMENT_SHADER, FRAGMENT));
    glProgramBinary(rubbish, format, none, sizeof none);
    glGetProgramiv(rubbish, GL_LINK_STATUS, &linked);
    must(!linked, "no program binary");
}

static void start(void)
{
    start_links();
    start_binaries();
    start_blending();
    start_shaders();
}

static void tell(const char *what, GLuint program)
{
    static const GLenum names[] = {GL_LINK_STATUS, GL_VALIDATE_STATUS, GL_PROGRAM_SEPARABLE,
                                   GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_ATTACHED_SHADERS,
                                   GL_TRANSFORM_FEEDBACK_VARYINGS, GL_TRANSFORM_FEEDBACK_BUFFER_MODE};
    GLuint shaders[4];
    GLsizei count = 0;
    printf("%s:", what);
    for (int i = 0; i < LENGTH(names); i++) {
        GLint value = -7;
        glGetProgramiv(program, names[i], &value);
        printf(" %d", value);
    }
    glGetAttachedShaders(program, 4, &count, shaders);
    GLint linked = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked)
        printf(", at %d %d, output %d", glGetAttribLocation(program, "first"),
               glGetAttribLocation(program, "second"), glGetFragDataLocation(program, "colour"));
    printf("\n");
    no_error(what);
}

static void tell_of(const char *what, GLuint shader)
{
    GLint compiled = -7, length = -7;
    char source[512] = "";
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    glGetShaderiv(shader, GL_SHADER_SOURCE_LENGTH, &length);
    glGetShaderSource(shader, sizeof source, NULL, source);
    printf("%s: compiled %d, %d, %08x\n", what, compiled, length, sum_of(source, strlen(source)));
}

/* Draws a quad with values of the attributes at the locations that the program has. */
static void draw_with(int at, GLuint program, int frame)
{
    const GLint first = glGetAttribLocation(program, "first"), second = glGetAttribLocation(program, "second");
    glUseProgram(program);
    for (GLuint i = 1; i < 8; i++)
        glVertexAttrib4f(i, 0.1f, 0.1f, 0.1f, 1);
    if (first >= 0)
        glVertexAttrib4f((GLuint)first, 1, 0.2f * (float)frame, 0, 1);
    if (second >= 0)
        glVertexAttrib4f((GLuint)second, 0, 0.1f * (float)frame, 0.6f, 1);
    cell(at, 4, 3), quad();
}

static void capture(int at, GLuint program, int frame, int expected)
{
    static const GLubyte zeros[256];
    GLuint buffers[2];
    GLsizei size = 0;
    GLenum type = 0;
    char name[16] = "";
    glGetTransformFeedbackVarying(program, 0, sizeof name, NULL, &size, &type, name);
    printf("captures %s\n", name);
    for (GLuint i = 0; i < 2; i++) {
        buffers[i] = new_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, sizeof zeros, zeros);
        glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, i, buffers[i]);
    }
    glUseProgram(program);
    glBeginTransformFeedback(GL_POINTS);
    glVertexAttrib4f((GLuint)glGetAttribLocation(program, "second"), 0.5f, (float)frame, 2, 3);
    cell(at, 4, 3), glDrawArrays(GL_POINTS, 0, 1);
    glEndTransformFeedback();
    for (GLuint i = 0; i < 2; i++) {
        glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffers[i]);
        const GLfloat *written = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 16, GL_MAP_READ_BIT);
        must(written != NULL, "glMapBufferRange");
        if ((int)i < expected)
            printf("captured %g %g %g %g\n", (double)written[0], (double)written[1], (double)written[2],
                   (double)written[3]);
        glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
    }
    glDeleteBuffers(2, buffers);
}

static void draw(int frame)
{
    const int is_last = frame == 4;
    if (is_last) {
        link_program(captured);
        link_program(located);
        link_program(detached);
        link_program(blended);
        link_program(unlinked);
        link_program(loaded), link_program(rubbish);
        varyings(late_capture, 0, "", "", GL_INTERLEAVED_ATTRIBS);
        link_program(late_capture);
        glCompileShader(mended);
        link_program(failed);
    }
    clear(0.2f, 0.2f, 0.2f);
    tell("captured", captured), tell("late capture", late_capture), tell("located", located);
    tell("detached", detached), tell("blended", blended), tell("failed", failed);
    tell("unlinked", unlinked), tell("validated", validated);
    tell("loaded", loaded), tell("rubbish", rubbish);
    tell_of("changed", changed), tell_of("broken", broken), tell_of("mended", mended);
    tell_of("sourceless", sourceless), tell_of("replacement", replacement);
    capture(0, captured, frame, is_last ? 2 : 1);
    draw_with(1, captured, frame), draw_with(2, late_capture, frame), draw_with(3, located, frame);
    draw_with(4, detached, frame);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_SRC1_COLOR_EXT);
    draw_with(5, blended, frame);
    glDisable(GL_BLEND);
    /* The shader's new source has not been compiled. */
    GLuint program = program_with(shader_of(GL_VERTEX_SHADER, VERTEX), changed);
    link_program(program);
    glUseProgram(program);
    glUniform1f(glGetUniformLocation(program, "blue"), 0.8f);
    draw_with(6, program, frame);
    draw_with(9, loaded, frame);
    if (is_last)
        draw_with(10, rubbish, frame), draw_with(7, failed, frame), draw_with(8, unlinked, frame);
    glUseProgram(0);
    glDeleteProgram(program);
    /* A driver refuses a program that is not linked; no program stays in use. */
    glUseProgram(bare);
    expect_error(GL_INVALID_OPERATION, "a program that is not linked");
}

int main(void)
{
    return app_run(31, 5, start, draw);
}
