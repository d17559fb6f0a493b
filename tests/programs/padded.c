/*
 * A library to preload, with which Mesa's no-op driver runs any program, and gives the same contents each time: memory
 * begins with zeros, and is followed by more of it.
 *
 * The driver of Mesa 22.3 takes the memory of an image without a row for each layer, and does not clear it, but lets
 * uploads write to it: for each row and each layer a byte behind the row or layer before. Mesa above it crashes if only
 * malloc gives more.
 */
#include <stddef.h>
#include <stdint.h>

/* More bytes than an image of the search's programs has rows and layers together: 32 and 6. */
#define PADDING 128

extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
    return size > PTRDIFF_MAX - PADDING ? NULL : __libc_calloc(1, size + PADDING);
}

void *calloc(size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all) || all > PTRDIFF_MAX - PADDING)
        return NULL;
    return __libc_calloc(1, all + PADDING);
}

void *realloc(void *memory, size_t size)
{
    return size > PTRDIFF_MAX - PADDING ? NULL : __libc_realloc(memory, size + PADDING);
}
