/*
 * A program for the viewer: a label and a debug group that would run as HTML, groups inside of groups, an indexed draw with two
 * attributes in one buffer, a texture with levels that a sampler takes from unit 3, a cube map, and uniforms.
 *
 * Usage: viewed FRAMES
 */
#include "../apps/app.h"

#define SCRIPT "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"

static const GLfloat vertices[] = {
    /* position, colour */
    -0.5f, -0.5f, 0.5f, 1, 0, 0, 0.5f, -0.5f, 0.5f, 0, 1, 0, 0.5f, 0.5f, 0.5f, 0, 0, 1, -0.5f, 0.5f, 0.5f, 1, 1, 0,
    -0.5f, -0.5f, -0.5f, 0, 1, 1, 0.5f, -0.5f, -0.5f, 1, 0, 1, 0.5f, 0.5f, -0.5f, 1, 1, 1, -0.5f, 0.5f, -0.5f, 0, 0, 0,
};

static const GLushort indices[] = {
    0, 1, 2, 2, 3, 0, 1, 5, 6, 6, 2, 1, 5, 4, 7, 7, 6, 5, 4, 0, 3, 3, 7, 4, 3, 2, 6, 6, 7, 3, 4, 5, 1, 1, 0, 4,
};

static GLuint program, vertex_array, buffers[2], textures[2];
static GLint turn;

static void start(void)
{
    GLubyte texels[8 * 8 * 4];
    program = program_of("attribute vec3 place;\n"
                         "attribute vec3 colour;\n"
                         "uniform vec2 turn;\n"
                         "varying vec3 tint;\n"
                         "void main()\n"
                         "{\n"
                         "    vec3 at = vec3(place.x * turn.x + place.z * turn.y, place.y, place.z * turn.x - place.x * turn.y);\n"
                         "    gl_Position = vec4(at, 1.0);\n"
                         "    tint = colour;\n"
                         "}\n",
                         "precision mediump float;\n"
                         "varying vec3 tint;\n"
                         "uniform sampler2D skin;\n"
                         "void main() { gl_FragColor = vec4(tint, 1.0) * (0.5 + texture2D(skin, tint.xy) / 2.0); }\n");
    turn = glGetUniformLocation(program, "turn");
    glUseProgram(program);
    glUniform1i(glGetUniformLocation(program, "skin"), 3);
    glGenVertexArrays(1, &vertex_array);
    glBindVertexArray(vertex_array);
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    for (GLuint attribute = 0; attribute < 2; attribute++) {
        const void *offset = (const void *)(uintptr_t)(attribute * 12);
        glEnableVertexAttribArray(attribute);
        glVertexAttribPointer(attribute, 3, GL_FLOAT, GL_FALSE, 24, offset);
    }
    glGenTextures(2, textures);
    glActiveTexture(GL_TEXTURE3);
    glBindTexture(GL_TEXTURE_2D, textures[0]);
    fill(texels, sizeof texels, 3);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glGenerateMipmap(GL_TEXTURE_2D);
    glBindTexture(GL_TEXTURE_CUBE_MAP, textures[1]);
    for (GLenum face = GL_TEXTURE_CUBE_MAP_POSITIVE_X; face <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z; face++)
        glTexImage2D(face, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    glObjectLabel(GL_BUFFER, buffers[0], -1, SCRIPT);
    glObjectLabel(GL_PROGRAM, program, -1, "the cube's");
    glEnable(GL_DEPTH_TEST);
}

static void draw(int frame)
{
    const float angle = 0.1f * (float)(frame % 12);
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, SCRIPT);
    glClearColor(0.2f, 0.4f, 0.6f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 2, -1, "the cube");
    glUseProgram(program);
    glUniform2f(turn, 1 - angle * angle / 2, angle);
    glDrawElements(GL_TRIANGLES, LENGTH(indices), GL_UNSIGNED_SHORT, NULL);
    glPopDebugGroup();
    glPopDebugGroup();
}

int main(int argc, char **argv)
{
    must(argc == 2, "a number of frames");
    return app_run(32, atoi(argv[1]), start, draw);
}
