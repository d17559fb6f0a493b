/*
 * Memory at the end of a page, followed by an unreadable page: reading one byte too far ends the
 * program.
 */
#ifndef EDGE_H
#define EDGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* `length` bytes; the byte after them is unreadable. */
static inline void *edge(size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (length + page - 1) / page * page;
    char *pages = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + whole, page, PROT_NONE) != 0) {
        perror("edge");
        exit(1);
    }
    memset(pages, 0x5a, whole);
    return pages + whole - length;
}

/* A copy of `length` bytes of `data` that ends at an edge. */
static inline void *at_edge(const void *data, size_t length)
{
    return memcpy(edge(length), data, length);
}

/* An unreadable address. */
static inline void *nowhere(void)
{
    return edge(0);
}

#endif
