/* Multisampled textures and renderbuffers, drawn to once; fetched and resolved in each frame. */
#include "app.h"

#define SIZE 16
#define SAMPLES 4

static GLuint fetches[3], textures[3], renderbuffers[2], framebuffers[5];

static GLuint fetching(const char *kind, const char *at)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 320 es\n"
             "precision highp float;\n"
             "precision highp int;\n"
             "uniform highp %s image;\n"
             "uniform int number;\n"
             "out vec4 colour;\n"
             "void main() {\n"
             "  ivec2 at = ivec2(gl_FragCoord.xy) %% %d;\n"
             "  colour = fract(vec4(texelFetch(image, %s, number)) * 0.37) + 0.1;\n"
             "}\n",
             kind, SIZE, at);
    return program_of("#version 320 es\n"
                      "in vec4 place;\n"
                      "void main() { gl_Position = place; }\n",
                      source);
}

static void star(GLuint program, int part)
{
    const GLfloat places[] = {-0.9f, -0.7f, 0.9f, -0.5f, 0, 0.9f, -0.8f, 0.6f, 0.7f, 0.8f,
                              0.2f * (float)part, -0.9f};
    GLuint buffer = new_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "a framebuffer");
    glUseProgram(program);
    glViewport(0, 0, SIZE, SIZE);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLES, 0, 6);
    glDisableVertexAttribArray(0);
    glDeleteBuffers(1, &buffer);
}

static GLuint drawing(const char *type, const char *value)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 320 es\n"
             "precision highp float;\n"
             "precision highp int;\n"
             "out highp %s colour;\n"
             "void main() { colour = %s; }\n",
             type, value);
    return program_of("#version 320 es\n"
                      "in vec4 place;\n"
                      "void main() { gl_Position = place; }\n",
                      source);
}

static void start(void)
{
    GLuint floats = drawing("vec4", "vec4(gl_FragCoord.xy / 16.0, 0.4, 1)");
    GLuint uints = drawing("uvec4", "uvec4(gl_FragCoord.xy * 7.0, 4, 1)");
    fetches[0] = fetching("sampler2DMS", "at");
    fetches[1] = fetching("usampler2DMS", "at");
    fetches[2] = fetching("sampler2DMSArray", "ivec3(at, 1)");
    glGenTextures(3, textures);
    glGenFramebuffers(5, framebuffers);
    glGenRenderbuffers(2, renderbuffers);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, textures[0]);
    glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, SAMPLES, GL_RGBA8, SIZE, SIZE, GL_TRUE);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, textures[1]);
    glTexStorage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, SAMPLES, GL_RGBA16UI, SIZE, SIZE, GL_TRUE);
    glBindTexture(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, textures[2]);
    glTexStorage3DMultisample(GL_TEXTURE_2D_MULTISAMPLE_ARRAY, SAMPLES, GL_RGBA8, SIZE, SIZE, 2, GL_TRUE);
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[i]);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE,
                               textures[i], 0);
        star(i ? uints : floats, 1);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[2]);
    for (int layer = 0; layer < 2; layer++) {
        glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, textures[2], 0, layer);
        star(floats, 2 + layer);
    }
    for (int i = 0; i < 2; i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[3 + i]);
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffers[i]);
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, SAMPLES, i ? GL_RGBA8 : GL_RGB10_A2, SIZE,
                                         SIZE);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                                  renderbuffers[i]);
        star(floats, 4 + i);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void show(int at, int fetch, GLenum target, GLuint texture)
{
    glUseProgram(fetches[fetch]);
    glBindTexture(target, texture);
    for (int i = 0; i < SAMPLES; i++) {
        glUniform1i(glGetUniformLocation(fetches[fetch], "number"), i);
        cell(6 * at + i, 6, 4), quad();
    }
}

static void draw(int frame)
{
    GLuint resolved = 0;
    clear(0.2f, 0.1f * (float)frame, 0);
    show(0, 0, GL_TEXTURE_2D_MULTISAMPLE, textures[0]);
    show(1, 1, GL_TEXTURE_2D_MULTISAMPLE, textures[1]);
    show(2, 2, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, textures[2]);
    /* Only identical formats can be resolved. */
    glGenRenderbuffers(1, &resolved);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[2]);
    glBindRenderbuffer(GL_RENDERBUFFER, resolved);
    for (int i = 0; i < 2; i++) {
        unsigned char pixels[SIZE * SIZE * 4];
        glRenderbufferStorage(GL_RENDERBUFFER, i ? GL_RGBA8 : GL_RGB10_A2, SIZE, SIZE);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, resolved);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[3 + i]);
        glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[2]);
        glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, i ? GL_UNSIGNED_BYTE : GL_UNSIGNED_INT_2_10_10_10_REV,
                     pixels);
        printf("resolved %08x\n", sum_of(pixels, sizeof pixels));
    }
    glFramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteRenderbuffers(1, &resolved);
}

int main(void)
{
    return app_run(32, 6, start, draw);
}
