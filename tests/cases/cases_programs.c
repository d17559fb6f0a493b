/* Shaders and programs: successful and failing compilations and links, info logs and queries. */
#include "cases.h"

static const char *const SHADERS[] = {
    "void main() { gl_Position = vec4(0); }",
    "void main() { gl_Position = vec4(0) }",
    "#version 300 es\nin vec4 a; void main() { gl_Position = a; }",
    "#version 300 es\nattribute vec4 a; void main() { gl_Position = a; }",
    "#version 310 es\nlayout(location = 3) in vec4 a; void main() { gl_Position = a; }",
    "#version 320 es\nvoid main() { gl_Position = vec4(fma(1.0, 2.0, 3.0)); }",
    "#version 450\nvoid main() { }",
    "#version 999 es\nvoid main() { }",
    "",
    "#error on purpose\n",
    "#line 77\nnonsense",
    "#extension GL_OES_nothing : require\nvoid main() { }",
    "#extension GL_OES_nothing : warn\nvoid main() { gl_Position = vec4(1); }",
    "uniform mat4 m[1000]; void main() { gl_Position = m[999] * vec4(1); }",
    "void f(); void main() { f(); }",
    "precision highp float; void main() { float f = 1; gl_Position = vec4(f); }",
};

static void compiled(long number)
{
    GLint values[4] = {-7, -7, -7, -7};
    char log[512] = "", cut[8] = "", back[512] = "";
    GLuint shader = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(shader, 1, &SHADERS[number], NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &values[0]);
    glGetShaderiv(shader, GL_INFO_LOG_LENGTH, &values[1]);
    glGetShaderiv(shader, GL_SHADER_SOURCE_LENGTH, &values[2]);
    glGetShaderInfoLog(shader, sizeof log, &values[3], log);
    glGetShaderInfoLog(shader, sizeof cut, NULL, cut);
    glGetShaderSource(shader, sizeof back, NULL, back);
    printf("%d %d %d %d\n%s\n%s\n%s\n", values[0], values[1], values[2], values[3], log, cut, back);
    GLuint program = glCreateProgram();
    glAttachShader(program, shader);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &values[0]);
    glGetProgramInfoLog(program, sizeof log, &values[1], log);
    printf("%d %d %s\n", values[0], values[1], log);
    glUseProgram(program);
    say_errors("used");
}

/* Pairs of stages with matching and mismatching interfaces. */
static const char *const PAIRS[][2] = {
    {"out vec4 v;\nvoid main() { gl_Position = v = vec4(1); }", "in vec4 v;\nvoid main() { o = v; }"},
    {"out vec3 v;\nvoid main() { gl_Position = vec4(v = vec3(1), 1); }", "in vec4 v;\nvoid main() { o = v; }"},
    {"void main() { gl_Position = vec4(1); }", "in vec4 v;\nvoid main() { o = v; }"},
    {"uniform vec4 u;\nvoid main() { gl_Position = u; }", "uniform ivec4 u;\nvoid main() { o = vec4(u); }"},
    {"uniform B { vec4 u; };\nvoid main() { gl_Position = u; }", "uniform B { vec3 u; };\nvoid main() { o = vec4(u, 1); }"},
    {"flat out int v;\nvoid main() { gl_Position = vec4(v = 1); }", "flat in int v;\nvoid main() { o = vec4(v); }"},
    {"in mat4 a, b, c, d, e;\nvoid main() { gl_Position = (a * b * c * d * e)[0]; }", "void main() { o = vec4(1); }"},
    {"in mat3x4 a;\nvoid main() { gl_Position = a[2]; }", "void main() { o = vec4(1); }"},
};

static void linked(long number)
{
    char sources[2][512], log[512] = "";
    GLint done = 0;
    snprintf(sources[0], sizeof sources[0], "#version 300 es\nprecision highp float;\n%s\n", PAIRS[number][0]);
    snprintf(sources[1], sizeof sources[1], "#version 300 es\nprecision highp float;\nout vec4 o;\n%s\n",
             PAIRS[number][1]);
    GLuint program = glCreateProgram();
    glAttachShader(program, shader_of(GL_VERTEX_SHADER, sources[0]));
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER, sources[1]));
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &done);
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    printf("%d %s\n", done, log);
    glValidateProgram(program);
    glGetProgramiv(program, GL_VALIDATE_STATUS, &done);
    printf("%d\n", done);
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    say_errors("drawn");
}

static GLuint rich(void)
{
    return program_of("#version 310 es\n"
                      "layout(location = 2) in vec4 place;\n"
                      "in ivec2 colour;\n"
                      "in mat3 frame;\n"
                      "layout(std140, binding = 1) uniform Block { vec4 first; mat4 second[3]; };\n"
                      "uniform struct { vec2 a; float b[4]; } nested[2];\n"
                      "out vec3 passed;\n"
                      "void main() {\n"
                      "  gl_Position = second[2] * place + first + float(colour.x);\n"
                      "  passed = frame * vec3(nested[0].a, nested[1].b[2]);\n"
                      "}\n",
                      "#version 310 es\n"
                      "precision highp float;\n"
                      "in vec3 passed;\n"
                      "layout(std430, binding = 2) buffer Store { int count; vec3 list[]; };\n"
                      "layout(binding = 3) uniform highp sampler2DArray images[2];\n"
                      "layout(location = 0) out vec4 red;\n"
                      "void main() { red = vec4(passed + list[1], count) + texture(images[1], passed); }\n");
}

/* All queries of the resources of one program interface. */
static void resources(long interface)
{
    static const GLenum properties[] = {GL_NAME_LENGTH, GL_TYPE, GL_ARRAY_SIZE, GL_OFFSET, GL_BLOCK_INDEX,
                                        GL_ARRAY_STRIDE, GL_LOCATION, GL_REFERENCED_BY_VERTEX_SHADER,
                                        GL_BUFFER_BINDING, GL_BUFFER_DATA_SIZE, GL_NUM_ACTIVE_VARIABLES};
    GLuint program = rich();
    GLint active = 0, longest = 0;
    glGetProgramInterfaceiv(program, (GLenum)interface, GL_ACTIVE_RESOURCES, &active);
    glGetProgramInterfaceiv(program, (GLenum)interface, GL_MAX_NAME_LENGTH, &longest);
    printf("%d %d\n", active, longest);
    for (GLuint i = 0; i < (GLuint)active + 1; i++) {
        char name[64] = "";
        GLsizei length = -7;
        glGetProgramResourceName(program, (GLenum)interface, i, sizeof name, &length, name);
        printf("%s (%d) %d %d", name, length, (int)glGetProgramResourceIndex(program, (GLenum)interface, name),
               glGetProgramResourceLocation(program, (GLenum)interface, name));
        for (int k = 0; k < LENGTH(properties); k++) {
            GLint value = -7;
            GLsizei written = 0;
            glGetProgramResourceiv(program, (GLenum)interface, i, 1, &properties[k], 1, &written, &value);
            printf(" %d", written ? value : -1);
        }
        say_errors("");
    }
}

static void parameters(long first)
{
    GLuint program = rich();
    for (GLenum name = (GLenum)first; name < (GLenum)first + 16; name++) {
        GLint values[8];
        memset(values, 0x55, sizeof values);
        glGetProgramiv(program, name, values);
        printf("0x%x %d %d", name, values[0], values[1]);
        say_errors("");
    }
}

/* A uniform set with the functions of every other type. */
static void mistyped(long number)
{
    static const char *const names[] = {"nested[0].a", "nested[1].b[1]", "images[0]", "first"};
    const GLfloat f[16] = {1};
    const GLint i[4] = {3, 3};
    const GLuint u[4] = {3};
    GLuint program = rich();
    glUseProgram(program);
    GLint at = glGetUniformLocation(program, names[number]);
    printf("location %s\n", at >= 0 ? "known" : "unknown");
    glUniform1fv(at, 1, f), say_errors("1f");
    glUniform2fv(at, 2, f), say_errors("2f");
    glUniform4fv(at, 1, f), say_errors("4f");
    glUniform1iv(at, 1, i), say_errors("1i");
    glUniform2iv(at, 1, i), say_errors("2i");
    glUniform1uiv(at, 1, u), say_errors("1u");
    glUniformMatrix2fv(at, 1, GL_FALSE, f), say_errors("2x2");
    glUniformMatrix4x3fv(at, 1, GL_TRUE, f), say_errors("4x3");
    glUniform1i(at, 100), say_errors("100");
    if (at >= 0) {
        GLfloat back[4] = {0};
        GLint integers[4] = {0};
        glGetUniformfv(program, at, back);
        glGetUniformiv(program, at, integers);
        printf("%g %g %d\n", (double)back[0], (double)back[1], integers[0]);
    }
}

/* Commands with names of programs, of shaders and of no object. */
static void misused(long name)
{
    GLuint shader = glCreateShader(GL_VERTEX_SHADER), program = glCreateProgram();
    GLuint object = name == 0 ? 0 : name == 1 ? shader : name == 2 ? program : 98765;
    GLint value = -7;
    glUseProgram(object), say_errors("use");
    glLinkProgram(object), say_errors("link");
    glCompileShader(object), say_errors("compile");
    glAttachShader(object, object), say_errors("attach");
    glDetachShader(object, shader), say_errors("detach");
    glGetProgramiv(object, GL_LINK_STATUS, &value), say_errors("asked");
    glGetShaderiv(object, GL_COMPILE_STATUS, &value), say_errors("asked");
    printf("%d %d\n", glGetAttribLocation(object, "a"), glGetUniformLocation(object, "u"));
    say_errors("located");
    glBindAttribLocation(object, 0, "gl_Position"), say_errors("bound");
    glBindAttribLocation(object, 99, "a"), say_errors("bound");
    glUniform1f(0, 1), say_errors("uniform");
    glValidateProgram(object), say_errors("validated");
    printf("%d %d\n", glIsProgram(object), glIsShader(object));
    glDeleteShader(object), say_errors("deleted");
    glDeleteProgram(object), say_errors("deleted");
}

static void kinds(long kind)
{
    GLuint shader = glCreateShader((GLenum)kind);
    printf("created %d\n", shader != 0);
    say_errors("created");
    const char *const source = "#version 320 es\nvoid main() { }\n";
    if (shader != 0) {
        GLint done = -7;
        glShaderSource(shader, 1, &source, NULL);
        glCompileShader(shader);
        glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
        printf("compiled %d\n", done);
    }
    GLuint program = glCreateShaderProgramv((GLenum)kind, 1, &source);
    printf("program %d\n", program != 0);
    say_errors("program");
}

int main(int count, char **words)
{
    static const GLenum interfaces[] = {GL_UNIFORM, GL_UNIFORM_BLOCK, GL_PROGRAM_INPUT, GL_PROGRAM_OUTPUT,
                                        GL_BUFFER_VARIABLE, GL_SHADER_STORAGE_BLOCK, GL_ATOMIC_COUNTER_BUFFER,
                                        GL_TRANSFORM_FEEDBACK_VARYING, 0x1234};
    static const GLenum stages[] = {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER, GL_COMPUTE_SHADER, GL_GEOMETRY_SHADER,
                                    GL_TESS_CONTROL_SHADER, GL_TESS_EVALUATION_SHADER, 0x1234};
    static const GLenum ranges[] = {0x8b80, 0x8a30, 0x8740, 0x8c70, 0x9260, 0x8e70};
    for (int i = 0; i < LENGTH(SHADERS); i++)
        add(32, compiled, i, "compiled_%d", i);
    for (int i = 0; i < LENGTH(PAIRS); i++)
        add(30, linked, i, "linked_%d", i);
    for (int i = 0; i < LENGTH(interfaces); i++)
        add(31, resources, interfaces[i], "resources_%04x", interfaces[i]);
    for (int i = 0; i < LENGTH(ranges); i++)
        add(32, parameters, ranges[i], "parameters_%04x", ranges[i]);
    for (int i = 0; i < 4; i++)
        add(31, mistyped, i, "mistyped_%d", i);
    for (int i = 0; i < 4; i++)
        add(30, misused, i, "misused_%d", i);
    for (int i = 0; i < LENGTH(stages); i++)
        add(32, kinds, stages[i], "stage_%04x", stages[i]);
    return run_cases(count, words);
}
