/*
 * Draws EGL images of imported memory, which it writes between frames: a program of its own stands for a video player or a
 * compositor. Needs a driver with EGL_EXT_image_dma_buf_import that takes files of memory (tests/preload/dma_buf.c).
 *
 * usage: imported rgb         XR24, AR24 and RG16; an image is destroyed while its texture lives, and made again
 *        imported nv12        NV12 with and without hints
 *        imported tiled       a modifier that is not LINEAR
 *        imported unreadable  a descriptor that is for writing only
 */
#define _GNU_SOURCE
#include "../apps/app.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIDE 32
#define FRAMES 6
#define FOURCC(letters) \
    ((EGLint)((uint32_t)(letters)[0] | (uint32_t)(letters)[1] << 8 | (uint32_t)(letters)[2] << 16 | \
              (uint32_t)(letters)[3] << 24))

/* A picture in memory: one plane, or for NV12 two in one file. */
struct picture {
    EGLImageKHR image;
    GLuint texture;
    GLenum target;
    uint8_t *bytes;
    size_t size;
};

static GLuint programs[2];
static struct picture pictures[3];
static const char *kind;

static int file_of_memory(size_t size)
{
    int file = memfd_create("picture", MFD_CLOEXEC);
    must(file >= 0 && ftruncate(file, (off_t)size) == 0, "memfd_create");
    return file;
}

/* `others`: attributes behind those that every image has. The descriptor is closed again. */
static struct picture import(const char *fourcc, GLenum target, EGLint offset, EGLint pitch, const EGLint *others)
{
    FUNCTION(PFNEGLCREATEIMAGEKHRPROC, eglCreateImageKHR);
    FUNCTION(PFNGLEGLIMAGETARGETTEXTURE2DOESPROC, glEGLImageTargetTexture2DOES);
    EGLint list[64];
    int at = 0, is_nv12 = strcmp(fourcc, "NV12") == 0;
    size_t luma = (size_t)offset + (size_t)pitch * SIDE;
    struct picture made = {.target = target, .size = is_nv12 ? luma * 3 / 2 : luma};
    int file = file_of_memory(made.size), passed = file;
    made.bytes = mmap(NULL, made.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(made.bytes != MAP_FAILED, "mmap");
    fill(made.bytes, made.size, (uint32_t)pitch);
    if (strcmp(kind, "unreadable") == 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        passed = open(path, O_WRONLY | O_CLOEXEC);
        must(passed >= 0, "open");
    }
    const EGLint common[] = {EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_LINUX_DRM_FOURCC_EXT, FOURCC(fourcc),
                             EGL_DMA_BUF_PLANE0_FD_EXT, passed, EGL_DMA_BUF_PLANE0_OFFSET_EXT, offset,
                             EGL_DMA_BUF_PLANE0_PITCH_EXT, pitch};
    const EGLint chroma[] = {EGL_DMA_BUF_PLANE1_FD_EXT, passed, EGL_DMA_BUF_PLANE1_OFFSET_EXT, (EGLint)luma,
                             EGL_DMA_BUF_PLANE1_PITCH_EXT, pitch};
    for (int i = 0; i < LENGTH(common); i++)
        list[at++] = common[i];
    for (int i = 0; is_nv12 && i < LENGTH(chroma); i++)
        list[at++] = chroma[i];
    for (; *others != EGL_NONE; others++)
        list[at++] = *others;
    list[at] = EGL_NONE;
    made.image = eglCreateImageKHR(app.display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, list);
    must(made.image != EGL_NO_IMAGE_KHR, "eglCreateImageKHR");
    close(file);
    if (passed != file)
        close(passed);
    glGenTextures(1, &made.texture);
    glBindTexture(target, made.texture);
    glEGLImageTargetTexture2DOES(target, (GLeglImageOES)made.image);
    glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(target, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    no_error("a texture of imported memory");
    return made;
}

static void show(int number, const struct picture *picture)
{
    cell(number, 3, 2);
    glUseProgram(programs[picture->target == GL_TEXTURE_EXTERNAL_OES]);
    glBindTexture(picture->target, picture->texture);
    quad();
}

static void start(void)
{
    static const char *vertices = "attribute vec4 place;\n"
                                  "varying vec2 at;\n"
                                  "void main() { gl_Position = place; at = place.xy * 0.5 + 0.5; }\n";
    static const EGLint none[] = {EGL_NONE};
    static const EGLint hints[] = {EGL_YUV_COLOR_SPACE_HINT_EXT, EGL_ITU_REC709_EXT, EGL_SAMPLE_RANGE_HINT_EXT,
                                   EGL_YUV_FULL_RANGE_EXT, EGL_NONE};
    static const EGLint tiled[] = {EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, 1, EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT,
                                   0x01000000, EGL_NONE};
    programs[0] = image_program();
    programs[1] = program_of(vertices, "#extension GL_OES_EGL_image_external : require\n"
                                       "precision mediump float;\n"
                                       "varying vec2 at;\n"
                                       "uniform samplerExternalOES image;\n"
                                       "void main() { gl_FragColor = texture2D(image, at); }\n");
    if (strcmp(kind, "nv12") == 0) {
        pictures[0] = import("NV12", GL_TEXTURE_EXTERNAL_OES, 0, SIDE, none);
        pictures[1] = import("NV12", GL_TEXTURE_EXTERNAL_OES, 64, SIDE + 8, hints);
        pictures[2] = import("NV12", GL_TEXTURE_2D, 0, SIDE + 2, none);
    } else {
        int is_tiled = strcmp(kind, "tiled") == 0;
        pictures[0] = import("XR24", GL_TEXTURE_2D, 0, SIDE * 4, is_tiled ? tiled : none);
        pictures[1] = import("AR24", GL_TEXTURE_EXTERNAL_OES, 4096, SIDE * 4 + 64, is_tiled ? tiled : none);
        pictures[2] = import("RG16", GL_TEXTURE_2D, 16, SIDE * 2, is_tiled ? tiled : none);
    }
}

/* Another program's turn: it writes one row, or all. */
static void write_to(struct picture *picture, int frame)
{
    if (frame == 4)
        fill(picture->bytes, picture->size, 99);
    memset(picture->bytes + picture->size / 2, 40 * frame, SIDE);
}

static void draw(int frame)
{
    FUNCTION(PFNEGLDESTROYIMAGEKHRPROC, eglDestroyImageKHR);
    FUNCTION(PFNEGLCREATESYNCKHRPROC, eglCreateSyncKHR);
    FUNCTION(PFNEGLWAITSYNCKHRPROC, eglWaitSyncKHR);
    clear(0.1f, 0.2f, 0.3f);
    if (frame > 0)
        for (int i = 0; i < LENGTH(pictures); i++)
            write_to(&pictures[i], frame);
    if (frame == 2)
        must(eglDestroyImageKHR(app.display, pictures[1].image), "eglDestroyImageKHR");
    for (int i = 0; i < LENGTH(pictures); i++)
        show(i, &pictures[i]);
    /* In the middle of the frame the other program signals that it has drawn again. */
    EGLSyncKHR sync = eglCreateSyncKHR(app.display, EGL_SYNC_FENCE_KHR, NULL);
    must(sync != EGL_NO_SYNC_KHR, "eglCreateSyncKHR");
    memset(pictures[0].bytes, 255 - 30 * frame, SIDE * 2);
    must(eglWaitSyncKHR(app.display, sync, 0), "eglWaitSyncKHR");
    show(3, &pictures[0]);
    FUNCTION(PFNEGLDESTROYSYNCKHRPROC, eglDestroySyncKHR);
    must(eglDestroySyncKHR(app.display, sync), "eglDestroySyncKHR");
    no_error("a frame");
}

int main(int argc, char **argv)
{
    must(argc == 2, "usage: imported rgb|nv12|tiled|unreadable");
    kind = argv[1];
    return app_run(31, FRAMES, start, draw);
}
