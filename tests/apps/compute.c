/* Compute shaders: storage buffers, images loaded and stored, atomic counters, indirect dispatch. */
#include "app.h"

static GLuint compute, show, storage, image, counter, indirect;

static void start(void)
{
    GLuint numbers[256];
    const GLuint groups[] = {9, 9, 9, 4, 2, 1};
    compute = glCreateProgram();
    glAttachShader(compute,
                   shader_of(GL_COMPUTE_SHADER,
                             "#version 310 es\n"
                             "precision highp float;\n"
                             "layout(local_size_x = 8, local_size_y = 8) in;\n"
                             "layout(std430, binding = 2) buffer Numbers { uint seed; uint numbers[]; };\n"
                             "layout(rgba8, binding = 1) writeonly uniform highp image2D image;\n"
                             "layout(binding = 0, offset = 4) uniform atomic_uint count;\n"
                             "shared uint sums[64];\n"
                             "void main() {\n"
                             "  uint own = gl_LocalInvocationIndex;\n"
                             "  sums[own] = numbers[own] + seed;\n"
                             "  memoryBarrierShared(); barrier();\n"
                             "  uint sum = sums[own] + sums[63u - own];\n"
                             "  ivec2 at = ivec2(gl_GlobalInvocationID.xy);\n"
                             "  imageStore(image, at, vec4(uvec4(sum, sum >> 3, at.x * 8, 255) & 255u) / 255.0);\n"
                             "  if (sum % 3u == 0u) atomicCounterIncrement(count);\n"
                             "  if (gl_WorkGroupID == uvec3(0)) numbers[own + 64u] = sum;\n"
                             "}\n"));
    link_program(compute);
    show = image_program();
    fill(numbers, sizeof numbers, 1);
    storage = new_buffer(GL_SHADER_STORAGE_BUFFER, sizeof numbers, numbers);
    counter = new_buffer(GL_ATOMIC_COUNTER_BUFFER, 16, NULL);
    indirect = new_buffer(GL_DISPATCH_INDIRECT_BUFFER, sizeof groups, groups);
    image = new_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 32, 16);
}

static void dispatched(int frame)
{
    const GLuint zeros[4] = {0}, seed = (GLuint)frame * 77;
    glUseProgram(compute);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, storage);
    glBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, sizeof seed, &seed);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, storage);
    glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, counter);
    glBufferSubData(GL_ATOMIC_COUNTER_BUFFER, 0, sizeof zeros, zeros);
    glBindImageTexture(1, image, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
    if (frame % 2)
        glDispatchCompute(4, 2, 1);
    else
        glDispatchComputeIndirect(12);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
}

static void read_back(void)
{
    const GLuint *mapping = glMapBufferRange(GL_ATOMIC_COUNTER_BUFFER, 4, 4, GL_MAP_READ_BIT);
    must(mapping != NULL, "glMapBufferRange");
    printf("counted %u\n", *mapping);
    must(glUnmapBuffer(GL_ATOMIC_COUNTER_BUFFER), "glUnmapBuffer");
    const void *numbers = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 260, 256, GL_MAP_READ_BIT);
    must(numbers != NULL, "glMapBufferRange");
    printf("stored %08x\n", sum_of(numbers, 256));
    must(glUnmapBuffer(GL_SHADER_STORAGE_BUFFER), "glUnmapBuffer");
}

static void draw(int frame)
{
    clear(0, 0, 0);
    dispatched(frame);
    read_back();
    glUseProgram(show);
    cell(frame, 2, 2), quad();
    glMemoryBarrierByRegion(GL_FRAMEBUFFER_BARRIER_BIT);
}

int main(void)
{
    return app_run(31, 4, start, draw);
}
