/* Every type of vertex attribute, from memory and from buffers, by every kind of draw. */
#include "cases.h"

struct kind {
    const char *name;
    GLenum type;
    int bytes;
    /* All components in one word. */
    int packed;
};

static const struct kind KINDS[] = {
    {"byte", GL_BYTE, 1, 0},
    {"ubyte", GL_UNSIGNED_BYTE, 1, 0},
    {"short", GL_SHORT, 2, 0},
    {"ushort", GL_UNSIGNED_SHORT, 2, 0},
    {"int", GL_INT, 4, 0},
    {"uint", GL_UNSIGNED_INT, 4, 0},
    {"half", GL_HALF_FLOAT, 2, 0},
    {"float", GL_FLOAT, 4, 0},
    {"fixed", GL_FIXED, 4, 0},
    {"signed_10", GL_INT_2_10_10_10_REV, 4, 1},
    {"unsigned_10", GL_UNSIGNED_INT_2_10_10_10_REV, 4, 1},
};

static const GLenum MODES[] = {GL_POINTS,         GL_LINES,        GL_LINE_LOOP,   GL_LINE_STRIP,
                               GL_TRIANGLES,      GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN};

static GLfloat places[24][2];
static unsigned char values[4096];

static void prepare(void)
{
    for (int i = 0; i < 24; i++) {
        places[i][0] = (float)((i * 7) % 11) / 5.0f - 1.0f;
        places[i][1] = (float)((i * 5) % 13) / 6.0f - 1.0f;
    }
    fill(values, sizeof values, 99);
    glUseProgram(program_of("#version 300 es\n"
                            "in vec2 place;\n"
                            "in vec4 colour;\n"
                            "out vec4 tint;\n"
                            "void main() {\n"
                            "  gl_Position = vec4(place, 0, 1);\n"
                            "  gl_PointSize = 5.0;\n"
                            "  tint = fract(colour * 0.37) + 0.1 * float(gl_InstanceID);\n"
                            "}\n",
                            "#version 300 es\n"
                            "precision highp float;\n"
                            "in vec4 tint;\n"
                            "out vec4 colour;\n"
                            "void main() { colour = vec4(tint.rgb, 1); }\n"));
    clear(0.2f, 0.2f, 0.2f);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

/* Halves and floats from random bits may be no numbers at all. */
static void tame(const struct kind *kind)
{
    for (int i = 0; i < 512; i++) {
        if (kind->type == GL_FLOAT)
            ((GLfloat *)values)[i] = (float)(i * 29 % 64) / 16.0f;
        if (kind->type == GL_HALF_FLOAT)
            ((GLushort *)values)[i] = (GLushort)(0x3000 + i * 131 % 0xc00);
    }
}

/* Sizes one to four, tight and with strides, from memory or from a buffer. */
static void attribute(long number)
{
    const struct kind *kind = &KINDS[number / 2];
    GLuint buffer = 0;
    prepare();
    tame(kind);
    if (number % 2) {
        buffer = new_buffer(GL_ARRAY_BUFFER, sizeof values, values);
    }
    for (int size = kind->packed ? 4 : 1; size <= 4; size++) {
        int bytes = kind->packed ? kind->bytes : size * kind->bytes;
        for (int hole = 0; hole < 12; hole += 4) {
            const unsigned char *at = (buffer ? NULL : values) + 16 * (long)hole;
            int stride = hole ? (bytes + 3) / 4 * 4 + hole : 0;
            glVertexAttribPointer(1, size, kind->type, hole == 4, stride, at);
            cell((size - 1) * 3 + hole / 4, 4, 3);
            glDrawArrays(GL_TRIANGLES, hole, 12);
        }
    }
    say_picture(kind->name);
    glDeleteBuffers(1, &buffer);
}

static void draw_by(int way, GLenum mode)
{
    static const GLubyte bytes[] = {5, 4, 3, 9, 8, 7, 20, 21, 22, 0, 1, 2};
    static const GLushort shorts[] = {15, 4, 13, 9, 18, 7, 20, 1, 22, 0, 11, 2};
    static const GLuint ints[] = {23, 4, 3, 19, 8, 7, 20, 2, 22, 0, 13, 2};
    switch (way) {
    case 0: glDrawArrays(mode, 2, 12); break;
    case 1: glDrawElements(mode, 12, GL_UNSIGNED_BYTE, bytes); break;
    case 2: glDrawElements(mode, 12, GL_UNSIGNED_SHORT, shorts); break;
    case 3: glDrawElements(mode, 12, GL_UNSIGNED_INT, ints); break;
    case 4: glDrawRangeElements(mode, 0, 22, 12, GL_UNSIGNED_BYTE, bytes); break;
    case 5: glDrawArraysInstanced(mode, 3, 9, 3); break;
    case 6: glDrawElementsInstanced(mode, 12, GL_UNSIGNED_SHORT, shorts, 2); break;
    case 7: glDrawElementsBaseVertex(mode, 12, GL_UNSIGNED_BYTE, bytes, 1); break;
    }
}

static const char *const WAYS[] = {"arrays", "bytes",     "shorts",            "ints",
                                   "range",  "instances", "indexed_instances", "base"};

static void draw(long number)
{
    prepare();
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, values);
    draw_by((int)(number / LENGTH(MODES)), MODES[number % LENGTH(MODES)]);
    say_picture("drawn");
}

/* The same draws, the indices in a buffer; the pointer is an offset that is no address. */
static void indexed_from_a_buffer(long number)
{
    static const GLenum types[] = {GL_UNSIGNED_BYTE, GL_UNSIGNED_SHORT, GL_UNSIGNED_INT};
    unsigned char indices[256] = {0};
    int bytes = 1 << number % 3;
    for (int i = 0; i < 24; i++)
        indices[8 + i * bytes] = (unsigned char)(i * 5 % 24);
    prepare();
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, values);
    GLuint buffer = new_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices);
    glDrawElements(MODES[number / 3], 20, types[number % 3], (void *)(8 + 2L * bytes));
    say_picture("drawn");
    glDeleteBuffers(1, &buffer);
}

static void divisors(long divisor)
{
    static const GLfloat few[] = {-1, -1, 1, -1, 0, 1};
    prepare();
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, few);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, values);
    glVertexAttribDivisor(1, (GLuint)divisor);
    for (int i = 0; i < 9; i++) {
        cell(i, 3, 3);
        glDrawArraysInstanced(GL_TRIANGLES, 0, 3, i);
    }
    say_picture("instances");
}

int main(int count, char **words)
{
    for (int i = 0; i < LENGTH(KINDS); i++) {
        add(30, attribute, 2 * i, "memory_%s", KINDS[i].name);
        add(30, attribute, 2 * i + 1, "buffer_%s", KINDS[i].name);
    }
    for (int i = 0; i < LENGTH(WAYS) * LENGTH(MODES); i++)
        add(32, draw, i, "%s_%d", WAYS[i / LENGTH(MODES)], i % LENGTH(MODES));
    for (int i = 0; i < 3 * LENGTH(MODES); i++)
        add(30, indexed_from_a_buffer, i, "indexed_%d_%d", i % 3, i / 3);
    for (int i = 0; i < 5; i++)
        add(30, divisors, i, "divisor_%d", i);
    return run_cases(count, words);
}
