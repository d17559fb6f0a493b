/*
 * ES 3: vertex array and uniform buffer objects, instancing, samplers, queries, fences, mapped
 * buffers, several colour outputs, 64-bit arguments. One thread, six frames.
 */
#include "offscreen.h"

#include <GLES3/gl3.h>

#define FRAMES 6
#define INSTANCES 16

struct scene {
    GLuint program, array, buffers[3], texture, sampler, query, framebuffer, targets[2];
};

static const char *const VERTEX =
    "#version 300 es\n"
    "layout(location = 0) in vec2 place;\n"
    "layout(location = 1) in vec2 offset;\n"
    "layout(std140) uniform Frame { vec4 tint; vec4 scale; };\n"
    "flat out int number;\n"
    "void main() {\n"
    "  number = gl_InstanceID;\n"
    "  gl_Position = vec4(place * scale.xy + offset, 0.0, 1.0);\n"
    "}\n";
static const char *const FRAGMENT =
    "#version 300 es\n"
    "precision highp float;\n"
    "precision highp int;\n"
    "layout(std140) uniform Frame { vec4 tint; vec4 scale; };\n"
    "uniform highp sampler2D image;\n"
    "uniform uvec2 salt;\n"
    "flat in int number;\n"
    "layout(location = 0) out vec4 first;\n"
    "layout(location = 1) out vec4 second;\n"
    "void main() {\n"
    "  first = tint * float(number + int(salt.x)) / 16.0 + texture(image, vec2(0.5));\n"
    "  second = vec4(float(salt.y) / 255.0);\n"
    "}\n";

static GLuint shader(GLenum kind, const char *source)
{
    GLint compiled = 0;
    GLuint name = glCreateShader(kind);
    glShaderSource(name, 1, &source, NULL);
    glCompileShader(name);
    glGetShaderiv(name, GL_COMPILE_STATUS, &compiled);
    must(compiled, "glCompileShader");
    return name;
}

static void build_program(struct scene *s)
{
    GLint linked = 0;
    GLuint vertex = shader(GL_VERTEX_SHADER, VERTEX);
    GLuint fragment = shader(GL_FRAGMENT_SHADER, FRAGMENT);
    s->program = glCreateProgram();
    glAttachShader(s->program, vertex);
    glAttachShader(s->program, fragment);
    glLinkProgram(s->program);
    glGetProgramiv(s->program, GL_LINK_STATUS, &linked);
    must(linked, "glLinkProgram");
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    GLuint block = glGetUniformBlockIndex(s->program, "Frame");
    glUniformBlockBinding(s->program, block, 2);
    glUseProgram(s->program);
    glUniform1i(glGetUniformLocation(s->program, "image"), 0);
    glUniform2ui(glGetUniformLocation(s->program, "salt"), 3u, 0xC0u);
}

static void build_arrays(struct scene *s)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, 0, 1};
    GLfloat offsets[INSTANCES * 2];
    for (int i = 0; i < INSTANCES; i++) {
        offsets[2 * i] = -0.75f + 0.5f * (float)(i % 4);
        offsets[2 * i + 1] = -0.75f + 0.5f * (float)(i / 4);
    }
    glGenVertexArrays(1, &s->array);
    glBindVertexArray(s->array);
    glGenBuffers(3, s->buffers);
    glBindBuffer(GL_ARRAY_BUFFER, s->buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glBindBuffer(GL_ARRAY_BUFFER, s->buffers[1]);
    glBufferData(GL_ARRAY_BUFFER, sizeof offsets, offsets, GL_STATIC_DRAW);
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glVertexAttribDivisor(1, 1);
    glEnableVertexAttribArray(1);
    glBindBuffer(GL_UNIFORM_BUFFER, s->buffers[2]);
    glBufferData(GL_UNIFORM_BUFFER, 256, NULL, GL_STREAM_DRAW);
    glBindBufferRange(GL_UNIFORM_BUFFER, 2, s->buffers[2], 0, 256);
}

static void build_textures(struct scene *s)
{
    const GLenum outputs[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    const unsigned char texels[4 * 4] = {10, 20, 30, 40};
    glGenTextures(1, &s->texture);
    glBindTexture(GL_TEXTURE_2D, s->texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 2, 2);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glGenSamplers(1, &s->sampler);
    glSamplerParameteri(s->sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(s->sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glBindSampler(0, s->sampler);
    glGenTextures(2, s->targets);
    glGenFramebuffers(1, &s->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, s->framebuffer);
    for (int i = 0; i < 2; i++) {
        glBindTexture(GL_TEXTURE_2D_ARRAY, s->targets[i]);
        glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, SIDE, SIDE, 2);
        glFramebufferTextureLayer(GL_DRAW_FRAMEBUFFER, outputs[i], s->targets[i], 0, 1);
    }
    glDrawBuffers(2, outputs);
    must(glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "framebuffer");
}

static void fill_uniform_buffer(int frame)
{
    const GLfloat values[] = {0.1f * frame, 0.5f, 0.25f, 1.0f, 0.2f, 0.2f, 0.0f, 0.0f};
    void *mapped = glMapBufferRange(GL_UNIFORM_BUFFER, 0, sizeof values,
                                    GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT);
    must(mapped != NULL, "glMapBufferRange");
    memcpy(mapped, values, sizeof values);
    must(glUnmapBuffer(GL_UNIFORM_BUFFER), "glUnmapBuffer");
}

static void draw_frame(struct scene *s, int frame)
{
    const GLfloat black[] = {0, 0, 0, 1};
    const GLint zeros[] = {0, 0, 0, 0};
    const GLenum discarded[] = {GL_COLOR_ATTACHMENT1};
    GLuint passed = 0;
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, s->framebuffer);
    glViewport(0, 0, SIDE, SIDE);
    glClearBufferfv(GL_COLOR, 0, black);
    glClearBufferfv(GL_COLOR, 1, black);
    fill_uniform_buffer(frame);
    glGenQueries(1, &s->query);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, s->query);
    glDrawArraysInstanced(GL_TRIANGLES, 0, 3, INSTANCES);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    glGetQueryObjectuiv(s->query, GL_QUERY_RESULT, &passed);
    must(passed != 0, "the query");
    glDeleteQueries(1, &s->query);
    glInvalidateFramebuffer(GL_DRAW_FRAMEBUFFER, 1, discarded);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, s->framebuffer);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glVertexAttribI4iv(5, zeros);
}

static void wait_and_ask(void)
{
    GLint64 timeout = 0;
    GLint status = 0;
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    must(fence != NULL, "glFenceSync");
    glFlush();
    glWaitSync(fence, 0, GL_TIMEOUT_IGNORED);
    GLenum waited = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, 1000000000000ull);
    must(waited == GL_CONDITION_SATISFIED || waited == GL_ALREADY_SIGNALED, "glClientWaitSync");
    glGetSynciv(fence, GL_SYNC_STATUS, 1, NULL, &status);
    glDeleteSync(fence);
    glGetInteger64v(GL_MAX_SERVER_WAIT_TIMEOUT, &timeout);
    must(glGetStringi(GL_EXTENSIONS, 0) != NULL, "glGetStringi");
    must(glGetError() == GL_NO_ERROR, "no error");
}

int main(void)
{
    struct scene s;
    struct offscreen o = offscreen_open(3);
    unsigned char pixel[4];
    build_program(&s);
    build_arrays(&s);
    build_textures(&s);
    for (int frame = 0; frame < FRAMES; frame++) {
        draw_frame(&s, frame);
        glReadPixels(SIDE * 5 / 8, SIDE * 5 / 8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        printf("%02x%02x%02x%02x\n", pixel[0], pixel[1], pixel[2], pixel[3]);
        wait_and_ask();
        offscreen_swap(&o);
    }
    glDeleteFramebuffers(1, &s.framebuffer);
    glDeleteSamplers(1, &s.sampler);
    glDeleteTextures(1, &s.texture);
    glDeleteTextures(2, s.targets);
    glDeleteBuffers(3, s.buffers);
    glDeleteVertexArrays(1, &s.array);
    glDeleteProgram(s.program);
    offscreen_close(&o);
    return 0;
}
