/* Patches and geometry shaders of ES 3.2, from client arrays. */
#include "app.h"

static GLuint program;

static void start(void)
{
    program = glCreateProgram();
    glAttachShader(program, shader_of(GL_VERTEX_SHADER,
                                      "#version 320 es\n"
                                      "layout(location = 0) in vec2 place;\n"
                                      "void main() { gl_Position = vec4(place, 0, 1); }\n"));
    glAttachShader(program,
                   shader_of(GL_TESS_CONTROL_SHADER,
                             "#version 320 es\n"
                             "layout(vertices = 3) out;\n"
                             "uniform float level;\n"
                             "void main() {\n"
                             "  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;\n"
                             "  gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = level;\n"
                             "  gl_TessLevelOuter[2] = gl_TessLevelInner[0] = level;\n"
                             "}\n"));
    glAttachShader(program, shader_of(GL_TESS_EVALUATION_SHADER,
                                      "#version 320 es\n"
                                      "layout(triangles, equal_spacing, ccw) in;\n"
                                      "void main() {\n"
                                      "  gl_Position = gl_TessCoord.x * gl_in[0].gl_Position\n"
                                      "    + gl_TessCoord.y * gl_in[1].gl_Position\n"
                                      "    + gl_TessCoord.z * gl_in[2].gl_Position;\n"
                                      "}\n"));
    glAttachShader(program, shader_of(GL_GEOMETRY_SHADER,
                                      "#version 320 es\n"
                                      "layout(triangles) in;\n"
                                      "layout(line_strip, max_vertices = 3) out;\n"
                                      "out vec4 tint;\n"
                                      "void main() {\n"
                                      "  for (int i = 0; i < 3; i++) {\n"
                                      "    gl_Position = gl_in[i].gl_Position;\n"
                                      "    tint = vec4(float(i) / 2.0, float(gl_PrimitiveIDIn) / 3.0, 1, 1);\n"
                                      "    EmitVertex();\n"
                                      "  }\n"
                                      "  EndPrimitive();\n"
                                      "}\n"));
    glAttachShader(program, shader_of(GL_FRAGMENT_SHADER,
                                      "#version 320 es\n"
                                      "precision mediump float;\n"
                                      "in vec4 tint;\n"
                                      "out vec4 colour;\n"
                                      "void main() { colour = tint; }\n"));
    link_program(program);
    glUseProgram(program);
    glPatchParameteri(GL_PATCH_VERTICES, 3);
    glEnableVertexAttribArray(0);
}

static void draw(int frame)
{
    const GLfloat places[] = {-1, -1, 1, -1, -1, 1, 1, 1};
    const GLubyte indices[] = {0, 1, 2, 3, 2, 1};
    clear(0, 0, 0);
    glUniform1f(glGetUniformLocation(program, "level"), (float)(frame + 2));
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, places);
    cell(0, 2, 1), glDrawArrays(GL_PATCHES, 0, 3);
    cell(1, 2, 1), glDrawElements(GL_PATCHES, 6, GL_UNSIGNED_BYTE, indices);
    glPrimitiveBoundingBox(-1, -1, -1, 1, 1, 1, 1, 1);
}

int main(void)
{
    return app_run(32, 4, start, draw);
}
