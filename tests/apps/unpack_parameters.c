/* Every unpack parameter of ES 3: row length, skips, alignment, image height. */
#include "app.h"

static GLuint program, texture, volume, array_program;

static void start(void)
{
    program = image_program();
    array_program = program_of("#version 300 es\n"
                               "in vec4 place;\n"
                               "out vec2 at;\n"
                               "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n",
                               "#version 300 es\n"
                               "precision mediump float;\n"
                               "precision mediump sampler3D;\n"
                               "in vec2 at;\n"
                               "uniform sampler3D image;\n"
                               "out vec4 colour;\n"
                               "void main() { colour = texture(image, vec3(at.x, fract(at.y * 3.0), at.y)); }\n");
    texture = new_texture(GL_TEXTURE_2D);
    volume = new_texture(GL_TEXTURE_3D);
}

static void parameters(GLint alignment, GLint row_length, GLint skip_pixels, GLint skip_rows)
{
    glPixelStorei(GL_UNPACK_ALIGNMENT, alignment);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, row_length);
    glPixelStorei(GL_UNPACK_SKIP_PIXELS, skip_pixels);
    glPixelStorei(GL_UNPACK_SKIP_ROWS, skip_rows);
}

static void defaults(void)
{
    parameters(4, 0, 0, 0);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, 0);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, 0);
}

/* Memory that holds exactly the bytes from the first to the last texel. */
static unsigned char *exact(size_t length, uint32_t salt)
{
    unsigned char *bytes = malloc(length);
    must(bytes != NULL, "malloc");
    fill(bytes, length, salt);
    return bytes;
}

/* 5 x 4 texels of three bytes. */
static void image(int at, GLint alignment, GLint row_length, GLint skip_pixels, GLint skip_rows, int frame)
{
    size_t row = (size_t)(row_length ? row_length : 5) * 3;
    row = (row + (size_t)alignment - 1) / (size_t)alignment * (size_t)alignment;
    size_t length = row * (size_t)(skip_rows + 3) + (size_t)(skip_pixels + 5) * 3;
    unsigned char *texels = exact(length, (uint32_t)(at + 100 * frame));
    parameters(alignment, row_length, skip_pixels, skip_rows);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 5, 4, 0, GL_RGB, GL_UNSIGNED_BYTE, texels);
    free(texels);
    defaults();
    cell(at, 4, 3);
    glUseProgram(program);
    quad();
}

/* 3 x 2 x 3 texels of four bytes, images 5 rows apart, one image skipped. */
static void images(int at, GLint row_length, GLint height, GLint skip_images, int sub)
{
    size_t row = (size_t)(row_length ? row_length : 3) * 4;
    size_t image = row * (size_t)(height ? height : 2);
    size_t length = image * (size_t)(skip_images + 2) + row + 3 * 4;
    unsigned char *texels = exact(length, (uint32_t)at);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, row_length);
    glPixelStorei(GL_UNPACK_IMAGE_HEIGHT, height);
    glPixelStorei(GL_UNPACK_SKIP_IMAGES, skip_images);
    if (sub)
        glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, 3, 2, 3, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    else
        glTexImage3D(GL_TEXTURE_3D, 0, GL_RGBA8, 3, 2, 3, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    free(texels);
    defaults();
    cell(at, 4, 3);
    glUseProgram(array_program);
    quad();
}

static void draw(int frame)
{
    clear(0, 0, 0);
    image(0, 4, 0, 0, 0, frame);
    image(1, 1, 0, 0, 0, frame);
    image(2, 2, 0, 0, 0, frame);
    image(3, 8, 0, 0, 0, frame);
    image(4, 4, 9, 0, 0, frame);
    image(5, 1, 9, 3, 0, frame);
    image(6, 2, 0, 0, 2, frame);
    image(7, 8, 7, 2, 3, frame);
    images(8, 0, 0, 0, 0);
    images(9, 4, 5, 1, 0);
    images(10, 7, 0, 2, 1);
    images(11, 0, 3, 0, 1);
}

int main(void)
{
    return app_run(30, 4, start, draw);
}
