/* Uniforms of every kind, arrays of them, and glGetUniform* of them. */
#include "app.h"

static GLuint program;

static const char *const FRAGMENT =
    "#version 310 es\n"
    "precision highp float;\n"
    "precision highp int;\n"
    "uniform float f1; uniform vec2 f2; uniform vec3 f3; uniform vec4 f4[3];\n"
    "uniform int i1; uniform ivec2 i2; uniform ivec3 i3; uniform ivec4 i4[2];\n"
    "uniform uint u1; uniform uvec2 u2; uniform uvec3 u3; uniform uvec4 u4;\n"
    "uniform bool b1; uniform bvec3 b3;\n"
    "uniform mat2 m2; uniform mat3 m3[2]; uniform mat4 m4;\n"
    "uniform mat2x3 m23; uniform mat3x2 m32; uniform mat2x4 m24;\n"
    "uniform mat4x2 m42; uniform mat3x4 m34; uniform mat4x3 m43;\n"
    "struct part { vec2 place; int kinds[2]; };\n"
    "uniform part parts[2];\n"
    "in vec2 at;\n"
    "out vec4 colour;\n"
    "void main() {\n"
    "  int column = int(at.x * 6.0);\n"
    "  vec4 sum = vec4(0);\n"
    "  if (column == 0) sum = vec4(f1, f2.x, f3.z, 1) + f4[0] + f4[1] * f4[2];\n"
    "  if (column == 1) sum = vec4(vec3(i1, i2.y, i3.z) + vec3(i4[0].xyz + i4[1].yzw), 9) / 9.0;\n"
    "  if (column == 2) sum = vec4(vec3(u1, u2.x, u3.y) + vec3(u4.xyz), 9) / 9.0;\n"
    "  if (column == 3) sum = vec4(b1, b3.x, b3.z, 1) * (b3.y ? 0.5 : 1.0);\n"
    "  if (column == 4) sum = m4 * vec4(m2 * f2, 1, 1) + vec4(m3[1] * f3, 1) + vec4(m3[0] * f3, 1);\n"
    "  if (column == 5) {\n"
    "    sum = vec4(m23 * f2, 1) + vec4(m32 * f3, 1, 1) + m24 * f2 + vec4(m42 * f4[0], 1, 1);\n"
    "    sum += m34 * f3 + vec4(m43 * f4[1], 1);\n"
    "  }\n"
    "  sum += vec4(parts[0].place, 0, 0) * float(parts[1].kinds[1]) + float(parts[0].kinds[0]) * 0.1;\n"
    "  sum += vec4(0, 0, parts[1].place.y, 0) + float(parts[1].kinds[0]) * 0.05;\n"
    "  colour = vec4(fract(abs(sum.rgb) * 0.37 + at.y * 0.1), 1);\n"
    "}\n";

static GLint at(const char *name)
{
    GLint location = glGetUniformLocation(program, name);
    must(location >= 0, name);
    return location;
}

static void start(void)
{
    program = program_of("#version 310 es\n"
                         "in vec4 place;\n"
                         "out vec2 at;\n"
                         "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                         FRAGMENT);
    glUseProgram(program);
}

static void floats(int frame)
{
    GLfloat v[32];
    for (int i = 0; i < 32; i++)
        v[i] = (float)((i * 13 + frame * 5) % 17) / 8.0f;
    glUniform1f(at("f1"), v[3]);
    glUniform2f(at("f2"), v[4], v[5]);
    glUniform3fv(at("f3"), 1, v + 6);
    glUniform4fv(at("f4"), 3, v);
    glUniform4f(at("f4[1]"), v[1], v[2], v[3], v[4]);
    glUniformMatrix2fv(at("m2"), 1, GL_FALSE, v);
    glUniformMatrix3fv(at("m3"), 2, GL_TRUE, v);
    glUniformMatrix4fv(at("m4"), 1, GL_FALSE, v + 2);
    glUniformMatrix2x3fv(at("m23"), 1, GL_TRUE, v + 1);
    glUniformMatrix3x2fv(at("m32"), 1, GL_FALSE, v + 2);
    glUniformMatrix2x4fv(at("m24"), 1, GL_FALSE, v + 3);
    glUniformMatrix4x2fv(at("m42"), 1, GL_TRUE, v + 4);
    glUniformMatrix3x4fv(at("m34"), 1, GL_FALSE, v + 5);
    glUniformMatrix4x3fv(at("m43"), 1, GL_FALSE, v + 6);
    glUniform2fv(at("parts[0].place"), 1, v + 9);
    glUniform2fv(at("parts[1].place"), 1, v + 8);
}

static void integers(int frame)
{
    const GLint i[] = {frame, -2, 3, 4, -5, 6, 7, 8};
    const GLuint u[] = {1, 2, (GLuint)frame, 4, 5, 6, 7};
    glUniform1i(at("i1"), i[2]);
    glUniform2iv(at("i2"), 1, i);
    glUniform3i(at("i3"), i[4], i[5], i[6]);
    glUniform4iv(at("i4"), 2, i);
    glUniform1ui(at("u1"), u[3]);
    glUniform2uiv(at("u2"), 1, u);
    glUniform3uiv(at("u3"), 1, u + 1);
    glUniform4ui(at("u4"), u[1], u[2], u[3], u[4]);
    glUniform1i(at("b1"), frame & 1);
    glUniform3f(at("b3"), 0.0f, (float)(frame & 2), 7.5f);
    glUniform1iv(at("parts[0].kinds"), 2, i);
    /* A count beyond the end of the array is cut to the array's length. */
    glUniform1iv(at("parts[1].kinds"), 5, i + 1);
    glUniform1iv(-1, 2, i);
}

static void by_program(int frame)
{
    const GLfloat f[] = {0.1f * (float)frame, 0.2f, 0.3f, 0.4f};
    glUseProgram(0);
    glProgramUniform4fv(program, at("f4[2]"), 1, f);
    glProgramUniform2i(program, at("i2"), frame, 5);
    glProgramUniform3ui(program, at("u3"), 3, 2, (GLuint)frame);
    glProgramUniformMatrix2fv(program, at("m2"), 1, GL_TRUE, f);
    glUseProgram(program);
}

static void asked(void)
{
    GLfloat f[16];
    GLint i[4];
    GLuint u[4];
    memset(f, 0x11, sizeof f), memset(i, 0x22, sizeof i), memset(u, 0x33, sizeof u);
    glGetUniformfv(program, at("m3[1]"), f);
    printf("m3[1] %08x\n", sum_of(f, sizeof f));
    glGetUniformfv(program, at("f4[2]"), f);
    glGetUniformiv(program, at("i3"), i);
    glGetUniformuiv(program, at("u4"), u);
    printf("f4[2] %08x, i3 %08x, u4 %08x\n", sum_of(f, sizeof f), sum_of(i, sizeof i),
           sum_of(u, sizeof u));
    glGetUniformfv(program, at("m43"), f);
    glGetUniformiv(program, at("b3"), i);
    printf("m43 %08x, b3 %d %d %d\n", sum_of(f, sizeof f), i[0], i[1], i[2]);
}

static void listed(void)
{
    GLint count = 0;
    glGetProgramiv(program, GL_ACTIVE_UNIFORMS, &count);
    for (GLuint i = 0; i < (GLuint)count; i++) {
        char name[64], cut[4];
        GLint size = 0;
        GLenum type = 0;
        GLsizei length = 0;
        glGetActiveUniform(program, i, sizeof name, &length, &size, &type, name);
        glGetActiveUniform(program, i, sizeof cut, NULL, &size, &type, cut);
        printf("%s (%d, %s) %d 0x%04x\n", name, length, cut, size, type);
    }
}

static void draw(int frame)
{
    clear(0, 0, 0);
    floats(frame);
    integers(frame);
    by_program(frame);
    asked();
    quad();
    if (frame == 0)
        listed();
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
