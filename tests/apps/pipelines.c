/* Separate programs and pipelines: exchanged stages, uniforms of each stage, programs created in one call. */
#include "app.h"

static GLuint vertex, fragments[2], pipelines[2];

static GLuint separate(GLenum kind, const char *body)
{
    GLint linked = 0;
    const char *const sources[] = {"#version 310 es\nprecision highp float;\n", body};
    GLuint program = glCreateShaderProgramv(kind, 2, sources);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    must(linked, "glCreateShaderProgramv");
    return program;
}

static void start(void)
{
    vertex = separate(GL_VERTEX_SHADER, "layout(location = 0) in vec4 place;\n"
                                        "layout(location = 0) out vec2 at;\n"
                                        "uniform float scale;\n"
                                        "void main() {\n"
                                        "  gl_Position = vec4(place.xy * scale, 0, 1);\n"
                                        "  at = place.xy;\n"
                                        "}\n");
    fragments[0] = separate(GL_FRAGMENT_SHADER,
                            "layout(location = 0) in vec2 at;\n"
                            "layout(location = 3) uniform vec3 tint;\n"
                            "out vec4 colour;\n"
                            "void main() { colour = vec4(tint * abs(at.x), 1); }\n");
    fragments[1] = separate(GL_FRAGMENT_SHADER,
                            "layout(location = 0) in vec2 at;\n"
                            "uniform vec4 tint;\n"
                            "out vec4 colour;\n"
                            "void main() { colour = vec4(at * tint.xy, tint.z, 1); }\n");
    glGenProgramPipelines(2, pipelines);
    glUseProgramStages(pipelines[0], GL_VERTEX_SHADER_BIT, vertex);
    glUseProgramStages(pipelines[0], GL_FRAGMENT_SHADER_BIT, fragments[0]);
    glUseProgramStages(pipelines[1], GL_VERTEX_SHADER_BIT, vertex);
}

static void valid(GLuint pipeline)
{
    GLint status = 0, length = 0;
    char log[256] = "";
    glValidateProgramPipeline(pipeline);
    glGetProgramPipelineiv(pipeline, GL_VALIDATE_STATUS, &status);
    glGetProgramPipelineiv(pipeline, GL_INFO_LOG_LENGTH, &length);
    glGetProgramPipelineInfoLog(pipeline, sizeof log, NULL, log);
    must(status, "glValidateProgramPipeline");
}

static void draw(int frame)
{
    clear(0.3f, 0.3f, 0);
    glUseProgram(0);
    glProgramUniform1f(vertex, glGetUniformLocation(vertex, "scale"), 0.9f - 0.2f * (float)frame);
    glProgramUniform3f(fragments[0], 3, 1, 0.5f * (float)frame, 0.2f);
    glBindProgramPipeline(pipelines[0]);
    valid(pipelines[0]);
    cell(0, 2, 2), quad();
    glUseProgramStages(pipelines[1], GL_FRAGMENT_SHADER_BIT, fragments[frame % 2]);
    glBindProgramPipeline(pipelines[1]);
    /* glUniform* sets uniforms of the pipeline's active program. */
    glActiveShaderProgram(pipelines[1], fragments[1]);
    glUniform4f(glGetUniformLocation(fragments[1], "tint"), 1, 0.5f, 0.25f * (float)frame, 1);
    cell(1, 2, 2), quad();
    glUseProgramStages(pipelines[1], GL_FRAGMENT_SHADER_BIT, fragments[1]);
    cell(2, 2, 2), quad();
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
