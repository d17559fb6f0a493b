/* Views of textures: of levels, layers and other formats, of other views, and of textures that are deleted. */
#include "../apps/app.h"

#define SIDE 16
#define LAYERS 6

enum { LEVEL, SRGB, CUBE, OF_VIEW, OF_DELETED, ITS_OTHER_LAYER, NAMELESS, VIEWS };

static GLuint original, views[VIEWS], framebuffer, held, flat_program, cube_program;

static void view(int number, GLenum target, GLuint viewed, GLenum format, const GLuint part[4])
{
    FUNCTION(PFNGLTEXTUREVIEWOESPROC, glTextureViewOES);
    glGenTextures(1, &views[number]);
    glTextureViewOES(views[number], target, viewed, format, part[0], part[1], part[2], part[3]);
    glBindTexture(target, views[number]);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    no_error("a view");
}

static GLuint array(uint32_t salt)
{
    static GLubyte bytes[SIDE * SIDE * LAYERS * 4];
    GLuint texture = new_texture(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 3, GL_RGBA8, SIDE, SIDE, LAYERS);
    for (int level = 0; level < 3; level++) {
        fill(bytes, sizeof bytes, salt + (uint32_t)level);
        glTexSubImage3D(GL_TEXTURE_2D_ARRAY, level, 0, 0, 0, SIDE >> level, SIDE >> level, LAYERS, GL_RGBA,
                        GL_UNSIGNED_BYTE, bytes);
    }
    return texture;
}

static void start(void)
{
    const GLuint level[] = {1, 1, 2, 1}, srgb[] = {0, 3, 3, 1}, cube[] = {0, 1, 0, 6};
    const GLuint of_view[] = {0, 2, 1, 3}, again[] = {1, 1, 2, 1}, first[] = {0, 2, 4, 1};
    const GLuint second[] = {1, 2, 5, 1}, front[] = {0, 2, 0, 1};
    GLuint other, whole;
    need_extension("GL_OES_texture_view");
    flat_program = image_program();
    cube_program = program_of("attribute vec4 place;\n"
                              "varying vec2 at;\n"
                              "void main() { gl_Position = place; at = place.xy; }\n",
                              "precision mediump float;\n"
                              "varying vec2 at;\n"
                              "uniform samplerCube image;\n"
                              "void main() { gl_FragColor = textureCube(image, vec3(at, -0.5)); }\n");
    original = array(1);
    view(LEVEL, GL_TEXTURE_2D, original, GL_RGBA8, level);
    view(SRGB, GL_TEXTURE_2D, original, GL_SRGB8_ALPHA8, srgb);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_G, GL_RED);
    view(CUBE, GL_TEXTURE_CUBE_MAP, original, GL_RGBA8, cube);
    view(NAMELESS, GL_TEXTURE_2D_ARRAY, original, GL_RGBA8, of_view);
    view(OF_VIEW, GL_TEXTURE_2D, views[NAMELESS], GL_RGBA8, again);
    glDeleteTextures(1, &views[NAMELESS]);
    other = array(20);
    view(OF_DELETED, GL_TEXTURE_2D, other, GL_RGBA8, first);
    view(ITS_OTHER_LAYER, GL_TEXTURE_2D, other, GL_RGBA8, second);
    glDeleteTextures(1, &other);
    /* Only a framebuffer holds this view, and nothing but the view the storage. Mesa attaches a view's first layers for
     * those of the storage, so they are the same here. */
    whole = array(40);
    view(NAMELESS, GL_TEXTURE_2D, whole, GL_RGBA8, front);
    glGenFramebuffers(1, &held);
    glBindFramebuffer(GL_FRAMEBUFFER, held);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, views[NAMELESS],
                           1);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteTextures(1, &views[NAMELESS]);
    glDeleteTextures(1, &whole);
    glGenFramebuffers(1, &framebuffer);
}

static void draw(int frame)
{
    const GLubyte texel[4] = {255, (GLubyte)(40 * frame), 0, 255};
    clear(0, 0.1f, 0.3f);
    glBindTexture(GL_TEXTURE_2D_ARRAY, original);
    for (int layer = 0; layer < LAYERS; layer++)
        for (int level = 0; level < 3; level++)
            glTexSubImage3D(GL_TEXTURE_2D_ARRAY, level, frame % 4, layer % 4, layer, 1, 1, 1, GL_RGBA,
                            GL_UNSIGNED_BYTE, texel);
    glBindTexture(GL_TEXTURE_2D, views[LEVEL]);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 6, frame, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, texel);
    for (int i = 0; i < NAMELESS; i++) {
        cell(i, 4, 2);
        glUseProgram(i == CUBE ? cube_program : flat_program);
        glBindTexture(i == CUBE ? GL_TEXTURE_CUBE_MAP : GL_TEXTURE_2D, views[i]);
        quad();
    }
    glBindFramebuffer(GL_FRAMEBUFFER, held);
    glEnable(GL_SCISSOR_TEST);
    glScissor(frame, 1, 1, 2);
    clear(1, 0.1f * (float)frame, 0);
    glDisable(GL_SCISSOR_TEST);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, held);
    glBlitFramebuffer(0, 0, 8, 8, 84, 40, 92, 48, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, original, 1, 2);
    glBlitFramebuffer(0, 0, 8, 8, 74, 40, 82, 48, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
}

int main(void)
{
    return app_run(31, 6, start, draw);
}
