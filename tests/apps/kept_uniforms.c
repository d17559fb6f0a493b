/* Uniforms of all types that are set before the first frame only, some without a query of their locations. */
#include "app.h"

static const char *const VERTEX =
    "#version 310 es\n"
    "layout(location = 0) in vec4 place;\n"
    "uniform mat2 two;\nuniform mat3 three;\nuniform mat4 four[2];\n"
    "uniform mat2x3 two_three;\nuniform mat2x4 two_four;\nuniform mat3x2 three_two;\n"
    "uniform mat3x4 three_four;\nuniform mat4x2 four_two;\nuniform mat4x3 four_three[2];\n"
    "uniform float scale[3];\nuniform bool flags[2];\nuniform bvec2 pair;\nuniform bvec3 triple;\nuniform bvec4 all;\n"
    "out vec4 sums;\n"
    "void main() {\n"
    "  vec4 v = place;\n"
    "  sums = four[1] * (vec4(two * v.xy, (three * v.xyz).z, 1) + vec4(two_three * v.xy, 0) + two_four * v.xy)\n"
    "    + vec4(three_two * v.xyz, 0, 0) + three_four * v.xyz + vec4(four_two * v, 0, 0)\n"
    "    + vec4(four_three[1] * v, scale[2]) + vec4(flags[1], pair.y, triple.z, all.w) * 0.1\n"
    "    + four[0][3] + four_three[0][0].xyzx * scale[0] * scale[1] + float(flags[0]);\n"
    "  gl_Position = place;\n"
    "}\n";
static const char *const FRAGMENT =
    "#version 310 es\n"
    "precision highp float;\nprecision highp int;\n"
    "in vec4 sums;\n"
    "struct Inner { vec2 at[2]; int index; };\n"
    "struct Light { vec4 colour; Inner inner[2]; uint mask; };\n"
    "uniform Light lights[2];\n"
    "uniform ivec2 i2;\nuniform ivec3 i3;\nuniform ivec4 i4[2];\nuniform uvec2 u2;\nuniform uvec3 u3;\nuniform uvec4 u4[3];\n"
    "layout(location = 200) uniform vec3 explicit_one;\nlayout(location = 77) uniform float explicit_many[4];\n"
    "uniform highp sampler2D images[3];\nuniform highp usampler2D counts;\n"
    "layout(binding = 4) uniform highp sampler2D bound;\n"
    "layout(binding = 2, rgba8) uniform readonly highp image2D loaded;\n"
    "layout(std140) uniform Block { vec4 first; vec4 second; } blocks[2];\n"
    "layout(std140, binding = 3) uniform Single { vec4 single; };\n"
    "out vec4 colour;\n"
    "void main() {\n"
    "  vec4 sum = lights[1].colour + lights[0].colour + lights[1].inner[1].at[1].xyxy;\n"
    "  sum += vec4(lights[0].inner[0].index + i2.y + i3.z + i4[1].w, lights[1].mask, u2.y, u3.z + u4[2].w) * 0.01;\n"
    "  sum += vec4(explicit_one * explicit_many[3], explicit_many[1]);\n"
    "  sum += texture(images[2], vec2(0.5)) + texture(images[0], vec2(0.5)) * 0.2 + texture(images[1], vec2(0.5)) * 0.3;\n"
    "  sum += texture(bound, vec2(0.5)) * 0.1 + vec4(texture(counts, vec2(0.5))) * 0.01;\n"
    "  sum += imageLoad(loaded, ivec2(0)) * 0.05 + blocks[0].first * 0.2 + blocks[1].second * 0.3 + single * 0.1;\n"
    "  colour = fract(sum + sums);\n"
    "}\n";

static GLuint program, textures[6];
static GLint asked;

static GLint at(const char *name)
{
    GLint found = glGetUniformLocation(program, name);
    must(found >= 0, name);
    return found;
}

static void start_textures(void)
{
    static const GLubyte texels[5][4] = {{255, 0, 10, 20}, {30, 255, 0, 40}, {0, 50, 255, 60}, {70, 80, 0, 255}, {9, 8, 7, 6}};
    static const GLuint count[4] = {11, 12, 13, 14};
    for (GLuint i = 0; i < 6; i++) {
        glActiveTexture(GL_TEXTURE0 + (i < 5 ? i + 1 : 7));
        textures[i] = new_texture(GL_TEXTURE_2D);
        glTexStorage2D(GL_TEXTURE_2D, 1, i < 5 ? GL_RGBA8 : GL_RGBA32UI, 1, 1);
        if (i < 5)
            glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texels[i]);
        else
            glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT, count);
    }
    glBindImageTexture(2, textures[4], 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
    glUniform1iv(at("images"), 3, (const GLint[]){3, 1, 2});
    glUniform1i(at("counts"), 7);
}

static void start_blocks(void)
{
    GLfloat values[64 * 4];
    for (int i = 0; i < LENGTH(values); i++)
        values[i] = 0.013f * (float)(i % 71);
    glUniformBlockBinding(program, glGetUniformBlockIndex(program, "Block[1]"), 6);
    glUniformBlockBinding(program, glGetUniformBlockIndex(program, "Block[0]"), 1);
    const GLuint buffer = new_buffer(GL_UNIFORM_BUFFER, sizeof values, values);
    glBindBufferRange(GL_UNIFORM_BUFFER, 1, buffer, 0, 64);
    glBindBufferRange(GL_UNIFORM_BUFFER, 3, buffer, 256, 64);
    glBindBufferRange(GL_UNIFORM_BUFFER, 6, buffer, 512, 64);
}

static void start(void)
{
    GLfloat f[32];
    for (int i = 0; i < 32; i++)
        f[i] = 0.031f * (float)(i * 7 % 29);
    program = program_of(VERTEX, FRAGMENT);
    glUseProgram(program);
    glUniformMatrix2fv(at("two"), 1, GL_TRUE, f), glUniformMatrix3fv(at("three"), 1, GL_FALSE, f);
    glUniformMatrix4fv(at("four"), 2, GL_FALSE, f), glUniformMatrix2x3fv(at("two_three"), 1, GL_TRUE, f);
    glUniformMatrix2x4fv(at("two_four"), 1, GL_FALSE, f), glUniformMatrix3x2fv(at("three_two"), 1, GL_TRUE, f);
    glUniformMatrix3x4fv(at("three_four"), 1, GL_FALSE, f), glUniformMatrix4x2fv(at("four_two"), 1, GL_TRUE, f);
    glUniformMatrix4x3fv(at("four_three[0]"), 2, GL_TRUE, f);
    glUniform1fv(at("scale"), 3, f + 1), glUniform1iv(at("flags"), 2, (const GLint[]){0, 5});
    glUniform2i(at("pair"), 1, 1), glUniform3f(at("triple"), 0, 1, 1), glUniform4ui(at("all"), 1, 0, 0, 1);
    glUniform4f(at("lights[1].colour"), 0.1f, 0.2f, 0.3f, 0.4f), glUniform4f(at("lights[0].colour"), 0.3f, 0, 0.1f, 0);
    glUniform2fv(at("lights[1].inner[1].at"), 2, f + 5), glUniform1i(at("lights[0].inner[0].index"), -9);
    glUniform1ui(at("lights[1].mask"), 0xFFFFFFF0u);
    glUniform2i(at("i2"), 1, -2), glUniform3i(at("i3"), 3, 4, -5), glUniform4i(at("i4[1]"), 1, 2, 3, -2147483647);
    glUniform2ui(at("u2"), 1, 4000000000u), glUniform3ui(at("u3"), 3, 4, 5), glUniform4ui(at("u4[2]"), 1, 2, 3, 17);
    /* Their locations are in the shader: the program does not ask. */
    glUniform3f(200, 0.3f, 0.6f, 0.9f), glUniform1fv(77, 4, f + 9);
    asked = at("lights[1].inner[1].at[1]");
    start_textures();
    start_blocks();
    glUseProgram(0);
}

static void tell(const char *name, GLint location)
{
    GLfloat floats[16] = {0};
    glGetUniformfv(program, location, floats);
    printf("%s: %08x\n", name, sum_of(floats, sizeof floats));
}

static void draw(int frame)
{
    static const char *const names[] = {"two", "three", "four[1]", "two_three", "two_four", "three_two", "three_four",
                                        "four_two", "four_three[1]", "scale[2]", "flags[1]", "pair", "triple", "all",
                                        "lights[1].mask", "i4[1]", "u2", "explicit_many[2]", "images[0]", "bound"};
    clear(0, 0, 0.1f);
    for (int i = 0; i < LENGTH(names); i++)
        tell(names[i], at(names[i]));
    tell("asked", asked), tell("explicit", 200), tell("explicit", 79);
    for (GLuint i = 0; i < 3; i++) {
        GLint binding = -7;
        glGetActiveUniformBlockiv(program, i, GL_UNIFORM_BLOCK_BINDING, &binding);
        printf("block %d at %d\n", (int)i, binding);
    }
    glUseProgram(program);
    cell(frame, 2, 2), quad();
    glUniform2f(asked, 0.1f * (float)frame, 0.7f), glUniform1f(79, 0.2f * (float)frame);
    cell((frame + 1) % 4, 2, 2), quad();
    glUseProgram(0);
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
