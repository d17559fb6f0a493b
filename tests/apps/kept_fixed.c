/* OpenGL ES 1.1: matrices on stacks, lights, arrays in buffers, environments and textures that are set
 * once, and a surface that is drawn on. */
#define APP_ES1
#include "app.h"

static GLuint buffers[2], textures[2];

static void light(void)
{
    const GLfloat place[] = {0.5f, 0.2f, 1, 1}, spot[] = {0.1f, 0, -1}, warm[] = {0.9f, 0.5f, 0.3f, 1};
    const GLfloat plane[] = {0.3f, 1, 0.1f, 0.6f};
    glMatrixMode(GL_MODELVIEW);
    glPushMatrix();
    glRotatef(20, 0, 0, 1);
    glScalef(0.8f, 0.9f, 1);
    glLightfv(GL_LIGHT2, GL_POSITION, place);
    glLightfv(GL_LIGHT2, GL_SPOT_DIRECTION, spot);
    glLightf(GL_LIGHT2, GL_SPOT_CUTOFF, 60);
    glLightf(GL_LIGHT2, GL_LINEAR_ATTENUATION, 0.3f);
    glLightfv(GL_LIGHT2, GL_DIFFUSE, warm);
    glClipPlanef(GL_CLIP_PLANE1, plane);
    glEnable(GL_CLIP_PLANE1);
    glEnable(GL_LIGHT2);
    glMaterialfv(GL_FRONT_AND_BACK, GL_EMISSION, (const GLfloat[]){0.1f, 0, 0.2f, 1});
    glMaterialf(GL_FRONT_AND_BACK, GL_SHININESS, 12);
    glNormal3f(0.2f, 0.1f, 1);
}

static void images(void)
{
    GLubyte texels[8 * 8 * 4];
    glGenTextures(2, textures);
    for (int unit = 0; unit < 2; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        glBindTexture(GL_TEXTURE_2D, textures[unit]);
        fill(texels, sizeof texels, 9 + (uint32_t)unit);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, unit ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        if (unit)
            glTexImage2D(GL_TEXTURE_2D, 0, GL_LUMINANCE, 8, 8, 0, GL_LUMINANCE, GL_UNSIGNED_BYTE, texels);
        else
            glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        glEnable(GL_TEXTURE_2D);
        glMatrixMode(GL_TEXTURE);
        glScalef(1.5f, 0.5f, 1);
    }
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_COMBINE);
    glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_RGB, GL_INTERPOLATE);
    glTexEnvi(GL_TEXTURE_ENV, GL_SRC2_RGB, GL_CONSTANT);
    glTexEnvf(GL_TEXTURE_ENV, GL_RGB_SCALE, 2);
    glTexEnvfv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, (const GLfloat[]){0.4f, 0.6f, 0.3f, 1});
    glMultiTexCoord4f(GL_TEXTURE1, 0.3f, 0.4f, 0, 1);
}

static void arrays(void)
{
    const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    const GLubyte colours[] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 99, 99, 99, 255};
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof places, places, GL_STATIC_DRAW);
    glVertexPointer(2, GL_FLOAT, 0, NULL);
    glClientActiveTexture(GL_TEXTURE0);
    glTexCoordPointer(2, GL_FLOAT, 0, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ARRAY_BUFFER, sizeof colours, colours, GL_STATIC_DRAW);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, NULL);
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_COLOR_ARRAY);
    glEnableClientState(GL_TEXTURE_COORD_ARRAY);
}

static void start(void)
{
    clear(0.1f, 0.3f, 0.2f);
    light();
    images();
    arrays();
    glMatrixMode(GL_PROJECTION);
    glPushMatrix();
    glOrthof(-1.1f, 1.3f, -1.2f, 1.1f, -1, 1);
    glEnable(GL_LIGHTING);
    glEnable(GL_COLOR_MATERIAL);
    glEnable(GL_ALPHA_TEST);
    glAlphaFunc(GL_GREATER, 0.1f);
    glFogf(GL_FOG_MODE, GL_EXP2);
    glFogf(GL_FOG_DENSITY, 0.2f);
    glEnable(GL_FOG);
    glMatrixMode(GL_MODELVIEW);
}

static void draw(int frame)
{
    GLfloat values[16];
    GLint depth = 0;
    cell(frame, 3, 2);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glGetIntegerv(GL_MODELVIEW_STACK_DEPTH, &depth);
    glGetFloatv(GL_MODELVIEW_MATRIX, values);
    printf("depth %d, %08x", depth, sum_of(values, sizeof values));
    glGetIntegerv(GL_PROJECTION_STACK_DEPTH, &depth);
    glGetLightfv(GL_LIGHT2, GL_POSITION, values);
    glGetClipPlanef(GL_CLIP_PLANE1, values + 4);
    printf(", %d, %08x\n", depth, sum_of(values, 32));
    if (frame == 3) {
        glPopMatrix();
        glMatrixMode(GL_PROJECTION);
        glPopMatrix();
        glMatrixMode(GL_MODELVIEW);
    }
}

int main(void)
{
    return app_run(11, 5, start, draw);
}
