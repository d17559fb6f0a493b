/* Parameters of textures, samplers and framebuffers that differ from the initial ones, textures that are not complete,
 * external textures, and names that were generated and never bound. */
#include "../apps/app.h"

#define SIDE 16

enum {
    MIPS,
    STORED,
    HOLES,
    SWIZZLED,
    BORDERED,
    DECODED,
    STENCIL,
    COMPARED,
    EXTERNAL,
    NEVER_BOUND,
    TEXTURES
};

static GLuint textures[TEXTURES], programs[4], sampler, spare_sampler, renderbuffer, framebuffers[4];

static void texels(GLenum face, int level, uint32_t salt)
{
    GLubyte bytes[SIDE * SIDE * 4];
    int side = SIDE >> level;
    fill(bytes, sizeof bytes, salt);
    glTexImage2D(face, level, GL_RGBA, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

static GLuint sampling(const char *kind, const char *fetch)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 310 es\n"
             "#extension GL_OES_EGL_image_external_essl3 : enable\n"
             "precision highp float;\n"
             "in vec2 at;\n"
             "uniform highp %s image;\n"
             "out vec4 colour;\n"
             "void main() { colour = %s; }\n",
             kind, fetch);
    return program_of("#version 310 es\n"
                      "in vec4 place;\n"
                      "out vec2 at;\n"
                      "void main() { gl_Position = place; at = place.xy * 0.7 + 0.5; }\n",
                      source);
}

static void start_levels(void)
{
    GLubyte bytes[SIDE * SIDE * 4];
    textures[MIPS] = new_texture(GL_TEXTURE_2D);
    for (int level = 0; level < 5; level++)
        texels(GL_TEXTURE_2D, level, 1 + (uint32_t)level);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 2);
    textures[STORED] = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 3, GL_RGBA8, SIDE, SIDE);
    for (int level = 0; level < 3; level++) {
        fill(bytes, sizeof bytes, 10 + (uint32_t)level);
        glTexSubImage2D(GL_TEXTURE_2D, level, 0, 0, SIDE >> level, SIDE >> level, GL_RGBA,
                        GL_UNSIGNED_BYTE, bytes);
    }
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 2);
    /* Level 1 is missing until a frame defines it. */
    textures[HOLES] = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, 0, 20);
    texels(GL_TEXTURE_2D, 2, 21);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 2);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    /* The driver refuses this: the level does not exist. */
    glTexSubImage2D(GL_TEXTURE_2D, 1, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    expect_error(GL_INVALID_OPERATION, "an upload to no image");
}

static void start_parameters(void)
{
    const GLfloat border[] = {0.25f, 1, 0, 0.5f}, blue[] = {0, 0, 1, 1};
    GLuint depth[SIDE * SIDE];
    textures[SWIZZLED] = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, 0, 30);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, GL_ALPHA);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_B, GL_ONE);
    textures[BORDERED] = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, 0, 31);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_MIRRORED_REPEAT);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, border);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_ANISOTROPY_EXT, 4);
    textures[DECODED] = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_SRGB8_ALPHA8, SIDE, SIDE);
    fill(depth, sizeof depth, 32);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, depth);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SRGB_DECODE_EXT, GL_SKIP_DECODE_EXT);
    fill(depth, sizeof depth, 33);
    textures[STENCIL] = new_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH24_STENCIL8, SIDE, SIDE, 0, GL_DEPTH_STENCIL,
                 GL_UNSIGNED_INT_24_8, depth);
    glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX);
    textures[COMPARED] = new_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, SIDE, SIDE, 0, GL_DEPTH_COMPONENT,
                 GL_UNSIGNED_INT, depth);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_GREATER);
    glGenSamplers(1, &sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    glSamplerParameterfv(sampler, GL_TEXTURE_BORDER_COLOR, blue);
    glSamplerParameteri(sampler, GL_TEXTURE_SRGB_DECODE_EXT, GL_DECODE_EXT);
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameterf(sampler, GL_TEXTURE_MIN_LOD, 0.5f);
    no_error("parameters");
}

/* The texture stays bound: in a later frame nothing but the binding leads to it. */
static void start_external(void)
{
    FUNCTION(PFNEGLCREATEIMAGEKHRPROC, eglCreateImageKHR);
    FUNCTION(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, glEGLImageTargetTexture2DOES);
    EGLImageKHR image = eglCreateImageKHR(app.display, app.context, EGL_GL_TEXTURE_2D_KHR,
                                          (EGLClientBuffer)(uintptr_t)textures[SWIZZLED], NULL);
    must(image != EGL_NO_IMAGE_KHR, "eglCreateImageKHR");
    glActiveTexture(GL_TEXTURE3);
    textures[EXTERNAL] = new_texture(GL_TEXTURE_EXTERNAL_OES);
    glEGLImageTargetTexture2DOES(GL_TEXTURE_EXTERNAL_OES, (GLeglImageOES)image);
    glActiveTexture(GL_TEXTURE0);
}

static void start_framebuffers(void)
{
    const GLenum second[] = {GL_NONE, GL_COLOR_ATTACHMENT1}, none[] = {GL_NONE};
    GLuint layered;
    glGenFramebuffers(4, framebuffers);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, 33);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_HEIGHT, 44);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_SAMPLES, 4);
    glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_LAYERS, 3);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[1]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D, textures[BORDERED], 0);
    glDrawBuffers(2, second);
    glReadBuffer(GL_COLOR_ATTACHMENT1);
    layered = new_texture(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, SIDE, SIDE, 3);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[2]);
    glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, layered, 0);
    clear(0.5f, 0.25f, 0.75f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDrawBuffers(1, none);
    glGenTextures(1, &textures[NEVER_BOUND]);
    glGenRenderbuffers(1, &renderbuffer);
    glGenSamplers(1, &spare_sampler);
    no_error("framebuffers");
}

static void start(void)
{
    programs[0] = sampling("sampler2D", "texture(image, at)");
    programs[1] = sampling("usampler2D", "vec4(texture(image, at)) / 255.0");
    programs[2] = sampling("sampler2DShadow", "vec4(texture(image, vec3(at, 0.5)))");
    programs[3] = sampling("samplerExternalOES", "texture(image, at)");
    glUseProgram(programs[3]);
    glUniform1i(glGetUniformLocation(programs[3], "image"), 3);
    start_levels();
    start_parameters();
    start_external();
    start_framebuffers();
}

static void ask_framebuffers(void)
{
    const GLenum names[] = {GL_FRAMEBUFFER_DEFAULT_WIDTH, GL_FRAMEBUFFER_DEFAULT_HEIGHT,
                            GL_FRAMEBUFFER_DEFAULT_SAMPLES, GL_FRAMEBUFFER_DEFAULT_LAYERS};
    GLint value = 0;
    for (int i = 0; i < LENGTH(names); i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
        glGetFramebufferParameteriv(GL_FRAMEBUFFER, names[i], &value);
        printf("%d ", value);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[2]);
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
                                          GL_FRAMEBUFFER_ATTACHMENT_LAYERED, &value);
    printf("%d ", value);
    glGetIntegerv(GL_READ_BUFFER, &value);
    printf("0x%x\n", value);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[1]);
    glEnable(GL_SCISSOR_TEST);
    glScissor(2, 3, 4, 4);
    clear(1, 0, 0.3f);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    printf("%d %d %d %d\n", glIsTexture(textures[NEVER_BOUND]), glIsRenderbuffer(renderbuffer),
           glIsSampler(spare_sampler), glIsFramebuffer(framebuffers[3]));
    no_error("framebuffers");
}

static void draw(int frame)
{
    const GLenum back[] = {GL_BACK}, none[] = {GL_NONE};
    GLint value = 0;
    ask_framebuffers();
    glGetIntegerv(GL_DRAW_BUFFER0, &value);
    printf("0x%x\n", value);
    /* Nothing is drawn: the default framebuffer has no draw buffer. */
    clear(1, 1, 1);
    glDrawBuffers(1, back);
    clear(0, 0, 0.1f * (float)frame);
    if (frame == 4) {
        glBindTexture(GL_TEXTURE_2D, textures[HOLES]);
        texels(GL_TEXTURE_2D, 1, 22);
    }
    if (frame == 5) {
        glBindTexture(GL_TEXTURE_2D, textures[NEVER_BOUND]);
        texels(GL_TEXTURE_2D, 0, 50);
    }
    for (int i = 0; i < EXTERNAL; i++) {
        glUseProgram(programs[i == STENCIL ? 1 : i == COMPARED ? 2 : 0]);
        glBindTexture(GL_TEXTURE_2D, textures[i]);
        cell(i, 4, 3), quad();
    }
    glBindSampler(0, sampler);
    glUseProgram(programs[0]);
    glBindTexture(GL_TEXTURE_2D, textures[DECODED]);
    cell(8, 4, 3), quad();
    glBindTexture(GL_TEXTURE_2D, textures[MIPS]);
    cell(9, 4, 3), quad();
    glBindSampler(0, 0);
    glUseProgram(programs[3]);
    cell(10, 4, 3), quad();
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[2]);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 76, 44, 76 + SIDE, 44 + SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glReadBuffer(GL_BACK);
    glDrawBuffers(1, none);
}

int main(void)
{
    return app_run(32, 6, start, draw);
}
