/* Uniform buffers: blocks, layouts, ranges that move, an array of blocks. */
#include "app.h"

static GLuint program, buffer;
/* Bytes from one block to the next. */
static GLint step;

static void start(void)
{
    program = program_of(
        "#version 310 es\n"
        "layout(std140, binding = 3) uniform Place { vec4 scale; mat3x2 moves; };\n"
        "in vec4 place;\n"
        "out vec2 at;\n"
        "void main() {\n"
        "  gl_Position = vec4(place.xy * scale.xy + moves[1], 0, 1);\n"
        "  at = place.xy * 0.5 + 0.5;\n"
        "}\n",
        "#version 310 es\n"
        "precision highp float;\n"
        "layout(std140) uniform Tint { vec3 tint; float ints[3]; } tints[2];\n"
        "in vec2 at;\n"
        "out vec4 colour;\n"
        "void main() {\n"
        "  colour = vec4(mix(tints[0].tint, tints[1].tint, at.x) * tints[0].ints[1], 1);\n"
        "}\n");
    glUseProgram(program);
    glGetIntegerv(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, &step);
    step = step < 64 ? 64 : step;
    buffer = new_buffer(GL_UNIFORM_BUFFER, 16 * step, NULL);
    glUniformBlockBinding(program, glGetUniformBlockIndex(program, "Tint[0]"), 1);
    glUniformBlockBinding(program, glGetUniformBlockIndex(program, "Tint[1]"), 2);
}

static void described(void)
{
    const GLchar *const names[] = {"scale", "moves", "Tint.tint", "Tint.ints"};
    GLuint indices[4];
    GLint offsets[4], strides[4], size = 0, count = 0, members[8];
    char name[32];
    GLsizei length = 0;
    glGetUniformIndices(program, 4, names, indices);
    glGetActiveUniformsiv(program, 4, indices, GL_UNIFORM_OFFSET, offsets);
    glGetActiveUniformsiv(program, 4, indices, GL_UNIFORM_MATRIX_STRIDE, strides);
    for (int i = 0; i < 4; i++)
        printf("%s: %d, %d\n", names[i], offsets[i], strides[i]);
    GLuint block = glGetUniformBlockIndex(program, "Place");
    glGetActiveUniformBlockName(program, block, sizeof name, &length, name);
    glGetActiveUniformBlockiv(program, block, GL_UNIFORM_BLOCK_DATA_SIZE, &size);
    glGetActiveUniformBlockiv(program, block, GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS, &count);
    must(count <= LENGTH(members), "few uniforms");
    glGetActiveUniformBlockiv(program, block, GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES, members);
    printf("%s (%d): %d bytes, %d members\n", name, length, size, count);
}

static void part(int at, int frame)
{
    const GLfloat place[16] = {0.8f, 0.6f, 0, 0, 0, 0, 0, 0, 0.1f * (float)frame, 0.05f * (float)at};
    GLfloat tint[2][16] = {{1, 0.2f, 0.1f * (float)at}, {0.1f, 0.3f * (float)frame, 1}};
    tint[0][8] = 1.0f - 0.2f * (float)at;
    glBindBufferRange(GL_UNIFORM_BUFFER, 3, buffer, step * at, sizeof place);
    glBufferSubData(GL_UNIFORM_BUFFER, step * at, sizeof place, place);
    for (int i = 0; i < 2; i++) {
        GLintptr offset = step * (6 + 2 * at + i);
        glBufferSubData(GL_UNIFORM_BUFFER, offset, sizeof tint[i], tint[i]);
        glBindBufferRange(GL_UNIFORM_BUFFER, 1 + (GLuint)i, buffer, offset, sizeof tint[i]);
    }
    cell(at, 2, 2), quad();
}

static void draw(int frame)
{
    clear(0.1f, 0.2f, 0.1f);
    for (int i = 0; i < 4; i++)
        part(i, frame);
    if (frame == 0)
        described();
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
