/*
 * The fake driver's counts, in a file that outlives the process.
 *
 * tests/src/fake_driver.rs reads the same layout. All words are little-endian u64; a row is
 * written by its own thread only.
 *
 *   0        magic "FAKEDRIV", functions, threads, pid
 *   4096     functions x 48 bytes: the name of each function
 *   32768    threads x 2048 bytes: a row
 *   row      tid, current, calls, returned, then a count for each function
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdint.h>

#define PAGE_MAGIC 0x56495244454b4146ull
#define NAME_BYTES 48
#define ROWS_MAX 32768

struct row {
    uint64_t tid;
    uint64_t current;  /* function + 1 while this thread is in the driver, else 0 */
    uint64_t calls;    /* entered */
    uint64_t returned;
    uint64_t counts[252];
};

struct page {
    uint64_t magic;
    uint64_t functions;
    uint64_t threads;
    uint64_t pid;
    char pad[4096 - 32];
    char names[(32768 - 4096) / NAME_BYTES][NAME_BYTES];
    char pad2[(32768 - 4096) % NAME_BYTES];
    struct row rows[ROWS_MAX];
};

_Static_assert(sizeof(struct row) == 2048, "a row");
_Static_assert(__builtin_offsetof(struct page, rows) == 32768, "the rows");

#endif
