/*
 * ES 2: shaders, uniforms of every shape, textures, a framebuffer object, indexed draws from
 * buffers, and common queries. One thread, eight frames, no addresses as data.
 */
#include "offscreen.h"

#include <GLES2/gl2.h>

#define FRAMES 8

struct scene {
    GLuint program, vertices, indices, texture, target, depth, framebuffer;
    GLint place, colour, model, weights, image, flags;
};

static const char *const VERTEX =
    "attribute vec2 place;\n"
    "uniform mat4 model;\n"
    "varying vec2 where;\n"
    "void main() { where = place; gl_Position = model * vec4(place, 0.0, 1.0); }\n";
static const char *const FRAGMENT[] = {
    "precision mediump float;\n",
    "uniform vec4 colour;\nuniform vec3 weights[2];\nuniform sampler2D image;\n",
    "uniform ivec2 flags;\nvarying vec2 where;\n",
    "void main() {\n"
    "  vec3 tint = weights[0] + weights[1] * float(flags.x);\n"
    "  gl_FragColor = colour * texture2D(image, where) + vec4(tint, 0.0);\n"
    "}\n",
};

static void compile(GLuint shader)
{
    GLint compiled = 0, length = -1;
    char log[256] = "";
    GLsizei written = 0;
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    glGetShaderiv(shader, GL_SHADER_SOURCE_LENGTH, &length);
    glGetShaderInfoLog(shader, sizeof log, &written, log);
    must(compiled && length > 0, "glCompileShader");
}

static void build_program(struct scene *s)
{
    GLint linked = 0, active = 0, size = 0;
    GLenum type = 0;
    char name[64];
    GLuint vertex = glCreateShader(GL_VERTEX_SHADER);
    GLuint fragment = glCreateShader(GL_FRAGMENT_SHADER);
    const GLint lengths[] = {(GLint)strlen(FRAGMENT[0]), -1, (GLint)strlen(FRAGMENT[2]), -1};
    glShaderSource(vertex, 1, &VERTEX, NULL);
    glShaderSource(fragment, 4, FRAGMENT, lengths);
    compile(vertex);
    compile(fragment);
    s->program = glCreateProgram();
    glAttachShader(s->program, vertex);
    glAttachShader(s->program, fragment);
    glBindAttribLocation(s->program, 3, "place");
    glLinkProgram(s->program);
    glGetProgramiv(s->program, GL_LINK_STATUS, &linked);
    must(linked, "glLinkProgram");
    glGetProgramiv(s->program, GL_ACTIVE_UNIFORMS, &active);
    for (GLint i = 0; i < active; i++)
        glGetActiveUniform(s->program, (GLuint)i, sizeof name, NULL, &size, &type, name);
    glDetachShader(s->program, vertex);
    glDeleteShader(vertex);
    glDeleteShader(fragment);
}

static void find_names(struct scene *s)
{
    s->place = glGetAttribLocation(s->program, "place");
    s->colour = glGetUniformLocation(s->program, "colour");
    s->model = glGetUniformLocation(s->program, "model");
    s->weights = glGetUniformLocation(s->program, "weights");
    s->image = glGetUniformLocation(s->program, "image");
    s->flags = glGetUniformLocation(s->program, "flags");
    must(glGetUniformLocation(s->program, "absent") == -1, "an absent uniform");
}

static void build_buffers(struct scene *s)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, 1, 1, -1, 1};
    static const GLushort order[] = {0, 1, 2, 0, 2, 3};
    static const GLfloat nudge[] = {-0.75f, -0.75f};
    glGenBuffers(1, &s->vertices);
    glGenBuffers(1, &s->indices);
    glBindBuffer(GL_ARRAY_BUFFER, s->vertices);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof nudge, nudge);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, s->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof order, NULL, GL_DYNAMIC_DRAW);
    glBufferSubData(GL_ELEMENT_ARRAY_BUFFER, 0, sizeof order, order);
    glEnableVertexAttribArray((GLuint)s->place);
    glVertexAttribPointer((GLuint)s->place, 2, GL_FLOAT, GL_FALSE, 8, (const void *)0);
}

static void build_texture(struct scene *s)
{
    unsigned char texels[16 * 16 * 4];
    for (size_t i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 7);
    glGenTextures(1, &s->texture);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, s->texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 4, 4, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glGenerateMipmap(GL_TEXTURE_2D);
}

static void build_framebuffer(struct scene *s)
{
    glGenTextures(1, &s->target);
    glBindTexture(GL_TEXTURE_2D, s->target);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenRenderbuffers(1, &s->depth);
    glBindRenderbuffer(GL_RENDERBUFFER, s->depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT16, SIDE, SIDE);
    glGenFramebuffers(1, &s->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, s->target, 0);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, s->depth);
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the framebuffer");
}

static void set_uniforms(const struct scene *s, int frame)
{
    GLfloat model[16] = {0.5f, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, 1, 0, 0.05f * frame, 0, 0, 1};
    const GLfloat weights[] = {0.1f, 0.0f, 0.0f, 0.0f, 0.1f * frame, 0.0f};
    const GLint flags[] = {frame & 1, -frame};
    glUseProgram(s->program);
    glUniformMatrix4fv(s->model, 1, GL_FALSE, model);
    glUniform4f(s->colour, 1.0f, 0.5f, 1.0f / (1 + frame), 1.0f);
    glUniform3fv(s->weights, 2, weights);
    glUniform1i(s->image, 1);
    glUniform2iv(s->flags, 1, flags);
}

static void draw_frame(const struct scene *s, int frame)
{
    glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    glViewport(0, 0, SIDE, SIDE);
    glClearColor(0.0f, 0.1f * frame, 0.0f, 1.0f);
    glClearDepthf(1.0f);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ZERO);
    set_uniforms(s, frame);
    glBindTexture(GL_TEXTURE_2D, s->texture);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, (const void *)0);
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glBindTexture(GL_TEXTURE_2D, s->target);
    glColorMask(GL_TRUE, GL_TRUE, GL_FALSE, GL_TRUE);
    glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

static void ask(const struct scene *s)
{
    GLint size = 0, viewport[4];
    GLfloat colour[4];
    GLboolean mask[4];
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    glGetIntegerv(GL_VIEWPORT, viewport);
    glGetFloatv(GL_COLOR_CLEAR_VALUE, colour);
    glGetBooleanv(GL_COLOR_WRITEMASK, mask);
    glGetBufferParameteriv(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &size);
    glGetTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, &size);
    must(glIsBuffer(s->vertices) && !glIsBuffer(12345), "glIsBuffer");
    must(glIsTexture(s->texture) && glIsProgram(s->program), "glIsTexture");
    must(!glIsEnabled(GL_SCISSOR_TEST), "glIsEnabled");
    must(glGetString(GL_VERSION) != NULL, "glGetString");
    must(glGetError() == GL_NO_ERROR, "no error");
    glEnable(GL_RGBA);
    must(glGetError() == GL_INVALID_ENUM, "GL_INVALID_ENUM");
}

int main(void)
{
    struct scene s;
    struct offscreen o = offscreen_open(2);
    unsigned char pixel[4];
    build_program(&s);
    find_names(&s);
    build_buffers(&s);
    build_texture(&s);
    build_framebuffer(&s);
    for (int frame = 0; frame < FRAMES; frame++) {
        draw_frame(&s, frame);
        ask(&s);
        glReadPixels(SIDE / 2, SIDE / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
        printf("%02x%02x%02x%02x\n", pixel[0], pixel[1], pixel[2], pixel[3]);
        offscreen_swap(&o);
    }
    glDeleteFramebuffers(1, &s.framebuffer);
    glDeleteRenderbuffers(1, &s.depth);
    glDeleteTextures(1, &s.texture);
    glDeleteTextures(1, &s.target);
    glDeleteBuffers(2, &s.vertices);
    glDeleteProgram(s.program);
    glFinish();
    offscreen_close(&o);
    return 0;
}
