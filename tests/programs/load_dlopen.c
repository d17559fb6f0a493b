/*
 * The scene, with EGL and GLES opened at run time.
 *
 * usage: load_dlopen EGL GLES    each a soname or an absolute path
 */
#include <dlfcn.h>
#include "load.h"
#include "scene.h"

static void *egl;
static void *gles;

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    must(library != NULL, name);
    return library;
}

static void *find(void *library, const char *name)
{
    void *address = dlsym(library, name);
    must(address != NULL, name);
    return address;
}

static void *find_egl(const char *name) { return find(egl, name); }
static void *find_gl(const char *name) { return find(gles, name); }

int main(int argc, char **argv)
{
    must(argc == 3, "usage: load_dlopen EGL GLES");
    egl = open_library(argv[1]);
    gles = open_library(argv[2]);
    load_all(find_egl, find_gl);
    scene();
    return 0;
}
