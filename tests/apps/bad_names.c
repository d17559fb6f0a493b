/*
 * Commands that the driver refuses for their names: of no object, of a deleted object, of an object of another
 * kind; and for their enums and sizes. Each is followed by glGetError.
 */
#include "app.h"
#include "edge.h"

/* A name that was never generated. */
#define NEVER 4242

static const GLchar *const text = "text";
static GLuint program, shader, deleted_program, deleted_shader, vertex_array;
static GLuint buffers[40], textures[60];

#define TRY(call) (call, printf("%s: 0x%04x\n", #call, glGetError()))
#define IS(call) (printf("%s: %d, ", #call, call), printf("0x%04x\n", glGetError()))

/* The default vertex array takes no glBindVertexBuffer. */
static void buffer_names(GLuint name)
{
    glBindVertexArray(vertex_array);
    TRY(glBindVertexBuffer(0, name, 0, 16));
    TRY(glBindBuffer(0x1234, name));
    TRY(glBindBufferBase(0x1234, 0, name));
    TRY(glBindBufferBase(GL_UNIFORM_BUFFER, 1 << 20, name));
    TRY(glBindBufferRange(GL_UNIFORM_BUFFER, 0, name, 0, -1));
    TRY(glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA8, name));
    TRY(glTexBufferRange(GL_TEXTURE_BUFFER, GL_RGBA8, name, 0, 16));
    TRY(glObjectLabel(GL_BUFFER, name, -1, text));
    IS(glIsBuffer(name));
    TRY(glBindVertexBuffer(1, name, 0, 16));
    glBindVertexArray(0);
}

static void texture_names(GLuint name)
{
    TRY(glBindTexture(0x1234, name));
    IS(glIsTexture(name));
    TRY(glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, name, 0));
    TRY(glFramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, 0, 0));
    TRY(glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, name, 0));
    TRY(glBindImageTexture(0, name, 0, GL_FALSE, 0, GL_READ_ONLY, GL_RGBA8));
    TRY(glCopyImageSubData(name, GL_TEXTURE_2D, 0, 0, 0, 0, textures[0], GL_TEXTURE_2D, 0, 0, 0, 0, 1, 1, 1));
    TRY(glCopyImageSubData(textures[0], GL_TEXTURE_2D, 0, 0, 0, 0, name, GL_TEXTURE_2D, 0, 0, 0, 0, 1, 1, 1));
    TRY(glObjectLabel(GL_TEXTURE, name, -1, text));
}

static void framebuffer_names(GLuint name)
{
    TRY(glBindRenderbuffer(0x1234, name));
    IS(glIsRenderbuffer(name));
    TRY(glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name));
    TRY(glObjectLabel(GL_RENDERBUFFER, name, -1, text));
    TRY(glBindFramebuffer(0x1234, name));
    IS(glIsFramebuffer(name));
    TRY(glObjectLabel(GL_FRAMEBUFFER, name, -1, text));
}

static void sampler_names(GLuint name)
{
    GLint ints[4] = {0};
    GLuint uints[4] = {0};
    GLfloat floats[4] = {0};
    TRY(glBindSampler(0, name));
    TRY(glSamplerParameteri(name, GL_TEXTURE_MIN_FILTER, GL_LINEAR));
    TRY(glSamplerParameterf(name, GL_TEXTURE_MIN_LOD, 1));
    TRY(glSamplerParameteriv(name, GL_TEXTURE_BORDER_COLOR, ints));
    TRY(glSamplerParameterfv(name, GL_TEXTURE_BORDER_COLOR, floats));
    TRY(glSamplerParameterIiv(name, GL_TEXTURE_BORDER_COLOR, ints));
    TRY(glSamplerParameterIuiv(name, GL_TEXTURE_BORDER_COLOR, uints));
    TRY(glGetSamplerParameteriv(name, GL_TEXTURE_MIN_FILTER, ints));
    TRY(glGetSamplerParameterfv(name, GL_TEXTURE_MIN_LOD, floats));
    TRY(glObjectLabel(GL_SAMPLER, name, -1, text));
    IS(glIsSampler(name));
}

static void query_names(GLuint name)
{
    GLuint value = 0;
    GLint active = 0;
    TRY(glBeginQuery(GL_ANY_SAMPLES_PASSED, name));
    TRY(glEndQuery(GL_ANY_SAMPLES_PASSED));
    TRY(glBeginQuery(0x1234, name));
    TRY(glGetQueryObjectuiv(name, GL_QUERY_RESULT, &value));
    TRY(glGetQueryiv(GL_ANY_SAMPLES_PASSED, GL_CURRENT_QUERY, &active));
    TRY(glObjectLabel(GL_QUERY, name, -1, text));
    IS(glIsQuery(name));
    printf("active query %d, value %u\n", active, value);
}

static void container_names(GLuint name)
{
    GLint value = 0;
    TRY(glBindVertexArray(name));
    TRY(glObjectLabel(GL_VERTEX_ARRAY, name, -1, text));
    IS(glIsVertexArray(name));
    TRY(glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, name));
    TRY(glObjectLabel(GL_TRANSFORM_FEEDBACK, name, -1, text));
    IS(glIsTransformFeedback(name));
    TRY(glBindProgramPipeline(name));
    TRY(glUseProgramStages(name, GL_VERTEX_SHADER_BIT, program));
    TRY(glActiveShaderProgram(name, program));
    TRY(glGetProgramPipelineiv(name, GL_ACTIVE_PROGRAM, &value));
    TRY(glValidateProgramPipeline(name));
    TRY(glObjectLabel(GL_PROGRAM_PIPELINE, name, -1, text));
    IS(glIsProgramPipeline(name));
}

static void program_names(GLuint name)
{
    GLint value = 0, size = 0;
    GLuint attached[4], index = 0;
    GLenum type = 0;
    GLsizei length = 0;
    GLfloat floats[16] = {0};
    GLchar log[64] = "";
    TRY(glUseProgram(name));
    TRY(glLinkProgram(name));
    TRY(glValidateProgram(name));
    TRY(glAttachShader(name, shader));
    TRY(glDetachShader(name, shader));
    TRY(glBindAttribLocation(name, 0, text));
    TRY(glGetProgramiv(name, GL_LINK_STATUS, &value));
    TRY(glGetProgramInfoLog(name, sizeof log, &length, log));
    TRY(glGetAttachedShaders(name, 4, &length, attached));
    TRY(glGetActiveAttrib(name, 0, sizeof log, &length, &size, &type, log));
    TRY(glGetActiveUniform(name, 0, sizeof log, &length, &size, &type, log));
    TRY(glGetTransformFeedbackVarying(name, 0, sizeof log, &length, &size, &type, log));
    TRY(glGetActiveUniformBlockiv(name, 0, GL_UNIFORM_BLOCK_DATA_SIZE, &value));
    TRY(glGetActiveUniformBlockName(name, 0, sizeof log, &length, log));
    TRY(glGetActiveUniformsiv(name, 1, &index, GL_UNIFORM_TYPE, &value));
    TRY(glGetUniformIndices(name, 1, &text, &index));
    TRY(glGetUniformfv(name, 0, floats));
    TRY(glGetUniformiv(name, 0, &value));
    TRY(glUniformBlockBinding(name, 0, 0));
    TRY(glProgramUniform1i(name, 0, 1));
    TRY(glProgramUniform4fv(name, 0, 1, floats));
    TRY(glProgramUniformMatrix4fv(name, 0, 1, GL_FALSE, floats));
    TRY(glProgramParameteri(name, GL_PROGRAM_SEPARABLE, GL_TRUE));
    TRY(glTransformFeedbackVaryings(name, 1, &text, GL_INTERLEAVED_ATTRIBS));
    TRY(glGetProgramInterfaceiv(name, GL_UNIFORM, GL_ACTIVE_RESOURCES, &value));
    TRY(glGetProgramResourceName(name, GL_UNIFORM, 0, sizeof log, &length, log));
    TRY(glGetProgramBinary(name, 0, &length, &type, log));
    TRY(glObjectLabel(GL_PROGRAM, name, -1, text));
    IS(glGetAttribLocation(name, text));
    IS(glGetUniformLocation(name, text));
    IS(glGetFragDataLocation(name, text));
    IS((int)glGetUniformBlockIndex(name, text));
    IS((int)glGetProgramResourceIndex(name, GL_UNIFORM, text));
    IS(glGetProgramResourceLocation(name, GL_UNIFORM, text));
    IS(glIsProgram(name));
    TRY(glDeleteProgram(name));
}

static void shader_names(GLuint name)
{
    GLint value = 0;
    GLsizei length = 0;
    GLchar log[64] = "";
    TRY(glAttachShader(program, name));
    TRY(glDetachShader(program, name));
    TRY(glShaderSource(name, 1, &text, NULL));
    TRY(glCompileShader(name));
    TRY(glGetShaderiv(name, GL_COMPILE_STATUS, &value));
    TRY(glGetShaderInfoLog(name, sizeof log, &length, log));
    TRY(glGetShaderSource(name, sizeof log, &length, log));
    TRY(glObjectLabel(GL_SHADER, name, -1, text));
    IS(glIsShader(name));
    TRY(glDeleteShader(name));
}

static void sync_names(GLsync sync)
{
    GLint value = 0;
    GLsizei length = 0;
    IS(glIsSync(sync));
    IS((int)glClientWaitSync(sync, 0, 0));
    TRY(glWaitSync(sync, 0, GL_TIMEOUT_IGNORED));
    TRY(glGetSynciv(sync, GL_SYNC_STATUS, 1, &length, &value));
    TRY(glObjectPtrLabel(sync, -1, text));
    TRY(glDeleteSync(sync));
}

/* A deleted sync's address may be that of the next one: it must not stand for it in a replay. */
static void syncs(void)
{
    static int place;
    GLsync gone = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    glDeleteSync(gone);
    sync_names(gone);
    GLsync here = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    sync_names((GLsync)&place);
    IS(glIsSync(here));
    TRY(glDeleteSync(here));
    TRY(glDeleteSync(NULL));
    TRY(glFenceSync(0x1234, 0));
}

static void enums(GLenum bad)
{
    GLint ints[4] = {0};
    GLfloat floats[4] = {0};
    GLint64 wide[4] = {0};
    TRY(glActiveTexture(bad));
    TRY(glBeginQuery(bad, 1));
    TRY(glBeginTransformFeedback(bad));
    TRY(glBindFramebuffer(bad, 0));
    TRY(glBindRenderbuffer(bad, 0));
    TRY(glBlendEquation(bad));
    TRY(glBlendFunc(bad, GL_ONE));
    TRY(glBufferSubData(bad, 0, 4, ints));
    TRY(glClearBufferiv(bad, 0, ints));
    TRY(glCopyBufferSubData(bad, GL_COPY_WRITE_BUFFER, 0, 0, 4));
    TRY(glCopyTexImage2D(bad, 0, GL_RGBA, 0, 0, 4, 4, 0));
    TRY(glCullFace(bad));
    TRY(glDepthFunc(bad));
    TRY(glDrawArraysInstanced(bad, 0, 3, 1));
    TRY(glDrawBuffers(1, &bad));
    TRY(glEndQuery(bad));
    TRY(glFrontFace(bad));
    TRY(glGenerateMipmap(bad));
    TRY(glGetBooleanv(bad, (GLboolean *)ints));
    TRY(glGetBufferParameteri64v(bad, GL_BUFFER_SIZE, wide));
    TRY(glGetInteger64v(bad, wide));
    TRY(glGetIntegeri_v(bad, 0, ints));
    TRY(glGetInternalformativ(bad, GL_RGBA8, GL_SAMPLES, 1, ints));
    TRY(glGetRenderbufferParameteriv(bad, GL_RENDERBUFFER_WIDTH, ints));
    TRY(glGetTexParameterfv(bad, GL_TEXTURE_MIN_FILTER, floats));
    TRY(glHint(bad, GL_NICEST));
    TRY(glMapBufferRange(bad, 0, 4, GL_MAP_READ_BIT));
    TRY(glPixelStorei(bad, 1));
    TRY(glReadBuffer(bad));
    TRY(glRenderbufferStorage(bad, GL_RGBA8, 4, 4));
    TRY(glStencilFunc(bad, 0, 0));
    TRY(glStencilOp(bad, GL_KEEP, GL_KEEP));
    TRY(glTexParameteri(bad, GL_TEXTURE_MIN_FILTER, GL_LINEAR));
    TRY(glTexStorage2D(bad, 1, GL_RGBA8, 4, 4));
    TRY(glTexSubImage2D(bad, 0, 0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, ints));
    TRY(glUnmapBuffer(bad));
    IS((int)glCheckFramebufferStatus(bad));
    IS((int)glCreateShader(bad));
    IS(glIsEnabled(bad));
}

/* Commands that a replay does not pass on, because they would take more memory than it has. */
static void sizes(void)
{
    const GLchar *many[1000];
    for (int i = 0; i < LENGTH(many); i++)
        many[i] = text;
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    TRY(glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)1 << 32, nowhere(), GL_STATIC_DRAW));
    TRY(glTransformFeedbackVaryings(program, LENGTH(many), many, GL_SEPARATE_ATTRIBS));
    TRY(glTransformFeedbackVaryings(0, 100000, nowhere(), GL_SEPARATE_ATTRIBS));
    glBindBuffer(GL_ARRAY_BUFFER, 0);
}

static void start(void)
{
    program = colour_program();
    shader = shader_of(GL_VERTEX_SHADER, "void main() { gl_Position = vec4(0); }");
    deleted_program = glCreateProgram();
    deleted_shader = glCreateShader(GL_VERTEX_SHADER);
    glDeleteProgram(deleted_program);
    glDeleteShader(deleted_shader);
    glGenVertexArrays(1, &vertex_array);
    glGenBuffers(LENGTH(buffers), buffers);
    glGenTextures(LENGTH(textures), textures);
    glBindTexture(GL_TEXTURE_2D, textures[0]);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
}

/* Each name of an object that is gone is below those of the textures that exist. */
static void deleted(void)
{
    GLuint buffer, texture, renderbuffer, sampler, query, others[3];
    buffer = new_buffer(GL_ARRAY_BUFFER, 4, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteBuffers(1, &buffer);
    buffer_names(buffer);
    texture = new_texture(GL_TEXTURE_3D);
    glDeleteTextures(1, &texture);
    texture_names(texture);
    glGenRenderbuffers(1, &renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
    framebuffer_names(renderbuffer);
    glGenSamplers(1, &sampler);
    glDeleteSamplers(1, &sampler);
    sampler_names(sampler);
    glGenQueries(1, &query);
    glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
    glEndQuery(GL_ANY_SAMPLES_PASSED);
    glDeleteQueries(1, &query);
    query_names(query);
    glGenVertexArrays(1, &others[0]);
    glGenTransformFeedbacks(1, &others[1]);
    glGenProgramPipelines(1, &others[2]);
    glDeleteVertexArrays(1, &others[0]);
    glDeleteTransformFeedbacks(1, &others[1]);
    glDeleteProgramPipelines(1, &others[2]);
    container_names(others[0]);
    program_names(deleted_program);
    shader_names(deleted_shader);
}

static void draw(int frame)
{
    static const GLenum bad[] = {0x1234, 0xFFFFFFFF};
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    buffer_names(NEVER);
    buffer_names(textures[50]);
    texture_names(NEVER);
    framebuffer_names(NEVER);
    framebuffer_names(textures[50]);
    sampler_names(NEVER);
    sampler_names(textures[50]);
    query_names(NEVER);
    query_names(textures[50]);
    container_names(NEVER);
    container_names(textures[50]);
    program_names(NEVER);
    shader_names(NEVER);
    shader_names(program);
    deleted();
    syncs();
    for (int i = 0; i < LENGTH(bad); i++)
        enums(bad[i]);
    sizes();
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    clear(0.2f * (float)frame, 0, 0.4f);
    glEnable(GL_SCISSOR_TEST);
    glScissor(3, 3, 10, 10);
    clear(1, 1, 0);
    glDisable(GL_SCISSOR_TEST);
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
