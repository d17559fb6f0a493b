/*
 * The colour, depth and stencil formats of ES 3 with every type that each can be uploaded as.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include "app.h"

struct format {
    GLenum internal, format, type;
    int bytes;
    /* f, i or u: the type that the shader samples. */
    char kind;
};

static const struct format FORMATS[] = {
    {GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, 'f'},
    {GL_R8_SNORM, GL_RED, GL_BYTE, 1, 'f'},
    {GL_R16F, GL_RED, GL_HALF_FLOAT, 2, 'f'},
    {GL_R16F, GL_RED, GL_FLOAT, 4, 'f'},
    {GL_R32F, GL_RED, GL_FLOAT, 4, 'f'},
    {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1, 'u'},
    {GL_R8I, GL_RED_INTEGER, GL_BYTE, 1, 'i'},
    {GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 2, 'u'},
    {GL_R16I, GL_RED_INTEGER, GL_SHORT, 2, 'i'},
    {GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 4, 'u'},
    {GL_R32I, GL_RED_INTEGER, GL_INT, 4, 'i'},
    {GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2, 'f'},
    {GL_RG8_SNORM, GL_RG, GL_BYTE, 2, 'f'},
    {GL_RG16F, GL_RG, GL_HALF_FLOAT, 4, 'f'},
    {GL_RG16F, GL_RG, GL_FLOAT, 8, 'f'},
    {GL_RG32F, GL_RG, GL_FLOAT, 8, 'f'},
    {GL_RG8UI, GL_RG_INTEGER, GL_UNSIGNED_BYTE, 2, 'u'},
    {GL_RG8I, GL_RG_INTEGER, GL_BYTE, 2, 'i'},
    {GL_RG16UI, GL_RG_INTEGER, GL_UNSIGNED_SHORT, 4, 'u'},
    {GL_RG16I, GL_RG_INTEGER, GL_SHORT, 4, 'i'},
    {GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8, 'u'},
    {GL_RG32I, GL_RG_INTEGER, GL_INT, 8, 'i'},
    {GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3, 'f'},
    {GL_SRGB8, GL_RGB, GL_UNSIGNED_BYTE, 3, 'f'},
    {GL_RGB565, GL_RGB, GL_UNSIGNED_BYTE, 3, 'f'},
    {GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2, 'f'},
    {GL_RGB8_SNORM, GL_RGB, GL_BYTE, 3, 'f'},
    {GL_R11F_G11F_B10F, GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, 4, 'f'},
    {GL_R11F_G11F_B10F, GL_RGB, GL_HALF_FLOAT, 6, 'f'},
    {GL_RGB9_E5, GL_RGB, GL_UNSIGNED_INT_5_9_9_9_REV, 4, 'f'},
    {GL_RGB9_E5, GL_RGB, GL_FLOAT, 12, 'f'},
    {GL_RGB16F, GL_RGB, GL_HALF_FLOAT, 6, 'f'},
    {GL_RGB32F, GL_RGB, GL_FLOAT, 12, 'f'},
    {GL_RGB8UI, GL_RGB_INTEGER, GL_UNSIGNED_BYTE, 3, 'u'},
    {GL_RGB8I, GL_RGB_INTEGER, GL_BYTE, 3, 'i'},
    {GL_RGB16UI, GL_RGB_INTEGER, GL_UNSIGNED_SHORT, 6, 'u'},
    {GL_RGB16I, GL_RGB_INTEGER, GL_SHORT, 6, 'i'},
    {GL_RGB32UI, GL_RGB_INTEGER, GL_UNSIGNED_INT, 12, 'u'},
    {GL_RGB32I, GL_RGB_INTEGER, GL_INT, 12, 'i'},
    {GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, 'f'},
    {GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4, 'f'},
    {GL_RGBA8_SNORM, GL_RGBA, GL_BYTE, 4, 'f'},
    {GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_BYTE, 4, 'f'},
    {GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, 2, 'f'},
    {GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4, 'f'},
    {GL_RGBA4, GL_RGBA, GL_UNSIGNED_BYTE, 4, 'f'},
    {GL_RGBA4, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, 2, 'f'},
    {GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4, 'f'},
    {GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8, 'f'},
    {GL_RGBA16F, GL_RGBA, GL_FLOAT, 16, 'f'},
    {GL_RGBA32F, GL_RGBA, GL_FLOAT, 16, 'f'},
    {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4, 'u'},
    {GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE, 4, 'i'},
    {GL_RGB10_A2UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT_2_10_10_10_REV, 4, 'u'},
    {GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 8, 'u'},
    {GL_RGBA16I, GL_RGBA_INTEGER, GL_SHORT, 8, 'i'},
    {GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16, 'u'},
    {GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, 16, 'i'},
    {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, 2, 'f'},
    {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4, 'f'},
    {GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4, 'f'},
    {GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT, 4, 'f'},
    {GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 4, 'f'},
    {GL_DEPTH32F_STENCIL8, GL_DEPTH_STENCIL, GL_FLOAT_32_UNSIGNED_INT_24_8_REV, 8, 'f'},
    {GL_LUMINANCE, GL_LUMINANCE, GL_UNSIGNED_BYTE, 1, 'f'},
    {GL_LUMINANCE_ALPHA, GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, 2, 'f'},
    {GL_ALPHA, GL_ALPHA, GL_UNSIGNED_BYTE, 1, 'f'},
    {GL_RGB, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2, 'f'},
    {GL_RGBA, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, 2, 'f'},
    {GL_BGRA_EXT, GL_BGRA_EXT, GL_UNSIGNED_BYTE, 4, 'f'},
};

/* Random bits are good texels, but as floats they would be too large to see. */
static inline void texels_of(const struct format *format, void *texels, int count, uint32_t salt)
{
    fill(texels, (size_t)(count * format->bytes), salt);
    if (format->type == GL_FLOAT)
        for (int i = 0; i < count * format->bytes / 4; i++)
            ((GLfloat *)texels)[i] = (float)((i * 37 + (int)salt) % 64) / 64.0f;
    if (format->type == GL_HALF_FLOAT)
        for (int i = 0; i < count * format->bytes / 2; i++)
            ((GLushort *)texels)[i] = (GLushort)(0x3000 + (i * 131 + (int)salt) % 0xc00);
    if (format->type == GL_FLOAT_32_UNSIGNED_INT_24_8_REV)
        for (int i = 0; i < count; i++)
            ((GLfloat *)texels)[2 * i] = (float)(i % 16) / 16.0f;
}

#endif
