/*
 * Indices from buffers that were filled in other ways than through GL_ELEMENT_ARRAY_BUFFER, some of them by the
 * driver, with client vertex arrays: only a read-back tells which vertices a draw reads.
 */
#include "app.h"

#define COLUMNS 8
#define CELLS 6
/* Indices of one draw. */
#define COUNT 6

static GLuint colours_program, feedback_program, compute_program;
static GLfloat places[64][2];
static GLfloat colours[64][3];

static void indices_of(int frame, int number, GLuint out[COUNT])
{
    GLuint corner = (GLuint)((frame + 7 * number) % 40);
    const GLuint two[] = {corner, corner + 2, corner + 2 * COLUMNS, corner + 2, corner + 2 * COLUMNS + 2,
                          corner + 2 * COLUMNS};
    memcpy(out, two, sizeof two);
}

static GLuint program_of_feedback(void)
{
    static const GLchar *const varying = "number";
    GLuint program = glCreateProgram();
    GLuint vertex = shader_of(GL_VERTEX_SHADER, "#version 310 es\n"
                                                "in uint given;\n"
                                                "flat out highp uint number;\n"
                                                "void main() { number = given; gl_Position = vec4(0); }\n");
    GLuint fragment = shader_of(GL_FRAGMENT_SHADER, "#version 310 es\nvoid main() {}\n");
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glBindAttribLocation(program, 2, "given");
    glTransformFeedbackVaryings(program, 1, &varying, GL_INTERLEAVED_ATTRIBS);
    link_program(program);
    return program;
}

static GLuint program_of_compute(void)
{
    GLuint program = glCreateProgram();
    GLuint shader = shader_of(GL_COMPUTE_SHADER, "#version 310 es\n"
                                                 "layout(local_size_x = 6) in;\n"
                                                 "uniform uint given[6];\n"
                                                 "layout(std430, binding = 0) buffer Out { uint number[]; };\n"
                                                 "void main() {\n"
                                                 "    uint i = gl_LocalInvocationID.x;\n"
                                                 "    number[i] = given[i];\n"
                                                 "}\n");
    glAttachShader(program, shader);
    link_program(program);
    return program;
}

static void start(void)
{
    for (int i = 0; i < 64; i++) {
        places[i][0] = -1.0f + 2.0f * (float)(i % COLUMNS) / (COLUMNS - 1);
        places[i][1] = -1.0f + 2.0f * (float)(i / COLUMNS) / (COLUMNS - 1);
        colours[i][0] = (float)(i % 8) / 8.0f;
        colours[i][1] = (float)(i % 5) / 5.0f;
        colours[i][2] = (float)(i % 3) / 3.0f;
    }
    colours_program = colour_program();
    feedback_program = program_of_feedback();
    compute_program = program_of_compute();
}

/* Draws from `offset` bytes on in the buffer, and deletes it. */
static void draw_with(GLuint buffer, int number, size_t offset)
{
    cell(number, 3, 2);
    glUseProgram(colours_program);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, colours);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
    glDrawElements(GL_TRIANGLES, COUNT, GL_UNSIGNED_INT, (void *)offset);
    /* A change of the indices that were read back. */
    GLuint last = 63;
    glBufferSubData(GL_ELEMENT_ARRAY_BUFFER, (GLintptr)(offset + 4 * (COUNT - 1)), sizeof last, &last);
    glDrawElements(GL_TRIANGLES, COUNT, GL_UNSIGNED_INT, (void *)offset);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glDisableVertexAttribArray(0);
    glDisableVertexAttribArray(1);
    glDeleteBuffers(1, &buffer);
}

static GLuint filled(GLenum target, int frame, int number, size_t before)
{
    GLuint indices[COUNT];
    indices_of(frame, number, indices);
    GLuint buffer = new_buffer(target, (GLsizeiptr)(before + sizeof indices), NULL);
    glBufferSubData(target, (GLintptr)before, sizeof indices, indices);
    return buffer;
}

static void copied(int frame)
{
    GLuint source = filled(GL_UNIFORM_BUFFER, frame, 1, 8);
    GLuint buffer = new_buffer(GL_ARRAY_BUFFER, 8 + 4 * COUNT, NULL);
    glCopyBufferSubData(GL_UNIFORM_BUFFER, GL_ARRAY_BUFFER, 8, 8, 4 * COUNT);
    glDeleteBuffers(1, &source);
    draw_with(buffer, 1, 8);
}

static void fed_back(int frame)
{
    GLuint indices[COUNT];
    indices_of(frame, 2, indices);
    GLuint buffer = new_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 4 * COUNT, NULL);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
    glUseProgram(feedback_program);
    glVertexAttribIPointer(2, 1, GL_UNSIGNED_INT, 0, indices);
    glEnableVertexAttribArray(2);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, COUNT);
    glEndTransformFeedback();
    glDisable(GL_RASTERIZER_DISCARD);
    glDisableVertexAttribArray(2);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
    draw_with(buffer, 2, 0);
}

static void computed(int frame)
{
    GLuint indices[COUNT];
    indices_of(frame, 3, indices);
    GLuint buffer = new_buffer(GL_SHADER_STORAGE_BUFFER, 4 * COUNT, NULL);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    glUseProgram(compute_program);
    glUniform1uiv(glGetUniformLocation(compute_program, "given"), COUNT, indices);
    glDispatchCompute(1, 1, 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, 0);
    draw_with(buffer, 3, 0);
}

static void mapped(int frame)
{
    GLuint buffer = new_buffer(GL_UNIFORM_BUFFER, 4 * COUNT, NULL);
    GLuint *mapping = glMapBufferRange(GL_UNIFORM_BUFFER, 0, 4 * COUNT, GL_MAP_WRITE_BIT);
    must(mapping != NULL, "glMapBufferRange");
    indices_of(frame, 4, mapping);
    must(glUnmapBuffer(GL_UNIFORM_BUFFER), "glUnmapBuffer");
    draw_with(buffer, 4, 0);
}

/* Packed pixels: each is an index. */
static void read_back(int frame)
{
    GLuint indices[COUNT], texture = new_texture(GL_TEXTURE_2D), framebuffer;
    indices_of(frame, 5, indices);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, COUNT, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, indices);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    GLuint buffer = new_buffer(GL_PIXEL_PACK_BUFFER, 4 * COUNT, NULL);
    glReadPixels(0, 0, COUNT, 1, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteTextures(1, &texture);
    draw_with(buffer, 5, 0);
}

static void draw(int frame)
{
    clear(0.1f, 0.2f, 0.1f);
    draw_with(filled(GL_ARRAY_BUFFER, frame, 0, 0), 0, 0);
    copied(frame);
    fed_back(frame);
    computed(frame);
    mapped(frame);
    read_back(frame);
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
