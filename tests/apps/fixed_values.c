/* ES 1.1: state in floats and fixed-point numbers, queries of it, clip planes, combiners, stacks. */
#define APP_ES1
#include "app.h"

static void start(void)
{
    glEnableClientState(GL_VERTEX_ARRAY);
}

static void matrices(int frame)
{
    const GLfixed by_columns[16] = {0xc000, 0, 0, 0, 0, 0xa000, 0, 0, 0, 0, 0x10000, 0, 0x2000, 0, 0, 0x10000};
    const GLfloat shear[16] = {1, 0.1f * (float)frame, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    GLfloat values[16];
    GLfixed fixed[16];
    GLint depth = 0;
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glOrthof(-1.2f, 1.2f, -1.2f, 1.2f, -1, 1);
    glMatrixMode(GL_MODELVIEW);
    glLoadMatrixx(by_columns);
    glMultMatrixf(shear);
    glPushMatrix();
    glTranslatex(0x1000, 0, 0);
    glGetFloatv(GL_MODELVIEW_MATRIX, values);
    glGetFixedv(GL_PROJECTION_MATRIX, fixed);
    glGetIntegerv(GL_MODELVIEW_STACK_DEPTH, &depth);
    printf("matrices %08x %08x, depth %d\n", sum_of(values, sizeof values), sum_of(fixed, sizeof fixed),
           depth);
    glPopMatrix();
}

static void clipped(int frame)
{
    const GLfloat plane[] = {1, 0.5f, 0, 0.2f * (float)frame};
    GLfloat equation[4];
    glEnable(GL_CLIP_PLANE0);
    glClipPlanef(GL_CLIP_PLANE0, plane);
    glGetClipPlanef(GL_CLIP_PLANE0, equation);
    printf("plane %08x\n", sum_of(equation, sizeof equation));
}

static void asked(void)
{
    const GLfixed diffuse[] = {0x8000, 0x4000, 0x2000, 0x10000};
    GLfixed fixed[4] = {0};
    GLfloat floats[4] = {0};
    GLint integers[4] = {0};
    glLightxv(GL_LIGHT1, GL_DIFFUSE, diffuse);
    glGetLightfv(GL_LIGHT1, GL_DIFFUSE, floats);
    printf("light %08x\n", sum_of(floats, sizeof floats));
    glGetMaterialxv(GL_FRONT, GL_SPECULAR, fixed);
    printf("material %08x\n", sum_of(fixed, sizeof fixed));
    glTexEnvxv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, diffuse);
    glGetTexEnvfv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR, floats);
    printf("environment %08x\n", sum_of(floats, sizeof floats));
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_COMBINE);
    glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_RGB, GL_INTERPOLATE);
    glGetTexEnviv(GL_TEXTURE_ENV, GL_COMBINE_RGB, integers);
    printf("combiner 0x%x\n", integers[0]);
    glLightModelfv(GL_LIGHT_MODEL_AMBIENT, floats);
    glPointParameterfv(GL_POINT_DISTANCE_ATTENUATION, floats);
    glGetFloatv(GL_POINT_DISTANCE_ATTENUATION, floats);
    printf("attenuation %08x\n", sum_of(floats, 12));
}

static void draw(int frame)
{
    const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    clear(0, 0.2f, 0);
    glViewport(0, 0, WIDTH, HEIGHT);
    matrices(frame);
    clipped(frame);
    asked();
    glVertexPointer(2, GL_FLOAT, 0, places);
    glColor4f(1, 0.3f * (float)frame, 0.3f, 1);
    glLogicOp(GL_XOR);
    glEnable(GL_COLOR_LOGIC_OP);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glDisable(GL_COLOR_LOGIC_OP);
    glDisable(GL_CLIP_PLANE0);
}

int main(void)
{
    return app_run(11, 4, start, draw);
}
