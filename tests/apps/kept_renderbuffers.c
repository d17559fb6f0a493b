/* Renderbuffers that are drawn to once, and read back or tested against in each frame. */
#include "app.h"

#define SIZE 16

static const struct {
    GLenum format, read, type;
} COLOURS[] = {
    {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_RGB8, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_R8, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_RGB565, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_RGBA4, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE},
    {GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV},
    {GL_R16F, GL_RGBA, GL_FLOAT},
    {GL_RGBA16F, GL_RGBA, GL_FLOAT},
    {GL_R11F_G11F_B10F, GL_RGBA, GL_FLOAT},
    {GL_RGBA32F, GL_RGBA, GL_FLOAT},
    {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT},
    {GL_RG16I, GL_RGBA_INTEGER, GL_INT},
    {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT},
    {GL_RGB10_A2UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT},
};

static const struct {
    GLenum format, point;
} DEPTHS[] = {
    {GL_DEPTH_COMPONENT16, GL_DEPTH_ATTACHMENT},
    {GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT},
    {GL_DEPTH_COMPONENT32F, GL_DEPTH_ATTACHMENT},
    {GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT},
    {GL_DEPTH32F_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT},
    {GL_STENCIL_INDEX8, GL_STENCIL_ATTACHMENT},
};

static GLuint programs[3], colour, colours[LENGTH(COLOURS)], depths[LENGTH(DEPTHS)];
static GLuint colour_framebuffers[LENGTH(COLOURS)], depth_framebuffers[LENGTH(DEPTHS)];

static GLuint drawing(const char *kind, const char *value)
{
    char source[512];
    snprintf(source, sizeof source,
             "#version 300 es\n"
             "precision highp float;\n"
             "precision highp int;\n"
             "in vec2 at;\n"
             "out highp %svec4 colour;\n"
             "void main() { colour = %s; }\n",
             kind, value);
    return program_of("#version 300 es\n"
                      "in vec4 place;\n"
                      "out vec2 at;\n"
                      "uniform float near;\n"
                      "void main() {\n"
                      "  at = place.xy * 0.5 + 0.5;\n"
                      "  gl_Position = vec4(place.xy, near + 0.3 * place.x * place.y, 1);\n"
                      "}\n",
                      source);
}

static void attach(GLuint framebuffer, GLenum point, GLuint renderbuffer, GLenum format)
{
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, format, SIZE, SIZE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, point, GL_RENDERBUFFER, renderbuffer);
}

static void start_colours(void)
{
    glGenFramebuffers(LENGTH(COLOURS), colour_framebuffers);
    glGenRenderbuffers(LENGTH(COLOURS), colours);
    for (int i = 0; i < LENGTH(COLOURS); i++) {
        GLenum type = COLOURS[i].type;
        int is_int = COLOURS[i].read == GL_RGBA_INTEGER;
        attach(colour_framebuffers[i], GL_COLOR_ATTACHMENT0, colours[i], COLOURS[i].format);
        must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "a colour");
        glViewport(0, 0, SIZE, SIZE);
        glUseProgram(programs[!is_int ? 0 : type == GL_INT ? 1 : 2]);
        quad();
    }
}

static void start_depths(void)
{
    glGenFramebuffers(LENGTH(DEPTHS), depth_framebuffers);
    glGenRenderbuffers(LENGTH(DEPTHS), depths);
    glGenRenderbuffers(1, &colour);
    glBindRenderbuffer(GL_RENDERBUFFER, colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIZE, SIZE);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_STENCIL_TEST);
    glUseProgram(programs[0]);
    for (int i = 0; i < LENGTH(DEPTHS); i++) {
        attach(depth_framebuffers[i], DEPTHS[i].point, depths[i], DEPTHS[i].format);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
        must(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "a depth");
        glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT | GL_COLOR_BUFFER_BIT);
        glDepthFunc(GL_LESS);
        glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
        for (int part = 0; part < 6; part++) {
            glStencilFunc(GL_ALWAYS, 17 * part + i, 0xff);
            glViewport(part * 2, part, SIZE - 3 * part, SIZE - part);
            glUniform1f(glGetUniformLocation(programs[0], "near"), 0.1f - 0.05f * (float)part);
            quad();
        }
    }
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_STENCIL_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void start(void)
{
    need_extension("GL_EXT_color_buffer_float");
    programs[0] = drawing("", "vec4(at.x, at.y * 0.7, at.x * at.y, 0.3 + 0.5 * at.x)");
    programs[1] = drawing("i", "ivec4(at.x * 3000.0, -at.y * 100.0, 5, 1)");
    programs[2] = drawing("u", "uvec4(at.x * 250.0, at.y * 200.0, 77, 2)");
    start_colours();
    start_depths();
}

static void read_colours(void)
{
    static unsigned char pixels[SIZE * SIZE * 16];
    printf("colours");
    for (int i = 0; i < LENGTH(COLOURS); i++) {
        memset(pixels, 0, sizeof pixels);
        glBindFramebuffer(GL_FRAMEBUFFER, colour_framebuffers[i]);
        glReadPixels(0, 0, SIZE, SIZE, COLOURS[i].read, COLOURS[i].type, pixels);
        printf(" %08x", sum_of(pixels, sizeof pixels));
    }
    printf("\n");
}

/* Draws where a plane passes the depth test and the stencil is greater than the frame number. */
static void test_depths(int frame)
{
    static unsigned char pixels[SIZE * SIZE * 4];
    glUseProgram(programs[0]);
    printf("depths");
    for (int i = 0; i < LENGTH(DEPTHS); i++) {
        glBindFramebuffer(GL_FRAMEBUFFER, depth_framebuffers[i]);
        glViewport(0, 0, SIZE, SIZE);
        clear(0, 0, 0);
        glDepthMask(GL_FALSE);
        glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
        for (int part = 0; part < 8; part++) {
            glEnable(GL_DEPTH_TEST);
            glEnable(GL_STENCIL_TEST);
            glDepthFunc(part % 2 ? GL_LESS : GL_GREATER);
            glStencilFunc(GL_LEQUAL, 17 * (part % 6) + frame % 3, 0xff);
            glUniform1f(glGetUniformLocation(programs[0], "near"), 0.12f - 0.03f * (float)part);
            quad();
            glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
            printf(" %08x", sum_of(pixels, sizeof pixels));
        }
        glDisable(GL_DEPTH_TEST);
        glDisable(GL_STENCIL_TEST);
        glDepthMask(GL_TRUE);
    }
    printf("\n");
}

static void draw(int frame)
{
    read_colours();
    test_depths(frame);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, colour_framebuffers[frame % 2]);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    clear(0.1f, 0.1f * (float)frame, 0);
    glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, 2 * SIZE, 2 * SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
}

int main(void)
{
    return app_run(30, 6, start, draw);
}
