/*
 * The scene, with every function except eglGetProcAddress itself looked up through eglGetProcAddress.
 *
 * EGL 1.5 says that this finds core functions too.
 */
#include "load.h"
#include "scene.h"

static void *find(const char *name)
{
    void *address = (void *)eglGetProcAddress(name);
    must(address != NULL, name);
    return address;
}

int main(void)
{
    load_all(find, find);
    must(eglGetProcAddress("glNoSuchFunctionGAPII") == eglGetProcAddress("glNoSuchFunctionGAPII"),
         "eglGetProcAddress giving the same answer twice");
    scene();
    return 0;
}
