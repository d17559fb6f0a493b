/*
 * A library to preload, with which llvmpipe compiles a shader once in a process, however many contexts use it.
 *
 * llvmpipe of Mesa 22.3 keeps most compiled shaders in Mesa's cache, but not those of blits, mipmaps and triangle setup,
 * which every context compiles anew. That took two fifths of the time of the search for faults of snapshots, which makes
 * and destroys contexts all the time. This library remembers the code of LLVM's modules by the hash of their bitcode, and
 * never unmaps it. It passes over modules without code, which Mesa's cache has, and all modules once its tables are full.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Functions that are remembered, and mappings that are kept. A compilation makes two or three mappings. */
#define SLOTS 16384
#define RANGES 8192
#define RANGES_LEFT 64

typedef struct opaque *ref;

struct hash {
    uint64_t words[2];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* By hash of module and function name, from its place on; a free slot has no code. */
static struct slot {
    struct hash hash;
    uint64_t code;
} slots[SLOTS];
static int slots_used;
static struct range {
    uintptr_t begin, end;
} ranges[RANGES];
static int ranges_used;

/* True while this thread compiles code that is kept. */
static __thread int is_compiling;
/* The module whose passes have begun last, and its hash before them. */
static __thread ref hashed_module;
static __thread struct hash module_hash;

#define REAL(type, name, parameters)                                                                                   \
    static type(*real_##name) parameters;                                                                              \
    if (real_##name == NULL)                                                                                           \
    *(void **)&real_##name = dlsym(RTLD_NEXT, #name)

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    void *got = (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
    if (is_compiling && got != MAP_FAILED) {
        pthread_mutex_lock(&lock);
        if (ranges_used < RANGES)
            ranges[ranges_used++] = (struct range){(uintptr_t)got, (uintptr_t)got + size};
        pthread_mutex_unlock(&lock);
    }
    return got;
}

int munmap(void *at, size_t size)
{
    uintptr_t begin = (uintptr_t)at;
    int is_kept = 0;
    pthread_mutex_lock(&lock);
    for (int range = 0; range < ranges_used && !is_kept; range++)
        is_kept = begin < ranges[range].end && begin + size > ranges[range].begin;
    pthread_mutex_unlock(&lock);
    return is_kept ? 0 : (int)syscall(SYS_munmap, at, size);
}

static void mix(struct hash *hash, const char *bytes, size_t size)
{
    uint64_t a = hash->words[0], b = hash->words[1];
    for (size_t at = 0; at < size; at++) {
        a = (a ^ (unsigned char)bytes[at]) * 0x100000001B3u;
        b = (b + (unsigned char)bytes[at]) * 0x9E3779B97F4A7C15u;
        b ^= b >> 29;
    }
    *hash = (struct hash){{a, b}};
}

/* The hash of a module without the names that Mesa numbers. */
static struct hash hash_of(ref module)
{
    REAL(ref, LLVMGetFirstFunction, (ref));
    REAL(ref, LLVMGetNextFunction, (ref));
    REAL(const char *, LLVMGetValueName2, (ref, size_t *));
    REAL(void, LLVMSetValueName2, (ref, const char *, size_t));
    REAL(void, LLVMSetSourceFileName, (ref, const char *, size_t));
    REAL(ref, LLVMWriteBitcodeToMemoryBuffer, (ref));
    REAL(const char *, LLVMGetBufferStart, (ref));
    REAL(size_t, LLVMGetBufferSize, (ref));
    REAL(void, LLVMDisposeMemoryBuffer, (ref));
    const char setup[] = "setup_variant_";
    for (ref function = real_LLVMGetFirstFunction(module); function; function = real_LLVMGetNextFunction(function)) {
        size_t length;
        const char *name = real_LLVMGetValueName2(function, &length);
        if (length >= sizeof setup && memcmp(name, setup, sizeof setup - 1) == 0)
            real_LLVMSetValueName2(function, setup, sizeof setup - 1);
    }
    real_LLVMSetSourceFileName(module, "", 0);
    ref buffer = real_LLVMWriteBitcodeToMemoryBuffer(module);
    struct hash hash = {{0xCBF29CE484222325u, 1}};
    mix(&hash, real_LLVMGetBufferStart(buffer), real_LLVMGetBufferSize(buffer));
    real_LLVMDisposeMemoryBuffer(buffer);
    return hash;
}

/* The slot of a hash, or a free one. The caller holds the lock. */
static struct slot *slot_of(struct hash hash)
{
    size_t at = hash.words[0] % SLOTS;
    while (slots[at].code && memcmp(&slots[at].hash, &hash, sizeof hash) != 0)
        at = (at + 1) % SLOTS;
    return &slots[at];
}

static uint64_t find(struct hash hash)
{
    pthread_mutex_lock(&lock);
    uint64_t code = slot_of(hash)->code;
    pthread_mutex_unlock(&lock);
    return code;
}

static int has_room(void)
{
    pthread_mutex_lock(&lock);
    int has = slots_used < SLOTS / 2 && ranges_used < RANGES - RANGES_LEFT;
    pthread_mutex_unlock(&lock);
    return has;
}

static void remember(struct hash hash, uint64_t code)
{
    pthread_mutex_lock(&lock);
    struct slot *slot = slot_of(hash);
    slots_used += slot->code == 0;
    *slot = (struct slot){hash, code};
    pthread_mutex_unlock(&lock);
}

/* Passes over the passes of a module whose code is known. */
ref LLVMRunPasses(ref module, const char *passes, ref machine, ref options)
{
    REAL(ref, LLVMRunPasses, (ref, const char *, ref, ref));
    struct hash hash = hash_of(module);
    hashed_module = module;
    module_hash = hash;
    if (find(hash))
        return NULL;
    return real_LLVMRunPasses(module, passes, machine, options);
}

/* Gives the code of a function of a module, which is compiled with the first of them. */
uint64_t LLVMGetPointerToGlobal(ref engine, ref function)
{
    REAL(uint64_t, LLVMGetPointerToGlobal, (ref, ref));
    REAL(unsigned, LLVMCountBasicBlocks, (ref));
    REAL(ref, LLVMGetGlobalParent, (ref));
    REAL(const char *, LLVMGetValueName2, (ref, size_t *));
    ref module = real_LLVMGetGlobalParent(function);
    if (real_LLVMCountBasicBlocks(function) == 0)
        return real_LLVMGetPointerToGlobal(engine, function);
    struct hash hash = module == hashed_module ? module_hash : hash_of(module), whole = hash;
    size_t length;
    const char *name = real_LLVMGetValueName2(function, &length);
    mix(&hash, name, length);
    uint64_t code = find(hash);
    if (code || !has_room())
        return code ? code : real_LLVMGetPointerToGlobal(engine, function);
    is_compiling = 1;
    code = real_LLVMGetPointerToGlobal(engine, function);
    is_compiling = 0;
    remember(hash, code);
    remember(whole, code);
    return code;
}
