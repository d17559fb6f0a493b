/* EGL images whose storage contexts of two share groups have: of a texture, a level, a face, a layer and a renderbuffer;
 * images without a source, and sources without an image. */
#include "../apps/app.h"

#define SIDE 8

enum {
    FLAT,
    LEVEL,
    FACE,
    SLICE,
    DRAWN,
    SOURCELESS,
    HANDLELESS,
    IMMUTABLE,
    EXTERNAL,
    UNUSED,
    IMAGES
};

static EGLImageKHR images[IMAGES];
static GLuint sources[IMAGES], siblings[IMAGES], framebuffer, sibling_framebuffer;
static GLuint own_program, programs[2];
static EGLContext other;
static EGLSurface surface;

static EGLImageKHR image_of(EGLenum kind, GLuint name, EGLint attribute, EGLint value)
{
    FUNCTION(PFNEGLCREATEIMAGEKHRPROC, eglCreateImageKHR);
    const EGLint list[] = {attribute, value, EGL_NONE};
    EGLImageKHR image =
        eglCreateImageKHR(app.display, app.context, kind, (EGLClientBuffer)(uintptr_t)name, list);
    must(image != EGL_NO_IMAGE_KHR, "eglCreateImageKHR");
    return image;
}

static void texels(GLenum face, int level, uint32_t salt)
{
    GLubyte bytes[SIDE * SIDE * 4];
    int side = SIDE >> level;
    fill(bytes, sizeof bytes, salt);
    glTexImage2D(face, level, GL_RGBA, side, side, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

static GLuint flat(uint32_t salt)
{
    GLuint texture = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, 0, salt);
    return texture;
}

static void start_sources(void)
{
    GLubyte bytes[SIDE * SIDE * 4 * 4];
    const EGLenum plain = EGL_GL_TEXTURE_2D_KHR;
    for (int i = SOURCELESS; i <= UNUSED; i++)
        sources[i] = flat(50 + (uint32_t)i);
    sources[FLAT] = flat(1);
    images[FLAT] = image_of(plain, sources[FLAT], EGL_IMAGE_PRESERVED_KHR, EGL_TRUE);
    sources[LEVEL] = new_texture(GL_TEXTURE_2D);
    for (int level = 0; level < 4; level++)
        texels(GL_TEXTURE_2D, level, 10 + (uint32_t)level);
    images[LEVEL] = image_of(plain, sources[LEVEL], EGL_GL_TEXTURE_LEVEL_KHR, 1);
    sources[FACE] = new_texture(GL_TEXTURE_CUBE_MAP);
    glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, SIDE, SIDE);
    for (GLenum face = 0; face < 6; face++) {
        fill(bytes, sizeof bytes, 20 + face);
        glTexSubImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, 0, 0, SIDE, SIDE, GL_RGBA,
                        GL_UNSIGNED_BYTE, bytes);
    }
    images[FACE] = image_of(EGL_GL_TEXTURE_CUBE_MAP_NEGATIVE_X_KHR, sources[FACE],
                            EGL_IMAGE_PRESERVED_KHR, EGL_TRUE);
    sources[SLICE] = new_texture(GL_TEXTURE_3D);
    fill(bytes, sizeof bytes, 30);
    glTexStorage3D(GL_TEXTURE_3D, 1, GL_RGBA8, SIDE, SIDE, 4);
    glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, SIDE, SIDE, 4, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    images[SLICE] = image_of(EGL_GL_TEXTURE_3D_KHR, sources[SLICE], EGL_GL_TEXTURE_ZOFFSET_KHR, 2);
    glGenRenderbuffers(1, &sources[DRAWN]);
    glBindRenderbuffer(GL_RENDERBUFFER, sources[DRAWN]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, sources[DRAWN]);
    clear(0.2f, 0.9f, 0.4f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    images[DRAWN] =
        image_of(EGL_GL_RENDERBUFFER_KHR, sources[DRAWN], EGL_IMAGE_PRESERVED_KHR, EGL_TRUE);
    for (int i = SOURCELESS; i <= UNUSED; i++)
        images[i] = image_of(plain, sources[i], EGL_IMAGE_PRESERVED_KHR, EGL_TRUE);
    glFinish();
}

/* A framebuffer with a renderbuffer that has an image's storage. */
static GLuint drawn_to(EGLImageKHR image, GLuint *renderbuffer)
{
    FUNCTION(PFNGLEGLIMAGETARGETRENDERBUFFERSTORAGEOESPROC, glEGLImageTargetRenderbufferStorageOES);
    GLuint made = 0;
    glGenRenderbuffers(1, renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, *renderbuffer);
    glEGLImageTargetRenderbufferStorageOES(GL_RENDERBUFFER, (GLeglImageOES)image);
    glGenFramebuffers(1, &made);
    glBindFramebuffer(GL_FRAMEBUFFER, made);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, *renderbuffer);
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "a complete framebuffer");
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    return made;
}

/* In the context that shares nothing with the other one. */
static void start_siblings(void)
{
    FUNCTION(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, glEGLImageTargetTexture2DOES);
    FUNCTION(PFNGLEGLIMAGETARGETTEXSTORAGEEXTPROC, glEGLImageTargetTexStorageEXT);
    GLuint renderbuffer = 0;
    programs[0] = image_program();
    programs[1] = program_of("attribute vec4 place;\n"
                             "varying vec2 at;\n"
                             "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                             "#extension GL_OES_EGL_image_external : require\n"
                             "precision mediump float;\n"
                             "varying vec2 at;\n"
                             "uniform samplerExternalOES image;\n"
                             "void main() { gl_FragColor = texture2D(image, at); }\n");
    for (int i = 0; i < UNUSED; i++) {
        GLenum target = i == EXTERNAL ? GL_TEXTURE_EXTERNAL_OES : GL_TEXTURE_2D;
        if (i == FACE || i == SLICE)
            continue;
        siblings[i] = new_texture(target);
        if (i == IMMUTABLE)
            glEGLImageTargetTexStorageEXT(target, (GLeglImageOES)images[i], NULL);
        else
            glEGLImageTargetTexture2DOES(target, (GLeglImageOES)images[i]);
        no_error("a texture of an image");
    }
    glTexParameteri(GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    sibling_framebuffer = drawn_to(images[FLAT], &renderbuffer);
    no_error("objects of images");
    glFinish();
}

static void start(void)
{
    FUNCTION(PFNEGLDESTROYIMAGEKHRPROC, eglDestroyImageKHR);
    GLubyte bytes[4 * 4 * 4];
    own_program = image_program();
    glUseProgram(own_program);
    start_sources();
    other = app_context_of(31, EGL_NO_CONTEXT);
    surface = app_surface_of(WIDTH, HEIGHT);
    app_current(surface, other);
    start_siblings();
    app_current(app.surface, app.context);
    glDeleteTextures(1, &sources[SOURCELESS]);
    glDeleteTextures(1, &sources[UNUSED]);
    must(eglDestroyImageKHR(app.display, images[HANDLELESS]), "eglDestroyImageKHR");
    /* This source and its image have nothing in common any more. */
    fill(bytes, sizeof bytes, 70);
    glBindTexture(GL_TEXTURE_2D, sources[EXTERNAL]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

static void fill_viewport(void)
{
    static const GLfloat corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* Draws to an image of a face or a layer and shows it. Mesa takes such images for renderbuffers only, and knows the layer
 * for as long as the renderbuffer stays in the bound framebuffer. */
static void draw_part(int image, int frame, int x)
{
    GLuint renderbuffer = 0, made = drawn_to(images[image], &renderbuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, made);
    glEnable(GL_SCISSOR_TEST);
    glScissor(frame, 6, 1, 1);
    clear(1, 1, 0.1f * (float)frame);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, SIDE, SIDE, x, 0, x + SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &made);
    glDeleteRenderbuffers(1, &renderbuffer);
}

/* Draws the siblings, and prints what was drawn. */
static void draw_elsewhere(int frame)
{
    static GLubyte pixels[HEIGHT][WIDTH][4];
    const GLubyte texel[4] = {0, (GLubyte)(40 * frame), 255, 255};
    app_current(surface, other);
    glUseProgram(programs[0]);
    glBindTexture(GL_TEXTURE_2D, siblings[DRAWN]);
    glTexSubImage2D(GL_TEXTURE_2D, 0, frame, 5, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    glEnable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, sibling_framebuffer);
    glScissor(frame, 6, 1, 1);
    clear(1, 1, 0.1f * (float)frame);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    clear(0, 0.2f, 0);
    if (frame == 4) {
        FUNCTION(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, glEGLImageTargetTexture2DOES);
        siblings[UNUSED] = new_texture(GL_TEXTURE_2D);
        glEGLImageTargetTexture2DOES(GL_TEXTURE_2D, (GLeglImageOES)images[UNUSED]);
    }
    for (int i = 0; i < IMAGES; i++) {
        if (i == FACE || i == SLICE)
            continue;
        cell(i, 4, 3);
        glUseProgram(programs[i == EXTERNAL]);
        glBindTexture(i == EXTERNAL ? GL_TEXTURE_EXTERNAL_OES : GL_TEXTURE_2D, siblings[i]);
        fill_viewport();
    }
    draw_part(FACE, frame, 0);
    draw_part(SLICE, frame, 10);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    printf("elsewhere %08x\n", sum_of(pixels, sizeof pixels));
    no_error("the other context");
    app_current(app.surface, app.context);
}

static void draw(int frame)
{
    const GLubyte texel[4] = {255, (GLubyte)(60 * frame), 0, 255};
    for (int i = 0; i < IMAGES; i++) {
        if (i == FLAT || i == LEVEL || i == IMMUTABLE || i == EXTERNAL) {
            glBindTexture(GL_TEXTURE_2D, sources[i]);
            glTexSubImage2D(GL_TEXTURE_2D, i == LEVEL, frame % 4, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                            texel);
        }
    }
    glBindTexture(GL_TEXTURE_CUBE_MAP, sources[FACE]);
    glTexSubImage2D(GL_TEXTURE_CUBE_MAP_NEGATIVE_X, 0, frame, 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    glBindTexture(GL_TEXTURE_3D, sources[SLICE]);
    glTexSubImage3D(GL_TEXTURE_3D, 0, frame, 3, 2, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glEnable(GL_SCISSOR_TEST);
    glScissor(frame, 1, 1, 2);
    clear(1, 0.3f * (float)frame, 0);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glFinish();
    draw_elsewhere(frame);
    clear(0, 0.1f, 0.3f);
    for (int i = 0; i < IMAGES; i++) {
        if (i == FACE || i == SLICE || i == DRAWN)
            continue;
        cell(i, 4, 3);
        glBindTexture(GL_TEXTURE_2D, sources[i]);
        quad();
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, sources[SLICE], 0, 2);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 10, 0, 10 + SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_NEGATIVE_X,
                           sources[FACE], 0);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 20, 0, 20 + SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glFramebufferRenderbuffer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, sources[DRAWN]);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
}

int main(void)
{
    return app_run(30, 6, start, draw);
}
