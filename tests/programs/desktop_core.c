/* A core profile of OpenGL 4.5: vertex arrays, uniform blocks, instances, layers, samples, read-backs and queries. */
#include "desktop.h"

#define FRAMES 4

static GLuint array, vertices, indices, instances, block, textures, framebuffer, colours, program, layers;

static const char *const VERTEX =
    "#version 450 core\n"
    "layout(location = 0) in vec2 place;\n"
    "layout(location = 1) in vec4 colour;\n"
    "layout(location = 2) in vec2 shift;\n"
    "layout(std140, binding = 1) uniform Turn { vec4 scale; } turn;\n"
    "out vec4 tint;\n"
    "void main() { gl_Position = vec4(place * turn.scale.xy + shift, 0.0, 1.0); tint = colour; }\n";

static const char *const FRAGMENT =
    "#version 450 core\n"
    "in vec4 tint;\n"
    "out vec4 shown;\n"
    "void main() { shown = tint; }\n";

static const char *const LAYERS_VERTEX =
    "#version 330 core\n"
    "out vec2 at;\n"
    "void main() {\n"
    "  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
    "  gl_Position = vec4(at * 2.0 - 1.0, 0.0, 1.0);\n"
    "}\n";

static const char *const LAYERS_FRAGMENT =
    "#version 330 core\n"
    "in vec2 at;\n"
    "uniform sampler2DArray image;\n"
    "uniform float layer;\n"
    "out vec4 shown;\n"
    "void main() { shown = texture(image, vec3(at * 3.0, layer)); }\n";

static GLuint buffer_of(GLenum target, GLsizeiptr size, const void *data, GLenum usage)
{
    GLuint buffer = 0;
    F(glGenBuffers)(1, &buffer);
    F(glBindBuffer)(target, buffer);
    F(glBufferData)(target, size, data, usage);
    return buffer;
}

static void start(void)
{
    static const GLfloat corners[][6] = {
        {-0.4f, -0.4f, 1.0f, 0.0f, 0.0f, 1.0f}, {0.4f, -0.4f, 0.0f, 1.0f, 0.0f, 1.0f},
        {0.4f, 0.4f, 0.0f, 0.0f, 1.0f, 1.0f}, {-0.4f, 0.4f, 1.0f, 1.0f, 0.0f, 1.0f}};
    static const GLushort order[] = {0, 1, 2, 0, 2, 3};
    static const GLfloat shifts[] = {-0.5f, -0.5f, 0.5f, 0.5f, 0.5f, -0.5f};
    F(glGenVertexArrays)(1, &array);
    F(glBindVertexArray)(array);
    vertices = buffer_of(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    F(glVertexAttribPointer)(0, 2, GL_FLOAT, GL_FALSE, sizeof corners[0], NULL);
    F(glVertexAttribPointer)(1, 4, GL_FLOAT, GL_FALSE, sizeof corners[0], (void *)8);
    instances = buffer_of(GL_ARRAY_BUFFER, sizeof shifts, shifts, GL_DYNAMIC_DRAW);
    F(glVertexAttribPointer)(2, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    F(glVertexAttribDivisor)(2, 1);
    for (GLuint slot = 0; slot < 3; slot++)
        F(glEnableVertexAttribArray)(slot);
    indices = buffer_of(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order, GL_STATIC_DRAW);
    block = buffer_of(GL_UNIFORM_BUFFER, 16, NULL, GL_DYNAMIC_DRAW);
    F(glBindBufferBase)(GL_UNIFORM_BUFFER, 1, block);
    program = program_of(VERTEX, FRAGMENT);
    layers = program_of(LAYERS_VERTEX, LAYERS_FRAGMENT);
}

/* Two layers, uploaded in parts with a row length. */
static void start_textures(void)
{
    unsigned char texels[8 * 4 * 4];
    for (size_t i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 37 + 11);
    F(glGenTextures)(1, &textures);
    F(glBindTexture)(GL_TEXTURE_2D_ARRAY, textures);
    F(glTexStorage3D)(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, 4, 4, 2);
    F(glTexParameteri)(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glTexParameteri)(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    F(glPixelStorei)(GL_UNPACK_ROW_LENGTH, 8);
    for (int layer = 0; layer < 2; layer++) {
        F(glPixelStorei)(GL_UNPACK_SKIP_PIXELS, 4 * layer);
        F(glTexSubImage3D)(GL_TEXTURE_2D_ARRAY, 0, 0, 0, layer, 4, 4, 1, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    F(glPixelStorei)(GL_UNPACK_ROW_LENGTH, 0);
    F(glPixelStorei)(GL_UNPACK_SKIP_PIXELS, 0);
    F(glGenFramebuffers)(1, &framebuffer);
    F(glGenRenderbuffers)(1, &colours);
    F(glBindRenderbuffer)(GL_RENDERBUFFER, colours);
    F(glRenderbufferStorageMultisample)(GL_RENDERBUFFER, 4, GL_RGBA8, WIDTH, HEIGHT);
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, framebuffer);
    F(glFramebufferRenderbuffer)(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
    must(F(glCheckFramebufferStatus)(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the framebuffer");
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, 0);
}

static void scale(float by)
{
    const GLfloat wanted[] = {by, 1.0f - by / 4.0f, 0.0f, 0.0f};
    F(glBindBuffer)(GL_UNIFORM_BUFFER, block);
    GLfloat *at = F(glMapBufferRange)(GL_UNIFORM_BUFFER, 0, 16, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    must(at != NULL, "glMapBufferRange");
    memcpy(at, wanted, sizeof wanted);
    must(F(glUnmapBuffer)(GL_UNIFORM_BUFFER), "glUnmapBuffer");
}

static void draw(int frame)
{
    F(glViewport)(0, 0, WIDTH, HEIGHT);
    F(glClearColor)(0.1f * (float)frame, 0.2f, 0.3f, 1.0f);
    F(glClear)(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    F(glUseProgram)(layers);
    F(glUniform1f)(F(glGetUniformLocation)(layers, "layer"), (float)(frame % 2));
    F(glEnable)(GL_SCISSOR_TEST);
    F(glScissor)(0, 0, WIDTH / 2, HEIGHT);
    F(glDrawArrays)(GL_TRIANGLE_STRIP, 0, 4);
    F(glDisable)(GL_SCISSOR_TEST);
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, framebuffer);
    F(glClear)(GL_COLOR_BUFFER_BIT);
    scale(0.5f + 0.25f * (float)frame);
    F(glUseProgram)(program);
    F(glDrawElementsInstanced)(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, NULL, 3);
    F(glBindFramebuffer)(GL_READ_FRAMEBUFFER, framebuffer);
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, 0);
    F(glEnable)(GL_FRAMEBUFFER_SRGB);
    GLsync done = F(glFenceSync)(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    F(glWaitSync)(done, 0, GL_TIMEOUT_IGNORED);
    F(glDeleteSync)(done);
    F(glDisable)(GL_FRAMEBUFFER_SRGB);
    F(glBlitFramebuffer)(0, 0, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    F(glBindFramebuffer)(GL_READ_FRAMEBUFFER, 0);
    F(glUseProgram)(layers);
    F(glScissor)(WIDTH / 4, HEIGHT / 4, WIDTH / 2, HEIGHT / 2);
    F(glEnable)(GL_SCISSOR_TEST);
    F(glDrawArrays)(GL_TRIANGLE_STRIP, 0, 4);
    F(glDisable)(GL_SCISSOR_TEST);
}

int main(void)
{
    GLint profile = 0, number = 0;
    desktop_open(45, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT);
    F(glGetIntegerv)(GL_CONTEXT_PROFILE_MASK, &profile);
    F(glGetIntegerv)(GL_NUM_EXTENSIONS, &number);
    must(profile == GL_CONTEXT_CORE_PROFILE_BIT && number > 0, "a core profile");
    must(F(glGetStringi)(GL_EXTENSIONS, 0) != NULL, "glGetStringi");
    start();
    start_textures();
    no_error("the start");
    for (int frame = 0; frame < FRAMES; frame++) {
        draw(frame);
        desktop_end_frame();
    }
    desktop_close();
    return 0;
}
