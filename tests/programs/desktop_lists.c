/*
 * Display lists, and state of the compatibility profile, set up before the first frame and used in every one: a capture that
 * begins later has to describe them. Each frame prints what the driver answers.
 */
#include "desktop.h"

#define FRAMES 5

static GLuint lists, letters, textures[3], generating, program, pipeline;
static GLfloat line[] = {-0.9f, -0.9f, 0.2f, 0.3f, 0.9f, -0.7f, 0.5f, 0.9f};
static GLfloat feedback[256];
static GLuint selection[64];

static void triangle(GLfloat size)
{
    F(glBegin)(GL_TRIANGLES);
    F(glNormal3f)(0.0f, 0.6f, 0.8f);
    F(glColor3f)(1.0f, 0.5f, 0.25f);
    F(glVertex2f)(-size, -size);
    F(glColor3fv)((const GLfloat[]){0.1f, 0.9f, 0.4f});
    F(glVertex3fv)((const GLfloat[]){size, -size, 0.1f});
    F(glColor4ub)(20, 60, 250, 255);
    F(glVertex2d)(0.0, size);
    F(glEnd)();
}

static void fill(unsigned char *bytes, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)((i * 29 + seed * 77 + 5) ^ (i >> 2));
}

static void start_textures(void)
{
    unsigned char texels[16 * 16 * 4];
    F(glGenTextures)(3, textures);
    for (int i = 0; i < 3; i++) {
        fill(texels, sizeof texels, (unsigned)i);
        F(glBindTexture)(GL_TEXTURE_2D, textures[i]);
        F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        F(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
}

/* Images of textures without a name, of several formats, and textures whose mipmaps the driver makes. */
static void start_default_textures(void)
{
    static const GLenum faces[] = {GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_TEXTURE_CUBE_MAP_NEGATIVE_X,
                                   GL_TEXTURE_CUBE_MAP_POSITIVE_Y, GL_TEXTURE_CUBE_MAP_NEGATIVE_Y,
                                   GL_TEXTURE_CUBE_MAP_POSITIVE_Z, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z};
    unsigned char texels[16 * 16 * 4];
    fill(texels, sizeof texels, 21);
    F(glPixelStorei)(GL_UNPACK_ALIGNMENT, 1);
    F(glTexParameteri)(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glTexImage1D)(GL_TEXTURE_1D, 0, GL_RGB, 16, 0, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, texels);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 1);
    F(glTexParameterf)(GL_TEXTURE_2D, GL_TEXTURE_LOD_BIAS, 0.5f);
    F(glTexImage2D)(GL_TEXTURE_2D, 0, 3, 10, 6, 0, GL_RGB, GL_UNSIGNED_BYTE, texels);
    F(glTexImage2D)(GL_TEXTURE_2D, 1, 3, 5, 3, 0, GL_RGB, GL_UNSIGNED_BYTE, texels + 31);
    F(glTexParameteri)(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glTexImage3D)(GL_TEXTURE_3D, 0, GL_RGBA16, 3, 4, 2, 0, GL_RGBA, GL_UNSIGNED_SHORT, texels);
    F(glTexParameteri)(GL_TEXTURE_RECTANGLE, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glTexImage2D)(GL_TEXTURE_RECTANGLE, 0, GL_LUMINANCE_ALPHA, 7, 5, 0, GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, texels);
    for (int i = 0; i < 6; i++)
        F(glTexImage2D)(faces[i], 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels + 16 * i);
    F(glTexParameteri)(GL_TEXTURE_CUBE_MAP, GL_GENERATE_MIPMAP, GL_TRUE);
    F(glTexParameterf)(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_PRIORITY, 0.25f);
    /* The second level is not the mipmap of the first, until the first changes. */
    F(glGenTextures)(1, &generating);
    F(glBindTexture)(GL_TEXTURE_1D, generating);
    F(glTexParameteri)(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    F(glTexParameterf)(GL_TEXTURE_1D, GL_TEXTURE_LOD_BIAS, 1.0f);
    F(glTexParameteri)(GL_TEXTURE_1D, GL_GENERATE_MIPMAP, GL_TRUE);
    F(glTexImage1D)(GL_TEXTURE_1D, 0, GL_RGBA8, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    F(glTexSubImage1D)(GL_TEXTURE_1D, 1, 0, 8, GL_RGBA, GL_UNSIGNED_BYTE, texels + 99);
    F(glPrioritizeTextures)(1, &generating, (const GLfloat[]){0.75f});
    F(glBindTexture)(GL_TEXTURE_1D, 0);
    F(glPixelStorei)(GL_UNPACK_ALIGNMENT, 4);
    no_error("the textures");
}

static void textured(GLenum target, GLfloat x, GLfloat scale)
{
    F(glEnable)(target);
    F(glBegin)(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 4; i++) {
        GLfloat s = (GLfloat)(i % 2), t = (GLfloat)(i / 2);
        F(glTexCoord3f)(s * scale, t * scale, 0.4f);
        F(glVertex2f)(x + 0.2f * s, 0.7f + 0.2f * t);
    }
    F(glEnd)();
    F(glDisable)(target);
}

static void draw_default_textures(int number)
{
    unsigned char texels[16 * 4];
    GLint bound = 0;
    F(glGetIntegerv)(GL_TEXTURE_BINDING_2D, &bound);
    F(glBindTexture)(GL_TEXTURE_2D, 0);
    textured(GL_TEXTURE_1D, -0.9f, 1.0f);
    textured(GL_TEXTURE_2D, -0.6f, 1.0f);
    textured(GL_TEXTURE_2D, -0.6f, 3.0f);
    textured(GL_TEXTURE_3D, -0.3f, 1.0f);
    textured(GL_TEXTURE_CUBE_MAP, 0.0f, 1.0f);
    textured(GL_TEXTURE_RECTANGLE, 0.3f, 5.0f);
    F(glBindTexture)(GL_TEXTURE_2D, (GLuint)bound);
    F(glBindTexture)(GL_TEXTURE_1D, generating);
    textured(GL_TEXTURE_1D, 0.6f, 1.0f);
    if (number == 2) {
        fill(texels, sizeof texels, 5);
        F(glTexSubImage1D)(GL_TEXTURE_1D, 0, 0, 16, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    }
    F(glBindTexture)(GL_TEXTURE_1D, 0);
}

/* Shaders of a program pipeline, one of which has a subroutine, and an attribute of double precision. */
static void start_pipeline(void)
{
    static const char *const vertex =
        "#version 420 compatibility\nlayout(location = 3) in dvec2 wide;\n"
        "out gl_PerVertex { vec4 gl_Position; };\nlayout(location = 0) out vec2 at;\n"
        "void main() { at = vec2(wide * 1.0e9); gl_Position = vec4(gl_Vertex.xy, 0.0, 1.0); }\n";
    static const char *const fragment =
        "#version 420 compatibility\n#extension GL_ARB_separate_shader_objects : require\n"
        "layout(location = 0) in vec2 at;\nsubroutine vec4 way(vec2 it);\n"
        "subroutine(way) vec4 one(vec2 it) { return vec4(it, 0, 1); }\n"
        "subroutine(way) vec4 other(vec2 it) { return vec4(0.5, it, 1); }\n"
        "subroutine uniform way chosen;\nvoid main() { gl_FragColor = chosen(at); }\n";
    GLuint stages[2] = {F(glCreateShaderProgramv)(GL_VERTEX_SHADER, 1, &vertex),
                        F(glCreateShaderProgramv)(GL_FRAGMENT_SHADER, 1, &fragment)};
    for (int i = 0; i < 2; i++) {
        GLint linked = 0;
        F(glGetProgramiv)(stages[i], GL_LINK_STATUS, &linked);
        must(linked, "glCreateShaderProgramv");
    }
    F(glGenProgramPipelines)(1, &pipeline);
    F(glUseProgramStages)(pipeline, GL_VERTEX_SHADER_BIT, stages[0]);
    F(glUseProgramStages)(pipeline, GL_FRAGMENT_SHADER_BIT, stages[1]);
    F(glVertexAttribL4d)(3, 0.3e-9, 0.8e-9, 5.0e-9, 7.0e-9);
    F(glVertexAttribI4i)(4, 1 << 30, -7, 3, 2);
    no_error("the pipeline");
}

static void start_lists(void)
{
    unsigned char texels[32 * 32 * 4];
    static const unsigned char letter[] = {0x18, 0xff, 0x3c, 0xff, 0x66, 0xff, 0x7e, 0xff, 0x66, 0xff, 0x66, 0xff};
    GLint unit = 0, bound = 0;
    fill(texels, sizeof texels, 9);
    F(glBindTexture)(GL_TEXTURE_2D, textures[0]);
    lists = F(glGenLists)(12);
    letters = F(glGenLists)(128);
    /* 0: a primitive. 1: another one, twice, within. 2: replaced. */
    F(glNewList)(lists, GL_COMPILE);
    triangle(0.4f);
    F(glEndList)();
    F(glNewList)(lists + 2, GL_COMPILE);
    triangle(5.0f);
    F(glEndList)();
    F(glNewList)(lists + 2, GL_COMPILE);
    triangle(0.2f);
    F(glEndList)();
    F(glNewList)(lists + 1, GL_COMPILE);
    F(glPushMatrix)();
    F(glTranslatef)(0.5f, 0.5f, 0.0f);
    F(glCallList)(lists + 2);
    F(glRotatef)(30.0f, 0.0f, 0.0f, 1.0f);
    F(glTranslatef)(-0.9f, 0.1f, 0.0f);
    F(glCallLists)(2, GL_UNSIGNED_INT, (const GLuint[]){lists + 2, lists});
    F(glPopMatrix)();
    F(glEndList)();
    /* 3: changes what is bound, and does not do so now. */
    F(glNewList)(lists + 3, GL_COMPILE);
    F(glActiveTexture)(GL_TEXTURE1);
    F(glBindTexture)(GL_TEXTURE_2D, textures[1]);
    F(glEnable)(GL_TEXTURE_2D);
    F(glActiveTexture)(GL_TEXTURE0);
    F(glEndList)();
    F(glGetIntegerv)(GL_ACTIVE_TEXTURE, &unit);
    F(glGetIntegerv)(GL_TEXTURE_BINDING_2D, &bound);
    printf("compiled %x %d\n", unit, bound == (GLint)textures[0]);
    F(glNewList)(lists + 4, GL_COMPILE);
    F(glBindTexture)(GL_TEXTURE_2D, textures[2]);
    F(glEndList)();
    /* 5: an image that is defined when the list is called, from a part of memory. */
    F(glPixelStorei)(GL_UNPACK_ROW_LENGTH, 32);
    F(glPixelStorei)(GL_UNPACK_SKIP_PIXELS, 3);
    F(glPixelStorei)(GL_UNPACK_SKIP_ROWS, 5);
    F(glNewList)(lists + 5, GL_COMPILE);
    F(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    F(glPixelStorei)(GL_UNPACK_ROW_LENGTH, 0);
    F(glPixelStorei)(GL_UNPACK_SKIP_PIXELS, 0);
    F(glPixelStorei)(GL_UNPACK_SKIP_ROWS, 0);
    F(glTexSubImage2D)(GL_TEXTURE_2D, 0, 2, 2, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    F(glEndList)();
    memset(texels, 0, sizeof texels);
    /* 6: executed at once as well. */
    F(glNewList)(lists + 6, GL_COMPILE_AND_EXECUTE);
    F(glBindTexture)(GL_TEXTURE_2D, textures[1]);
    F(glLineWidth)(3.0f);
    F(glEndList)();
    /* 7: deleted. 8: named and not compiled. */
    F(glNewList)(lists + 7, GL_COMPILE);
    triangle(0.9f);
    F(glEndList)();
    F(glDeleteLists)(lists + 7, 1);
    F(glPixelStorei)(GL_UNPACK_ALIGNMENT, 2);
    for (GLuint i = 'a'; i < 'd'; i++) {
        F(glNewList)(letters + i, GL_COMPILE);
        F(glBitmap)(8, 6, 0.0f, 0.0f, 9.0f + (GLfloat)(i % 3), 0.0f, letter);
        F(glEndList)();
    }
    F(glPixelStorei)(GL_UNPACK_ALIGNMENT, 4);
    F(glListBase)(letters);
    F(glCallList)(lists + 4);
    /* 9 calls 10, which binds another texture, by the base that it sets. */
    F(glNewList)(lists + 10, GL_COMPILE);
    F(glBindTexture)(GL_TEXTURE_2D, textures[0]);
    F(glEndList)();
    F(glNewList)(lists + 9, GL_COMPILE);
    F(glListBase)(lists + 8);
    F(glCallLists)(1, GL_UNSIGNED_BYTE, "\2");
    F(glListBase)(letters);
    F(glEndList)();
}

static void start_state(void)
{
    const GLfloat points[] = {-0.9f, -0.9f, 0.0f, -0.5f, 0.9f, 0.0f, 0.2f, -0.3f, 0.0f, 0.9f, 0.4f, 0.0f};
    const GLfloat map[] = {0.0f, 0.3f, 0.8f, 1.0f};
    GLubyte stipple[128];
    fill(stipple, sizeof stipple, 3);
    F(glMatrixMode)(GL_PROJECTION);
    F(glOrtho)(-1.2, 1.2, -1.1, 1.1, -2.0, 2.0);
    F(glPushMatrix)();
    F(glScalef)(0.9f, 0.8f, 1.0f);
    F(glMatrixMode)(GL_TEXTURE);
    F(glScalef)(1.5f, 0.5f, 1.0f);
    F(glMatrixMode)(GL_MODELVIEW);
    F(glTranslatef)(0.05f, 0.0f, 0.0f);
    for (int i = 0; i < 3; i++) {
        F(glPushMatrix)();
        F(glRotatef)(7.0f, 0.0f, 0.0f, 1.0f);
    }
    F(glMatrixMode)(GL_MATRIX1_ARB);
    F(glTranslatef)(0.25f, 0.0f, 0.0f);
    F(glPushMatrix)();
    F(glScalef)(0.125f, 0.5f, 1.0f);
    F(glMatrixMode)(GL_MODELVIEW);
    F(glLightfv)(GL_LIGHT1, GL_POSITION, (const GLfloat[]){0.3f, 0.4f, 1.0f, 0.0f});
    F(glLightfv)(GL_LIGHT1, GL_DIFFUSE, (const GLfloat[]){0.9f, 0.8f, 0.7f, 1.0f});
    F(glLightModeli)(GL_LIGHT_MODEL_TWO_SIDE, 1);
    F(glMaterialfv)(GL_BACK, GL_AMBIENT, (const GLfloat[]){0.3f, 0.1f, 0.6f, 1.0f});
    F(glMaterialf)(GL_FRONT, GL_SHININESS, 12.0f);
    F(glColorMaterial)(GL_FRONT, GL_DIFFUSE);
    F(glEnable)(GL_COLOR_MATERIAL);
    F(glEnable)(GL_LIGHT1);
    F(glClipPlane)(GL_CLIP_PLANE2, (const GLdouble[]){1.0, 0.2, 0.0, 0.9});
    F(glEnable)(GL_CLIP_PLANE2);
    F(glFogf)(GL_FOG_DENSITY, 0.4f);
    F(glFogfv)(GL_FOG_COLOR, (const GLfloat[]){0.2f, 0.3f, 0.4f, 1.0f});
    F(glEnable)(GL_FOG);
    F(glTexGeni)(GL_S, GL_TEXTURE_GEN_MODE, GL_EYE_LINEAR);
    F(glTexGenfv)(GL_S, GL_EYE_PLANE, (const GLfloat[]){0.8f, 0.3f, 0.0f, 0.1f});
    F(glTexEnvi)(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_ADD);
    F(glMap1f)(GL_MAP1_VERTEX_3, 0.0f, 1.0f, 3, 4, points);
    F(glEnable)(GL_MAP1_VERTEX_3);
    F(glMapGrid1f)(12, 0.0f, 1.0f);
    F(glLineStipple)(2, 0x3f57);
    F(glEnable)(GL_LINE_STIPPLE);
    F(glPolygonStipple)(stipple);
    F(glPixelMapfv)(GL_PIXEL_MAP_R_TO_R, 4, map);
    F(glPixelTransferf)(GL_GREEN_SCALE, 0.5f);
    F(glPixelZoom)(2.0f, 1.5f);
    F(glAlphaFunc)(GL_GREATER, 0.1f);
    F(glEnable)(GL_ALPHA_TEST);
    F(glShadeModel)(GL_FLAT);
    F(glColor4f)(0.7f, 0.2f, 0.9f, 1.0f);
    F(glRasterPos2f)(-0.6f, -0.2f);
    F(glColor4f)(0.9f, 0.8f, 0.3f, 1.0f);
    F(glMultiTexCoord2f)(GL_TEXTURE0, 0.4f, 0.7f);
    F(glNormal3f)(0.0f, 0.0f, 1.0f);
    F(glVertexPointer)(2, GL_FLOAT, 0, line);
    F(glEnableClientState)(GL_VERTEX_ARRAY);
    F(glSelectBuffer)(64, selection);
    F(glFeedbackBuffer)(256, GL_3D_COLOR, feedback);
    static const char text[] =
        "!!ARBfp1.0\nPARAM a = program.local[1];\nPARAM b = program.env[2];\n"
        "PARAM c = state.matrix.program[1].row[0];\nTEMP t;\nADD t, a, b;\nADD result.color, t, c;\nEND\n";
    F(glGenProgramsARB)(1, &program);
    F(glBindProgramARB)(GL_FRAGMENT_PROGRAM_ARB, program);
    F(glProgramStringARB)(GL_FRAGMENT_PROGRAM_ARB, GL_PROGRAM_FORMAT_ASCII_ARB, sizeof text - 1, text);
    F(glProgramLocalParameter4fARB)(GL_FRAGMENT_PROGRAM_ARB, 1, 0.1f, 0.2f, 0.3f, 0.5f);
    F(glProgramEnvParameter4fARB)(GL_FRAGMENT_PROGRAM_ARB, 2, 0.4f, 0.1f, 0.2f, 0.5f);
    no_error("the state");
}

static void answers(void)
{
    static const GLenum names[] = {GL_MODELVIEW_STACK_DEPTH, GL_PROJECTION_STACK_DEPTH, GL_TEXTURE_STACK_DEPTH,
                                   GL_ACTIVE_TEXTURE, GL_TEXTURE_BINDING_2D, GL_LIST_BASE, GL_SHADE_MODEL,
                                   GL_CURRENT_RASTER_POSITION_VALID, GL_MATRIX_MODE, GL_ALPHA_TEST_FUNC};
    GLfloat matrix[16], raster[4], color[4], plane[4], material[4], light[4];
    GLdouble wide[4] = {0};
    GLint whole[4] = {0}, generates[2] = {0};
    GLfloat priorities[2] = {0};
    F(glGetVertexAttribLdv)(3, GL_CURRENT_VERTEX_ATTRIB, wide);
    F(glGetVertexAttribIiv)(4, GL_CURRENT_VERTEX_ATTRIB, whole);
    F(glBindTexture)(GL_TEXTURE_1D, generating);
    F(glGetTexParameteriv)(GL_TEXTURE_1D, GL_GENERATE_MIPMAP, &generates[0]);
    F(glGetTexParameteriv)(GL_TEXTURE_CUBE_MAP, GL_GENERATE_MIPMAP, &generates[1]);
    F(glGetTexParameterfv)(GL_TEXTURE_1D, GL_TEXTURE_PRIORITY, &priorities[0]);
    F(glGetTexParameterfv)(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_PRIORITY, &priorities[1]);
    F(glBindTexture)(GL_TEXTURE_1D, 0);
    printf("attributes %.12g %.12g %d textures %d %d %g %g\n", wide[1], wide[3], whole[0], generates[0], generates[1],
           (double)priorities[0], (double)priorities[1]);
    printf("answers");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        GLint value = 0;
        F(glGetIntegerv)(names[i], &value);
        printf(" %x", value);
    }
    F(glGetFloatv)(GL_MODELVIEW_MATRIX, matrix);
    F(glGetFloatv)(GL_CURRENT_RASTER_POSITION, raster);
    F(glGetFloatv)(GL_CURRENT_COLOR, color);
    F(glGetTexGenfv)(GL_S, GL_EYE_PLANE, plane);
    F(glGetMaterialfv)(GL_BACK, GL_AMBIENT, material);
    F(glGetLightfv)(GL_LIGHT1, GL_POSITION, light);
    printf(" %g %g %g %g %g %g %g\n", (double)matrix[1], (double)raster[0], (double)raster[1], (double)color[1],
           (double)plane[1], (double)material[2], (double)light[1]);
}

static void frame(int number)
{
    unsigned char pixels[8 * 8 * 4];
    GLint written = 0, hits = 0;
    fill(pixels, sizeof pixels, (unsigned)number);
    answers();
    F(glClearColor)(0.1f, 0.1f, 0.1f * (GLfloat)number, 1.0f);
    F(glClear)(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    /* With the subroutine that was chosen in the frame before. */
    if (number > 0)
        F(glRectf)(0.7f, 0.2f, 0.95f, 0.5f);
    F(glBindProgramPipeline)(0);
    draw_default_textures(number);
    F(glEnable)(GL_TEXTURE_2D);
    F(glCallList)(lists);
    F(glEnable)(GL_TEXTURE_GEN_S);
    F(glCallList)(lists + 1);
    F(glDisable)(GL_TEXTURE_GEN_S);
    F(glEnable)(GL_LIGHTING);
    F(glCallList)(lists + 2);
    F(glDisable)(GL_LIGHTING);
    F(glCallList)(lists + 8);
    F(glCallList)(lists + 7);
    F(glEnable)(GL_POLYGON_STIPPLE);
    F(glRectf)(-0.9f, 0.1f, -0.4f, 0.7f);
    F(glDisable)(GL_POLYGON_STIPPLE);
    F(glDisable)(GL_TEXTURE_2D);
    F(glCallLists)(3, GL_UNSIGNED_BYTE, "abc");
    F(glEvalMesh1)(GL_LINE, 0, 12);
    F(glDrawArrays)(GL_LINES, 0, 4);
    F(glDrawPixels)(8, 8, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    F(glEnable)(GL_FRAGMENT_PROGRAM_ARB);
    F(glRectf)(0.3f, -0.9f, 0.6f, -0.6f);
    F(glDisable)(GL_FRAGMENT_PROGRAM_ARB);
    F(glRenderMode)(GL_FEEDBACK);
    F(glCallList)(lists);
    written = F(glRenderMode)(GL_SELECT);
    F(glInitNames)();
    F(glPushName)(7);
    F(glCallList)(lists);
    hits = F(glRenderMode)(GL_RENDER);
    printf("feedback %d %g hits %d %u\n", written, (double)feedback[2], hits, selection[3]);
    /* What the lists change is found in the next frame. */
    if (number == 1) {
        F(glCallList)(lists + 3);
        F(glCallList)(lists + 9);
    }
    if (number == 2)
        F(glCallList)(lists + 5);
    if (number == 3)
        F(glCallList)(lists + 6);
    F(glPopMatrix)();
    F(glPushMatrix)();
    F(glTranslatef)(0.01f * (GLfloat)number, 0.0f, 0.0f);
    F(glBindProgramPipeline)(pipeline);
    F(glUniformSubroutinesuiv)(GL_FRAGMENT_SHADER, 1, (const GLuint[]){number % 2 == 0 ? 0 : 1});
    desktop_end_frame();
}

int main(void)
{
    desktop_open(0, 0);
    start_default_textures();
    start_textures();
    start_pipeline();
    start_lists();
    start_state();
    for (int i = 0; i < FRAMES; i++)
        frame(i);
    no_error("the end");
    desktop_close();
    return 0;
}
