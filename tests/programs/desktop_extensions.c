/* Extensions that a compatibility profile keeps from before OpenGL 3.0, and GL_EXT_direct_state_access. */
#include "desktop.h"

#define FRAMES 2

static GLuint texture, buffer, assembly[2], ati;
static GLhandleARB objects;

static const char *const VERTEX =
    "!!ARBvp1.0\n"
    "PARAM matrix[4] = { state.matrix.mvp };\n"
    "DP4 result.position.x, matrix[0], vertex.position;\n"
    "DP4 result.position.y, matrix[1], vertex.position;\n"
    "DP4 result.position.z, matrix[2], vertex.position;\n"
    "DP4 result.position.w, matrix[3], vertex.position;\n"
    "MOV result.color, vertex.color;\n"
    "MOV result.texcoord[0], vertex.texcoord[0];\n"
    "END\n";

static const char *const FRAGMENT =
    "!!ARBfp1.0\n"
    "TEMP texel;\n"
    "TEX texel, fragment.texcoord[0], texture[1], 2D;\n"
    "MUL texel, texel, program.local[3];\n"
    "ADD result.color, texel, fragment.color;\n"
    "END\n";

static const GLcharARB *const OBJECT_VERTEX = "void main() { gl_Position = ftransform(); gl_FrontColor = gl_Color; }\n";
static const GLcharARB *const OBJECT_FRAGMENT =
    "uniform vec4 tint;\nvoid main() { gl_FragColor = gl_Color * tint; }\n";

static void start_assembly(void)
{
    const char *const sources[] = {VERTEX, FRAGMENT};
    const GLenum targets[] = {GL_VERTEX_PROGRAM_ARB, GL_FRAGMENT_PROGRAM_ARB};
    GLint length = 0;
    char text[1024] = "";
    F(glGenProgramsARB)(2, assembly);
    for (int i = 0; i < 2; i++) {
        F(glBindProgramARB)(targets[i], assembly[i]);
        F(glProgramStringARB)(targets[i], GL_PROGRAM_FORMAT_ASCII_ARB, (GLsizei)strlen(sources[i]), sources[i]);
        F(glGetProgramivARB)(targets[i], GL_PROGRAM_LENGTH_ARB, &length);
        must((size_t)length <= sizeof text, "glGetProgramivARB");
        F(glGetProgramStringARB)(targets[i], GL_PROGRAM_STRING_ARB, text);
        printf("program %d %08x\n", length, sum_of(text, (size_t)length));
    }
    const GLfloat local[] = {0.5f, 0.25f, 0.75f, 1.0f};
    F(glNamedProgramLocalParameter4fvEXT)(assembly[1], GL_FRAGMENT_PROGRAM_ARB, 3, local);
    ati = F(glGenFragmentShadersATI)(2) + 1;
    F(glBindFragmentShaderATI)(ati);
    F(glBeginFragmentShaderATI)();
    F(glSampleMapATI)(GL_REG_0_ATI, GL_TEXTURE0_ARB, GL_SWIZZLE_STR_ATI);
    F(glColorFragmentOp1ATI)(GL_MOV_ATI, GL_REG_0_ATI, GL_NONE, GL_NONE, GL_PRIMARY_COLOR_ARB, GL_NONE, GL_NONE);
    F(glEndFragmentShaderATI)();
    F(glBindFragmentShaderATI)(0);
}

static void start_objects(void)
{
    const GLcharARB *sources[] = {OBJECT_VERTEX, OBJECT_FRAGMENT};
    const GLenum kinds[] = {GL_VERTEX_SHADER_ARB, GL_FRAGMENT_SHADER_ARB};
    GLint linked = 0;
    objects = F(glCreateProgramObjectARB)();
    for (int i = 0; i < 2; i++) {
        GLhandleARB shader = F(glCreateShaderObjectARB)(kinds[i]);
        F(glShaderSourceARB)(shader, 1, &sources[i], NULL);
        F(glCompileShaderARB)(shader);
        F(glAttachObjectARB)(objects, shader);
        F(glDeleteObjectARB)(shader);
    }
    F(glLinkProgramARB)(objects);
    F(glGetObjectParameterivARB)(objects, GL_OBJECT_LINK_STATUS_ARB, &linked);
    must(linked, "glLinkProgramARB");
    F(glUseProgramObjectARB)(objects);
    F(glUniform4fARB)(F(glGetUniformLocationARB)(objects, "tint"), 0.5f, 1.0f, 0.25f, 1.0f);
    must(F(glGetHandleARB)(GL_PROGRAM_OBJECT_ARB) == objects, "glGetHandleARB");
    F(glUseProgramObjectARB)(0);
}

static void start_named(void)
{
    unsigned char texels[4 * 4 * 4];
    for (size_t i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 29 + 3);
    F(glGenTextures)(1, &texture);
    F(glTextureImage2DEXT)(texture, GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    F(glTextureParameteriEXT)(texture, GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glTextureParameteriEXT)(texture, GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    F(glBindMultiTextureEXT)(GL_TEXTURE1, GL_TEXTURE_2D, texture);
    F(glMultiTexSubImage2DEXT)(GL_TEXTURE1, GL_TEXTURE_2D, 0, 1, 1, 2, 1, GL_BGRA, GL_UNSIGNED_BYTE, texels);
    memset(texels, 0, sizeof texels);
    F(glGetTextureImageEXT)(texture, GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    printf("texture %08x\n", sum_of(texels, sizeof texels));
    static const GLfloat corners[] = {-0.8f, -0.8f, 0.0f, 0.0f, 0.8f, -0.8f, 1.0f, 0.0f,
                                      0.8f, 0.8f, 1.0f, 1.0f, -0.8f, 0.8f, 0.0f, 1.0f};
    F(glGenBuffers)(1, &buffer);
    F(glNamedBufferDataEXT)(buffer, sizeof corners, NULL, GL_STATIC_DRAW);
    void *at = F(glMapNamedBufferEXT)(buffer, GL_WRITE_ONLY);
    must(at != NULL, "glMapNamedBufferEXT");
    memcpy(at, corners, sizeof corners);
    must(F(glUnmapNamedBufferEXT)(buffer), "glUnmapNamedBufferEXT");
    F(glBindBuffer)(GL_ARRAY_BUFFER, buffer);
    F(glVertexPointer)(2, GL_FLOAT, 16, NULL);
    F(glMultiTexCoordPointerEXT)(GL_TEXTURE0, 2, GL_FLOAT, 16, (void *)8);
    F(glBindBuffer)(GL_ARRAY_BUFFER, 0);
    F(glEnableClientState)(GL_VERTEX_ARRAY);
    F(glEnableClientStateIndexedEXT)(GL_TEXTURE_COORD_ARRAY, 0);
}

static void draw(int frame)
{
    F(glClearColor)(0.2f, 0.1f * (float)frame, 0.4f, 1.0f);
    F(glClear)(GL_COLOR_BUFFER_BIT);
    F(glMatrixLoadIdentityEXT)(GL_PROJECTION);
    F(glMatrixScalefEXT)(GL_PROJECTION, 1.0f, 0.5f + 0.25f * (float)frame, 1.0f);
    F(glColor4f)(0.1f, 0.2f, 0.3f, 1.0f);
    F(glEnable)(GL_VERTEX_PROGRAM_ARB);
    F(glEnable)(GL_FRAGMENT_PROGRAM_ARB);
    F(glDrawArrays)(GL_TRIANGLE_FAN, 0, 4);
    F(glDisable)(GL_VERTEX_PROGRAM_ARB);
    F(glDisable)(GL_FRAGMENT_PROGRAM_ARB);
    F(glMatrixScalefEXT)(GL_PROJECTION, 0.5f, 0.5f, 1.0f);
    F(glUseProgramObjectARB)(objects);
    F(glDrawArrays)(GL_TRIANGLE_FAN, 0, 4);
    F(glUseProgramObjectARB)(0);
    F(glMatrixScalefEXT)(GL_PROJECTION, 0.25f, 0.5f, 1.0f);
    F(glBindFragmentShaderATI)(ati);
    F(glEnable)(GL_FRAGMENT_SHADER_ATI);
    F(glColor4f)(1.0f, 0.9f, 0.1f, 1.0f);
    F(glDrawArrays)(GL_TRIANGLE_FAN, 0, 4);
    F(glDisable)(GL_FRAGMENT_SHADER_ATI);
    const GLenum modes[] = {GL_LINE_LOOP, GL_POINTS};
    const GLint first[] = {0, 0};
    const GLsizei count[] = {4, 4};
    F(glMultiModeDrawArraysIBM)(modes, first, count, 2, sizeof modes[0]);
}

/*
 * One point whose arrays have strides that no draw needs, as far as the version allows them; a fog coordinate, a secondary colour, an index and an edge flag. Each
 * second frame enables the arrays as GL_EXT_vertex_array does.
 */
static void wide(int frame)
{
    static const GLfloat place[] = {0.5f, -0.5f}, fog = 0.25f, index = 3.0f;
    static const GLubyte colour[] = {10, 200, 30, 255}, more[] = {90, 0, 120};
    static const GLboolean edge = GL_TRUE;
    static const GLfloat fog_colour[] = {0.0f, 0.0f, 1.0f, 1.0f};
    const GLsizei stride = strtod((const char *)F(glGetString)(GL_VERSION), NULL) < 4.4 ? 5000 : 2000;
    F(glPushClientAttrib)(GL_CLIENT_VERTEX_ARRAY_BIT);
    F(glPushAttrib)(GL_ALL_ATTRIB_BITS);
    F(glDisableClientState)(GL_TEXTURE_COORD_ARRAY);
    F(glVertexPointer)(2, GL_FLOAT, stride, place);
    F(glColorPointer)(4, GL_UNSIGNED_BYTE, stride, colour);
    F(glSecondaryColorPointer)(3, GL_UNSIGNED_BYTE, stride, more);
    F(glFogCoordPointer)(GL_FLOAT, stride, &fog);
    F(glIndexPointer)(GL_FLOAT, stride, &index);
    F(glEdgeFlagPointer)(stride, &edge);
    const GLenum arrays[] = {GL_COLOR_ARRAY, GL_SECONDARY_COLOR_ARRAY, GL_FOG_COORD_ARRAY, GL_INDEX_ARRAY, GL_EDGE_FLAG_ARRAY};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        frame % 2 == 0 ? F(glEnableClientState)(arrays[i]) : F(glEnable)(arrays[i]);
    F(glEnable)(GL_COLOR_SUM);
    F(glEnable)(GL_FOG);
    F(glFogi)(GL_FOG_MODE, GL_LINEAR);
    F(glFogi)(GL_FOG_COORD_SRC, GL_FOG_COORD);
    F(glFogfv)(GL_FOG_COLOR, fog_colour);
    F(glPointSize)(9.0f);
    F(glDrawArrays)(GL_POINTS, 0, 1);
    F(glPopAttrib)();
    F(glPopClientAttrib)();
}

/* Images of a texture without a name, as it was given and as the driver compresses it; an image into a buffer. */
static void read_back(int frame)
{
    unsigned char texels[8 * 8 * 4], back[8 * 8 * 4] = {0};
    GLuint pack;
    for (size_t i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 31 + (unsigned)frame * 7);
    F(glBindTexture)(GL_TEXTURE_2D, 0);
    F(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA, 5, 3, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    F(glGetTexImage)(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, back);
    printf("image %08x\n", sum_of(back, sizeof back));
    F(glTexImage2D)(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    F(glGetCompressedTexImage)(GL_TEXTURE_2D, 0, back);
    printf("compressed %08x\n", sum_of(back, sizeof back));
    F(glGenBuffers)(1, &pack);
    F(glBindBuffer)(GL_PIXEL_PACK_BUFFER, pack);
    F(glBufferData)(GL_PIXEL_PACK_BUFFER, sizeof back, NULL, GL_STREAM_READ);
    F(glGetTexImage)(GL_TEXTURE_2D, 0, GL_RGB, GL_UNSIGNED_BYTE, (void *)16);
    F(glGetBufferSubData)(GL_PIXEL_PACK_BUFFER, 16, 8 * 8 * 3, back);
    printf("in a buffer %08x\n", sum_of(back, sizeof back));
    F(glDeleteBuffers)(1, &pack);
    F(glBindTexture)(GL_TEXTURE_2D, texture);
}

/* A list makes a texture of a name that was not generated. */
static void list(int frame)
{
    const GLuint own = 770 + (GLuint)frame;
    GLuint list = F(glGenLists)(1);
    F(glNewList)(list, GL_COMPILE);
    F(glBindTexture)(GL_TEXTURE_2D, own);
    F(glEndList)();
    printf("texture of a list %d", F(glIsTexture)(own));
    F(glCallList)(list);
    printf(" %d\n", F(glIsTexture)(own));
    F(glDeleteLists)(list, 1);
    F(glBindTexture)(GL_TEXTURE_2D, texture);
}

int main(void)
{
    desktop_open(0, 0);
    start_assembly();
    no_error("the assembly programs");
    start_objects();
    no_error("the shader objects");
    start_named();
    no_error("the objects by name");
    for (int frame = 0; frame < FRAMES; frame++) {
        draw(frame);
        wide(frame);
        no_error("the wide arrays");
        read_back(frame);
        no_error("the read-backs");
        list(frame);
        no_error("the list");
        desktop_end_frame();
    }
    F(glDeleteProgramsARB)(2, assembly);
    desktop_close();
    return 0;
}
