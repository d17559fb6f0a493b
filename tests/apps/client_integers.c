/* Client vertex arrays of ES 3: integer attributes of every type, packed ones, half floats. */
#include "app.h"

static GLuint signed_program, unsigned_program, float_program;

static GLuint integer_program(const char *kind)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 300 es\n"
             "in vec2 place;\n"
             "in %s colour;\n"
             "out vec4 tint;\n"
             "void main() { gl_Position = vec4(place, 0, 1); tint = vec4(colour) / 100.0; }\n",
             kind);
    return program_of(source, "#version 300 es\n"
                              "precision mediump float;\n"
                              "in vec4 tint;\n"
                              "out vec4 colour;\n"
                              "void main() { colour = vec4(tint.rgb, 1); }\n");
}

static void start(void)
{
    signed_program = integer_program("ivec4");
    unsigned_program = integer_program("uvec4");
    float_program = integer_program("vec4");
}

static void place(void)
{
    static const GLfloat places[] = {-1, -1, 1, -1, 0, 1};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static void integers(int at, GLuint program, GLenum type, const void *values, GLsizei stride)
{
    cell(at, 4, 4);
    glUseProgram(program);
    place();
    glVertexAttribIPointer(1, 4, type, stride, values);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void floats(int at, GLint size, GLenum type, const void *values, GLboolean normalized)
{
    cell(at, 4, 4);
    glUseProgram(float_program);
    place();
    glVertexAttribPointer(1, size, type, normalized, 0, values);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void draw(int frame)
{
    const GLbyte bytes[] = {100, 0, 10, 0, 0, 100, 10, 0, 10, 10, (GLbyte)(90 - frame), 0};
    const GLubyte ubytes[] = {200, 0, 10, 0, 0, 100, 10, 0, 10, 10, 90, 0};
    const GLshort shorts[] = {100, 0, 10, 0, 0, 100, 10, 0, 10, (GLshort)(10 * frame), 90, 0};
    const GLushort ushorts[] = {50, 0, 10, 0, 0, 100, 10, 0, 10, 10, 90, 0};
    const GLint ints[] = {100, 20, 10, 0, 7, 7, 20, 100, 10, 0, 7, 7, 30, 10, 90, 0};
    const GLuint uints[] = {100, 40, 10, 0, 40, 100, 10, 0, 40, 10, 90, 0};
    const GLushort halves[] = {0x5640, 0x4900, 0x3c00, 0x5640, 0x5000, 0x4900, 0x5640, 0x5640, 0x5640};
    const GLuint packed_unsigned[] = {0x000ffc64, 0x00019064, 0x06400064};
    const GLuint packed_signed[] = {0x1ff003ff, 0x000ffc00, 0x3ff7fdff};
    clear(0.0f, 0.2f, 0.0f);
    integers(0, signed_program, GL_BYTE, bytes, 0);
    integers(1, unsigned_program, GL_UNSIGNED_BYTE, ubytes, 4);
    integers(2, signed_program, GL_SHORT, shorts, 8);
    integers(3, unsigned_program, GL_UNSIGNED_SHORT, ushorts, 0);
    integers(4, signed_program, GL_INT, ints, 24);
    integers(5, unsigned_program, GL_UNSIGNED_INT, uints, 16);
    floats(6, 3, GL_HALF_FLOAT, halves, GL_FALSE);
    floats(7, 4, GL_UNSIGNED_INT_2_10_10_10_REV, packed_unsigned, GL_FALSE);
    floats(8, 4, GL_INT_2_10_10_10_REV, packed_signed, GL_FALSE);
    floats(9, 4, GL_INT, ints, GL_FALSE);
    floats(10, 1, GL_UNSIGNED_INT, uints, GL_FALSE);
    glDisableVertexAttribArray(1);
    cell(11, 4, 4);
    glUseProgram(signed_program);
    glVertexAttribI4i(1, 90, 20 * frame, 50, 1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    cell(12, 4, 4);
    glUseProgram(unsigned_program);
    glVertexAttribI4uiv(1, uints);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
