/*
 * Display lists, and state of the compatibility profile, set up before the first frame and used in every one: a capture that
 * begins later has to describe them. Each frame prints what the driver answers.
 */
#include "desktop.h"

#define FRAMES 5

static GLuint lists, letters, textures[3], program;
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
        "ADD result.color, a, b;\nEND\n";
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
    if (number == 1)
        F(glCallList)(lists + 3);
    if (number == 2)
        F(glCallList)(lists + 5);
    if (number == 3)
        F(glCallList)(lists + 6);
    F(glPopMatrix)();
    F(glPushMatrix)();
    F(glTranslatef)(0.01f * (GLfloat)number, 0.0f, 0.0f);
    desktop_end_frame();
}

int main(void)
{
    desktop_open(0, 0);
    start_textures();
    start_lists();
    start_state();
    for (int i = 0; i < FRAMES; i++)
        frame(i);
    no_error("the end");
    desktop_close();
    return 0;
}
