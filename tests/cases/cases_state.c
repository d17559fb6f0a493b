/* The driver's answers about its state: through every query, with valid names and with invalid ones. */
#include "cases.h"

/* Sixteen names in a row from each of these, known or not, in five types. */
static const GLenum RANGES[] = {0x0b00, 0x0b40, 0x0b70, 0x0b90, 0x0bc0, 0x0be0, 0x0c00, 0x0c10, 0x0cf0,
                                0x0d00, 0x0d30, 0x0d50, 0x0d60, 0x8000, 0x8060, 0x80a0, 0x80b0, 0x80c0,
                                0x80e0, 0x8460, 0x84e0, 0x8510, 0x8620, 0x8640, 0x8800, 0x8820, 0x8860,
                                0x8890, 0x88e0, 0x8a20, 0x8b40, 0x8b80, 0x8b90, 0x8c20, 0x8c80, 0x8ca0,
                                0x8ce0, 0x8d50, 0x8d60, 0x8df0, 0x8e20, 0x8e40, 0x8e80, 0x8f00, 0x9050,
                                0x90d0, 0x90e0, 0x9110, 0x9120, 0x9190, 0x91b0, 0x9260, 0x92c0, 0x92d0,
                                0x9310, 0x9380};

static void asked(long range)
{
    for (GLenum name = RANGES[range]; name < RANGES[range] + 16; name++) {
        /* A clock. */
        if (name == GL_TIMESTAMP_EXT)
            continue;
        GLint integers[32];
        GLfloat floats[32];
        GLboolean booleans[32];
        GLint64 longs[32];
        memset(integers, 0x55, sizeof integers), memset(floats, 0x55, sizeof floats);
        memset(booleans, 0x55, sizeof booleans), memset(longs, 0x55, sizeof longs);
        glGetIntegerv(name, integers);
        printf("0x%04x %08x", name, sum_of(integers, sizeof integers));
        glGetFloatv(name, floats);
        printf(" %08x", sum_of(floats, sizeof floats));
        glGetBooleanv(name, booleans);
        printf(" %08x", sum_of(booleans, sizeof booleans));
        glGetInteger64v(name, longs);
        printf(" %08x enabled %d", sum_of(longs, sizeof longs), glIsEnabled(name));
        say_errors("");
    }
}

static void indexed(long target)
{
    for (GLuint i = 0; i < 3; i++) {
        GLint value = -7;
        GLint64 wide = -7;
        glGetIntegeri_v((GLenum)target, i, &value);
        glGetInteger64i_v((GLenum)target, i, &wide);
        printf("%d %lld", value, (long long)wide);
        say_errors("");
    }
}

static void string(long name)
{
    const char *text = (const char *)glGetString((GLenum)name);
    printf("%s\n", text != NULL ? text : "nothing");
    for (GLuint i = 0; i < 200; i += 7) {
        const char *part = (const char *)glGetStringi((GLenum)name, i);
        printf("%s\n", part != NULL ? part : "nothing");
    }
    say_errors("asked");
}

/* Every parameter of textures and samplers, set and queried in each type. */
static void texture_parameter(long name)
{
    static const GLenum targets[] = {GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_2D_ARRAY, 0x1234};
    static const GLint values[] = {GL_LINEAR, GL_REPEAT, GL_LEQUAL, GL_RED, 3, -1};
    GLuint sampler = 0;
    glGenSamplers(1, &sampler);
    for (int i = 0; i < LENGTH(targets); i++)
        for (int k = 0; k < LENGTH(values); k++) {
            GLint integers[4] = {0};
            GLfloat floats[4] = {0};
            GLuint words[4] = {0};
            const GLint four[] = {values[k], 2, 3, 4};
            glTexParameteri(targets[i], (GLenum)name, values[k]);
            glTexParameteriv(targets[i], (GLenum)name, four);
            glTexParameterf(targets[i], (GLenum)name, (GLfloat)values[k]);
            glTexParameterIiv(targets[i], (GLenum)name, four);
            glGetTexParameteriv(targets[i], (GLenum)name, integers);
            glGetTexParameterfv(targets[i], (GLenum)name, floats);
            glGetTexParameterIuiv(targets[i], (GLenum)name, words);
            glSamplerParameteri(sampler, (GLenum)name, values[k]);
            glGetSamplerParameterfv(sampler, (GLenum)name, floats + 1);
            printf("%08x %08x %08x", sum_of(integers, sizeof integers), sum_of(floats, sizeof floats),
                   sum_of(words, sizeof words));
            say_errors("");
        }
}

static void level_parameter(long name)
{
    GLuint texture = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 3, GL_RGB565, 16, 16);
    for (GLint level = -1; level < 6; level++) {
        GLint value = -7;
        GLfloat number = -7;
        glGetTexLevelParameteriv(GL_TEXTURE_2D, level, (GLenum)name, &value);
        printf("%d", value);
        say_errors("");
        glGetTexLevelParameterfv(GL_TEXTURE_2D, level, (GLenum)name, &number);
        GLenum error = glGetError();
        /* Mesa 22.3 writes an uninitialised number if it refuses this command. */
        if (error == GL_NO_ERROR)
            printf("%g\n", (double)number);
        else
            printf("0x%04x\n", error);
        say_errors("level");
    }
    glDeleteTextures(1, &texture);
}

static void buffer_parameter(long target)
{
    static const GLenum names[] = {GL_BUFFER_SIZE, GL_BUFFER_USAGE, GL_BUFFER_MAPPED, GL_BUFFER_ACCESS_FLAGS,
                                   GL_BUFFER_MAP_LENGTH, GL_BUFFER_MAP_OFFSET, 0x8892};
    unsigned char bytes[512];
    GLuint buffer = 0;
    fill(bytes, sizeof bytes, 5);
    glGenBuffers(1, &buffer);
    glBindBuffer((GLenum)target, buffer);
    glBufferData((GLenum)target, 512, bytes, GL_DYNAMIC_READ);
    glBufferSubData((GLenum)target, 500, 13, bytes);
    say_errors("a part too long");
    glBufferSubData((GLenum)target, 100, 13, bytes);
    const void *mapping = glMapBufferRange((GLenum)target, 32, 256, GL_MAP_READ_BIT);
    printf("%08x\n", mapping != NULL ? sum_of(mapping, 256) : 0);
    for (int i = 0; i < LENGTH(names); i++) {
        GLint value = -7;
        GLint64 wide = -7;
        glGetBufferParameteriv((GLenum)target, names[i], &value);
        glGetBufferParameteri64v((GLenum)target, names[i], &wide);
        printf("%d %lld", value, (long long)wide);
        say_errors("");
    }
    printf("unmapped %d\n", glUnmapBuffer((GLenum)target));
    printf("again %d\n", glUnmapBuffer((GLenum)target));
    say_errors("unmapped");
    glDeleteBuffers(1, &buffer);
}

static void attribute_parameter(long index)
{
    static const GLenum names[] = {GL_VERTEX_ATTRIB_ARRAY_ENABLED, GL_VERTEX_ATTRIB_ARRAY_SIZE,
                                   GL_VERTEX_ATTRIB_ARRAY_STRIDE, GL_VERTEX_ATTRIB_ARRAY_TYPE,
                                   GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING,
                                   GL_VERTEX_ATTRIB_ARRAY_INTEGER, GL_VERTEX_ATTRIB_ARRAY_DIVISOR,
                                   GL_VERTEX_ATTRIB_BINDING, GL_VERTEX_ATTRIB_RELATIVE_OFFSET,
                                   GL_CURRENT_VERTEX_ATTRIB};
    void *pointer = NULL;
    glVertexAttrib4f((GLuint)index, 1, 2, 3, 4);
    glVertexAttribIPointer((GLuint)index, 3, GL_SHORT, 10, (void *)0x1230);
    glVertexAttribDivisor((GLuint)index, 3);
    glEnableVertexAttribArray((GLuint)index);
    for (int i = 0; i < LENGTH(names); i++) {
        GLfloat floats[4] = {-7, -7, -7, -7};
        GLint integers[4] = {-7, -7, -7, -7};
        GLuint words[4] = {7, 7, 7, 7};
        glGetVertexAttribfv((GLuint)index, names[i], floats);
        glGetVertexAttribiv((GLuint)index, names[i], integers);
        glGetVertexAttribIuiv((GLuint)index, names[i], words);
        printf("0x%x: %g %g %d %d %u\n", names[i], (double)floats[0], (double)floats[3], integers[0],
               integers[3], words[1]);
    }
    glGetVertexAttribPointerv((GLuint)index, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
    printf("pointer %p\n", pointer);
}

static void formats(long internal)
{
    static const GLenum targets[] = {GL_RENDERBUFFER, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D};
    for (int i = 0; i < LENGTH(targets); i++) {
        GLint counts = -1, samples[8] = {0};
        glGetInternalformativ(targets[i], (GLenum)internal, GL_NUM_SAMPLE_COUNTS, 1, &counts);
        glGetInternalformativ(targets[i], (GLenum)internal, GL_SAMPLES, 8, samples);
        printf("%d: %d %d %d", counts, samples[0], samples[1], samples[2]);
        say_errors("");
    }
    GLuint renderbuffer = 0;
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, (GLenum)internal, 17, 9);
    for (GLenum name = GL_RENDERBUFFER_WIDTH; name <= GL_RENDERBUFFER_STENCIL_SIZE; name++) {
        GLint value = -7;
        glGetRenderbufferParameteriv(GL_RENDERBUFFER, name, &value);
        printf("%d ", value);
    }
    say_errors("");
}

static void precision(long kind)
{
    for (GLenum name = GL_LOW_FLOAT; name <= GL_HIGH_INT + 1; name++) {
        GLint range[2] = {-7, -7}, bits = -7;
        glGetShaderPrecisionFormat(kind ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER, name, range, &bits);
        printf("%d %d %d", range[0], range[1], bits);
        say_errors("");
    }
}

int main(int count, char **words)
{
    static const GLenum indices[] = {GL_UNIFORM_BUFFER_BINDING, GL_TRANSFORM_FEEDBACK_BUFFER_START,
                                     GL_MAX_COMPUTE_WORK_GROUP_COUNT, GL_IMAGE_BINDING_NAME,
                                     GL_VERTEX_BINDING_STRIDE, GL_SAMPLE_MASK_VALUE, 0x1234};
    static const GLenum strings[] = {GL_VENDOR, GL_RENDERER, GL_VERSION, GL_EXTENSIONS,
                                     GL_SHADING_LANGUAGE_VERSION, 0x1234};
    static const GLenum parameters[] = {
        GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_WRAP_R, GL_TEXTURE_MIN_LOD,
        GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_COMPARE_MODE, GL_TEXTURE_COMPARE_FUNC,
        GL_TEXTURE_SWIZZLE_G, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_TEXTURE_BORDER_COLOR,
        GL_TEXTURE_IMMUTABLE_FORMAT, GL_TEXTURE_MAX_ANISOTROPY_EXT, 0x1234};
    static const GLenum levels[] = {GL_TEXTURE_WIDTH, GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_RED_SIZE,
                                    GL_TEXTURE_COMPRESSED, GL_TEXTURE_SAMPLES, 0x1234};
    static const GLenum targets[] = {GL_ARRAY_BUFFER, GL_ELEMENT_ARRAY_BUFFER, GL_COPY_READ_BUFFER,
                                     GL_PIXEL_PACK_BUFFER, GL_UNIFORM_BUFFER, GL_SHADER_STORAGE_BUFFER,
                                     GL_TEXTURE_BUFFER, GL_DRAW_INDIRECT_BUFFER, 0x1234};
    static const GLenum internal[] = {GL_RGBA8, GL_RGB565, GL_RGBA4, GL_R32F, GL_RGBA32UI, GL_DEPTH_COMPONENT24,
                                      GL_STENCIL_INDEX8, GL_DEPTH32F_STENCIL8, GL_RGB9_E5, 0x1234};
    for (int i = 0; i < LENGTH(RANGES); i++)
        add(32, asked, i, "asked_%04x", RANGES[i]);
    for (int i = 0; i < LENGTH(indices); i++)
        add(32, indexed, indices[i], "indexed_%04x", indices[i]);
    for (int i = 0; i < LENGTH(strings); i++)
        add(30, string, strings[i], "string_%04x", strings[i]);
    for (int i = 0; i < LENGTH(parameters); i++)
        add(32, texture_parameter, parameters[i], "texture_%04x", parameters[i]);
    for (int i = 0; i < LENGTH(levels); i++)
        add(31, level_parameter, levels[i], "level_%04x", levels[i]);
    for (int i = 0; i < LENGTH(targets); i++)
        add(32, buffer_parameter, targets[i], "buffer_%04x", targets[i]);
    for (int i = 0; i < 4; i++)
        add(31, attribute_parameter, i, "attribute_%d", i);
    for (int i = 0; i < LENGTH(internal); i++)
        add(31, formats, internal[i], "format_%04x", internal[i]);
    for (int i = 0; i < 2; i++)
        add(30, precision, i, "precision_%d", i);
    return run_cases(count, words);
}
