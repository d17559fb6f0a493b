/*
 * Frames with state and with uploads, for traces as large as they are wanted.
 *
 * usage: bench_frames FRAMES OBJECTS UPLOAD_BYTES
 *
 * Makes OBJECTS objects, each with a program, a vertex array, a buffer of indices and a texture of its own. A frame
 * uploads UPLOAD_BYTES bytes that no compressor shortens and that were not uploaded before, then draws all objects with
 * ten commands each, and replaces the texture of one of them by a new one.
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <stdint.h>

/* Bytes of one upload at most. */
#define PIECE_BYTES (256ul << 10)
#define TEXTURE_SIDE 16

static const char *const VERTEX =
    "attribute vec4 corner;\nuniform vec2 place;\nuniform float time;\n"
    "void main() { gl_Position = corner + vec4(place, time, 1.0); }\n";
static const char *const FRAGMENT =
    "precision mediump float;\nuniform vec4 colour;\nuniform sampler2D image;\n"
    "void main() { gl_FragColor = colour * texture2D(image, colour.xy); }\n";

struct object {
    GLuint program, array, indices, texture;
    GLint place, time, colour;
};

static uint64_t noise_state = 88172645463325252u;

static void fill(char *memory, size_t size)
{
    uint64_t state = noise_state;
    for (size_t at = 0; at + 8 <= size; at += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(memory + at, &state, 8);
    }
    noise_state = state;
}

static GLuint shader(GLenum kind, const char *source)
{
    GLuint made = glCreateShader(kind);
    glShaderSource(made, 1, &source, NULL);
    glCompileShader(made);
    return made;
}

static void make_texture(struct object *it)
{
    static char pixels[TEXTURE_SIDE * TEXTURE_SIDE * 4];
    fill(pixels, sizeof pixels);
    glGenTextures(1, &it->texture);
    glBindTexture(GL_TEXTURE_2D, it->texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, TEXTURE_SIDE, TEXTURE_SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

static void make(struct object *it)
{
    it->program = glCreateProgram();
    glAttachShader(it->program, shader(GL_VERTEX_SHADER, VERTEX));
    glAttachShader(it->program, shader(GL_FRAGMENT_SHADER, FRAGMENT));
    glLinkProgram(it->program);
    it->place = glGetUniformLocation(it->program, "place");
    it->time = glGetUniformLocation(it->program, "time");
    it->colour = glGetUniformLocation(it->program, "colour");
    static uint16_t order[96];
    for (unsigned i = 0; i < 96; i++)
        order[i] = (uint16_t)(i + it->program);
    glGenVertexArrays(1, &it->array);
    glBindVertexArray(it->array);
    glGenBuffers(1, &it->indices);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, it->indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof order, order, GL_STATIC_DRAW);
    make_texture(it);
}

static void draw(const struct object *it, float time)
{
    glUseProgram(it->program);
    glBindVertexArray(it->array);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, it->texture);
    glUniform2f(it->place, time, 1.0f - time);
    glUniform1f(it->time, time);
    glUniform4f(it->colour, time, 0.5f, 0.25f, 1.0f);
    glEnable(GL_BLEND);
    glDrawElements(GL_TRIANGLES, 96, GL_UNSIGNED_SHORT, NULL);
    glDisable(GL_BLEND);
}

int main(int argc, char **argv)
{
    must(argc == 4, "usage: bench_frames FRAMES OBJECTS UPLOAD_BYTES");
    long frames = atol(argv[1]), count = atol(argv[2]);
    size_t upload_bytes = (size_t)atol(argv[3]);
    must(frames > 0 && count > 0, "FRAMES and OBJECTS are positive");
    struct offscreen o = offscreen_open(3);
    struct object *objects = calloc((size_t)count, sizeof *objects);
    char *piece = malloc(PIECE_BYTES);
    must(objects && piece, "malloc");
    GLuint vertices = 0;
    glGenBuffers(1, &vertices);
    glBindBuffer(GL_ARRAY_BUFFER, vertices);
    glBufferData(GL_ARRAY_BUFFER, PIECE_BYTES, NULL, GL_DYNAMIC_DRAW);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    for (long i = 0; i < count; i++)
        make(&objects[i]);
    for (long frame = 0; frame < frames; frame++) {
        for (size_t left = upload_bytes; left > 0;) {
            size_t size = left < PIECE_BYTES ? left : PIECE_BYTES;
            fill(piece, size);
            glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, piece);
            left -= size;
        }
        for (long i = 0; i < count; i++)
            draw(&objects[i], (float)(frame % 1000) / 1000.0f);
        struct object *changed = &objects[frame % count];
        glDeleteTextures(1, &changed->texture);
        make_texture(changed);
        offscreen_swap(&o);
    }
    offscreen_close(&o);
    return 0;
}
