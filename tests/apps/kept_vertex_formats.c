/* Vertex formats and binding points that are set before a capture begins, and used apart from each other later. */
#include "app.h"

enum { SPLIT, SHARED, UNUSED, FLAT, MIXED, ARRAYS };

static GLuint arrays[ARRAYS], corners, colours, more;

static void places(GLuint array)
{
    glBindVertexArray(array);
    glBindBuffer(GL_ARRAY_BUFFER, corners);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

static void start(void)
{
    const GLfloat quad_corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    GLubyte bytes[256];
    glUseProgram(colour_program());
    corners = new_buffer(GL_ARRAY_BUFFER, sizeof quad_corners, quad_corners);
    fill(bytes, sizeof bytes, 5);
    colours = new_buffer(GL_ARRAY_BUFFER, sizeof bytes, bytes);
    fill(bytes, sizeof bytes, 6);
    more = new_buffer(GL_ARRAY_BUFFER, sizeof bytes, bytes);
    glGenVertexArrays(ARRAYS, arrays);
    for (int i = 0; i < ARRAYS; i++)
        places(arrays[i]);
    /* A format and a binding point, without a buffer. */
    glBindVertexArray(arrays[SPLIT]);
    glVertexAttribFormat(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 4);
    glVertexAttribBinding(1, 5);
    glEnableVertexAttribArray(1);
    glBindVertexBuffer(7, 0, 12, 20);
    /* Two attributes at one binding point, one of them disabled. */
    glBindVertexArray(arrays[SHARED]);
    glVertexAttribFormat(1, 3, GL_UNSIGNED_BYTE, GL_TRUE, 1);
    glVertexAttribIFormat(2, 2, GL_SHORT, 6);
    glVertexAttribBinding(1, 9);
    glVertexAttribBinding(2, 9);
    glBindVertexBuffer(9, colours, 16, 12);
    glEnableVertexAttribArray(1);
    /* A binding point that no attribute uses yet. */
    glBindVertexArray(arrays[UNUSED]);
    glBindVertexBuffer(3, more, 8, 4);
    glVertexBindingDivisor(3, 2);
    glVertexAttribFormat(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0);
    glEnableVertexAttribArray(1);
    /* A stride of 0 is not one of packed vertices here. */
    glBindVertexArray(arrays[FLAT]);
    glVertexAttribFormat(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 32);
    glVertexAttribBinding(1, 1);
    glBindVertexBuffer(1, colours, 64, 0);
    glEnableVertexAttribArray(1);
    /* A pointer, whose format and binding point have changed since. */
    glBindVertexArray(arrays[MIXED]);
    glBindBuffer(GL_ARRAY_BUFFER, more);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 8, (void *)24);
    glVertexAttribPointer(3, 2, GL_SHORT, GL_FALSE, 0, (void *)4);
    glVertexAttribDivisor(3, 3);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribFormat(1, 3, GL_UNSIGNED_BYTE, GL_TRUE, 2);
    glVertexAttribBinding(1, 3);
    glEnableVertexAttribArray(1);
    glBindVertexArray(0);
}

static void print_arrays(void)
{
    static const GLenum of_attribs[] = {
        GL_VERTEX_ATTRIB_ARRAY_ENABLED, GL_VERTEX_ATTRIB_ARRAY_SIZE, GL_VERTEX_ATTRIB_ARRAY_STRIDE,
        GL_VERTEX_ATTRIB_ARRAY_TYPE, GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, GL_VERTEX_ATTRIB_ARRAY_INTEGER,
        GL_VERTEX_ATTRIB_ARRAY_DIVISOR, GL_VERTEX_ATTRIB_BINDING, GL_VERTEX_ATTRIB_RELATIVE_OFFSET,
        GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING};
    static const GLenum of_bindings[] = {GL_VERTEX_BINDING_DIVISOR, GL_VERTEX_BINDING_OFFSET,
                                         GL_VERTEX_BINDING_STRIDE, GL_VERTEX_BINDING_BUFFER};
    GLint value = 0;
    void *pointer = NULL;
    for (int i = 0; i < ARRAYS; i++) {
        glBindVertexArray(arrays[i]);
        for (GLuint index = 0; index < 5; index++) {
            for (int j = 0; j < LENGTH(of_attribs); j++)
                glGetVertexAttribiv(index, of_attribs[j], &value), printf("%d ", value);
            glGetVertexAttribPointerv(index, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
            printf("%d\n", (int)(intptr_t)pointer);
        }
        for (GLuint index = 0; index < 10; index++)
            for (int j = 0; j < LENGTH(of_bindings); j++)
                glGetIntegeri_v(of_bindings[j], index, &value), printf("%d ", value);
        printf("\n");
    }
}

static void draw(int frame)
{
    clear(0, 0.1f * (float)frame, 0.2f);
    print_arrays();
    glBindVertexArray(arrays[SPLIT]);
    glBindVertexBuffer(5, frame & 1 ? colours : more, 4 * frame, 8);
    cell(0, 3, 2), glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(arrays[SHARED]);
    cell(1, 3, 2), glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(arrays[UNUSED]);
    glVertexAttribBinding(1, 3);
    cell(2, 3, 2), glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 1 + frame);
    glVertexAttribBinding(1, 1);
    glBindVertexArray(arrays[FLAT]);
    glVertexAttribFormat(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 32 + (GLuint)frame);
    cell(3, 3, 2), glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(arrays[MIXED]);
    cell(4, 3, 2), glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 4);
    glVertexAttribBinding(1, frame & 1 ? 1 : 3);
    cell(5, 3, 2), glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glVertexAttribBinding(1, 3);
    glBindVertexArray(0);
}

int main(void)
{
    return app_run(31, 6, start, draw);
}
