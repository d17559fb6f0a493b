/* State that is set once, before the first frame: blending and masks of each draw buffer, attributes that
 * are integers, sample masks, a bounding box, patches. Queried and drawn with in every frame. */
#include "app.h"

static GLuint program, framebuffer, textures[2];

static void start(void)
{
    const GLenum both[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    program = program_of("#version 320 es\n"
                         "in vec4 place;\n"
                         "in ivec4 whole;\n"
                         "flat out ivec4 given;\n"
                         "void main() { gl_Position = place; given = whole; }\n",
                         "#version 320 es\n"
                         "precision highp float;\n"
                         "flat in highp ivec4 given;\n"
                         "uniform float share;\n"
                         "layout(location = 0) out vec4 one;\n"
                         "layout(location = 1) out vec4 two;\n"
                         "void main() {\n"
                         "    one = vec4(given) / 100.0;\n"
                         "    two = vec4(share, 1.0 - share, 0.5, 0.5);\n"
                         "}\n");
    glUseProgram(program);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    for (int i = 0; i < 2; i++) {
        textures[i] = new_texture(GL_TEXTURE_2D);
        glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT);
        glFramebufferTexture2D(GL_FRAMEBUFFER, both[i], GL_TEXTURE_2D, textures[i], 0);
    }
    glDrawBuffers(2, both);
    clear(0.3f, 0.3f, 0.3f);
    glEnablei(GL_BLEND, 1);
    glBlendFuncSeparatei(1, GL_SRC_ALPHA, GL_ONE, GL_ONE, GL_ZERO);
    glBlendEquationi(1, GL_FUNC_REVERSE_SUBTRACT);
    glColorMaski(1, GL_TRUE, GL_FALSE, GL_TRUE, GL_TRUE);
    glColorMaski(0, GL_TRUE, GL_TRUE, GL_FALSE, GL_TRUE);
    glVertexAttribI4i(glGetAttribLocation(program, "whole"), 20, 40, 60, 100);
    glVertexAttribI4ui(7, 1, 2, 3, 0xF0000000u);
    glSampleMaski(0, 0x5u);
    glPatchParameteri(GL_PATCH_VERTICES, 5);
    glPrimitiveBoundingBox(-1, -2, -3, 1, 1, 2, 3, 1);
    glBindImageTexture(1, textures[1], 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8);
}

static void ask(void)
{
    GLint numbers[4] = {0};
    GLfloat box[8] = {0};
    GLboolean mask[4] = {0};
    glGetVertexAttribIiv(7, GL_CURRENT_VERTEX_ATTRIB, numbers);
    printf("attribute %d %d %d %d\n", numbers[0], numbers[1], numbers[2], numbers[3]);
    glGetIntegeri_v(GL_SAMPLE_MASK_VALUE, 0, numbers);
    glGetIntegerv(GL_PATCH_VERTICES, numbers + 1);
    glGetIntegeri_v(GL_BLEND_EQUATION_RGB, 1, numbers + 2);
    glGetBooleani_v(GL_COLOR_WRITEMASK, 1, mask);
    glGetFloatv(GL_PRIMITIVE_BOUNDING_BOX, box);
    printf("mask %x, patches %d, equation %x, writes %08x, box %08x, blends %d %d\n", numbers[0],
           numbers[1], numbers[2], sum_of(mask, sizeof mask), sum_of(box, sizeof box),
           glIsEnabledi(GL_BLEND, 0), glIsEnabledi(GL_BLEND, 1));
    glGetIntegeri_v(GL_IMAGE_BINDING_LEVEL, 1, numbers);
    glGetIntegeri_v(GL_IMAGE_BINDING_FORMAT, 1, numbers + 1);
    printf("image %d %x\n", numbers[0], numbers[1]);
}

static void draw(int frame)
{
    ask();
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glUniform1f(glGetUniformLocation(program, "share"), 0.1f * (float)(frame + 1));
    cell(frame, 3, 2), quad();
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    for (int i = 0; i < 2; i++) {
        glReadBuffer(GL_COLOR_ATTACHMENT0 + (GLenum)i);
        glBlitFramebuffer(0, 0, WIDTH, HEIGHT, i * WIDTH / 2, 0, (i + 1) * WIDTH / 2, HEIGHT,
                          GL_COLOR_BUFFER_BIT, GL_NEAREST);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

int main(void)
{
    return app_run(32, 5, start, draw);
}
