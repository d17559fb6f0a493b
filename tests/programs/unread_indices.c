/*
 * A draw with client vertices whose indices only the driver can read: their buffer is immutable and can't be mapped, and
 * no binding point for a copy is free.
 */
#include "offscreen.h"

#include <GLES3/gl31.h>

#include <GLES2/gl2ext.h>

static GLuint shader_of(GLenum kind, const char *source)
{
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    return shader;
}

int main(void)
{
    static const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    static const GLushort indices[] = {1, 2, 3};
    struct offscreen o = offscreen_open(3);
    static const GLenum copy_targets[] = {GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_PIXEL_PACK_BUFFER,
                                          GL_PIXEL_UNPACK_BUFFER};
    GLuint program = glCreateProgram(), buffer, other;
    PFNGLBUFFERSTORAGEEXTPROC storage = (PFNGLBUFFERSTORAGEEXTPROC)eglGetProcAddress("glBufferStorageEXT");
    glAttachShader(program, shader_of(GL_VERTEX_SHADER, "attribute vec4 place;\n"
                                                        "void main() { gl_Position = place; }\n"));
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER, "void main() { gl_FragColor = vec4(1); }\n"));
    glBindAttribLocation(program, 0, "place");
    glLinkProgram(program);
    glUseProgram(program);
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    storage(GL_ARRAY_BUFFER, sizeof indices, indices, 0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glGenBuffers(1, &other);
    for (int i = 0; i < 4; i++)
        glBindBuffer(copy_targets[i], other);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, NULL);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, NULL);
    /* The program states the range, so that nothing is missing. */
    glDrawRangeElements(GL_TRIANGLES, 1, 3, 3, GL_UNSIGNED_SHORT, NULL);
    must(glGetError() == GL_NO_ERROR, "the draws");
    offscreen_swap(&o);
    offscreen_close(&o);
    return 0;
}
