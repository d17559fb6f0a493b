/*
 * Programs that are linked again while their earlier executables are in use in another context and in one of its
 * program pipelines. A link replaces the executable in all pipelines of its own context.
 *
 * usage: relinked_elsewhere FRAMES
 */
#include "offscreen.h"

#include <GLES3/gl31.h>

static GLuint program_of(const char *fragment_body)
{
    const char *const vertex[] = {"#version 310 es\nvoid main() { gl_Position = vec4(gl_VertexID & 1, gl_VertexID >> 1, 0, 1); }\n"};
    const char *const fragment[] = {"#version 310 es\nprecision mediump float;\nout vec4 colour;\nvoid main() { colour = ",
                                    fragment_body, "; }\n"};
    GLuint program = glCreateProgram();
    GLuint shaders[] = {glCreateShader(GL_VERTEX_SHADER), glCreateShader(GL_FRAGMENT_SHADER)};
    glShaderSource(shaders[0], 1, vertex, NULL);
    glShaderSource(shaders[1], 3, fragment, NULL);
    for (int i = 0; i < 2; i++) {
        glCompileShader(shaders[i]);
        glAttachShader(program, shaders[i]);
    }
    glProgramParameteri(program, GL_PROGRAM_SEPARABLE, GL_TRUE);
    glLinkProgram(program);
    return program;
}

int main(int argc, char **argv)
{
    GLuint pipelines[2];
    GLint linked = 0;
    must(argc == 2, "usage: relinked_elsewhere FRAMES");
    struct offscreen o = offscreen_open(3);
    EGLContext other = offscreen_context(&o, 3, o.context);
    const GLuint current = program_of("vec4(1)"), again = program_of("vec4(0)"), stage = program_of("vec4(0.5)");
    glUseProgram(current);
    glGenProgramPipelines(1, &pipelines[0]);
    glUseProgramStages(pipelines[0], GL_ALL_SHADER_BITS, stage);
    must(eglMakeCurrent(o.display, o.surface, o.surface, other), "eglMakeCurrent");
    glUseProgram(again);
    glGenProgramPipelines(1, &pipelines[1]);
    glUseProgramStages(pipelines[1], GL_ALL_SHADER_BITS, again);
    glLinkProgram(current), glLinkProgram(again), glLinkProgram(stage);
    glGetProgramiv(stage, GL_LINK_STATUS, &linked);
    must(linked, "glLinkProgram");
    must(glGetError() == GL_NO_ERROR, "a second link");
    for (int frame = 0; frame < atoi(argv[1]); frame++) {
        must(eglMakeCurrent(o.display, o.surface, o.surface, frame % 2 ? o.context : other), "eglMakeCurrent");
        /* No draw: Mesa 22.3 crashes when it uses the earlier executable. */
        glClear(GL_COLOR_BUFFER_BIT);
        offscreen_swap(&o);
    }
    offscreen_close(&o);
    return 0;
}
