/* ES 1.1: client arrays of every kind, matrices, lights, textures, fog, points. */
#define APP_ES1
#include "app.h"

static GLuint textures[2];

static void start(void)
{
    GLubyte texels[8 * 8 * 3];
    glGenTextures(2, textures);
    for (int unit = 0; unit < 2; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glBindTexture(GL_TEXTURE_2D, textures[unit]);
        fill(texels, sizeof texels, 3 + (uint32_t)unit);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB, 8, 8, 0, GL_RGB, GL_UNSIGNED_BYTE, texels);
        glTexParameterx(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameterx(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    }
    glActiveTexture(GL_TEXTURE0);
    glEnableClientState(GL_VERTEX_ARRAY);
}

static void coloured(int frame)
{
    const GLshort places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    const GLubyte colours[] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 99, 99, 99, 255};
    glMatrixMode(GL_MODELVIEW);
    glPushMatrix();
    glRotatef(15.0f * (float)frame, 0, 0, 1);
    glScalex(0xc000, 0xc000, 0x10000);
    glEnableClientState(GL_COLOR_ARRAY);
    glVertexPointer(2, GL_SHORT, 0, places);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, colours);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDisableClientState(GL_COLOR_ARRAY);
    glPopMatrix();
}

/* Two units, each with an array of its own; indices of bytes. */
static void textured(void)
{
    const GLfixed places[] = {-65536, -65536, 65536, -65536, -65536, 65536, 65536, 65536};
    const GLfloat first[] = {0, 0, 1, 0, 0, 1, 1, 1};
    const GLbyte second[] = {0, 0, 2, 0, 0, 2, 2, 2};
    const GLubyte indices[] = {0, 1, 2, 3, 2, 1};
    glVertexPointer(2, GL_FIXED, 0, places);
    for (int unit = 0; unit < 2; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glEnable(GL_TEXTURE_2D);
        glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, unit ? GL_ADD : GL_REPLACE);
        glClientActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glEnableClientState(GL_TEXTURE_COORD_ARRAY);
        glTexCoordPointer(2, unit ? GL_BYTE : GL_FLOAT, 0, unit ? (void *)second : (void *)first);
    }
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_BYTE, indices);
    for (int unit = 1; unit >= 0; unit--) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glDisable(GL_TEXTURE_2D);
        glClientActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glDisableClientState(GL_TEXTURE_COORD_ARRAY);
    }
}

static void lit(int frame)
{
    struct vertex {
        GLfloat place[3];
        GLshort normal[4];
    } vertices[4];
    const GLfloat direction[] = {0.3f, 0.2f * (float)frame, 1, 0}, red[] = {1, 0.2f, 0.1f, 1};
    for (int i = 0; i < 4; i++) {
        const struct vertex corner = {{i & 1 ? 1.0f : -1.0f, i & 2 ? 1.0f : -1.0f, 0},
                                      {(GLshort)(9000 * i), 4000, 20000, 0}};
        vertices[i] = corner;
    }
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glEnable(GL_NORMALIZE);
    glLightfv(GL_LIGHT0, GL_POSITION, direction);
    glMaterialfv(GL_FRONT_AND_BACK, GL_DIFFUSE, red);
    glEnableClientState(GL_NORMAL_ARRAY);
    glVertexPointer(3, GL_FLOAT, sizeof *vertices, vertices[0].place);
    glNormalPointer(GL_SHORT, sizeof *vertices, vertices[0].normal);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDisableClientState(GL_NORMAL_ARRAY);
    glDisable(GL_LIGHTING);
}

static void points(void)
{
    const GLbyte places[] = {-1, -1, 1, 1, 0, 0, 1, -1};
    const GLfixed sizes[] = {0x20000, 0x40000, 0x70000, 0x90000};
    glEnable(GL_POINT_SMOOTH);
    glEnableClientState(GL_POINT_SIZE_ARRAY_OES);
    glPointSizePointerOES(GL_FIXED, 0, sizes);
    glVertexPointer(2, GL_BYTE, 0, places);
    glColor4ub(255, 200, 0, 255);
    glDrawArrays(GL_POINTS, 0, 4);
    glDisableClientState(GL_POINT_SIZE_ARRAY_OES);
    glDisable(GL_POINT_SMOOTH);
}

/* Arrays in buffers, foggy. */
static void buffered(int frame)
{
    const GLfloat places[] = {-1, -1, 0.5f, 1, -1, -0.5f, 0, 1, 0.2f * (float)frame};
    const GLushort indices[] = {9, 2, 1, 0};
    const GLfloat fog[] = {0.2f, 0.2f, 0.9f, 1};
    GLuint buffers[2];
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof places, places, GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    glVertexPointer(3, GL_FLOAT, 0, NULL);
    glEnable(GL_FOG);
    glFogf(GL_FOG_MODE, GL_LINEAR);
    glFogf(GL_FOG_START, -1.0f);
    glFogfv(GL_FOG_COLOR, fog);
    glColor4x(0x10000, 0x8000, 0, 0x10000);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, (void *)2);
    glDisable(GL_FOG);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, 0);
    glDeleteBuffers(2, buffers);
}

static void draw(int frame)
{
    clear(0.1f, 0.1f, 0.2f);
    glColor4f(1, 1, 1, 1);
    cell(0, 3, 2), coloured(frame);
    cell(1, 3, 2), textured();
    cell(2, 3, 2), lit(frame);
    cell(3, 3, 2), points();
    cell(4, 3, 2), buffered(frame);
}

int main(void)
{
    return app_run(11, 4, start, draw);
}
