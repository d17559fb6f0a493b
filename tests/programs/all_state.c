/* All state that a context can be asked for: set to values that are not the first ones before a capture begins, and asked
 * for in each frame. What no extension or version of the context has is an error in every run.
 *
 * The numbers are those of `sizes state` and `sizes indexed_state` in apis/gles/limits.api, without those that identify
 * the device: llvmpipe of Mesa 22.3 crashes in these queries. */
#include "../apps/app.h"

static const GLenum STATE[] = {
    0x0b00, 0x0b02, 0x0b03, 0x0b10, 0x0b11, 0x0b12, 0x0b20, 0x0b21, 0x0b22, 0x0b40, 0x0b44,
    0x0b45, 0x0b46, 0x0b50, 0x0b52, 0x0b53, 0x0b54, 0x0b57, 0x0b60, 0x0b62, 0x0b63, 0x0b64,
    0x0b65, 0x0b66, 0x0b70, 0x0b71, 0x0b72, 0x0b73, 0x0b74, 0x0b90, 0x0b91, 0x0b92, 0x0b93,
    0x0b94, 0x0b95, 0x0b96, 0x0b97, 0x0b98, 0x0ba0, 0x0ba1, 0x0ba2, 0x0ba3, 0x0ba4, 0x0ba5,
    0x0ba6, 0x0ba7, 0x0ba8, 0x0bc0, 0x0bc1, 0x0bc2, 0x0bd0, 0x0be0, 0x0be1, 0x0be2, 0x0bf0,
    0x0bf2, 0x0c01, 0x0c02, 0x0c10, 0x0c11, 0x0c22, 0x0c23, 0x0c50, 0x0c51, 0x0c52, 0x0c54,
    0x0cf2, 0x0cf3, 0x0cf4, 0x0cf5, 0x0d02, 0x0d03, 0x0d04, 0x0d05, 0x0d1c, 0x0d31, 0x0d32,
    0x0d33, 0x0d36, 0x0d38, 0x0d39, 0x0d3a, 0x0d50, 0x0d52, 0x0d53, 0x0d54, 0x0d55, 0x0d56,
    0x0d57, 0x0de1, 0x2a00, 0x2a01, 0x2a02, 0x3000, 0x3001, 0x3002, 0x3003, 0x3004, 0x3005,
    0x3006, 0x3007, 0x4000, 0x4001, 0x4002, 0x4003, 0x4004, 0x4005, 0x4006, 0x4007, 0x8005,
    0x8009, 0x8037, 0x8038, 0x803a, 0x8069, 0x806a, 0x806d, 0x806e, 0x8073, 0x8074, 0x8075,
    0x8076, 0x8078, 0x807a, 0x807b, 0x807c, 0x807e, 0x807f, 0x8081, 0x8082, 0x8083, 0x8088,
    0x8089, 0x808a, 0x809d, 0x809e, 0x809f, 0x80a0, 0x80a8, 0x80a9, 0x80aa, 0x80ab, 0x80c8,
    0x80c9, 0x80ca, 0x80cb, 0x80e8, 0x80e9, 0x8126, 0x8127, 0x8128, 0x8129, 0x8192, 0x821b,
    0x821c, 0x821d, 0x821e, 0x8221, 0x8242, 0x8243, 0x8256, 0x8257, 0x825a, 0x825b, 0x825c,
    0x825d, 0x825e, 0x825f, 0x8262, 0x8263, 0x8264, 0x8265, 0x8266, 0x826c, 0x826d, 0x826e,
    0x82d9, 0x82da, 0x82e5, 0x82e8, 0x82f9, 0x82fa, 0x82fb, 0x83fe, 0x846d, 0x846e, 0x84e0,
    0x84e1, 0x84e2, 0x84e8, 0x84fd, 0x84ff, 0x8513, 0x8514, 0x851c, 0x85b5, 0x864f, 0x86a2,
    0x86a4, 0x86a9, 0x86aa, 0x86ab, 0x86ad, 0x87fe, 0x8800, 0x8801, 0x8802, 0x8803, 0x8824,
    0x8825, 0x8826, 0x8827, 0x8828, 0x8829, 0x882a, 0x882b, 0x882c, 0x882d, 0x882e, 0x882f,
    0x8830, 0x8831, 0x8832, 0x8833, 0x8834, 0x883d, 0x8840, 0x8842, 0x8843, 0x8844, 0x8846,
    0x8847, 0x8848, 0x8861, 0x8869, 0x886c, 0x886d, 0x8872, 0x8894, 0x8895, 0x8896, 0x8897,
    0x8898, 0x889a, 0x889e, 0x88ed, 0x88ef, 0x88fc, 0x88ff, 0x8904, 0x8905, 0x8919, 0x898a,
    0x898b, 0x898d, 0x898e, 0x898f, 0x8a28, 0x8a2b, 0x8a2c, 0x8a2d, 0x8a2e, 0x8a2f, 0x8a30,
    0x8a31, 0x8a32, 0x8a33, 0x8a34, 0x8a52, 0x8b49, 0x8b4a, 0x8b4b, 0x8b4c, 0x8b4d, 0x8b8b,
    0x8b8d, 0x8b9a, 0x8b9b, 0x8b9c, 0x8b9e, 0x8b9f, 0x8c1d, 0x8c29, 0x8c2a, 0x8c2b, 0x8c2c,
    0x8c2d, 0x8c36, 0x8c37, 0x8c80, 0x8c89, 0x8c8a, 0x8c8b, 0x8c8f, 0x8c90, 0x8c91, 0x8ca3,
    0x8ca4, 0x8ca5, 0x8ca6, 0x8ca7, 0x8caa, 0x8cdf, 0x8d57, 0x8d60, 0x8d65, 0x8d67, 0x8d69,
    0x8d6b, 0x8db9, 0x8ddf, 0x8de0, 0x8de1, 0x8df9, 0x8dfa, 0x8dfb, 0x8dfc, 0x8dfd, 0x8e1b,
    0x8e1e, 0x8e1f, 0x8e23, 0x8e24, 0x8e25, 0x8e28, 0x8e51, 0x8e59, 0x8e5a, 0x8e5b, 0x8e5c,
    0x8e5d, 0x8e5e, 0x8e5f, 0x8e60, 0x8e61, 0x8e62, 0x8e63, 0x8e64, 0x8e65, 0x8e66, 0x8e67,
    0x8e68, 0x8e69, 0x8e6a, 0x8e6b, 0x8e6c, 0x8e6d, 0x8e6e, 0x8e6f, 0x8e72, 0x8e7d, 0x8e7e,
    0x8e7f, 0x8e80, 0x8e81, 0x8e82, 0x8e83, 0x8e84, 0x8e85, 0x8e86, 0x8e89, 0x8e8a, 0x8ed3,
    0x8ed4, 0x8f14, 0x8f15, 0x8f36, 0x8f37, 0x8f38, 0x8f39, 0x8f43, 0x8f63, 0x8f64, 0x8f65,
    0x8f66, 0x8f67, 0x8f6f, 0x8fa0, 0x8fa1, 0x8fb0, 0x8fbb, 0x900a, 0x90ca, 0x90cb, 0x90cc,
    0x90cd, 0x90ce, 0x90cf, 0x90d3, 0x90d6, 0x90d7, 0x90d8, 0x90d9, 0x90da, 0x90db, 0x90dc,
    0x90dd, 0x90de, 0x90df, 0x90eb, 0x90ef, 0x90f2, 0x90f3, 0x9104, 0x9105, 0x910e, 0x910f,
    0x9110, 0x9111, 0x9122, 0x9123, 0x9124, 0x9125, 0x9135, 0x9143, 0x9144, 0x9145, 0x9198,
    0x9199, 0x919a, 0x919f, 0x91b0, 0x91b3, 0x91b4, 0x91b5, 0x91bb, 0x91bc, 0x91bd, 0x9285,
    0x92be, 0x92c1, 0x92cc, 0x92cd, 0x92ce, 0x92cf, 0x92d0, 0x92d1, 0x92d2, 0x92d3, 0x92d4,
    0x92d5, 0x92d6, 0x92d7, 0x92dc, 0x92dd, 0x92df, 0x92e0, 0x9315, 0x9316, 0x9317, 0x9318,
    0x9327, 0x9328, 0x9329, 0x932a, 0x932b, 0x932c, 0x9332, 0x933d, 0x9349, 0x935c, 0x935d,
    0x9381, 0x9382, 0x93a4, 0x9536, 0x9537, 0x9538, 0x9539, 0x953a, 0x953d, 0x9543, 0x9555,
    0x9557, 0x955f, 0x95a2, 0x95a3, 0x95a6, 0x95ac, 0x95ad, 0x95b1, 0x95b2,
    0x95b6, 0x9631, 0x9650, 0x9651, 0x96a2, 0x96a4, 0x96a5, 0x96d0, 0x96d7, 0x96d8, 0x96d9,
    0x96da, 0x96db, 0x96dc, 0x96dd, 0x96de, 0x96df, 0x96f0, 0x96f1, 0x96f2, 0x96f3, 0x96f4,
    0x96f5, 0x96f6
};

static const GLenum INDEXED[] = {
    0x0b70, 0x0ba2, 0x0be2, 0x0c01, 0x0c02, 0x0c10, 0x0c11, 0x0c23, 0x8009, 0x80c8, 0x80c9,
    0x80ca, 0x80cb, 0x825d, 0x82d6, 0x82d7, 0x82d8, 0x883d, 0x8a28, 0x8a29, 0x8a2a, 0x8c84,
    0x8c85, 0x8c8f, 0x8e52, 0x8f12, 0x8f13, 0x8f3a, 0x8f3b, 0x8f3c, 0x8f3d, 0x8f3e, 0x8f4f,
    0x906e, 0x90d3, 0x90d4, 0x90d5, 0x91be, 0x91bf, 0x92c1, 0x92c2, 0x92c3, 0x9381, 0x953b,
    0x953c
};

#define INDICES 3

static GLuint texels, buffers[8], samplers[2], textures[4];
static const char *extensions;

static int has(const char *name)
{
    return strstr(extensions, name) != NULL;
}

static void set_bindings(void)
{
    static const GLenum targets[] = {GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_DRAW_INDIRECT_BUFFER,
                                     GL_DISPATCH_INDIRECT_BUFFER, GL_TEXTURE_BUFFER, GL_PIXEL_UNPACK_BUFFER};
    static const GLenum points[] = {GL_UNIFORM_BUFFER, GL_SHADER_STORAGE_BUFFER, GL_ATOMIC_COUNTER_BUFFER};
    for (int i = 0; i < LENGTH(targets); i++)
        buffers[i] = new_buffer(targets[i], 1024, NULL);
    for (int i = 0; i < LENGTH(points); i++) {
        glBindBufferBase(points[i], 0, buffers[0]);
        glBindBufferRange(points[i], 1, buffers[1], 256, 512);
        glBindBuffer(points[i], buffers[2 + i]);
    }
    glGenSamplers(2, samplers);
    glBindSampler(1, samplers[0]);
    glBindSampler(2, samplers[1]);
    glActiveTexture(GL_TEXTURE2);
    textures[0] = new_texture(GL_TEXTURE_2D_ARRAY);
    textures[1] = new_texture(GL_TEXTURE_CUBE_MAP_ARRAY);
    textures[2] = new_texture(GL_TEXTURE_3D);
    glGenTextures(1, &textures[3]);
    if (has("GL_OES_EGL_image_external"))
        glBindTexture(GL_TEXTURE_EXTERNAL_OES, textures[3]);
    glGenTextures(1, &texels);
    glBindTexture(GL_TEXTURE_BUFFER, texels);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA8, buffers[4]);
    glActiveTexture(GL_TEXTURE1);
}

static void set_extensions(void)
{
    if (has("GL_EXT_window_rectangles")) {
        static const GLint boxes[] = {1, 2, 30, 40, 8, 4, 50, 50};
        FUNCTION(PFNGLWINDOWRECTANGLESEXTPROC, glWindowRectanglesEXT);
        glWindowRectanglesEXT(GL_INCLUSIVE_EXT, 2, boxes);
    }
    if (has("GL_OES_viewport_array")) {
        FUNCTION(PFNGLVIEWPORTINDEXEDFOESPROC, glViewportIndexedfOES);
        FUNCTION(PFNGLSCISSORINDEXEDOESPROC, glScissorIndexedOES);
        FUNCTION(PFNGLDEPTHRANGEINDEXEDFOESPROC, glDepthRangeIndexedfOES);
        glViewportIndexedfOES(1, 0.5f, 1.5f, 20, 30);
        glScissorIndexedOES(2, 3, 4, 5, 6);
        glDepthRangeIndexedfOES(1, 0.25f, 0.5f);
        glEnablei(GL_SCISSOR_TEST, 1);
    }
    if (has("GL_EXT_polygon_offset_clamp")) {
        FUNCTION(PFNGLPOLYGONOFFSETCLAMPEXTPROC, glPolygonOffsetClampEXT);
        glPolygonOffsetClampEXT(1.5f, 2.5f, 0.125f);
    }
    if (has("GL_EXT_clip_control")) {
        FUNCTION(PFNGLCLIPCONTROLEXTPROC, glClipControlEXT);
        glClipControlEXT(GL_LOWER_LEFT_EXT, GL_ZERO_TO_ONE_EXT);
    }
    if (has("GL_EXT_multisample_compatibility")) {
        glDisable(GL_MULTISAMPLE_EXT);
        glEnable(GL_SAMPLE_ALPHA_TO_ONE_EXT);
    }
    if (has("GL_EXT_clip_cull_distance"))
        glEnable(GL_CLIP_DISTANCE0_EXT + 5);
    if (has("GL_EXT_depth_clamp"))
        glEnable(GL_DEPTH_CLAMP_EXT);
    if (has("GL_EXT_sRGB_write_control"))
        glDisable(GL_FRAMEBUFFER_SRGB_EXT);
}

static void start(void)
{
    extensions = (const char *)glGetString(GL_EXTENSIONS);
    GLint words = 1;
    glGetIntegerv(GL_MAX_SAMPLE_MASK_WORDS, &words);
    for (GLint word = 0; word < words; word++)
        glSampleMaski((GLuint)word, 0x5a5a5a5bu + (GLuint)word);
    glUseProgram(colour_program());
    set_bindings();
    set_extensions();
    glMinSampleShading(0.5f);
    glPatchParameteri(GL_PATCH_VERTICES, 5);
    glPrimitiveBoundingBox(-1, -0.5f, -1, 1, 1, 0.5f, 1, 2);
    glBlendFuncSeparatei(1, GL_ONE, GL_SRC_ALPHA, GL_ZERO, GL_ONE_MINUS_DST_COLOR);
    glBlendEquationSeparatei(2, GL_MAX, GL_MIN);
    glEnablei(GL_BLEND, 1);
    glColorMaski(2, GL_TRUE, GL_FALSE, GL_TRUE, GL_FALSE);
    glSampleCoverage(0.75f, GL_TRUE);
    glLineWidth(1.0f);
    glHint(GL_GENERATE_MIPMAP_HINT, GL_NICEST);
    glHint(GL_FRAGMENT_SHADER_DERIVATIVE_HINT, GL_FASTEST);
    glStencilFuncSeparate(GL_BACK, GL_LESS, 3, 0x0f);
    glStencilOpSeparate(GL_FRONT, GL_INCR, GL_DECR_WRAP, GL_INVERT);
    glStencilMaskSeparate(GL_BACK, 0x3c);
    glDepthFunc(GL_GEQUAL);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 2);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 9);
}

/* llvmpipe refuses the others as 64-bit numbers. */
static int is_wide(GLenum name)
{
    return name == GL_UNIFORM_BUFFER_START || name == GL_UNIFORM_BUFFER_SIZE
           || name == GL_SHADER_STORAGE_BUFFER_START || name == GL_SHADER_STORAGE_BUFFER_SIZE
           || name == GL_ATOMIC_COUNTER_BUFFER_START || name == GL_ATOMIC_COUNTER_BUFFER_SIZE;
}

static void ask(void)
{
    GLfloat values[1024];
    GLint64 wide[64];
    GLint numbers[1024];
    int refused = 0;
    for (int i = 0; i < LENGTH(STATE); i++) {
        memset(values, 0, sizeof values);
        memset(numbers, 0, sizeof numbers);
        glGetFloatv(STATE[i], values);
        glGetIntegerv(STATE[i], numbers);
        refused += glGetError() != GL_NO_ERROR;
        while (glGetError() != GL_NO_ERROR)
            ;
    }
    for (int i = 0; i < LENGTH(INDEXED); i++) {
        for (GLuint index = 0; index < INDICES; index++) {
            memset(wide, 0, sizeof wide);
            memset(numbers, 0, sizeof numbers);
            glGetIntegeri_v(INDEXED[i], index, numbers);
            if (is_wide(INDEXED[i]))
                glGetInteger64i_v(INDEXED[i], index, wide);
            refused += glGetError() != GL_NO_ERROR;
            while (glGetError() != GL_NO_ERROR)
                ;
        }
    }
    if (has("GL_OES_viewport_array")) {
        FUNCTION(PFNGLGETFLOATI_VOESPROC, glGetFloati_vOES);
        for (GLuint index = 0; index < INDICES; index++) {
            glGetFloati_vOES(GL_VIEWPORT, index, values);
            glGetFloati_vOES(GL_DEPTH_RANGE, index, values);
            numbers[0] = glIsEnabledi(GL_SCISSOR_TEST, index);
        }
    }
    for (GLuint unit = 0; unit < 4; unit++) {
        glActiveTexture(GL_TEXTURE0 + unit);
        glGetIntegerv(GL_TEXTURE_BINDING_3D, numbers);
        glGetIntegerv(GL_TEXTURE_BINDING_BUFFER, numbers);
        glGetIntegerv(GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, numbers);
        glGetIntegerv(GL_SAMPLER_BINDING, numbers);
        if (has("GL_OES_EGL_image_external"))
            glGetIntegerv(GL_TEXTURE_BINDING_EXTERNAL_OES, numbers);
    }
    glActiveTexture(GL_TEXTURE1);
    printf("%d refused\n", refused);
}

static void draw(int frame)
{
    no_error("a frame's begin");
    ask();
    glSampleCoverage(1, GL_FALSE);
    clear(0, 0.25f * (float)frame, 0.5f);
    glEnable(GL_SCISSOR_TEST);
    glScissor(frame, 2, 10, 10);
    clear(1, 0, 0);
    glDisable(GL_SCISSOR_TEST);
    glScissor(0, 0, WIDTH, HEIGHT);
    /* The buffer of the buffer texture is reached through the binding point that it was filled through. */
    glBufferSubData(GL_TEXTURE_BUFFER, 4 * frame, 4, "\1\2\3\4");
    glGetIntegerv(GL_TEXTURE_BUFFER_BINDING, &(GLint){0});
    glSampleCoverage(0.75f, GL_TRUE);
}

int main(void)
{
    return app_run(32, 6, start, draw);
}
