/* Query results: samples passed, primitives written; several at once, used again, deleted. */
#include "app.h"

static GLuint program, queries[3], feedback_buffer;

static void start(void)
{
    static const char *const varying = "tint";
    program = colour_program();
    glTransformFeedbackVaryings(program, 1, &varying, GL_INTERLEAVED_ATTRIBS);
    link_program(program);
    glUseProgram(program);
    glGenQueries(3, queries);
    feedback_buffer = new_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, 160, NULL);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, feedback_buffer);
}

static void triangle(float depth, float red)
{
    const GLfloat places[] = {-1, -1, depth, 1, -1, depth, 0, 1, depth};
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, places);
    glEnableVertexAttribArray(0);
    glVertexAttrib4f(1, red, 1 - red, 0, 1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static GLuint result(GLuint query)
{
    GLuint ready = 0, value = 0;
    glFinish();
    glGetQueryObjectuiv(query, GL_QUERY_RESULT_AVAILABLE, &ready);
    must(ready, "a result after glFinish");
    glGetQueryObjectuiv(query, GL_QUERY_RESULT, &value);
    return value;
}

static void samples(int frame)
{
    GLint current = 0;
    glEnable(GL_DEPTH_TEST);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, queries[0]);
    glGetQueryiv(GL_ANY_SAMPLES_PASSED, GL_CURRENT_QUERY, &current);
    must(current == (GLint)queries[0], "the query that runs");
    triangle(0.1f * (float)frame, 1);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    glBeginQuery(GL_ANY_SAMPLES_PASSED_CONSERVATIVE, queries[1]);
    triangle(0.2f, 0.3f);
    glEndQuery(GL_ANY_SAMPLES_PASSED_CONSERVATIVE);
    glDisable(GL_DEPTH_TEST);
    printf("passed %u, %u\n", result(queries[0]) != 0, result(queries[1]) != 0);
}

static void primitives(int frame)
{
    const GLfloat places[10] = {0, 0, 0.5f, 0.5f, 0.9f, 0, -0.5f, -0.5f, -0.9f, 0.9f};
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, queries[2]);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, 2 + frame);
    glEndTransformFeedback();
    glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
    printf("written %u\n", result(queries[2]));
}

/* A query that is deleted while it runs. */
static void deleted(void)
{
    GLuint query = 0;
    glGenQueries(1, &query);
    must(!glIsQuery(query), "a name that is no query yet");
    glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
    glDrawArrays(GL_POINTS, 1, 1);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    must(glIsQuery(query), "a query");
    glDeleteQueries(1, &query);
}

static void draw(int frame)
{
    glClear(GL_DEPTH_BUFFER_BIT);
    clear(0, 0, 0.2f);
    samples(frame);
    primitives(frame);
    deleted();
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
