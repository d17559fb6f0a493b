/* Programs that are in use although they were deleted, or although their last link failed. */
#include "app.h"

#define VERTEX "#version 310 es\n"                                                                  \
               "layout(location = 0) in vec4 place;\n"                                              \
               "void main() { gl_Position = place; }\n"

/* Contexts of one share group. Each keeps its current program between frames. */
static EGLContext user, late, failing, both;
static GLuint in_pipeline[2], used, used_late, used_by_both, relinked, unseen, shaders[2], pipelines[4];

static GLuint separate(GLenum kind, const char *body)
{
    const char *const sources[] = {"#version 310 es\nprecision highp float;\n", body};
    GLint linked = 0;
    GLuint program = glCreateShaderProgramv(kind, 2, sources);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    must(linked, "glCreateShaderProgramv");
    return program;
}

static GLuint tinted(const char *tint)
{
    char source[256];
    snprintf(source, sizeof source, "#version 310 es\nprecision mediump float;\nuniform float part;\n"
                                    "out vec4 colour;\nvoid main() { colour = vec4(%s, part, 1); }\n", tint);
    return program_of(VERTEX, source);
}

static void set_part(GLuint program, float part)
{
    glUseProgram(program);
    glUniform1f(glGetUniformLocation(program, "part"), part);
}

static void start_pipelines(void)
{
    in_pipeline[0] = separate(GL_VERTEX_SHADER, "layout(location = 0) in vec4 place;\n"
                                                "uniform float scale;\n"
                                                "void main() { gl_Position = vec4(place.xy * scale, 0, 1); }\n");
    in_pipeline[1] = separate(GL_FRAGMENT_SHADER, "uniform vec3 tint;\nout vec4 colour;\n"
                                                  "void main() { colour = vec4(tint, 1); }\n");
    unseen = separate(GL_FRAGMENT_SHADER, "out vec4 colour;\nvoid main() { colour = vec4(0, 1, 1, 1); }\n");
    glProgramUniform1f(in_pipeline[0], glGetUniformLocation(in_pipeline[0], "scale"), 0.7f);
    glProgramUniform3f(in_pipeline[1], glGetUniformLocation(in_pipeline[1], "tint"), 1, 0.4f, 0.1f);
    glGenProgramPipelines(4, pipelines);
    /* The last one is a name only; the one before is bound and empty. */
    glBindProgramPipeline(pipelines[2]);
    glBindProgramPipeline(0);
    glUseProgramStages(pipelines[0], GL_VERTEX_SHADER_BIT, in_pipeline[0]);
    glUseProgramStages(pipelines[0], GL_FRAGMENT_SHADER_BIT, in_pipeline[1]);
    glActiveShaderProgram(pipelines[0], in_pipeline[1]);
    glValidateProgramPipeline(pipelines[0]);
    glUseProgramStages(pipelines[1], GL_VERTEX_SHADER_BIT, in_pipeline[0]);
    glUseProgramStages(pipelines[1], GL_FRAGMENT_SHADER_BIT, unseen);
    glDeleteProgram(in_pipeline[1]);
    glDeleteProgram(in_pipeline[0]);
    /* A stage that is no longer separable stays in the pipeline. */
    glProgramParameteri(unseen, GL_PROGRAM_SEPARABLE, GL_FALSE);
}

static void start_failing(void)
{
    GLint linked = 1;
    app_current(app.surface, failing);
    relinked = program_of(VERTEX, "#version 310 es\nprecision mediump float;\nout vec4 colour;\n"
                                  "void main() { colour = vec4(0.9, 0.8, 0.1, 1); }\n");
    glUseProgram(relinked);
    GLsizei count = 0;
    GLuint attached[2];
    glGetAttachedShaders(relinked, 2, &count, attached);
    must(count == 2, "two shaders");
    glDetachShader(relinked, attached[1]);
    for (int i = 0; i < 2; i++)
        glLinkProgram(relinked);
    glGetProgramiv(relinked, GL_LINK_STATUS, &linked);
    must(!linked, "a link without a fragment shader");
    no_error("a link that fails");
}

static void start(void)
{
    user = app_context_of(31, app.context), late = app_context_of(31, app.context);
    failing = app_context_of(31, app.context), both = app_context_of(31, app.context);
    start_pipelines();
    used = glCreateProgram();
    shaders[0] = shader_of(GL_VERTEX_SHADER, VERTEX);
    shaders[1] = shader_of(GL_FRAGMENT_SHADER, "#version 310 es\nprecision mediump float;\nout vec4 colour;\n"
                                               "uniform float part;\n"
                                               "void main() { colour = vec4(part, 0.2, 0.7, 1); }\n");
    for (int i = 0; i < 2; i++) {
        glAttachShader(used, shaders[i]);
        glDeleteShader(shaders[i]);
    }
    link_program(used);
    used_late = tinted("0.3, 0.9"), used_by_both = tinted("0.6, 0.1");
    start_failing();
    app_current(app.surface, user);
    set_part(used, 0.8f);
    app_current(app.surface, late);
    set_part(used_late, 0.4f);
    app_current(app.surface, both);
    set_part(used_by_both, 0.9f);
    app_current(app.surface, app.context);
    set_part(used_by_both, 0.5f);
    glDeleteProgram(used);
    glDeleteProgram(used_by_both);
}

static void tell(const char *what, GLuint program)
{
    GLint linked = -7;
    const int is_there = glIsProgram(program);
    if (is_there)
        glGetProgramiv(program, GL_LINK_STATUS, &linked);
    printf("%s: %d, %d\n", what, is_there, linked);
}

static void tell_deleted(const char *what, GLuint program)
{
    GLint deleted = -7;
    glGetProgramiv(program, GL_DELETE_STATUS, &deleted);
    printf("%s: deleted %d\n", what, deleted);
}

/* Draws with the program that the context has. */
static void draw_in(EGLContext context, int at)
{
    GLint program = 0;
    app_current(app.surface, context);
    glGetIntegerv(GL_CURRENT_PROGRAM, &program);
    printf("program %d in use\n", program != 0);
    cell(at, 4, 3), quad();
}

static void draw_with_pipelines(int frame)
{
    GLint status = -7;
    for (int i = 0; i < 4; i++)
        printf("pipeline %d\n", glIsProgramPipeline(pipelines[i]));
    glGetProgramPipelineiv(pipelines[0], GL_VALIDATE_STATUS, &status);
    printf("validated %d, ", status);
    glGetProgramPipelineiv(pipelines[1], GL_VALIDATE_STATUS, &status);
    printf("%d\n", status);
    glUseProgram(0);
    glBindProgramPipeline(pipelines[0]);
    cell(0, 4, 3), quad();
    glUniform3f(glGetUniformLocation(in_pipeline[1], "tint"), 1, 0.2f * (float)frame, 0.3f);
    cell(1, 4, 3), quad();
    glBindProgramPipeline(pipelines[1]);
    cell(2, 4, 3), quad();
    glBindProgramPipeline(0);
}

static void draw(int frame)
{
    clear(0.1f, 0.2f, 0.1f * (float)frame);
    tell("stage", in_pipeline[0]), tell("stage", in_pipeline[1]), tell("unseen", unseen);
    tell("used", used), tell("used by both", used_by_both), tell("relinked", relinked);
    tell_deleted("stage", in_pipeline[0]), tell_deleted("unseen", unseen);
    printf("shaders %d %d\n", glIsShader(shaders[0]), glIsShader(shaders[1]));
    cell(3, 4, 3), quad();
    if (frame == 3)
        /* No context that uses it has been current since the capture began, if that began before. */
        glDeleteProgram(used_late);
    if (frame < 4) {
        draw_with_pipelines(frame);
        glUseProgram(used_by_both);
    }
    draw_in(failing, 5);
    draw_in(both, 6);
    tell_deleted("used by both", used_by_both);
    if (frame == 2 || frame == 4)
        draw_in(user, 7);
    if (frame == 4) {
        tell_deleted("used", used);
        draw_in(late, 8);
        tell("used late", used_late), tell_deleted("used late", used_late);
        glUseProgram(0);
        app_current(app.surface, user);
        glUseProgram(0);
        app_current(app.surface, both);
        glUseProgram(0);
        app_current(app.surface, app.context);
        glUseProgram(0);
        glDeleteProgramPipelines(4, pipelines);
        tell("stage", in_pipeline[0]), tell("used", used), tell("used late", used_late);
        tell("used by both", used_by_both);
        printf("shaders %d %d\n", glIsShader(shaders[0]), glIsShader(shaders[1]));
    }
    app_current(app.surface, app.context);
    if (frame == 4) {
        EGLContext others[] = {user, late, failing, both};
        for (int i = 0; i < 4; i++)
            must(eglDestroyContext(app.display, others[i]), "eglDestroyContext");
    }
}

int main(void)
{
    return app_run(31, 5, start, draw);
}
