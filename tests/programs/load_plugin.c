/* A plugin that links EGL and GLES and draws the scene; load_deepbind opens it. */
#include "scene.h"

void plugin_main(void);

void plugin_main(void)
{
    scene();
}
