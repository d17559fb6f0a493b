/*
 * The compatibility profile that a driver gives without being asked for a version: arrays in client memory for the fixed
 * functions and for a program of GLSL 1.20, matrices and texture environments; immediate mode, display lists, stacks of
 * attributes, pixels and feedback; then a context of 3.1 that shares.
 */
#include "desktop.h"

#define FRAMES 4

static GLuint program, texture, lists;

static const GLfloat corners[][2] = {{-0.8f, -0.8f}, {0.8f, -0.8f}, {-0.8f, 0.8f}, {0.8f, 0.8f}};
static const GLubyte colours[][4] = {{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 255}};
static const GLfloat places[][2] = {{0, 0}, {2, 0}, {0, 2}, {2, 2}};
static const GLushort order[] = {0, 1, 2, 3};

static void start(void)
{
    unsigned char texels[4 * 4 * 4];
    for (size_t i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 53 + 7);
    F(glGenTextures)(1, &texture);
    F(glBindTexture)(GL_TEXTURE_2D, texture);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    F(glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    F(glTexImage2D)(GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    program = program_of("#version 120\n"
                         "attribute vec2 place;\n"
                         "attribute vec4 colour;\n"
                         "varying vec4 tint;\n"
                         "void main() { gl_Position = gl_ModelViewMatrix * vec4(place, 0.0, 1.0); tint = colour; }\n",
                         "#version 120\n"
                         "varying vec4 tint;\n"
                         "void main() { gl_FragColor = tint.bgra; }\n");
}

/* Arrays of the fixed functions, indexed by client memory. */
static void fixed(int frame)
{
    F(glViewport)(0, 0, WIDTH / 2, HEIGHT);
    F(glMatrixMode)(GL_MODELVIEW);
    F(glLoadIdentity)();
    F(glPushMatrix)();
    F(glRotatef)(15.0f * (float)frame, 0.0f, 0.0f, 1.0f);
    F(glEnable)(GL_TEXTURE_2D);
    F(glTexEnvf)(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_MODULATE);
    F(glEnableClientState)(GL_VERTEX_ARRAY);
    F(glEnableClientState)(GL_COLOR_ARRAY);
    F(glEnableClientState)(GL_TEXTURE_COORD_ARRAY);
    F(glVertexPointer)(2, GL_FLOAT, 0, corners);
    F(glColorPointer)(4, GL_UNSIGNED_BYTE, 0, colours);
    F(glTexCoordPointer)(2, GL_FLOAT, 0, places);
    F(glDrawElements)(GL_TRIANGLE_STRIP, 4, GL_UNSIGNED_SHORT, order);
    F(glDisableClientState)(GL_VERTEX_ARRAY);
    F(glDisableClientState)(GL_COLOR_ARRAY);
    F(glDisableClientState)(GL_TEXTURE_COORD_ARRAY);
    F(glDisable)(GL_TEXTURE_2D);
    F(glPopMatrix)();
}

/* Arrays of a program, in client memory. */
static void generic(int frame)
{
    static GLfloat moved[4][2];
    for (int i = 0; i < 4; i++) {
        moved[i][0] = corners[i][0] * (0.5f + 0.1f * (float)frame);
        moved[i][1] = corners[i][1];
    }
    F(glViewport)(WIDTH / 2, 0, WIDTH / 2, HEIGHT);
    F(glUseProgram)(program);
    F(glVertexAttribPointer)(0, 2, GL_FLOAT, GL_FALSE, 0, moved);
    F(glVertexAttribPointer)(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, colours);
    F(glEnableVertexAttribArray)(0);
    F(glEnableVertexAttribArray)(1);
    F(glDrawArrays)(GL_TRIANGLE_STRIP, 0, 4);
    F(glDisableVertexAttribArray)(0);
    F(glDisableVertexAttribArray)(1);
    F(glUseProgram)(0);
}

/* Two lists: the second calls the first, both are called by their numbers. */
static void start_lists(void)
{
    lists = F(glGenLists)(2);
    must(lists != 0, "glGenLists");
    F(glNewList)(lists, GL_COMPILE);
    F(glBegin)(GL_TRIANGLES);
    for (int i = 0; i < 3; i++) {
        F(glColor4ubv)(colours[i]);
        F(glVertex2fv)(corners[i]);
    }
    F(glEnd)();
    F(glEndList)();
    F(glNewList)(lists + 1, GL_COMPILE);
    F(glTranslatef)(0.3f, 0.1f, 0.0f);
    F(glCallList)(lists);
    F(glEndList)();
}

/* Immediate mode, lists, attributes that a stack keeps, and pixels at a raster position. */
static void immediate(int frame)
{
    static const GLubyte bits[] = {0xf0, 0x81, 0x42, 0x24, 0x18, 0x24, 0x42, 0x81};
    const GLubyte numbers[] = {0, 1};
    unsigned char texels[6 * 5 * 3];
    for (size_t i = 0; i < sizeof texels; i++)
        texels[i] = (unsigned char)(i * 29 + (unsigned)frame * 17);
    F(glViewport)(0, 0, WIDTH / 2, HEIGHT / 2);
    F(glPushAttrib)(GL_CURRENT_BIT | GL_TRANSFORM_BIT | GL_ENABLE_BIT | GL_LIST_BIT);
    F(glPushClientAttrib)(GL_CLIENT_PIXEL_STORE_BIT);
    F(glPushMatrix)();
    F(glScalef)(0.4f, 0.2f + 0.1f * (float)frame, 1.0f);
    F(glListBase)(lists);
    F(glCallLists)(2, GL_UNSIGNED_BYTE, numbers);
    F(glBegin)(GL_QUADS);
    for (int i = 0; i < 4; i++) {
        F(glColor3f)(0.25f * (float)i, 0.5f, 1.0f - 0.25f * (float)i);
        F(glVertex3d)(-0.9 + 0.4 * (i == 1 || i == 2), -0.9 + 0.4 * (i > 1), 0.0);
    }
    F(glEnd)();
    F(glColor3f)(1.0f, 1.0f, 1.0f);
    F(glRasterPos2f)(0.2f, -0.6f);
    F(glPixelStorei)(GL_UNPACK_ALIGNMENT, 1);
    F(glDrawPixels)(6, 5, GL_RGB, GL_UNSIGNED_BYTE, texels);
    F(glBitmap)(8, 8, 0.0f, 0.0f, 10.0f, 0.0f, bits);
    F(glPopMatrix)();
    F(glPopClientAttrib)();
    F(glPopAttrib)();
}

/* The vertices of a draw come back in memory. */
static void feedback(void)
{
    static GLfloat vertices[64];
    F(glFeedbackBuffer)(64, GL_2D, vertices);
    F(glRenderMode)(GL_FEEDBACK);
    F(glCallList)(lists);
    GLint count = F(glRenderMode)(GL_RENDER);
    must(count > 0, "glRenderMode");
    printf("feedback %d %08x\n", count, sum_of(vertices, (size_t)count * sizeof vertices[0]));
}

int main(void)
{
    desktop_open(0, 0);
    must(strstr((const char *)F(glGetString)(GL_EXTENSIONS), "GL_ARB_") != NULL, "GL_EXTENSIONS");
    start();
    start_lists();
    no_error("the start");
    for (int frame = 0; frame < FRAMES; frame++) {
        F(glClearColor)(0.2f, 0.1f * (float)frame, 0.4f, 1.0f);
        F(glClear)(GL_COLOR_BUFFER_BIT);
        fixed(frame);
        generic(frame);
        immediate(frame);
        feedback();
        desktop_end_frame();
    }
    EGLContext other = desktop_context(31, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, desktop.context);
    must(eglMakeCurrent(desktop.display, desktop.surface, desktop.surface, other), "eglMakeCurrent(3.1)");
    no_error("the context of 3.1");
    must(F(glIsTexture)(texture), "the shared texture");
    F(glClearColor)(0.9f, 0.8f, 0.1f, 1.0f);
    F(glClear)(GL_COLOR_BUFFER_BIT);
    F(glEnable)(GL_SCISSOR_TEST);
    F(glScissor)(10, 10, 20, 20);
    F(glClearColor)(0.0f, 0.8f, 0.9f, 1.0f);
    F(glClear)(GL_COLOR_BUFFER_BIT);
    desktop_end_frame();
    must(eglDestroyContext(desktop.display, other), "eglDestroyContext(3.1)");
    desktop_close();
    return 0;
}
