/*
 * The scene that all programs for tests of loading and of child processes draw, and its checksum.
 *
 * tests/src/scene.rs lists its commands in their order; a test compares a trace with that list,
 * command by command.
 */
#ifndef SCENE_H
#define SCENE_H

#ifndef SCENE_SURFACE
#define SCENE_SURFACE "offscreen.h"
#endif
#include SCENE_SURFACE

#include <GLES2/gl2.h>
#include <stdint.h>
#include <string.h>

#define SCENE_FRAMES 5

static GLuint scene_shader(GLenum kind, const char *source)
{
    GLint compiled = 0;
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    must(compiled, "glCompileShader");
    return shader;
}

static GLuint scene_program(void)
{
    GLint linked = 0;
    GLuint program = glCreateProgram();
    GLuint vertex = scene_shader(GL_VERTEX_SHADER,
                                 "attribute vec2 place;\n"
                                 "uniform vec2 offset;\n"
                                 "void main() { gl_Position = vec4(place + offset, 0.0, 1.0); }\n");
    GLuint fragment = scene_shader(GL_FRAGMENT_SHADER,
                                   "precision mediump float;\n"
                                   "uniform vec4 colour;\n"
                                   "void main() { gl_FragColor = colour; }\n");
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    must(linked, "glLinkProgram");
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    return program;
}

/* FNV-1a hash of the frame's pixels. */
static uint32_t scene_checksum(void)
{
    static unsigned char pixels[SIDE * SIDE * 4];
    uint32_t sum = 2166136261u;
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (size_t i = 0; i < sizeof pixels; i++)
        sum = (sum ^ pixels[i]) * 16777619u;
    return sum;
}

static void scene_frame(const struct offscreen *o, GLint offset, GLint colour, int frame)
{
    glClearColor(0.0f, 0.25f, 0.5f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    glUniform2f(offset, 0.125f * frame, 0.0f);
    glUniform4f(colour, 1.0f, 0.25f * frame, 0.0f, 1.0f);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    printf("frame %d %08x\n", frame, scene_checksum());
    fflush(stdout);
    offscreen_swap(o);
}

static void scene_draw(const struct offscreen *o)
{
    static const GLfloat corners[] = {-0.5f, -0.5f, 0.5f, -0.5f, 0.0f, 0.5f};
    GLuint buffer = 0;
    GLuint program = scene_program();
    glUseProgram(program);
    GLint place = glGetAttribLocation(program, "place");
    GLint offset = glGetUniformLocation(program, "offset");
    GLint colour = glGetUniformLocation(program, "colour");
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
    glVertexAttribPointer((GLuint)place, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray((GLuint)place);
    glViewport(0, 0, SIDE, SIDE);
    for (int frame = 0; frame < SCENE_FRAMES; frame++)
        scene_frame(o, offset, colour, frame);
    glDeleteBuffers(1, &buffer);
    glDeleteProgram(program);
    printf("error 0x%x\n", glGetError());
    fflush(stdout);
}

static inline void scene(void)
{
    struct offscreen o = offscreen_open(2);
    scene_draw(&o);
    offscreen_close(&o);
}

#endif
