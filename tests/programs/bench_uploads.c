/*
 * Time that uploads take, and beside it what the same bytes cost to copy and to read.
 *
 * usage: bench_uploads SIZE RUNS PAUSE_MS
 *
 * A run is as many uploads of SIZE bytes (glBufferSubData) as make RUN_BYTES, and a pause follows it, in which
 * a ring is drained. Copies and reads pause, too, because the first accesses after a pause take longer. Times are
 * those of the thread's CPU clock, without pauses. The first runs are not timed.
 * Prints nanoseconds for each SIZE bytes, a line each:
 *
 *   memcpy NS     from one range of 256 MiB to another
 *   read NS       one load of each word of the first range
 *   new NS        uploads of memory that was not uploaded before
 *   known NS      uploads of memory that was
 */
#define _GNU_SOURCE
#include "offscreen.h"

#include <GLES3/gl3.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#define RANGE_BYTES (256ul << 20)
#define RUN_BYTES (1ul << 20)
/* Known memory is more than the processor's caches hold, and less than a capture remembers. */
#define KNOWN_BYTES (64ul << 20)
#define WARM_UP_RUNS 8

static char *source, *target;
static size_t size;
static long runs;
static struct timespec pause_time;
static volatile uint64_t sink;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Memory that is faulted in. */
static char *range(void)
{
    char *memory = mmap(NULL, RANGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(memory != MAP_FAILED, "mmap");
    uint64_t state = 88172645463325252u;
    for (size_t at = 0; at < RANGE_BYTES; at += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(memory + at, &state, 8);
    }
    return memory;
}

static void copy(size_t at)
{
    memcpy(target + at, source + at, size);
}

static void read_once(size_t at)
{
    uint64_t sums[8] = {0}, words[8];
    for (size_t i = 0; i < size; i += sizeof words) {
        memcpy(words, source + at + i, sizeof words);
        for (int n = 0; n < 8; n++)
            sums[n] += words[n];
    }
    for (int n = 0; n < 8; n++)
        sink += sums[n];
}

static void upload(size_t at)
{
    glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)size, source + at);
}

/* Calls `act` with offsets that go round in `bytes`. Before each run `prepare`, if there is one, gets the run's
 * offsets. Returns nanoseconds a call. */
static double measure(void (*act)(size_t), void (*prepare)(size_t), size_t bytes)
{
    size_t per_run = size < RUN_BYTES ? RUN_BYTES / size : 1, at = 0;
    double ns = 0;
    for (long run = -WARM_UP_RUNS; run < runs; run++) {
        for (size_t i = 0; prepare && i < per_run; i++)
            prepare((at + i * size) % bytes);
        double before = now_ns();
        for (size_t i = 0; i < per_run; i++) {
            act(at);
            at = (at + size) % bytes;
        }
        if (run >= 0)
            ns += now_ns() - before;
        nanosleep(&pause_time, NULL);
    }
    return ns / (double)runs / (double)per_run;
}

/* Makes memory new that was uploaded. */
static void change(size_t at)
{
    static uint64_t count;
    count++;
    memcpy(source + at, &count, sizeof count);
}

static void upload_all(void)
{
    for (size_t at = 0; at < KNOWN_BYTES; at += size) {
        upload(at);
        if ((at + size) % RUN_BYTES == 0)
            nanosleep(&pause_time, NULL);
    }
}

int main(int argc, char **argv)
{
    must(argc == 4, "usage: bench_uploads SIZE RUNS PAUSE_MS");
    size = (size_t)atol(argv[1]);
    runs = atol(argv[2]);
    pause_time.tv_nsec = atol(argv[3]) * 1000000;
    must(size >= 64 && KNOWN_BYTES % size == 0 && runs > 0, "SIZE divides 64 MiB, and RUNS is positive");
    source = range();
    target = range();
    struct offscreen o = offscreen_open(3);
    GLuint buffer = 1;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);
    printf("memcpy %.1f\n", measure(copy, NULL, RANGE_BYTES));
    printf("read %.1f\n", measure(read_once, NULL, RANGE_BYTES));
    printf("new %.1f\n", measure(upload, change, RANGE_BYTES));
    upload_all();
    printf("known %.1f\n", measure(upload, NULL, KNOWN_BYTES));
    offscreen_close(&o);
    return 0;
}
