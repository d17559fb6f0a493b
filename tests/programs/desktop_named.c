/* A core profile of OpenGL 4.5 whose objects are changed by their names: no object is bound to be changed. */
#include "desktop.h"

#define FRAMES 3

static GLuint array, vertices, indices, block, image, cube, texels, sampler, framebuffer, colours, program;

static const char *const VERTEX =
    "#version 450 core\n"
    "layout(location = 0) in vec2 place;\n"
    "layout(location = 1) in vec4 colour;\n"
    "layout(std140, binding = 1) uniform Turn { vec4 scale; } turn;\n"
    "out vec4 tint;\n"
    "out vec2 at;\n"
    "void main() { gl_Position = vec4(place * turn.scale.xy, 0.0, 1.0); tint = colour; at = place; }\n";

static const char *const FRAGMENT =
    "#version 450 core\n"
    "in vec4 tint;\n"
    "in vec2 at;\n"
    "layout(binding = 2) uniform sampler2D image;\n"
    "layout(binding = 3) uniform samplerCube cube;\n"
    "layout(binding = 4) uniform samplerBuffer texels;\n"
    "out vec4 shown;\n"
    "void main() {\n"
    "  shown = 0.4 * tint + 0.2 * texture(image, at) + 0.2 * texture(cube, vec3(at, 0.3))\n"
    "    + 0.2 * texelFetch(texels, int(gl_FragCoord.x) % 4);\n"
    "}\n";

static void start_buffers(void)
{
    static const GLfloat corners[][6] = {
        {-0.8f, -0.8f, 1.0f, 0.0f, 0.0f, 1.0f}, {0.8f, -0.8f, 0.0f, 1.0f, 0.0f, 1.0f},
        {0.8f, 0.8f, 0.0f, 0.0f, 1.0f, 1.0f}, {-0.8f, 0.8f, 1.0f, 1.0f, 0.0f, 1.0f}};
    static const GLushort order[] = {0, 1, 2, 0, 2, 3};
    GLuint buffers[4];
    F(glCreateBuffers)(4, buffers);
    vertices = buffers[0], indices = buffers[1], block = buffers[2];
    F(glNamedBufferData)(vertices, sizeof corners, NULL, GL_STATIC_DRAW);
    void *at = F(glMapNamedBuffer)(vertices, GL_WRITE_ONLY);
    must(at != NULL, "glMapNamedBuffer");
    memcpy(at, corners, sizeof corners);
    must(F(glUnmapNamedBuffer)(vertices), "glUnmapNamedBuffer");
    F(glNamedBufferStorage)(buffers[3], sizeof order, order, 0);
    F(glNamedBufferData)(indices, sizeof order + 4, NULL, GL_STATIC_DRAW);
    F(glCopyNamedBufferSubData)(buffers[3], indices, 0, 4, sizeof order);
    F(glDeleteBuffers)(1, &buffers[3]);
    F(glNamedBufferData)(block, 16, NULL, GL_DYNAMIC_DRAW);
    F(glCreateVertexArrays)(1, &array);
    F(glVertexArrayElementBuffer)(array, indices);
    const GLintptr offsets[] = {0, 8};
    const GLsizei strides[] = {sizeof corners[0], sizeof corners[0]};
    const GLuint both[] = {vertices, vertices};
    F(glVertexArrayVertexBuffers)(array, 2, 2, both, offsets, strides);
    F(glVertexArrayAttribFormat)(array, 0, 2, GL_FLOAT, GL_FALSE, 0);
    F(glVertexArrayAttribFormat)(array, 1, 4, GL_FLOAT, GL_FALSE, 0);
    for (GLuint slot = 0; slot < 2; slot++) {
        F(glVertexArrayAttribBinding)(array, slot, slot + 2);
        F(glEnableVertexArrayAttrib)(array, slot);
    }
    GLint bound = 0;
    F(glGetVertexArrayiv)(array, GL_ELEMENT_ARRAY_BUFFER_BINDING, &bound);
    must((GLuint)bound == indices, "glGetVertexArrayiv");
}

static void start_textures(void)
{
    unsigned char bytes[6 * 4 * 4];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 53 + 7);
    F(glCreateTextures)(GL_TEXTURE_2D, 1, &image);
    F(glTextureStorage2D)(image, 2, GL_RGBA8, 4, 4);
    F(glTextureSubImage2D)(image, 0, 0, 0, 4, 4, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, bytes);
    F(glGenerateTextureMipmap)(image);
    F(glCreateTextures)(GL_TEXTURE_CUBE_MAP, 1, &cube);
    F(glTextureStorage2D)(cube, 1, GL_RGBA8, 2, 2);
    F(glTextureSubImage3D)(cube, 0, 0, 0, 0, 2, 2, 6, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    GLuint buffer = 0;
    F(glCreateBuffers)(1, &buffer);
    F(glNamedBufferData)(buffer, 64, NULL, GL_STATIC_DRAW);
    const GLfloat grey = 0.25f;
    F(glClearNamedBufferData)(buffer, GL_R32F, GL_RED, GL_FLOAT, &grey);
    F(glNamedBufferSubData)(buffer, 16, 16, (GLfloat[]){1.0f, 0.5f, 0.0f, 1.0f});
    F(glCreateTextures)(GL_TEXTURE_BUFFER, 1, &texels);
    F(glTextureBufferRange)(texels, GL_RGBA32F, buffer, 0, 64);
    F(glCreateSamplers)(1, &sampler);
    F(glSamplerParameteri)(sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glSamplerParameteri)(sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    const GLuint textures[] = {image, cube, texels}, samplers[] = {sampler, sampler, 0};
    F(glBindTextures)(2, 3, textures);
    F(glBindSamplers)(2, 3, samplers);
    F(glBindTextureUnit)(2, image);
}

static void start_framebuffer(void)
{
    F(glCreateRenderbuffers)(1, &colours);
    F(glNamedRenderbufferStorageMultisample)(colours, 4, GL_RGBA8, WIDTH, HEIGHT);
    F(glCreateFramebuffers)(1, &framebuffer);
    F(glNamedFramebufferRenderbuffer)(framebuffer, GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, colours);
    F(glNamedFramebufferDrawBuffer)(framebuffer, GL_COLOR_ATTACHMENT1);
    F(glNamedFramebufferReadBuffer)(framebuffer, GL_COLOR_ATTACHMENT1);
    must(F(glCheckNamedFramebufferStatus)(framebuffer, GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE,
         "the framebuffer");
}

static void draw(int frame)
{
    const GLfloat colour[] = {0.1f, 0.3f * (float)frame, 0.5f, 1.0f};
    const GLfloat scale[] = {1.0f, 0.4f + 0.3f * (float)frame, 0.0f, 0.0f};
    GLfloat *at = F(glMapNamedBufferRange)(block, 0, 16, GL_MAP_WRITE_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
    must(at != NULL, "glMapNamedBufferRange");
    memcpy(at, scale, sizeof scale);
    F(glFlushMappedNamedBufferRange)(block, 0, sizeof scale);
    must(F(glUnmapNamedBuffer)(block), "glUnmapNamedBuffer");
    const GLuint blocks[] = {block};
    F(glBindBuffersBase)(GL_UNIFORM_BUFFER, 1, 1, blocks);
    F(glClearNamedFramebufferfv)(framebuffer, GL_COLOR, 0, colour);
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, framebuffer);
    F(glBindVertexArray)(array);
    F(glUseProgram)(program);
    F(glDrawElements)(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, (void *)4);
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, 0);
    F(glBlitNamedFramebuffer)(framebuffer, 0, 0, 0, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT,
                              GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

/* What the objects hold, as read back by their names. */
static void read_back(void)
{
    unsigned char pixels[6 * 2 * 2 * 4];
    GLushort order[6];
    F(glGetTextureImage)(image, 1, GL_RGBA, GL_UNSIGNED_BYTE, sizeof pixels, pixels);
    printf("level %08x\n", sum_of(pixels, 2 * 2 * 4));
    F(glGetTextureImage)(cube, 0, GL_RGBA, GL_UNSIGNED_BYTE, sizeof pixels, pixels);
    printf("cube %08x\n", sum_of(pixels, sizeof pixels));
    F(glGetTextureSubImage)(cube, 0, 0, 0, 3, 2, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE, sizeof pixels, pixels);
    printf("face %08x\n", sum_of(pixels, 2 * 2 * 4));
    F(glGetNamedBufferSubData)(indices, 4, sizeof order, order);
    printf("indices %08x\n", sum_of(order, sizeof order));
}

int main(void)
{
    desktop_open(45, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT);
    start_buffers();
    start_textures();
    start_framebuffer();
    program = program_of(VERTEX, FRAGMENT);
    F(glViewport)(0, 0, WIDTH, HEIGHT);
    no_error("the start");
    read_back();
    for (int frame = 0; frame < FRAMES; frame++) {
        draw(frame);
        desktop_end_frame();
    }
    desktop_close();
    return 0;
}
