/* Objects whose names were deleted while a framebuffer, or another context's texture unit, still holds them; some of
 * the names were given to other objects since. */
#include "../apps/app.h"

#define SIDE 8

/* The framebuffers of the first context, by what they hold. */
enum {
    TEXTURE,
    TWIN,
    NEXT_OF_THE_NAME,
    RENDERBUFFER,
    NEXT_RENDERBUFFER,
    DEPTH,
    LAYER,
    FACE,
    LEVEL,
    PACKED,
    HELD
};

static GLuint framebuffers[HELD], programs[2], shown, target, elsewhere;
static EGLContext other;
static EGLSurface surface;

static void texels(GLenum face, GLenum format, int level, uint32_t salt)
{
    GLubyte bytes[SIDE * SIDE * 4];
    int side = SIDE >> level;
    fill(bytes, sizeof bytes, salt);
    glTexImage2D(face, level, (GLint)format, side, side, 0, format, GL_UNSIGNED_BYTE, bytes);
}

static GLuint attached(void)
{
    GLuint framebuffer = 0;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    return framebuffer;
}

static void complete(void)
{
    must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "a complete framebuffer");
}

static GLuint flat(GLuint texture)
{
    GLuint framebuffer = attached();
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    complete();
    return framebuffer;
}

static GLuint drawn(GLuint renderbuffer, GLenum format, float red)
{
    GLuint framebuffer = attached();
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, format, SIDE, SIDE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, renderbuffer);
    complete();
    clear(red, 0.5f, 0.25f);
    return framebuffer;
}

/* Two framebuffers share a texture that is deleted; its name is given out again. */
static void start_textures(void)
{
    GLuint texture = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, GL_RGBA, 0, 1);
    framebuffers[TEXTURE] = flat(texture);
    framebuffers[TWIN] = flat(texture);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    texels(GL_TEXTURE_2D, GL_RGBA, 0, 2);
    framebuffers[NEXT_OF_THE_NAME] = flat(texture);
}

static void start_renderbuffers(void)
{
    GLuint renderbuffer = 0, depth = 0, texture;
    glGenRenderbuffers(1, &renderbuffer);
    framebuffers[RENDERBUFFER] = drawn(renderbuffer, GL_RGBA8, 0.75f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteRenderbuffers(1, &renderbuffer);
    framebuffers[NEXT_RENDERBUFFER] = drawn(renderbuffer, GL_RGB565, 0.125f);
    texture = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, GL_RGBA, 0, 3);
    framebuffers[DEPTH] = flat(texture);
    glGenRenderbuffers(1, &depth);
    glBindRenderbuffer(GL_RENDERBUFFER, depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, SIDE, SIDE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, depth);
    complete();
    glClearDepthf(0.5f);
    glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, SIDE, SIDE / 2);
    glClearDepthf(0.0f);
    glClear(GL_DEPTH_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
    glClearDepthf(1.0f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteRenderbuffers(1, &depth);
}

static void start_parts(void)
{
    GLubyte bytes[SIDE * SIDE * 4 * 3];
    GLuint array = new_texture(GL_TEXTURE_2D_ARRAY), cube, levels, packed;
    fill(bytes, sizeof bytes, 4);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, SIDE, SIDE, 3);
    glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, SIDE, SIDE, 3, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    framebuffers[LAYER] = attached();
    glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, array, 0, 2);
    complete();
    cube = new_texture(GL_TEXTURE_CUBE_MAP);
    for (GLenum face = 0; face < 6; face++)
        texels(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, GL_RGBA, 0, 5 + face);
    framebuffers[FACE] = attached();
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_NEGATIVE_Y, cube, 0);
    complete();
    levels = new_texture(GL_TEXTURE_2D);
    for (int level = 0; level < 4; level++)
        texels(GL_TEXTURE_2D, GL_RGBA, level, 20 + (uint32_t)level);
    framebuffers[LEVEL] = attached();
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, levels, 1);
    complete();
    packed = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGB10_A2, SIDE, SIDE);
    framebuffers[PACKED] = flat(packed);
    clear(0.3f, 0.61f, 0.97f);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteTextures(1, &array);
    glDeleteTextures(1, &cube);
    glDeleteTextures(1, &levels);
    glDeleteTextures(1, &packed);
}

/* In the other context: a texture and a sampler in a unit, and the texture in a framebuffer as well. */
static void start_units(void)
{
    GLuint texture, sampler = 0;
    other = app_context_of(30, app.context);
    surface = app_surface_of(WIDTH, HEIGHT);
    target = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, GL_RGBA, 0, 30);
    texture = new_texture(GL_TEXTURE_2D);
    texels(GL_TEXTURE_2D, GL_RGBA, 0, 31);
    glGenSamplers(1, &sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_MIRRORED_REPEAT);
    glSamplerParameterf(sampler, GL_TEXTURE_MAX_LOD, 0.0f);
    glFinish();
    app_current(surface, other);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, GL_BLUE);
    glBindSampler(0, sampler);
    flat(texture);
    elsewhere = flat(target);
    glFinish();
    app_current(app.surface, app.context);
    glDeleteTextures(1, &texture);
    glDeleteSamplers(1, &sampler);
    glBindTexture(GL_TEXTURE_2D, texture);
    texels(GL_TEXTURE_2D, GL_RGBA, 0, 32);
    shown = texture;
}

static void start(void)
{
    programs[0] = image_program();
    programs[1] = colour_program();
    start_textures();
    start_renderbuffers();
    start_parts();
    start_units();
    glUseProgram(programs[0]);
}

/* The other context draws what its unit has to a texture that both have. */
static void draw_elsewhere(int frame)
{
    static const GLfloat corners[] = {-1, -1, 2, -1, -1, 1, 2, 1};
    glFinish();
    app_current(surface, other);
    glUseProgram(programs[0]);
    glViewport(0, 0, SIDE, SIDE - frame);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
    glEnableVertexAttribArray(0);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glFinish();
    app_current(app.surface, app.context);
}

static void draw_behind(int frame)
{
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[DEPTH]);
    glViewport(0, 0, SIDE, SIDE);
    glUseProgram(programs[1]);
    glEnable(GL_DEPTH_TEST);
    glVertexAttrib4f(1, 0.2f * (float)frame, 1, 0, 1);
    quad();
    glDisable(GL_DEPTH_TEST);
    glUseProgram(programs[0]);
}

static void draw(int frame)
{
    draw_elsewhere(frame);
    draw_behind(frame);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[TWIN]);
    glEnable(GL_SCISSOR_TEST);
    glScissor(frame, 1, 2, 5);
    clear(1, 0.2f * (float)frame, 0);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    clear(0, 0, 0.1f);
    for (int i = 0; i < HELD; i++) {
        int side = i == LEVEL ? SIDE / 2 : SIDE, x = i % 5 * 19, y = i / 5 * 19;
        glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffers[i]);
        glBlitFramebuffer(0, 0, side, side, x, y, x + 16, y + 16, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glBindTexture(GL_TEXTURE_2D, target);
    cell(4, 3, 2), quad();
    glBindTexture(GL_TEXTURE_2D, shown);
    cell(5, 3, 2), quad();
}

int main(void)
{
    return app_run(30, 6, start, draw);
}
