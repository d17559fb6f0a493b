/*
 * State that OpenGL has and OpenGL ES lacks, set up before the first frame and used in every one: a capture that begins
 * later has to describe it. A core profile of OpenGL 4.5.
 */
#include "desktop.h"

#define FRAMES 5
#define PARTS 12

static GLuint array, corners, doubles, strips, program_of_part[PARTS], textures[PARTS], sampler, storage, query;
static unsigned char *kept;

static const char *const SQUARE =
    "#version 450 core\n"
    "layout(location = 0) in vec2 place;\n"
    "out vec2 at;\n"
    "void main() { at = place * 0.5 + 0.5; gl_Position = vec4(place, 0.0, 1.0); gl_PointSize = 9.0; }\n";

static const char *const HEAD = "#version 450 core\nin vec2 at;\nout vec4 shown;\n";

static GLuint part(const char *body)
{
    char source[1024];
    snprintf(source, sizeof source, "%s%s", HEAD, body);
    return program_of(SQUARE, source);
}

static void fill(unsigned char *bytes, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)((i * 37 + seed * 101 + 11) ^ (i >> 3));
}

static GLuint texture_of(GLenum target)
{
    GLuint texture = 0;
    F(glGenTextures)(1, &texture);
    F(glBindTexture)(target, texture);
    if (target != GL_TEXTURE_BUFFER && target != GL_TEXTURE_2D_MULTISAMPLE) {
        F(glTexParameteri)(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        F(glTexParameteri)(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    }
    return texture;
}

static void start_textures(void)
{
    unsigned char texels[4096];
    fill(texels, sizeof texels, 1);
    textures[0] = texture_of(GL_TEXTURE_1D);
    F(glTexImage1D)(GL_TEXTURE_1D, 0, GL_RGBA8, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    F(glTexImage1D)(GL_TEXTURE_1D, 1, GL_RGBA8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels + 77);
    textures[1] = texture_of(GL_TEXTURE_1D_ARRAY);
    F(glTexStorage2D)(GL_TEXTURE_1D_ARRAY, 1, GL_RG16, 8, 4);
    F(glTexSubImage2D)(GL_TEXTURE_1D_ARRAY, 0, 0, 0, 8, 4, GL_RG, GL_UNSIGNED_SHORT, texels);
    textures[2] = texture_of(GL_TEXTURE_RECTANGLE);
    F(glTexImage2D)(GL_TEXTURE_RECTANGLE, 0, GL_RGBA16, 7, 5, 0, GL_RGBA, GL_UNSIGNED_SHORT, texels);
    textures[3] = texture_of(GL_TEXTURE_BUFFER);
    GLuint buffer = 0;
    F(glGenBuffers)(1, &buffer);
    F(glBindBuffer)(GL_TEXTURE_BUFFER, buffer);
    F(glBufferData)(GL_TEXTURE_BUFFER, 256, texels, GL_STATIC_DRAW);
    F(glTexBuffer)(GL_TEXTURE_BUFFER, GL_RGBA8, buffer);
    /* Compressed by the program. */
    textures[4] = texture_of(GL_TEXTURE_2D);
    F(glCompressedTexImage2D)(GL_TEXTURE_2D, 0, GL_COMPRESSED_RED_RGTC1, 8, 8, 0, 32, texels);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    textures[5] = texture_of(GL_TEXTURE_2D);
    F(glTexImage2D)(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT32F, 8, 8, 0, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, texels);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    textures[6] = texture_of(GL_TEXTURE_2D);
    F(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA, 8, 8, 0, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV, texels);
    F(glGenerateMipmap)(GL_TEXTURE_2D);
    F(glTexParameterf)(GL_TEXTURE_2D, GL_TEXTURE_LOD_BIAS, 1.0f);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    textures[7] = texture_of(GL_TEXTURE_2D);
    F(glTexStorage2D)(GL_TEXTURE_2D, 1, GL_RGBA16_SNORM, 8, 8);
    F(glTexSubImage2D)(GL_TEXTURE_2D, 0, 0, 0, 8, 8, GL_RGBA, GL_SHORT, texels);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    F(glTexParameterfv)(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, (const GLfloat[]){0.25f, 0.5f, 0.75f, 1.0f});
    textures[8] = texture_of(GL_TEXTURE_2D_MULTISAMPLE);
    F(glTexImage2DMultisample)(GL_TEXTURE_2D_MULTISAMPLE, 4, GL_RGBA8, 8, 8, GL_TRUE);
    F(glGenSamplers)(1, &sampler);
    F(glSamplerParameteri)(sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glSamplerParameteri)(sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    F(glSamplerParameterf)(sampler, GL_TEXTURE_LOD_BIAS, 0.5f);
    GLuint framebuffer = 0;
    F(glGenFramebuffers)(1, &framebuffer);
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, framebuffer);
    F(glFramebufferTexture)(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, textures[8], 0);
    for (int sample = 0; sample < 4; sample++) {
        F(glEnable)(GL_SAMPLE_MASK);
        F(glSampleMaski)(0, 1u << sample);
        F(glClearBufferfv)(GL_COLOR, 0, (const GLfloat[]){0.2f * (float)sample, 0.5f, 1.0f - 0.2f * (float)sample, 1.0f});
    }
    F(glSampleMaski)(0, ~0u);
    F(glDisable)(GL_SAMPLE_MASK);
    F(glDeleteFramebuffers)(1, &framebuffer);
    F(glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, 0);
}

static void start_programs(void)
{
    program_of_part[0] = part("uniform sampler1D image;\nvoid main() { shown = texture(image, at.x); }\n");
    program_of_part[1] = part("uniform sampler1DArray image;\nvoid main() { shown = texture(image, vec2(at.x, at.y * 4.0)); }\n");
    program_of_part[2] = part("uniform sampler2DRect image;\nvoid main() { shown = texture(image, at * vec2(7, 5)); }\n");
    program_of_part[3] = part("uniform samplerBuffer image;\nvoid main() { shown = texelFetch(image, int(at.x * 64.0)); }\n");
    for (int i = 4; i < 8; i++)
        program_of_part[i] = part("uniform sampler2D image;\nvoid main() { shown = abs(texture(image, at * 1.5)); }\n");
    program_of_part[8] = part("uniform sampler2DMS image;\nvoid main() { shown = texelFetch(image, ivec2(at * 8.0), int(at.x * 4.0)); }\n");
    program_of_part[9] = part("uniform dvec2 twice[2];\nuniform double once;\nvoid main() { shown = vec4(vec2(twice[1] * once), at); }\n");
    F(glUseProgram)(program_of_part[9]);
    F(glUniform2d)(F(glGetUniformLocation)(program_of_part[9], "twice[1]"), 0.25, 0.75);
    F(glUniform1d)(F(glGetUniformLocation)(program_of_part[9], "once"), 0.9);
    program_of_part[10] = program_of(
        "#version 450 core\nlayout(location = 0) in vec2 place;\nlayout(location = 3) in dvec2 wide;\nout vec2 at;\n"
        "void main() { at = vec2(wide); gl_Position = vec4(place, 0.0, 1.0); gl_ClipDistance[2] = place.x + 0.5; }\n",
        "#version 450 core\nin vec2 at;\nout vec4 shown;\nvoid main() { shown = vec4(at, 0.5, 1.0); }\n");
    program_of_part[11] = program_of(
        SQUARE,
        "#version 450 core\nin vec2 at;\nout vec4 shown;\nsubroutine vec4 way(vec2 it);\n"
        "layout(index = 3) subroutine(way) vec4 one(vec2 it) { return vec4(it, 0, 1); }\n"
        "layout(index = 5) subroutine(way) vec4 other(vec2 it) { return vec4(0, it, 1); }\n"
        "subroutine uniform way chosen;\nvoid main() { shown = chosen(at); }\n");
}

static void start(void)
{
    static const GLfloat square[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    static const GLdouble wide[] = {0.1, 0.2, 0.9, 0.3, 0.4, 0.8, 0.7, 0.6};
    static const GLushort order[] = {0, 1, 2, 777, 1, 2, 3};
    F(glGenVertexArrays)(1, &array);
    F(glBindVertexArray)(array);
    F(glGenBuffers)(1, &corners);
    F(glBindBuffer)(GL_ARRAY_BUFFER, corners);
    F(glBufferData)(GL_ARRAY_BUFFER, sizeof square, square, GL_STATIC_DRAW);
    F(glVertexAttribPointer)(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    F(glEnableVertexAttribArray)(0);
    F(glGenBuffers)(1, &doubles);
    F(glBindBuffer)(GL_ARRAY_BUFFER, doubles);
    F(glBufferData)(GL_ARRAY_BUFFER, sizeof wide, wide, GL_STATIC_DRAW);
    F(glVertexAttribLPointer)(3, 2, GL_DOUBLE, 0, NULL);
    F(glEnableVertexAttribArray)(3);
    F(glGenBuffers)(1, &strips);
    F(glBindBuffer)(GL_ELEMENT_ARRAY_BUFFER, strips);
    F(glBufferData)(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order, GL_STATIC_DRAW);
    F(glGenBuffers)(1, &storage);
    F(glBindBuffer)(GL_COPY_WRITE_BUFFER, storage);
    GLbitfield flags = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    F(glBufferStorage)(GL_COPY_WRITE_BUFFER, 64, NULL, flags);
    kept = F(glMapBufferRange)(GL_COPY_WRITE_BUFFER, 0, 64, flags);
    must(kept != NULL, "glMapBufferRange");
    fill(kept, 64, 5);
    F(glGenQueries)(1, &query);
    start_textures();
    start_programs();
}

/* What stays set, and what only a query shows. */
static void set(void)
{
    F(glPointSize)(5.0f);
    F(glLogicOp)(GL_XOR);
    F(glProvokingVertex)(GL_FIRST_VERTEX_CONVENTION);
    F(glClipControl)(GL_UPPER_LEFT, GL_ZERO_TO_ONE);
    F(glEnable)(GL_PRIMITIVE_RESTART);
    F(glPrimitiveRestartIndex)(777);
    F(glEnable)(GL_CLIP_DISTANCE2);
    F(glEnable)(GL_DEPTH_CLAMP);
    F(glEnable)(GL_PROGRAM_POINT_SIZE);
    F(glEnable)(GL_TEXTURE_CUBE_MAP_SEAMLESS);
    F(glEnable)(GL_LINE_SMOOTH);
    F(glDepthRange)(0.125, 0.87500000001);
    F(glClearDepth)(0.3000000001);
    F(glPointParameteri)(GL_POINT_SPRITE_COORD_ORIGIN, GL_LOWER_LEFT);
    F(glPointParameterf)(GL_POINT_FADE_THRESHOLD_SIZE, 2.5f);
    F(glPatchParameterfv)(GL_PATCH_DEFAULT_OUTER_LEVEL, (const GLfloat[]){1, 2, 3, 4});
    F(glClampColor)(GL_CLAMP_READ_COLOR, GL_FALSE);
    F(glPixelStorei)(GL_PACK_SKIP_IMAGES, 2);
    F(glPixelStorei)(GL_UNPACK_SWAP_BYTES, GL_TRUE);
    F(glHint)(GL_LINE_SMOOTH_HINT, GL_NICEST);
    F(glViewportIndexedf)(3, 1.5f, 2.5f, 30.25f, 40.0f);
    F(glDepthRangeIndexed)(2, 0.25, 0.50000000001);
    F(glScissorIndexed)(1, 1, 2, 3, 4);
    F(glBlendFunci)(1, GL_ONE, GL_SRC1_COLOR);
    F(glEnablei)(GL_BLEND, 2);
    F(glStencilFunc)(GL_GREATER, 77, 0xf0);
    F(glBindBuffer)(GL_DRAW_INDIRECT_BUFFER, storage);
    F(glBindSampler)(5, sampler);
}

static void say(const char *name, GLenum what, int count)
{
    GLdouble numbers[4] = {0};
    F(glGetDoublev)(what, numbers);
    printf("%s", name);
    for (int i = 0; i < count; i++)
        printf(" %.12g", numbers[i]);
    printf("\n");
}
#define SAY(name, count) say(#name, name, count)

static void ask(void)
{
    GLfloat view[4], bias = 0;
    GLdouble range[2];
    GLint stencil = 0;
    SAY(GL_POINT_SIZE, 1);
    SAY(GL_LOGIC_OP_MODE, 1);
    SAY(GL_PROVOKING_VERTEX, 1);
    SAY(GL_CLIP_ORIGIN, 1);
    SAY(GL_CLIP_DEPTH_MODE, 1);
    SAY(GL_PRIMITIVE_RESTART_INDEX, 1);
    SAY(GL_DEPTH_RANGE, 2);
    SAY(GL_DEPTH_CLEAR_VALUE, 1);
    SAY(GL_POINT_SPRITE_COORD_ORIGIN, 1);
    SAY(GL_POINT_FADE_THRESHOLD_SIZE, 1);
    SAY(GL_PATCH_DEFAULT_OUTER_LEVEL, 4);
    SAY(GL_CLAMP_READ_COLOR, 1);
    SAY(GL_PACK_SKIP_IMAGES, 1);
    SAY(GL_UNPACK_SWAP_BYTES, 1);
    SAY(GL_LINE_SMOOTH_HINT, 1);
    SAY(GL_LINE_SMOOTH, 1);
    SAY(GL_DEPTH_CLAMP, 1);
    SAY(GL_CLIP_DISTANCE2, 1);
    SAY(GL_PROGRAM_POINT_SIZE, 1);
    SAY(GL_TEXTURE_CUBE_MAP_SEAMLESS, 1);
    SAY(GL_POLYGON_MODE, 2);
    SAY(GL_DRAW_INDIRECT_BUFFER_BINDING, 1);
    SAY(GL_DRAW_BUFFER, 1);
    SAY(GL_READ_BUFFER, 1);
    F(glGetFloati_v)(GL_VIEWPORT, 3, view);
    F(glGetDoublei_v)(GL_DEPTH_RANGE, 2, range);
    F(glGetSamplerParameterfv)(sampler, GL_TEXTURE_LOD_BIAS, &bias);
    F(glGetIntegerv)(GL_STENCIL_REF, &stencil);
    printf("%g %g %.12g %g %d %d %d\n", (double)view[0], (double)view[2], range[1], (double)bias,
           stencil, F(glIsEnabledi)(GL_BLEND, 1), F(glIsEnabledi)(GL_BLEND, 2));
    no_error("the answers");
}

static void draw(int frame)
{
    static const GLenum targets[PARTS] = {
        GL_TEXTURE_1D, GL_TEXTURE_1D_ARRAY, GL_TEXTURE_RECTANGLE, GL_TEXTURE_BUFFER, GL_TEXTURE_2D, GL_TEXTURE_2D,
        GL_TEXTURE_2D, GL_TEXTURE_2D, GL_TEXTURE_2D_MULTISAMPLE, 0, 0, 0};
    GLuint passed = 0;
    F(glClearColor)(0.1f * (float)frame, 0.2f, 0.3f, 1.0f);
    F(glClear)(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    F(glBeginQuery)(GL_SAMPLES_PASSED, query);
    /* With the program and the subroutine of the frame before. */
    F(glViewport)(WIDTH / 2, HEIGHT / 2, 9, 9);
    if (frame > 0)
        F(glDrawArrays)(GL_TRIANGLE_STRIP, 0, 4);
    for (int i = 0; i < PARTS; i++) {
        F(glViewport)(i % 4 * WIDTH / 4, i / 4 * HEIGHT / 3, WIDTH / 4 - 2, HEIGHT / 3 - 2);
        F(glDepthRange)(0.125, 0.87500000001);
        if (targets[i] != 0)
            F(glBindTexture)(targets[i], textures[i]);
        F(glUseProgram)(program_of_part[i]);
        if (i == 11)
            F(glUniformSubroutinesuiv)(GL_FRAGMENT_SHADER, 1, (const GLuint[]){frame % 2 == 0 ? 3 : 5});
        if (i == 9) {
            F(glPolygonMode)(GL_FRONT_AND_BACK, GL_LINE);
            F(glDrawArrays)(GL_TRIANGLE_STRIP, 0, 4);
            F(glPolygonMode)(GL_FRONT_AND_BACK, GL_FILL);
            F(glDrawArrays)(GL_POINTS, 0, 4);
        }
        /* Only the shaders of this part write the distance. */
        (i == 10 ? F(glEnable) : F(glDisable))(GL_CLIP_DISTANCE2);
        F(glDrawElements)(GL_TRIANGLE_STRIP, 7, GL_UNSIGNED_SHORT, NULL);
    }
    F(glEnable)(GL_CLIP_DISTANCE2);
    F(glEndQuery)(GL_SAMPLES_PASSED);
    F(glGetQueryObjectuiv)(query, GL_QUERY_RESULT, &passed);
    printf("passed %u\n", passed);
    F(glViewportIndexedf)(3, 1.5f, 2.5f, 30.25f, 40.0f);
    F(glDepthRangeIndexed)(2, 0.25, 0.50000000001);
    F(glScissorIndexed)(1, 1, 2, 3, 4);
}

int main(void)
{
    desktop_open(45, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT);
    start();
    set();
    no_error("the start");
    for (int frame = 0; frame < FRAMES; frame++) {
        draw(frame);
        ask();
        desktop_end_frame();
    }
    desktop_close();
    return 0;
}
