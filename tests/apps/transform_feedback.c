/* Transform feedback: captured, paused, read back, and drawn from. */
#include "app.h"

static GLuint capture, draw_program, feedback, buffers[2], source;

static const char *const FRAGMENT = "#version 300 es\n"
                                    "precision mediump float;\n"
                                    "in vec4 tint;\n"
                                    "out vec4 colour;\n"
                                    "void main() { colour = tint; }\n";

static GLuint capture_program(GLenum mode)
{
    static const char *const varyings[] = {"moved", "tint"};
    GLuint program = glCreateProgram();
    glAttachShader(program, shader_of(GL_VERTEX_SHADER,
                                      "#version 300 es\n"
                                      "layout(location = 0) in vec2 place;\n"
                                      "uniform float turn;\n"
                                      "out vec2 moved;\n"
                                      "out vec4 tint;\n"
                                      "void main() {\n"
                                      "  moved = vec2(place.x + turn, -place.y);\n"
                                      "  tint = vec4(abs(place), float(gl_VertexID) / 8.0, 1);\n"
                                      "  gl_Position = vec4(place * 0.5, 0, 1);\n"
                                      "}\n"));
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER, FRAGMENT));
    glTransformFeedbackVaryings(program, 2, varyings, mode);
    link_program(program);
    return program;
}

static void start(void)
{
    GLfloat places[16];
    for (int i = 0; i < 16; i++)
        places[i] = (float)((i * 5) % 9) / 4.0f - 1.0f;
    capture = capture_program(GL_SEPARATE_ATTRIBS);
    draw_program = program_of("#version 300 es\n"
                              "in vec2 place;\n"
                              "in vec4 colour;\n"
                              "out vec4 tint;\n"
                              "void main() { gl_Position = vec4(place, 0, 1); tint = colour; }\n",
                              FRAGMENT);
    source = new_buffer(GL_ARRAY_BUFFER, sizeof places, places);
    glGenTransformFeedbacks(1, &feedback);
    glGenBuffers(2, buffers);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffers[i]);
        glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 512, NULL, GL_DYNAMIC_COPY);
    }
}

static void captured(int frame)
{
    glUseProgram(capture);
    glUniform1f(glGetUniformLocation(capture, "turn"), 0.1f * (float)frame);
    glBindBuffer(GL_ARRAY_BUFFER, source);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    glBindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffers[0], 64, 256);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 1, buffers[1]);
    glBeginTransformFeedback(GL_TRIANGLES);
    cell(0, 2, 2), glDrawArrays(GL_TRIANGLES, 0, 3);
    glPauseTransformFeedback();
    cell(1, 2, 2), glDrawArrays(GL_TRIANGLES, 1, 6);
    glResumeTransformFeedback();
    glDrawArrays(GL_TRIANGLES, 2, 6);
    glEndTransformFeedback();
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
}

static void read_back(void)
{
    glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffers[0]);
    const void *mapping = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 64, 72, GL_MAP_READ_BIT);
    must(mapping != NULL, "glMapBufferRange");
    printf("captured %08x\n", sum_of(mapping, 72));
    must(glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER), "glUnmapBuffer");
}

static void drawn_from(void)
{
    glUseProgram(draw_program);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, (void *)64);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[1]);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(1);
    cell(2, 2, 2), glDrawArrays(GL_TRIANGLES, 0, 9);
    glDisableVertexAttribArray(1);
}

static void draw(int frame)
{
    clear(0.2f, 0, 0.3f);
    captured(frame);
    read_back();
    drawn_from();
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
