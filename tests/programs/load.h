/*
 * Function pointers in place of linked names: after this, eglInitialize is a variable.
 *
 * The including file defines in load_all how a name is resolved.
 */
#ifndef LOAD_H
#define LOAD_H

#include <EGL/egl.h>
#include <GLES2/gl2.h>

#define EGL_NAMES(X)                                                                              \
    X(eglBindAPI) X(eglChooseConfig) X(eglCreateContext) X(eglCreatePbufferSurface)               \
    X(eglDestroyContext) X(eglDestroySurface) X(eglGetDisplay) X(eglInitialize)                   \
    X(eglMakeCurrent) X(eglSwapBuffers) X(eglTerminate)
#define GL_NAMES(X)                                                                               \
    X(glAttachShader) X(glBindBuffer) X(glBufferData) X(glClear) X(glClearColor)                  \
    X(glCompileShader) X(glCreateProgram) X(glCreateShader) X(glDeleteBuffers)                    \
    X(glDeleteProgram) X(glDeleteShader) X(glDrawArrays) X(glEnableVertexAttribArray)             \
    X(glGenBuffers) X(glGetAttribLocation) X(glGetError) X(glGetProgramiv) X(glGetShaderiv)       \
    X(glGetUniformLocation) X(glLinkProgram) X(glReadPixels) X(glShaderSource) X(glUniform2f)     \
    X(glUniform4f) X(glUseProgram) X(glVertexAttribPointer) X(glViewport)

#define DECLARE(name) static __typeof__(&name) loaded_##name;
EGL_NAMES(DECLARE)
GL_NAMES(DECLARE)
#undef DECLARE

/* find_egl and find_gl return the address of a name, or end the program. */
static void load_all(void *(*find_egl)(const char *), void *(*find_gl)(const char *))
{
#define LOAD_EGL(name) *(void **)&loaded_##name = find_egl(#name);
#define LOAD_GL(name) *(void **)&loaded_##name = find_gl(#name);
    EGL_NAMES(LOAD_EGL)
    GL_NAMES(LOAD_GL)
#undef LOAD_EGL
#undef LOAD_GL
}

#define eglBindAPI loaded_eglBindAPI
#define eglChooseConfig loaded_eglChooseConfig
#define eglCreateContext loaded_eglCreateContext
#define eglCreatePbufferSurface loaded_eglCreatePbufferSurface
#define eglDestroyContext loaded_eglDestroyContext
#define eglDestroySurface loaded_eglDestroySurface
#define eglGetDisplay loaded_eglGetDisplay
#define eglInitialize loaded_eglInitialize
#define eglMakeCurrent loaded_eglMakeCurrent
#define eglSwapBuffers loaded_eglSwapBuffers
#define eglTerminate loaded_eglTerminate
#define glAttachShader loaded_glAttachShader
#define glBindBuffer loaded_glBindBuffer
#define glBufferData loaded_glBufferData
#define glClear loaded_glClear
#define glClearColor loaded_glClearColor
#define glCompileShader loaded_glCompileShader
#define glCreateProgram loaded_glCreateProgram
#define glCreateShader loaded_glCreateShader
#define glDeleteBuffers loaded_glDeleteBuffers
#define glDeleteProgram loaded_glDeleteProgram
#define glDeleteShader loaded_glDeleteShader
#define glDrawArrays loaded_glDrawArrays
#define glEnableVertexAttribArray loaded_glEnableVertexAttribArray
#define glGenBuffers loaded_glGenBuffers
#define glGetAttribLocation loaded_glGetAttribLocation
#define glGetError loaded_glGetError
#define glGetProgramiv loaded_glGetProgramiv
#define glGetShaderiv loaded_glGetShaderiv
#define glGetUniformLocation loaded_glGetUniformLocation
#define glLinkProgram loaded_glLinkProgram
#define glReadPixels loaded_glReadPixels
#define glShaderSource loaded_glShaderSource
#define glUniform2f loaded_glUniform2f
#define glUniform4f loaded_glUniform4f
#define glUseProgram loaded_glUseProgram
#define glVertexAttribPointer loaded_glVertexAttribPointer
#define glViewport loaded_glViewport

#endif
