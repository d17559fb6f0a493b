/* Client vertex arrays of ES 2: plain, interleaved, strides, types, constants. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = colour_program();
    glUseProgram(program);
}

static void plain(float shift)
{
    const GLfloat places[] = {-1 + shift, -1, 1, -1, 0, 1};
    const GLfloat colours[] = {1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 0, colours);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* Both arrays in one structure, with a hole; the first vertex is skipped. */
static void interleaved(float shift)
{
    struct vertex {
        GLfloat place[3];
        char hole[5];
        GLubyte colour[4];
    } __attribute__((packed)) vertices[5];
    memset(vertices, 0x7f, sizeof vertices);
    for (int i = 0; i < 5; i++) {
        const GLfloat place[] = {(i & 1 ? 1.0f : -1.0f) + shift, i & 2 ? 1.0f : -1.0f, 0.0f};
        const GLubyte colour[] = {(GLubyte)(60 * i), 100, (GLubyte)(255 - 50 * i), 255};
        memcpy(vertices[i].place, place, sizeof place);
        memcpy(vertices[i].colour, colour, sizeof colour);
    }
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof *vertices, vertices[0].place);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof *vertices, vertices[0].colour);
    glDrawArrays(GL_TRIANGLE_STRIP, 1, 4);
}

/* Two arrays that overlap: the second begins inside the first. */
static void overlapping(void)
{
    const GLfloat numbers[] = {-1, -1, 0.25f, 1, 1, -1, 0.75f, 1, 0, 1, 0.5f, 1, 1, 1};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 4 * sizeof *numbers, numbers);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 4 * sizeof *numbers, numbers + 2);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* A stride larger than an element, and one smaller. */
static void strides(void)
{
    const GLshort places[] = {-1, -1, 9, 9, 9, 1, -1, 9, 9, 9, -1, 1, 9, 9, 9, 1, 1};
    const GLubyte colours[] = {250, 200, 150, 100, 50, 0, 255};
    glVertexAttribPointer(0, 2, GL_SHORT, GL_FALSE, 5 * sizeof *places, places);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 1, colours);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void types(GLenum type, const void *places, int normalized)
{
    glDisableVertexAttribArray(1);
    glVertexAttrib4f(1, 0.2f, 0.9f, (float)(type & 7) / 8.0f, 1.0f);
    glVertexAttribPointer(0, 2, type, (GLboolean)normalized, 0, places);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glEnableVertexAttribArray(1);
}

static void all_types(void)
{
    static const GLbyte bytes[] = {-100, -100, 100, -100, -100, 100, 100, 100};
    static const GLubyte ubytes[] = {0, 0, 255, 0, 0, 255, 255, 255};
    static const GLshort shorts[] = {-30000, -30000, 30000, -30000, -30000, 30000, 30000, 30000};
    static const GLushort ushorts[] = {0, 0, 65000, 0, 0, 65000, 65000, 65000};
    static const GLfixed fixed[] = {-50000, -60000, 50000, -60000, -50000, 60000, 50000, 60000};
    cell(8, 4, 4), types(GL_BYTE, bytes, 1);
    cell(9, 4, 4), types(GL_UNSIGNED_BYTE, ubytes, 1);
    cell(10, 4, 4), types(GL_SHORT, shorts, 1);
    cell(11, 4, 4), types(GL_UNSIGNED_SHORT, ushorts, 1);
    cell(12, 4, 4), types(GL_FIXED, fixed, 0);
}

/* One attribute, one component, at an odd address. */
static void unaligned(void)
{
    unsigned char bytes[1 + 4 * 3 * sizeof(GLfloat)];
    const GLfloat places[] = {-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0};
    memcpy(bytes + 1, places, sizeof places);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, bytes + 1);
    glVertexAttrib4f(1, 1, 1, 0.5f, 1);
    glDisableVertexAttribArray(1);
    glDrawArrays(GL_LINE_LOOP, 0, 4);
}

static void draw(int frame)
{
    float shift = 0.2f * (float)frame;
    clear(0.1f, 0.1f, 0.2f);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    cell(0, 4, 4), plain(shift);
    cell(1, 4, 4), interleaved(shift);
    cell(2, 4, 4), overlapping();
    cell(3, 4, 4), strides();
    all_types();
    cell(13, 4, 4), unaligned();
    /* Nothing is drawn and nothing is read. */
    glDrawArrays(GL_TRIANGLES, 0, 0);
    glDrawArrays(GL_TRIANGLES, 7, 0);
}

int main(void)
{
    return app_run(20, 4, start, draw);
}
