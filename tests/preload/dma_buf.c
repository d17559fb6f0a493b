/*
 * A library to preload: Mesa's software driver with EGL_EXT_image_dma_buf_import and _modifiers, where files of memory stand for
 * dma-bufs. Takes XR24, AR24 and RG16 of one plane and NV12 of two, whatever the modifier.
 *
 * An image is made of a texture in a context of the library's own. Before each glDrawArrays, textures whose memory has changed
 * are written anew. Lives below the shim, if the shim is preloaded before it. Frees nothing.
 */
#define _GNU_SOURCE
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define IMAGES 64
#define FOURCC(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

struct plane {
    const uint8_t *bytes;
    EGLAttrib pitch;
};

static struct image {
    struct plane planes[2];
    EGLAttrib width, height;
    uint32_t format;
    int is_709, is_full;
    GLuint texture;
    uint32_t *shown;
} images[IMAGES];

static int count;
static EGLDisplay display;
static EGLContext maker = EGL_NO_CONTEXT;

/* A function of the driver itself: the shim may stand in for it under its name. */
static void *real(const char *name)
{
    static void *egl;
    static const char *const places[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                         "/usr/lib"};
    for (unsigned at = 0; egl == NULL && at < sizeof places / sizeof places[0]; at++) {
        char path[256];
        snprintf(path, sizeof path, "%s/libEGL.so.1", places[at]);
        egl = dlmopen(LM_ID_BASE, path, RTLD_NOW);
    }
    void *(*get)(const char *) = egl ? (void *(*)(const char *))dlsym(egl, "eglGetProcAddress") : NULL;
    void *found = egl ? dlsym(egl, name) : NULL;
    if (found == NULL && get != NULL)
        found = get(name);
    if (found == NULL) {
        fprintf(stderr, "the driver has no %s\n", name);
        abort();
    }
    return found;
}

#define REAL(name, result, ...) ((result (*)(__VA_ARGS__))real(#name))

static uint8_t clamped(double value)
{
    return value <= 0 ? 0 : value >= 1 ? 255 : (uint8_t)(value * 255 + 0.5);
}

static uint32_t word(uint8_t red, uint8_t green, uint8_t blue, uint8_t alpha)
{
    const uint8_t bytes[] = {red, green, blue, alpha};
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static uint32_t pixel(const struct image *image, EGLAttrib x, EGLAttrib y)
{
    const uint8_t *row = image->planes[0].bytes + y * image->planes[0].pitch;
    if (image->format == FOURCC('R', 'G', '1', '6')) {
        unsigned it = row[2 * x] | (unsigned)row[2 * x + 1] << 8;
        unsigned red = it >> 11, green = it >> 5 & 63, blue = it & 31;
        /* As the driver makes bytes of them. */
        return word((uint8_t)(red << 3 | red >> 2), (uint8_t)(green << 2 | green >> 4),
                    (uint8_t)(blue << 3 | blue >> 2), 255);
    }
    if (image->format != FOURCC('N', 'V', '1', '2')) {
        const uint8_t *at = row + 4 * x;
        return word(at[2], at[1], at[0], image->format == FOURCC('A', 'R', '2', '4') ? at[3] : 255);
    }
    const uint8_t *chroma = image->planes[1].bytes + y / 2 * image->planes[1].pitch + x / 2 * 2;
    double luma = image->is_full ? row[x] / 255.0 : (row[x] - 16) / 219.0;
    double range = image->is_full ? 255.0 : 224.0;
    double blue = (chroma[0] - 128) / range, red = (chroma[1] - 128) / range;
    if (image->is_709)
        return word(clamped(luma + 1.5748 * red), clamped(luma - 0.187324 * blue - 0.468124 * red),
                    clamped(luma + 1.8556 * blue), 255);
    return word(clamped(luma + 1.402 * red), clamped(luma - 0.344136 * blue - 0.714136 * red),
                clamped(luma + 1.772 * blue), 255);
}

/* Writes the texture of each image whose memory has changed. The library's context is current. */
static void show(void)
{
    for (int at = 0; at < count; at++) {
        struct image *image = &images[at];
        size_t size = (size_t)(image->width * image->height) * 4;
        uint32_t *now = malloc(size);
        for (EGLAttrib y = 0; y < image->height; y++)
            for (EGLAttrib x = 0; x < image->width; x++)
                now[y * image->width + x] = pixel(image, x, y);
        if (image->shown == NULL || memcmp(now, image->shown, size) != 0) {
            REAL(glBindTexture, void, GLenum, GLuint)(GL_TEXTURE_2D, image->texture);
            REAL(glTexSubImage2D, void, GLenum, GLint, GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, const void *)
            (GL_TEXTURE_2D, 0, 0, 0, (GLsizei)image->width, (GLsizei)image->height, GL_RGBA, GL_UNSIGNED_BYTE, now);
        }
        free(image->shown);
        image->shown = now;
    }
    REAL(glFinish, void, void)();
}

/* Calls `act` with the library's context. */
static void aside(void (*act)(void))
{
    EGLContext context = REAL(eglGetCurrentContext, EGLContext, void)();
    EGLSurface draw = REAL(eglGetCurrentSurface, EGLSurface, EGLint)(EGL_DRAW);
    EGLSurface read = REAL(eglGetCurrentSurface, EGLSurface, EGLint)(EGL_READ);
    EGLBoolean (*make_current)(EGLDisplay, EGLSurface, EGLSurface, EGLContext) =
        (EGLBoolean(*)(EGLDisplay, EGLSurface, EGLSurface, EGLContext))real("eglMakeCurrent");
    if (!make_current(display, EGL_NO_SURFACE, EGL_NO_SURFACE, maker))
        abort();
    act();
    if (!make_current(display, draw, read, context))
        abort();
}

static void make_texture(void)
{
    struct image *image = &images[count - 1];
    REAL(glGenTextures, void, GLsizei, GLuint *)(1, &image->texture);
    REAL(glBindTexture, void, GLenum, GLuint)(GL_TEXTURE_2D, image->texture);
    REAL(glTexStorage2D, void, GLenum, GLsizei, GLenum, GLsizei, GLsizei)
    (GL_TEXTURE_2D, 1, GL_RGBA8, (GLsizei)image->width, (GLsizei)image->height);
    show();
}

/* Maps the memory of a descriptor, also of one that is not for reading. */
static const uint8_t *mapped(EGLAttrib descriptor)
{
    char path[64];
    struct stat stat;
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)descriptor);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &stat) != 0)
        return NULL;
    void *at = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

static EGLImage import(EGLDisplay on, const EGLAttrib *list)
{
    struct image *image = &images[count];
    EGLAttrib descriptors[2] = {-1, -1}, offsets[2] = {0, 0};
    if (count == IMAGES)
        return EGL_NO_IMAGE;
    memset(image, 0, sizeof *image);
    for (; *list != EGL_NONE; list += 2) {
        switch (list[0]) {
        case EGL_WIDTH: image->width = list[1]; break;
        case EGL_HEIGHT: image->height = list[1]; break;
        case EGL_LINUX_DRM_FOURCC_EXT: image->format = (uint32_t)list[1]; break;
        case EGL_DMA_BUF_PLANE0_FD_EXT: descriptors[0] = list[1]; break;
        case EGL_DMA_BUF_PLANE0_OFFSET_EXT: offsets[0] = list[1]; break;
        case EGL_DMA_BUF_PLANE0_PITCH_EXT: image->planes[0].pitch = list[1]; break;
        case EGL_DMA_BUF_PLANE1_FD_EXT: descriptors[1] = list[1]; break;
        case EGL_DMA_BUF_PLANE1_OFFSET_EXT: offsets[1] = list[1]; break;
        case EGL_DMA_BUF_PLANE1_PITCH_EXT: image->planes[1].pitch = list[1]; break;
        case EGL_YUV_COLOR_SPACE_HINT_EXT: image->is_709 = list[1] == EGL_ITU_REC709_EXT; break;
        case EGL_SAMPLE_RANGE_HINT_EXT: image->is_full = list[1] == EGL_YUV_FULL_RANGE_EXT; break;
        default: break;
        }
    }
    int planes = image->format == FOURCC('N', 'V', '1', '2') ? 2 : 1;
    for (int plane = 0; plane < planes; plane++) {
        const uint8_t *at = mapped(descriptors[plane]);
        if (at == NULL)
            return EGL_NO_IMAGE;
        image->planes[plane].bytes = at + offsets[plane];
    }
    if (maker == EGL_NO_CONTEXT) {
        const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_NONE};
        const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
        EGLConfig config;
        EGLint found = 0;
        display = on;
        REAL(eglChooseConfig, EGLBoolean, EGLDisplay, const EGLint *, EGLConfig *, EGLint, EGLint *)
        (on, wanted, &config, 1, &found);
        maker = REAL(eglCreateContext, EGLContext, EGLDisplay, EGLConfig, EGLContext, const EGLint *)
        (on, config, EGL_NO_CONTEXT, version);
    }
    count++;
    aside(make_texture);
    const EGLint none[] = {EGL_NONE};
    return REAL(eglCreateImageKHR, EGLImage, EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const EGLint *)
    (on, maker, EGL_GL_TEXTURE_2D, (EGLClientBuffer)(uintptr_t)image->texture, none);
}

EGLImage eglCreateImage(EGLDisplay on, EGLContext context, EGLenum target, EGLClientBuffer buffer,
                        const EGLAttrib *list)
{
    if (target == EGL_LINUX_DMA_BUF_EXT)
        return import(on, list);
    return REAL(eglCreateImage, EGLImage, EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const EGLAttrib *)
    (on, context, target, buffer, list);
}

EGLImageKHR eglCreateImageKHR(EGLDisplay on, EGLContext context, EGLenum target, EGLClientBuffer buffer,
                              const EGLint *list)
{
    EGLAttrib wide[129];
    int at = 0;
    if (target != EGL_LINUX_DMA_BUF_EXT)
        return REAL(eglCreateImageKHR, EGLImage, EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const EGLint *)
        (on, context, target, buffer, list);
    for (; list[at] != EGL_NONE && at < 128; at++)
        wide[at] = list[at];
    wide[at] = EGL_NONE;
    return import(on, wide);
}

void glDrawArrays(GLenum mode, GLint first, GLsizei vertices)
{
    if (maker != EGL_NO_CONTEXT)
        aside(show);
    REAL(glDrawArrays, void, GLenum, GLint, GLsizei)(mode, first, vertices);
}

const char *eglQueryString(EGLDisplay on, EGLint name)
{
    static char all[8192];
    const char *own = REAL(eglQueryString, const char *, EGLDisplay, EGLint)(on, name);
    if (name != EGL_EXTENSIONS || on == EGL_NO_DISPLAY || own == NULL)
        return own;
    snprintf(all, sizeof all, "%s EGL_EXT_image_dma_buf_import EGL_EXT_image_dma_buf_import_modifiers", own);
    return all;
}

__eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name)
{
    if (strcmp(name, "eglCreateImageKHR") == 0)
        return (__eglMustCastToProperFunctionPointerType)eglCreateImageKHR;
    if (strcmp(name, "eglCreateImage") == 0)
        return (__eglMustCastToProperFunctionPointerType)eglCreateImage;
    if (strcmp(name, "glDrawArrays") == 0)
        return (__eglMustCastToProperFunctionPointerType)glDrawArrays;
    if (strcmp(name, "eglQueryString") == 0)
        return (__eglMustCastToProperFunctionPointerType)eglQueryString;
    return REAL(eglGetProcAddress, __eglMustCastToProperFunctionPointerType, const char *)(name);
}
