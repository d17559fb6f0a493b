/* ES 1.1: every capability, mode and array of the fixed pipeline. */
#define APP_ES1
#include "cases.h"

static const GLshort corners[] = {-1, -1, 1, -1, -1, 1, 1, 1};
static const GLubyte colours[] = {255, 0, 0, 255, 0, 255, 0, 200, 0, 0, 255, 100, 99, 99, 99, 255};
static const GLfloat coordinates[] = {0, 0, 2, 0, 0, 2, 2, 2};

static void image(GLenum format, int bytes)
{
    GLubyte texels[8 * 8 * 4];
    GLuint texture = 0;
    fill(texels, sizeof texels, (uint32_t)bytes);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, 8, 8, 0, format, GL_UNSIGNED_BYTE, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static void square(void)
{
    clear(0.2f, 0.3f, 0.4f);
    glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    glEnableClientState(GL_VERTEX_ARRAY);
    glVertexPointer(2, GL_SHORT, 0, corners);
    glEnableClientState(GL_COLOR_ARRAY);
    glColorPointer(4, GL_UNSIGNED_BYTE, 0, colours);
    glEnableClientState(GL_TEXTURE_COORD_ARRAY);
    glTexCoordPointer(2, GL_FLOAT, 0, coordinates);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    say_picture("square");
}

static void capability(long name)
{
    printf("before %d\n", glIsEnabled((GLenum)name));
    glEnable((GLenum)name);
    say_errors("enable");
    printf("enabled %d\n", glIsEnabled((GLenum)name));
    square();
    glDisable((GLenum)name);
    square();
}

static void environment(long mode)
{
    static const GLenum formats[] = {GL_RGB, GL_RGBA, GL_ALPHA, GL_LUMINANCE, GL_LUMINANCE_ALPHA};
    glEnable(GL_TEXTURE_2D);
    for (int i = 0; i < LENGTH(formats); i++) {
        image(formats[i], i);
        glTexEnvx(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, (GLfixed)mode);
        square();
    }
}

static void combiner(long mode)
{
    glEnable(GL_TEXTURE_2D);
    image(GL_RGBA, 1);
    glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_COMBINE);
    glTexEnvi(GL_TEXTURE_ENV, GL_COMBINE_RGB, (GLint)mode);
    glTexEnvi(GL_TEXTURE_ENV, GL_OPERAND1_RGB, GL_ONE_MINUS_SRC_COLOR);
    glTexEnvf(GL_TEXTURE_ENV, GL_RGB_SCALE, 2.0f);
    say_errors("combiner");
    square();
}

static void fog(long mode)
{
    const GLfloat colour[] = {0.9f, 0.1f, 0.5f, 1};
    const GLfixed density[] = {0x8000};
    glEnable(GL_FOG);
    glFogx(GL_FOG_MODE, (GLfixed)mode);
    glFogfv(GL_FOG_COLOR, colour);
    glFogxv(GL_FOG_DENSITY, density);
    glFogf(GL_FOG_END, 2.0f);
    say_errors("fog");
    glTranslatef(0, 0, -0.5f);
    square();
}

static void compared(long function)
{
    glEnable(GL_ALPHA_TEST);
    glAlphaFunc((GLenum)function, 0.6f);
    square();
    glAlphaFuncx((GLenum)function, 0x8000);
    square();
}

static void blended(long factor)
{
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, (GLenum)factor);
    say_errors("blend");
    square();
    glLogicOp((GLenum)(GL_CLEAR + factor % 16));
    glEnable(GL_COLOR_LOGIC_OP);
    square();
}

/* A light with every parameter, and the queries of these parameters. */
static void light(long number)
{
    const GLenum names[] = {GL_AMBIENT, GL_DIFFUSE, GL_SPECULAR, GL_POSITION, GL_SPOT_DIRECTION};
    const GLenum scalars[] = {GL_SPOT_EXPONENT, GL_SPOT_CUTOFF, GL_CONSTANT_ATTENUATION,
                              GL_LINEAR_ATTENUATION, GL_QUADRATIC_ATTENUATION};
    const GLenum source = GL_LIGHT0 + (GLenum)number;
    glEnable(GL_LIGHTING);
    glEnable(source);
    for (int i = 0; i < LENGTH(names); i++) {
        const GLfloat value[] = {0.2f * (float)i, 0.5f, 0.9f - 0.1f * (float)i, 0.3f};
        GLfloat back[4] = {0};
        glLightfv(source, names[i], value);
        glGetLightfv(source, names[i], back);
        printf("0x%x %08x\n", names[i], sum_of(back, sizeof back));
    }
    for (int i = 0; i < LENGTH(scalars); i++) {
        GLfixed back[4] = {0};
        glLightx(source, scalars[i], 0x4000 * (i + 1));
        glGetLightxv(source, scalars[i], back);
        printf("0x%x %d\n", scalars[i], back[0]);
    }
    say_errors("light");
    square();
}

static void array_type(long type)
{
    const GLfixed memory[16] = {0, 0x10000, 0x20002, 0x12345, 0x10001, 3};
    clear(0, 0, 0);
    glEnableClientState(GL_VERTEX_ARRAY);
    for (int size = 2; size <= 4; size++) {
        glVertexPointer(size, (GLenum)type, 0, memory);
        say_errors("vertices");
        glDrawArrays(GL_LINES, 0, 2);
    }
    glEnableClientState(GL_NORMAL_ARRAY);
    glNormalPointer((GLenum)type, 0, memory);
    say_errors("normals");
    glColorPointer(4, (GLenum)type, 0, memory);
    say_errors("colours");
    glTexCoordPointer(3, (GLenum)type, 4, memory);
    say_errors("coordinates");
    GLint value = 0;
    void *pointer = NULL;
    glGetIntegerv(GL_VERTEX_ARRAY_TYPE, &value);
    glGetPointerv(GL_VERTEX_ARRAY_POINTER, &pointer);
    printf("type 0x%x, pointer %d\n", value, pointer == (void *)memory);
    say_picture("drawn");
}

static void matrix(long mode)
{
    GLfloat values[16];
    GLint depth = 0;
    glMatrixMode((GLenum)mode);
    say_errors("mode");
    for (int i = 0; i < 40; i++) {
        glPushMatrix();
        glRotatex(i << 16, 0x8000, 0x4000, 0x10000);
        glFrustumf(-1, 1, -1, 1, 1, 5);
    }
    say_errors("pushed");
    glGetIntegerv(GL_MODELVIEW_STACK_DEPTH, &depth);
    for (int i = 0; i < 42; i++)
        glPopMatrix();
    say_errors("popped");
    glLoadIdentity();
    glScalef(0.5f, 0.25f, 1);
    glTranslatex(0x8000, 0, 0);
    glGetFloatv(GL_MODELVIEW_MATRIX, values);
    printf("depth %d, %08x\n", depth, sum_of(values, sizeof values));
    glMatrixMode(GL_MODELVIEW);
    square();
}

/* The extensions of ES 1 that the driver has. */
static void drawn_texture(long kind)
{
    glEnable(GL_TEXTURE_2D);
    image(GL_RGBA, 3);
    const GLint crop[] = {1, 1, 5, 6};
    glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_CROP_RECT_OES, crop);
    clear(0, 0, 0.2f);
    const GLfloat floats[] = {10, 10, 0, 30, 20};
    const GLshort shorts[] = {10, 10, 0, 30, 20};
    const GLint integers[] = {10, 10, 0, 30, 20};
    const GLfixed fixed[] = {10 << 16, 10 << 16, 0, 30 << 16, 20 << 16};
    FUNCTION(PFNGLDRAWTEXFVOESPROC, glDrawTexfvOES);
    FUNCTION(PFNGLDRAWTEXSVOESPROC, glDrawTexsvOES);
    FUNCTION(PFNGLDRAWTEXIVOESPROC, glDrawTexivOES);
    FUNCTION(PFNGLDRAWTEXXVOESPROC, glDrawTexxvOES);
    FUNCTION(PFNGLDRAWTEXIOESPROC, glDrawTexiOES);
    switch (kind) {
    case 0: glDrawTexfvOES(floats); break;
    case 1: glDrawTexsvOES(shorts); break;
    case 2: glDrawTexivOES(integers); break;
    case 3: glDrawTexxvOES(fixed); break;
    case 4: glDrawTexiOES(1, 2, 0, 40, 50); break;
    }
    say_picture("drawn");
}

int main(int count, char **words)
{
    static const GLenum capabilities[] = {
        GL_ALPHA_TEST, GL_BLEND, GL_COLOR_LOGIC_OP, GL_COLOR_MATERIAL, GL_CULL_FACE, GL_DEPTH_TEST,
        GL_DITHER, GL_FOG, GL_LIGHTING, GL_LINE_SMOOTH, GL_MULTISAMPLE, GL_NORMALIZE, GL_POINT_SMOOTH,
        GL_POLYGON_OFFSET_FILL, GL_RESCALE_NORMAL, GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE,
        GL_SCISSOR_TEST, GL_STENCIL_TEST, GL_TEXTURE_2D, GL_CLIP_PLANE3, GL_POINT_SPRITE_OES, 0x1234};
    static const GLenum environments[] = {GL_MODULATE, GL_DECAL, GL_BLEND, GL_REPLACE, GL_ADD, 0x1234};
    static const GLenum combiners[] = {GL_REPLACE, GL_MODULATE, GL_ADD, GL_ADD_SIGNED, GL_INTERPOLATE,
                                       GL_SUBTRACT, GL_DOT3_RGB, GL_DOT3_RGBA};
    static const GLenum fogs[] = {GL_EXP, GL_EXP2, GL_LINEAR, 0x1234};
    static const GLenum factors[] = {GL_ZERO, GL_ONE, GL_SRC_COLOR, GL_ONE_MINUS_SRC_COLOR,
                                     GL_SRC_ALPHA, GL_ONE_MINUS_DST_ALPHA, GL_SRC_ALPHA_SATURATE};
    static const GLenum types[] = {GL_BYTE, GL_UNSIGNED_BYTE, GL_SHORT, GL_FIXED, GL_FLOAT, GL_UNSIGNED_INT};
    static const GLenum matrices[] = {GL_MODELVIEW, GL_PROJECTION, GL_TEXTURE, 0x1234};
    for (int i = 0; i < LENGTH(capabilities); i++)
        add(11, capability, capabilities[i], "capability_%04x", capabilities[i]);
    for (int i = 0; i < LENGTH(environments); i++)
        add(11, environment, environments[i], "environment_%04x", environments[i]);
    for (int i = 0; i < LENGTH(combiners); i++)
        add(11, combiner, combiners[i], "combiner_%04x", combiners[i]);
    for (int i = 0; i < LENGTH(fogs); i++)
        add(11, fog, fogs[i], "fog_%04x", fogs[i]);
    for (GLenum i = GL_NEVER; i <= GL_ALWAYS; i++)
        add(11, compared, i, "alpha_%04x", i);
    for (int i = 0; i < LENGTH(factors); i++)
        add(11, blended, factors[i], "blend_%04x", factors[i]);
    for (int i = 0; i < 9; i++)
        add(11, light, i, "light_%d", i);
    for (int i = 0; i < LENGTH(types); i++)
        add(11, array_type, types[i], "array_%04x", types[i]);
    for (int i = 0; i < LENGTH(matrices); i++)
        add(11, matrix, matrices[i], "matrix_%04x", matrices[i]);
    for (int i = 0; i < 5; i++)
        add(11, drawn_texture, i, "drawtex_%d", i);
    return run_cases(count, words);
}
