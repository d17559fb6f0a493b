/* Buffers whose names were deleted, and given out again, while vertex arrays, a transform feedback or another context
 * hold them. */
#include "app.h"

enum { POINTER, SEPARATE, INSTANCED, ELEMENTS, REUSED, ARRAYS };

static GLuint arrays[ARRAYS], program, doubling, corners, taken, feedback, uniforms;
static EGLContext other;

/* An array with attribute 0 in a buffer that stays. */
static void begin(int array)
{
    glBindVertexArray(arrays[array]);
    glBindBuffer(GL_ARRAY_BUFFER, corners);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
}

static GLuint random_buffer(GLenum target, GLsizei size, uint32_t salt)
{
    GLubyte bytes[1024];
    fill(bytes, (size_t)size, salt);
    return new_buffer(target, size, bytes);
}

static void delete_and_reuse(GLuint buffer, uint32_t salt)
{
    glBindVertexArray(0);
    glDeleteBuffers(1, &buffer);
    GLubyte bytes[64];
    fill(bytes, sizeof bytes, salt + 100);
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer);
    glBufferData(GL_COPY_WRITE_BUFFER, sizeof bytes, bytes, GL_STATIC_DRAW);
    taken = buffer;
}

static void start(void)
{
    const GLfloat quad_corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    const GLfloat block[] = {0.9f, 0.6f, 0.3f, 1};
    const char *varyings[] = {"tint"};
    GLubyte indices[] = {2, 3, 0, 1, 3, 2};
    GLuint buffer;
    program = program_of("#version 310 es\n"
                         "layout(location = 0) in vec4 place;\n"
                         "layout(location = 1) in vec4 colour;\n"
                         "out vec4 tint;\n"
                         "void main() { gl_Position = place; tint = colour; }\n",
                         "#version 310 es\n"
                         "precision mediump float;\n"
                         "in vec4 tint;\n"
                         "layout(std140, binding = 2) uniform Block { vec4 weight; };\n"
                         "out vec4 colour;\n"
                         "void main() { colour = tint * weight; }\n");
    doubling = glCreateProgram();
    glAttachShader(doubling, shader_of(GL_VERTEX_SHADER, "#version 310 es\n"
                                                         "layout(location = 0) in vec4 place;\n"
                                                         "out vec4 tint;\n"
                                                         "void main() { gl_Position = place; tint = place * 2.0; }\n"));
    glAttachShader(doubling, shader_of(GL_FRAGMENT_SHADER, "#version 310 es\n"
                                                           "void main() {}\n"));
    glTransformFeedbackVaryings(doubling, 1, varyings, GL_INTERLEAVED_ATTRIBS);
    link_program(doubling);
    glUseProgram(program);
    corners = new_buffer(GL_ARRAY_BUFFER, sizeof quad_corners, quad_corners);
    glGenVertexArrays(ARRAYS, arrays);
    /* With a pointer. */
    begin(POINTER);
    buffer = random_buffer(GL_ARRAY_BUFFER, 61, 1);
    glVertexAttribPointer(1, 3, GL_UNSIGNED_BYTE, GL_TRUE, 15, (void *)1);
    glBindVertexArray(0);
    glDeleteBuffers(1, &buffer);
    /* At a binding point, with a divisor and an attribute of integers at the place of the shader's own. */
    begin(SEPARATE);
    buffer = random_buffer(GL_ARRAY_BUFFER, 400, 2);
    glVertexAttribFormat(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 3);
    glVertexAttribBinding(1, 6);
    glBindVertexBuffer(6, buffer, 20, 16);
    glBindVertexArray(0);
    glDeleteBuffers(1, &buffer);
    begin(INSTANCED);
    buffer = random_buffer(GL_ARRAY_BUFFER, 64, 3);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 4, NULL);
    glVertexAttribDivisor(1, 2);
    glBindVertexArray(0);
    glDeleteBuffers(1, &buffer);
    /* Indices. */
    begin(ELEMENTS);
    random_buffer(GL_ARRAY_BUFFER, 64, 4);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 4, NULL);
    buffer = new_buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices);
    glBindVertexArray(0);
    glDeleteBuffers(1, &buffer);
    /* The name is another buffer's by now. */
    begin(REUSED);
    buffer = random_buffer(GL_ARRAY_BUFFER, 128, 5);
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 8, NULL);
    delete_and_reuse(buffer, 5);
    /* In a transform feedback that is not bound. */
    glGenTransformFeedbacks(1, &feedback);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    buffer = new_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 256, NULL);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
    glDeleteBuffers(1, &buffer);
    /* At a binding point of this context; another one deletes the name. */
    uniforms = new_buffer(GL_UNIFORM_BUFFER, sizeof block, block);
    glBindBufferBase(GL_UNIFORM_BUFFER, 2, uniforms);
    other = app_context_of(31, app.context);
    app_current(app.surface, other);
    glDeleteBuffers(1, &uniforms);
    app_current(app.surface, app.context);
    glDisable(GL_RASTERIZER_DISCARD);
}

static void feed_back(void)
{
    GLint written = 0;
    GLuint query;
    glUseProgram(doubling);
    glGenQueries(1, &query);
    glBindVertexArray(arrays[POINTER]);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, query);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, 4);
    glEndTransformFeedback();
    glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    glDisable(GL_RASTERIZER_DISCARD);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, (GLuint *)&written);
    printf("written %d\n", written);
    glDeleteQueries(1, &query);
    glUseProgram(program);
}

static void draw(int frame)
{
    GLint value = -1;
    no_error("a frame's begin");
    clear(0, 0.1f * (float)frame, 0.3f);
    feed_back();
    glGetIntegerv(GL_RASTERIZER_DISCARD, &value);
    printf("discard %d\n", value);
    glBindVertexArray(arrays[POINTER]);
    cell(0, 3, 2), glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(arrays[SEPARATE]);
    glVertexAttribFormat(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, (GLuint)(3 + frame));
    cell(1, 3, 2), glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(arrays[INSTANCED]);
    cell(2, 3, 2), glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, 2 + frame);
    glBindVertexArray(arrays[ELEMENTS]);
    cell(3, 3, 2), glDrawElements(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_BYTE, (void *)(intptr_t)(frame & 1));
    if (frame == 4) {
        /* A write without a name. */
        const GLubyte last = 0;
        glBufferSubData(GL_ELEMENT_ARRAY_BUFFER, 1, 1, &last);
    }
    glBindVertexArray(arrays[REUSED]);
    cell(4, 3, 2), glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindBuffer(GL_ARRAY_BUFFER, taken);
    glVertexAttribPointer(3, 4, GL_UNSIGNED_BYTE, GL_TRUE, 4, (void *)8);
    glBindVertexArray(0);
    glVertexAttrib4f(1, 1, 1, 1, 1);
    cell(5, 3, 2), quad();
    glVertexAttrib4f(1, 0, 0, 0, 1);
}

int main(void)
{
    return app_run(31, 6, start, draw);
}
