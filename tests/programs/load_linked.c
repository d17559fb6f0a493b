/* The scene, with EGL and GLES linked: the loader resolves the names. */
#include "scene.h"

int main(void)
{
    scene();
    return 0;
}
