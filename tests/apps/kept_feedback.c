/* Transform feedback that is active, and paused, between frames. */
#include "app.h"

static GLuint program, plain, buffer, feedback;

static void start(void)
{
    const char *varyings[] = {"tint"};
    plain = colour_program();
    program = glCreateProgram();
    glAttachShader(program, shader_of(GL_VERTEX_SHADER, "#version 300 es\n"
                                                        "in vec4 place;\n"
                                                        "out vec4 tint;\n"
                                                        "void main() { gl_Position = place; tint = place * 2.0; }\n"));
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER, "#version 300 es\n"
                                                          "precision mediump float;\n"
                                                          "in vec4 tint;\n"
                                                          "out vec4 colour;\n"
                                                          "void main() { colour = tint; }\n"));
    glBindAttribLocation(program, 0, "place");
    glTransformFeedbackVaryings(program, 1, varyings, GL_INTERLEAVED_ATTRIBS);
    link_program(program);
    buffer = new_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 4096, NULL);
    glGenTransformFeedbacks(1, &feedback);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
    glUseProgram(program);
    glBeginTransformFeedback(GL_TRIANGLES);
    glPauseTransformFeedback();
    /* Between frames another program is in use. */
    glUseProgram(plain);
}

static void draw(int frame)
{
    GLint is_active = 0, is_paused = 0;
    glGetIntegerv(GL_TRANSFORM_FEEDBACK_ACTIVE, &is_active);
    glGetIntegerv(GL_TRANSFORM_FEEDBACK_PAUSED, &is_paused);
    printf("active %d, paused %d\n", is_active, is_paused);
    clear(0, 0, 0.1f * (float)frame);
    glUseProgram(plain);
    glVertexAttrib4f(1, 0.9f, 0.8f, 0.2f * (float)frame, 1);
    cell(frame, 3, 2), quad();
    if (frame == 3) {
        glUseProgram(program);
        const GLfloat corners[] = {-0.5f, -0.25f, 0.5f, 0, 0.25f, 0.75f};
        glResumeTransformFeedback();
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, corners);
        glEnableVertexAttribArray(0);
        glDrawArrays(GL_TRIANGLES, 0, 3);
        glDisableVertexAttribArray(0);
        glEndTransformFeedback();
        const void *written = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 48, GL_MAP_READ_BIT);
        must(written != NULL, "glMapBufferRange");
        printf("written %08x\n", sum_of(written, 48));
        glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
        glUseProgram(plain);
    }
}

int main(void)
{
    return app_run(30, 5, start, draw);
}
