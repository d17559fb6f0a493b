/*
 * The scene in a window of X, with GLX and OpenGL opened at run time.
 *
 * usage: load_glx_library GLX GL dlsym|procaddress    the libraries, and how the functions of OpenGL are found
 *
 * It also asks for a function that no command of the tests has, as programs do that load all of OpenGL.
 */
#include <dlfcn.h>
#include <GL/glx.h>
#include "load.h"
#define SCENE_SURFACE "glx_window.h"
#include "scene.h"

static void *glx;
static void *gl;
static int by_address;

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    must(library != NULL, name);
    return library;
}

static void *find_glx(const char *name)
{
    void *address = dlsym(glx, name);
    must(address != NULL, name);
    return address;
}

static void *find_gl(const char *name)
{
    void *address =
        by_address ? (void *)GLX(glXGetProcAddressARB)((const GLubyte *)name) : dlsym(gl, name);
    must(address != NULL, name);
    return address;
}

static void *no_egl(const char *name)
{
    (void)name;
    return NULL;
}

int main(int argc, char **argv)
{
    must(argc == 4, "usage: load_glx_library GLX GL dlsym|procaddress");
    glx = open_library(argv[1]);
    gl = open_library(argv[2]);
    by_address = strcmp(argv[3], "procaddress") == 0;
    find_gl("glRasterPos2f");
    load_all(no_egl, find_gl);
    scene();
    return 0;
}
