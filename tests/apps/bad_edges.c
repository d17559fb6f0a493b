/*
 * Every kind of memory that commands read and write, each at the end of a page: the byte after the
 * last one that the driver reads is unreadable.
 */
#include "app.h"
#include "edge.h"

static GLuint program;

static void start(void)
{
    program = colour_program();
    glUseProgram(program);
}

static void vertices(void)
{
    static const GLfloat places[] = {-1, -1, 1, -1, 0, 1};
    static const GLubyte colours[] = {255, 0, 0, 0, 255, 0, 0, 0, 255};
    static const GLubyte bytes[] = {2, 1, 0};
    static const GLushort shorts[] = {0, 1, 2};
    static const GLuint ints[] = {2, 0, 1};
    /* Interleaved: the last vertex ends with its own colour. */
    static const GLfloat both[] = {-1, -1, 1, 0, 0, 1, -1, 0, 1, 0, -1, 1, 0, 0, 1};
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, at_edge(places, sizeof places));
    glVertexAttribPointer(1, 3, GL_UNSIGNED_BYTE, GL_TRUE, 0, at_edge(colours, sizeof colours));
    cell(0, 4, 3), glDrawArrays(GL_TRIANGLES, 0, 3);
    cell(1, 4, 3), glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, at_edge(bytes, sizeof bytes));
    cell(2, 4, 3), glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT, at_edge(shorts, sizeof shorts));
    cell(3, 4, 3), glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_INT, at_edge(ints, sizeof ints));
    const GLfloat *last = at_edge(both, sizeof both);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 20, last);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 20, last + 2);
    cell(4, 4, 3), glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisableVertexAttribArray(1);
}

/* The restart index and base vertices must not enlarge the range that is read. */
static void indices(void)
{
    static const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    static const GLushort restarted[] = {0, 1, 2, 0xffff, 1, 2, 3};
    static const GLubyte based[] = {100, 101, 103};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, at_edge(places, sizeof places));
    glVertexAttrib4f(1, 1, 1, 0, 1);
    glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    cell(5, 4, 3);
    glDrawElements(GL_TRIANGLES, 7, GL_UNSIGNED_SHORT, at_edge(restarted, sizeof restarted));
    glDisable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
    cell(6, 4, 3);
    glDrawElementsBaseVertex(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, at_edge(based, sizeof based), -100);
}

/* Five instances with a divisor of two use three elements, not five and not two. */
static void instances(void)
{
    static const GLfloat places[] = {-1, -1, 1, -1, 0, 1};
    static const GLubyte colours[] = {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, at_edge(places, sizeof places));
    glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 0, at_edge(colours, sizeof colours));
    glVertexAttribDivisor(1, 2);
    glEnableVertexAttribArray(1);
    cell(7, 4, 3), glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 5);
    glVertexAttribDivisor(1, 0);
    glDisableVertexAttribArray(1);
}

/* The last row ends with its last texel: its padding to the row alignment is not read. */
static void texels(void)
{
    GLuint texture = new_texture(GL_TEXTURE_2D);
    for (int alignment = 1; alignment <= 8; alignment *= 2) {
        size_t row = (size_t)((15 + alignment - 1) / alignment * alignment);
        glPixelStorei(GL_UNPACK_ALIGNMENT, alignment);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 5, 3, 0, GL_RGB, GL_UNSIGNED_BYTE, edge(2 * row + 15));
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 7);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 2);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 edge((4 * 7 + 2 + 4) * 4));
    glTexSubImage2D(GL_TEXTURE_2D, 0, 1, 1, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, edge((2 * 7 + 2 + 2) * 4));
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, 0);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, 0);
    glCompressedTexImage2D(GL_TEXTURE_2D, 0, GL_COMPRESSED_RGB8_ETC2, 5, 5, 0, 32, edge(32));
    GLuint volume = new_texture(GL_TEXTURE_3D);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 4);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 1);
    glTexImage3D(GL_TEXTURE_3D, 0, GL_R8, 3, 2, 2, 0, GL_RED, GL_UNSIGNED_BYTE, edge(2 * 16 + 4 + 3));
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 0);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 0);
    glDeleteTextures(1, &texture);
    glDeleteTextures(1, &volume);
}

static void read_back(void)
{
    unsigned char *pixels = edge(4 * 11 * 4 + 7 * 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 11);
    glReadPixels(2, 2, 7, 5, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    printf("read %08x\n", sum_of(pixels, 4 * 11 * 4 + 7 * 4));
}

static void uniforms(void)
{
    static const GLfloat values[3][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}};
    GLuint other = program_of("uniform vec4 all[3];\n"
                              "attribute vec4 place;\n"
                              "varying vec4 tint;\n"
                              "void main() { gl_Position = place; tint = all[0] + all[1] + all[2]; }\n",
                              "precision mediump float;\n"
                              "varying vec4 tint;\n"
                              "void main() { gl_FragColor = tint; }\n");
    GLint all = glGetUniformLocation(other, "all"), third = glGetUniformLocation(other, "all[2]");
    glUseProgram(other);
    glUniform4fv(all, 3, at_edge(values, sizeof values));
    /* A count beyond the end of the array is cut to the array's length. */
    glUniform4fv(all, 1000000, at_edge(values, sizeof values));
    glUniform4fv(third, 2, at_edge(values, sizeof values[0]));
    glUniform4fv(all, 0, nowhere());
    glUniform4fv(-1, 5, nowhere());
    cell(8, 4, 3), quad();
    GLfloat *asked = edge(16);
    glGetUniformfv(other, third, asked);
    printf("asked %g %g %g %g\n", (double)asked[0], (double)asked[1], (double)asked[2], (double)asked[3]);
    glUseProgram(program);
    glDeleteProgram(other);
}

static void strings(void)
{
    static const char source[] = "void main() { gl_Position = vec4(0); }";
    const GLint length = sizeof source - 1;
    const GLchar *whole = at_edge(source, sizeof source), *unended = at_edge(source, sizeof source - 1);
    const GLchar **one = at_edge(&unended, sizeof unended);
    GLint compiled = 0;
    GLuint shader = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(shader, 1, at_edge(&whole, sizeof whole), NULL);
    glShaderSource(shader, 1, one, at_edge(&length, sizeof length));
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, at_edge(&compiled, sizeof compiled));
    glObjectLabel(GL_SHADER, shader, 7, at_edge("7 bytes", 7));
    glObjectLabel(GL_SHADER, shader, -1, at_edge("ended", 6));
    char *label = edge(6);
    glGetObjectLabel(GL_SHADER, shader, 6, NULL, label);
    printf("label %s\n", label);
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, 3, at_edge("abc", 3));
    glPopDebugGroup();
    glBindAttribLocation(program, 5, at_edge("five", 5));
    glDeleteShader(shader);
}

static void lists(void)
{
    static const EGLint attributes[] = {EGL_WIDTH, 4, EGL_HEIGHT, 4, EGL_NONE};
    static const EGLint nothing[] = {EGL_NONE};
    const GLuint names[] = {0, 0};
    EGLSurface surface = eglCreatePbufferSurface(app.display, app.config,
                                                 at_edge(attributes, sizeof attributes));
    must(surface != EGL_NO_SURFACE, "eglCreatePbufferSurface");
    must(eglDestroySurface(app.display, surface), "eglDestroySurface");
    EGLint count = 0;
    must(eglChooseConfig(app.display, at_edge(nothing, sizeof nothing), NULL, 0, &count),
         "eglChooseConfig");
    glDeleteTextures(2, at_edge(names, sizeof names));
    GLuint *made = edge(2 * sizeof *made);
    glGenBuffers(2, made);
    glBindBuffer(GL_ARRAY_BUFFER, made[0]);
    glBufferData(GL_ARRAY_BUFFER, 5001, edge(5001), GL_STATIC_DRAW);
    glBufferSubData(GL_ARRAY_BUFFER, 1, 17, edge(17));
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteBuffers(2, made);
    GLfloat *box = edge(16);
    glGetFloatv(GL_COLOR_CLEAR_VALUE, box);
    glClearBufferfv(GL_DEPTH, 0, edge(4));
}

static void draw(int frame)
{
    clear(0.1f * (float)frame, 0, 0.2f);
    vertices();
    indices();
    instances();
    texels();
    read_back();
    uniforms();
    strings();
    lists();
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
