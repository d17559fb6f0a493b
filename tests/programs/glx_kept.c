/*
 * Objects of GLX that exist when a capture begins: contexts of each command that makes them, one of which shares, a window
 * of GLX, a window of X used as it is, a pbuffer, and a pair of drawables. Each frame clears and draws in three of them.
 */
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glx.h>
#include <GL/glxext.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 48
#define FRAMES 5

static Display *display;
static GLXFBConfig config;
static GLXContext of_visual, core, sharing;
static GLXWindow wrapped;
static GLXPbuffer pbuffer;
static Window plain;
static GLuint program, array, texture;

static void must(int done, const char *what)
{
    if (!done) {
        fflush(stdout);
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static Window window_of(const XVisualInfo *visual)
{
    Window root = RootWindow(display, visual->screen);
    XSetWindowAttributes set = {.colormap = XCreateColormap(display, root, visual->visual, AllocNone)};
    Window window = XCreateWindow(display, root, 0, 0, SIDE, SIDE, 0, visual->depth, InputOutput,
                                  visual->visual, CWColormap, &set);
    XMapWindow(display, window);
    XSync(display, False);
    return window;
}

static GLuint shader_of(GLenum kind, const char *source)
{
    GLint compiled = 0;
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    must(compiled, "glCompileShader");
    return shader;
}

static void open_all(void)
{
    static const int wanted[] = {GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT | GLX_PBUFFER_BIT, GLX_DOUBLEBUFFER, True,
                                 GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8, None};
    static const int version[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3, GLX_CONTEXT_MINOR_VERSION_ARB, 3,
                                  GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_CORE_PROFILE_BIT_ARB, None};
    static const int size[] = {GLX_PBUFFER_WIDTH, 40, GLX_PBUFFER_HEIGHT, 24, None};
    int count = 0;
    display = XOpenDisplay(NULL);
    must(display != NULL, "XOpenDisplay");
    GLXFBConfig *configs = glXChooseFBConfig(display, DefaultScreen(display), wanted, &count);
    must(configs != NULL && count > 0, "glXChooseFBConfig");
    config = configs[0];
    XVisualInfo *visual = glXGetVisualFromFBConfig(display, config);
    must(visual != NULL, "glXGetVisualFromFBConfig");
    PFNGLXCREATECONTEXTATTRIBSARBPROC create = (PFNGLXCREATECONTEXTATTRIBSARBPROC)glXGetProcAddressARB(
        (const GLubyte *)"glXCreateContextAttribsARB");
    must(create != NULL, "glXGetProcAddressARB");
    of_visual = glXCreateContext(display, visual, NULL, True);
    core = create(display, config, NULL, True, version);
    sharing = create(display, config, core, True, version);
    must(of_visual != NULL && core != NULL && sharing != NULL, "the contexts");
    plain = window_of(visual);
    wrapped = glXCreateWindow(display, config, window_of(visual), NULL);
    pbuffer = glXCreatePbuffer(display, config, size);
    XFree(visual);
    XFree(configs);
}

static void start(void)
{
    static const unsigned char texels[] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 0, 255};
    must(glXMakeContextCurrent(display, wrapped, wrapped, core), "glXMakeContextCurrent");
    program = glCreateProgram();
    glAttachShader(program, shader_of(GL_VERTEX_SHADER,
                                      "#version 330 core\nout vec2 at;\nvoid main() {\n"
                                      "  at = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
                                      "  gl_Position = vec4(at * 1.5 - 0.75, 0.0, 1.0);\n}\n"));
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER,
                                      "#version 330 core\nin vec2 at;\nuniform sampler2D image;\nout vec4 shown;\n"
                                      "void main() { shown = texture(image, at); }\n"));
    glLinkProgram(program);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 2, 2, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    must(glXMakeContextCurrent(display, pbuffer, wrapped, sharing), "glXMakeContextCurrent");
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glBindTexture(GL_TEXTURE_2D, texture);
    must(glGetError() == GL_NO_ERROR, "the start");
}

/* Of a list that another thread has begun. */
static void *end_list(void *none)
{
    must(glXMakeCurrent(display, plain, of_visual), "glXMakeCurrent");
    glRectf(-0.5f, -0.5f, 0.5f, 0.5f);
    glEndList();
    glXMakeContextCurrent(display, None, None, NULL);
    return none;
}

/* Lists whose commands the program does not call, or not in one thread. */
static void start_lists(void)
{
    pthread_t other;
    Font font = XLoadFont(display, "fixed");
    must(glXMakeCurrent(display, plain, of_visual), "glXMakeCurrent");
    GLuint lists = glGenLists(4);
    glXUseXFont(font, 'a', 3, (int)lists);
    glNewList(lists + 3, GL_COMPILE);
    glColor3f(1.0f, 0.0f, 0.0f);
    glXMakeContextCurrent(display, None, None, NULL);
    must(pthread_create(&other, NULL, end_list, NULL) == 0, "pthread_create");
    must(pthread_join(other, NULL) == 0, "pthread_join");
}

static void say(int frame, const char *what, int width, int height)
{
    static unsigned char pixels[SIDE * SIDE][4];
    uint32_t sum = 2166136261u;
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (int i = 0; i < width * height * 4; i++)
        sum = (sum ^ pixels[i / 4][i % 4]) * 16777619u;
    printf("frame %d %s %08x error %04x\n", frame, what, sum, glGetError());
    fflush(stdout);
}

static void square(int frame, float red)
{
    glClearColor(red, 0.2f * (float)frame, 0.5f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

int main(void)
{
    open_all();
    start();
    start_lists();
    for (int frame = 0; frame < FRAMES; frame++) {
        must(glXMakeContextCurrent(display, pbuffer, pbuffer, sharing), "glXMakeContextCurrent");
        glViewport(0, 0, 40, 24);
        square(frame, 0.75f);
        say(frame, "pbuffer", 40, 24);
        must(glXMakeCurrent(display, plain, of_visual), "glXMakeCurrent");
        glClearColor(0.1f * (float)frame, 0.9f, 0.1f, 1.0f);
        glClear(GL_COLOR_BUFFER_BIT);
        say(frame, "window of X", SIDE, SIDE);
        glXSwapBuffers(display, plain);
        must(glXMakeContextCurrent(display, wrapped, wrapped, core), "glXMakeContextCurrent");
        square(frame, 0.25f);
        say(frame, "window", SIDE, SIDE);
        glXSwapBuffers(display, wrapped);
    }
    glXMakeContextCurrent(display, None, None, NULL);
    glXDestroyContext(display, sharing);
    glXDestroyContext(display, core);
    glXDestroyContext(display, of_visual);
    glXDestroyPbuffer(display, pbuffer);
    glXDestroyWindow(display, wrapped);
    XCloseDisplay(display);
    return 0;
}
