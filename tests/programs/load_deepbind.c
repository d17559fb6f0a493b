/*
 * A program without EGL that opens a plugin with EGL, with RTLD_DEEPBIND: the plugin's own
 * dependencies come before anything preloaded.
 *
 * usage: load_deepbind PLUGIN
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
    void (*plugin_main)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_main") : NULL;
    if (!plugin_main) {
        fprintf(stderr, "no plugin: %s\n", dlerror());
        return 1;
    }
    plugin_main();
    return 0;
}
