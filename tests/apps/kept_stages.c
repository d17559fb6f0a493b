/* Program pipelines of GL_EXT_separate_shader_objects, which OpenGL ES 2 has, between frames. */
#include "app.h"

static GLuint vertex, fragments[2], pipelines[2];
static PFNGLPROGRAMUNIFORM4FEXTPROC set_uniform;
static PFNGLBINDPROGRAMPIPELINEEXTPROC bind_pipeline;
static PFNGLUSEPROGRAMSTAGESEXTPROC use_stages;

static GLuint separate(GLenum kind, const char *source)
{
    FUNCTION(PFNGLCREATESHADERPROGRAMVEXTPROC, glCreateShaderProgramvEXT);
    GLint linked = 0;
    GLuint program = glCreateShaderProgramvEXT(kind, 1, &source);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    must(linked, "glCreateShaderProgramvEXT");
    return program;
}

static void start(void)
{
    need_extension("GL_EXT_separate_shader_objects");
    FUNCTION(PFNGLGENPROGRAMPIPELINESEXTPROC, glGenProgramPipelinesEXT);
    FUNCTION(PFNGLPROGRAMPARAMETERIEXTPROC, glProgramParameteriEXT);
    FUNCTION(PFNGLACTIVESHADERPROGRAMEXTPROC, glActiveShaderProgramEXT);
    set_uniform = (PFNGLPROGRAMUNIFORM4FEXTPROC)app_function("glProgramUniform4fEXT");
    bind_pipeline = (PFNGLBINDPROGRAMPIPELINEEXTPROC)app_function("glBindProgramPipelineEXT");
    use_stages = (PFNGLUSEPROGRAMSTAGESEXTPROC)app_function("glUseProgramStagesEXT");
    vertex = separate(GL_VERTEX_SHADER, "#version 100\n"
                                        "attribute vec4 place;\n"
                                        "uniform vec4 scale;\n"
                                        "void main() { gl_Position = place * scale; }\n");
    for (int i = 0; i < 2; i++)
        fragments[i] = separate(GL_FRAGMENT_SHADER, "#version 100\n"
                                                    "precision mediump float;\n"
                                                    "uniform vec4 tint;\n"
                                                    "void main() { gl_FragColor = tint; }\n");
    set_uniform(vertex, glGetUniformLocation(vertex, "scale"), 0.6f, 0.8f, 0, 1);
    set_uniform(fragments[0], glGetUniformLocation(fragments[0], "tint"), 1, 0.5f, 0, 1);
    set_uniform(fragments[1], glGetUniformLocation(fragments[1], "tint"), 0, 0.5f, 1, 1);
    glGenProgramPipelinesEXT(2, pipelines);
    for (int i = 0; i < 2; i++) {
        use_stages(pipelines[i], GL_VERTEX_SHADER_BIT_EXT, vertex);
        use_stages(pipelines[i], GL_FRAGMENT_SHADER_BIT_EXT, fragments[i]);
    }
    glActiveShaderProgramEXT(pipelines[1], fragments[1]);
    glProgramParameteriEXT(fragments[0], GL_PROGRAM_SEPARABLE_EXT, GL_FALSE);
    glDeleteProgram(fragments[1]);
    bind_pipeline(pipelines[1]);
}

static void draw(int frame)
{
    GLint separable = -7;
    clear(0.2f, 0.2f, 0.2f);
    glGetProgramiv(fragments[0], GL_PROGRAM_SEPARABLE_EXT, &separable);
    printf("separable %d, there %d %d\n", separable, glIsProgram(fragments[0]), glIsProgram(fragments[1]));
    /* The pipeline of the frame before is bound. */
    cell(0, 2, 2), quad();
    glUniform4f(glGetUniformLocation(fragments[1], "tint"), 0.2f * (float)frame, 0.5f, 1, 1);
    cell(1, 2, 2), quad();
    bind_pipeline(pipelines[0]);
    cell(2, 2, 2), quad();
    bind_pipeline(pipelines[1]);
}

int main(void)
{
    return app_run(20, 5, start, draw);
}
