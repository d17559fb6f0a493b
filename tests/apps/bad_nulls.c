/* Null pointers where the API allows them, or where nothing is read because the size is zero. */
#include "app.h"
#include "edge.h"

static GLuint program;

static void start(void)
{
    program = colour_program();
    glUseProgram(program);
}

static void said(const char *what)
{
    printf("%s: 0x%04x\n", what, glGetError());
}

static void buffers(void)
{
    GLuint buffer = new_buffer(GL_ARRAY_BUFFER, 64, NULL);
    glBufferData(GL_ARRAY_BUFFER, 0, NULL, GL_STATIC_DRAW), said("a buffer of nothing");
    glBufferSubData(GL_ARRAY_BUFFER, 0, 0, NULL), said("no bytes");
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)1 << 32, NULL, GL_STATIC_DRAW), said("4 GiB");
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)1 << 40, NULL, GL_STATIC_DRAW), said("a tebibyte");
    glBufferData(GL_ARRAY_BUFFER, 64, NULL, GL_STATIC_DRAW), said("64 bytes");
    glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)1 << 32, NULL), said("4 GiB into 64 bytes");
    glBufferSubData(GL_ARRAY_BUFFER, 32, (GLsizeiptr)1 << 62, nowhere()), said("4 EiB into 64 bytes");
    printf("mapped %d\n", glMapBufferRange(GL_ARRAY_BUFFER, 0, (GLsizeiptr)1 << 32, GL_MAP_WRITE_BIT) != NULL);
    said("4 GiB mapped");
    printf("mapped %d\n", glMapBufferRange(GL_ARRAY_BUFFER, 0, 0, GL_MAP_WRITE_BIT) != NULL);
    said("nothing mapped");
    glDeleteBuffers(1, &buffer);
    glGenBuffers(0, NULL), glDeleteBuffers(0, NULL), said("no buffers");
}

static void textures(void)
{
    GLuint texture = new_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL), said("texels");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL), said("no texels");
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, NULL), said("null texels");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, 0, GL_RGBA, GL_UNSIGNED_BYTE, nowhere()), said("none");
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1 << 20, 1 << 20, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    said("a texture of 4 TiB");
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGB8_ETC2, 4, 4, 0, 8, NULL), said("a block");
    glReadPixels(0, 0, 0, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL), said("no pixels");
    glDeleteTextures(1, &texture);
}

static void answers(void)
{
    char text[8];
    GLint size = 0;
    GLenum type = 0;
    glGetShaderInfoLog(0, 0, NULL, NULL), said("the log of no shader");
    glGetProgramInfoLog(program, 0, NULL, NULL), said("no log");
    glGetProgramInfoLog(program, sizeof text, NULL, text), said("a log");
    glGetActiveAttrib(program, 0, sizeof text, NULL, &size, &type, text), said("an attribute");
    glGetActiveAttrib(program, 0, 0, NULL, &size, &type, NULL), said("an attribute without name");
    glGetAttachedShaders(program, 0, NULL, NULL), said("no shaders");
    glGetUniformIndices(program, 0, NULL, NULL), said("no indices");
    glGetSynciv(NULL, GL_SYNC_STATUS, 0, NULL, NULL), said("no sync");
    glGetObjectLabel(GL_PROGRAM, program, 0, &size, NULL), said("no label");
    glGetDebugMessageLog(0, 0, NULL, NULL, NULL, NULL, NULL, NULL), said("no messages");
    glGetProgramBinary(program, 0, NULL, &type, NULL), said("no binary");
    glGetIntegerv(0x1234, NULL), said("no value");
    glGetInternalformativ(GL_RENDERBUFFER, GL_RGBA8, GL_SAMPLES, 0, NULL), said("no samples");
}

static void settings(void)
{
    glUniform4fv(-1, 100, NULL), said("a uniform that is not");
    glUniformMatrix4fv(-1, 100, GL_FALSE, NULL), said("a matrix that is not");
    glObjectLabel(GL_PROGRAM, program, 5, NULL), said("a null label");
    glDebugMessageCallback(NULL, NULL), said("no callback");
    glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE), said("no ids");
    glInvalidateFramebuffer(GL_FRAMEBUFFER, 0, NULL), said("no attachments");
    glTransformFeedbackVaryings(program, 0, NULL, GL_INTERLEAVED_ATTRIBS), said("no varyings");
    glShaderBinary(0, NULL, 0, NULL, 0), said("no shader binary");
    glProgramUniform1fv(program, -1, 3, NULL), said("a program's uniform that is not");
    glDeleteSync(NULL), said("no fence");
}

static void draws(void)
{
    glDrawElements(GL_TRIANGLES, 0, GL_UNSIGNED_SHORT, NULL), said("no indices");
    glDrawArrays(GL_TRIANGLES, 0, 0), said("no vertices");
    glDrawElementsInstanced(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, nowhere(), 0), said("no instances");
    glVertexAttribPointer(2, 4, GL_FLOAT, GL_FALSE, 0, NULL), said("a null array");
    glDrawArraysIndirect(GL_TRIANGLES, NULL), said("no indirect buffer");
}

static void egl(void)
{
    EGLint count = 0;
    printf("%d", eglChooseConfig(app.display, NULL, NULL, 0, NULL)), printf(" 0x%x\n", eglGetError());
    printf("%d", eglChooseConfig(app.display, NULL, NULL, 5, &count)), printf(" 0x%x\n", eglGetError());
    printf("%d", eglGetConfigs(app.display, NULL, 0, NULL)), printf(" 0x%x\n", eglGetError());
    printf("%d", eglInitialize(app.display, NULL, NULL)), printf(" 0x%x\n", eglGetError());
    printf("%d", eglQueryString(NULL, EGL_VENDOR) != NULL), printf(" 0x%x\n", eglGetError());
    printf("%d", eglSwapBuffers(NULL, NULL)), printf(" 0x%x\n", eglGetError());
    printf("%d\n", eglGetProcAddress("glNothingAtAll") != NULL);
}

static void draw(int frame)
{
    clear(0.2f, 0.2f, 0.1f * (float)frame);
    cell(0, 2, 2), quad();
    buffers();
    textures();
    answers();
    settings();
    draws();
    egl();
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
