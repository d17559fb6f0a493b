/*
 * A program whose results depend on all that it did before: a thousand kernels of several modules mix
 * memory of the device, of the host and of both, with arguments, constants and global variables that they keep
 * from step to step. Lists are built while the program runs or were built at its beginning, events and fences
 * stay signalled from step to step, and objects are destroyed and made again at any time.
 *
 * usage: mixer STEPS [THREADS]   does them and prints the results
 *        mixer 0 [THREADS]       prints its process id when it begins, and continues until it is killed
 */
#include "ze.h"

#include <stdint.h>
#include <unistd.h>

enum { MODULES = 5, KERNELS = 1000, EVENTS = 8, BYTES = 1024, PARTS = 4, FIXED = 50, PROPERTIES = 3 };

/* Whether events are used. An event tells gapii of the work of all queues, also of those of other threads. */
static int has_events;
static int steps;

/* Each thread has objects of its own. */
struct mixer {
    uint64_t random;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t open, fixed, immediate;
    ze_module_handle_t modules[MODULES];
    ze_kernel_handle_t kernels[KERNELS];
    ze_event_pool_handle_t pool;
    ze_event_handle_t events[EVENTS];
    int is_signalled[EVENTS];
    ze_fence_handle_t fence;
    ze_image_handle_t image;
    int is_fence_up;
    unsigned char *memory[PARTS];
    unsigned char source[BYTES], target[BYTES];
    unsigned sum;
};

static unsigned pick(struct mixer *m, unsigned count)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (unsigned)(m->random >> 33) % count;
}

static void new_part(struct mixer *m, int part)
{
    ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void **to = (void **)&m->memory[part];
    if (part == 0)
        done(zeMemAllocShared(context, &device_desc, &host_desc, BYTES, 64, device, to), "memory");
    else if (part == 1)
        done(zeMemAllocHost(context, &host_desc, BYTES, 64, to), "memory");
    else
        done(zeMemAllocDevice(context, &device_desc, BYTES, 64, device, to), "memory");
}

static void new_module(struct mixer *m, int number)
{
    uint8_t code[600];
    uint32_t id = 0;
    uint64_t value = number * 3;
    const void *values[] = {&value};
    ze_module_constants_t constants = {1, &id, values};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = sizeof code,
                             .pInputModule = code,
                             .pConstants = &constants};
    memset(code, 2 * number + 3, sizeof code);
    done(zeModuleCreate(context, device, &desc, &m->modules[number], NULL), "a module");
}

static void set(struct mixer *m, int number, int what)
{
    ze_kernel_handle_t kernel = m->kernels[number];
    uint32_t bytes = BYTES - pick(m, 16);
    uint8_t addend = (uint8_t)pick(m, 256);
    void *memory = m->memory[number % PARTS];
    if (what == 0)
        done(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory), "an argument");
    else if (what == 1)
        done(zeKernelSetArgumentValue(kernel, 1, sizeof bytes, &bytes), "an argument");
    else if (what == 2)
        done(zeKernelSetArgumentValue(kernel, 2, sizeof addend, &addend), "an argument");
    else
        done(zeKernelSetGroupSize(kernel, 1 + pick(m, 9), 1, 1), "a group");
}

static void new_mixing_kernel(struct mixer *m, int number)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "mix"};
    done(zeKernelCreate(m->modules[number % MODULES], &desc, &m->kernels[number]), "a kernel");
    for (int what = 0; what <= PROPERTIES; what++)
        set(m, number, what);
}

static void launch(struct mixer *m, ze_command_list_handle_t list, int number)
{
    ze_group_count_t groups = {1 + pick(m, 7), 1, 1};
    done(zeCommandListAppendLaunchKernel(list, m->kernels[number], &groups, NULL, 0, NULL),
         "to launch");
}

static void copy(struct mixer *m, ze_command_list_handle_t list)
{
    int to = (int)pick(m, PARTS), from = (int)pick(m, PARTS + 1);
    unsigned char *source = from == PARTS ? m->source : m->memory[from];
    unsigned half = BYTES / 2;
    done(zeCommandListAppendMemoryCopy(list, m->memory[to], source + half, half, NULL, 0, NULL),
         "to copy");
}

/* A list that is executed again and again: its launches have the arguments of their appends. */
static void new_fixed(struct mixer *m)
{
    static const uint8_t pattern[] = {1, 2, 3};
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    done(zeCommandListCreate(context, device, &desc, &m->fixed), "a list");
    for (int i = 0; i < FIXED; i++) {
        int number = (int)pick(m, KERNELS / 2);
        set(m, number, 2);
        launch(m, m->fixed, number);
        if (i % 4 == 0)
            copy(m, m->fixed);
    }
    done(zeCommandListAppendMemoryFill(m->fixed, m->memory[2], pattern, sizeof pattern, 90, NULL, 0,
                                       NULL),
         "to fill");
    done(zeCommandListClose(m->fixed), "to close");
}

static void set_up(struct mixer *m)
{
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = EVENTS};
    ze_image_desc_t image_desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = ZE_IMAGE_TYPE_2D,
                                  .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8},
                                  .width = 16,
                                  .height = BYTES / 64};
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    for (int part = 0; part < PARTS; part++)
        new_part(m, part);
    memset(m->memory[0], 5, BYTES);
    memset(m->memory[1], 7, BYTES);
    done(zeCommandQueueCreate(context, device, &queue_desc, &m->queue), "a queue");
    done(zeCommandListCreate(context, device, &list_desc, &m->open), "a list");
    queue_desc.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    done(zeCommandListCreateImmediate(context, device, &queue_desc, &m->immediate), "a list");
    done(zeEventPoolCreate(context, &pool_desc, 1, &device, &m->pool), "a pool");
    for (uint32_t i = 0; i < EVENTS; i++) {
        ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};
        done(zeEventCreate(m->pool, &desc, &m->events[i]), "an event");
    }
    done(zeImageCreate(context, device, &image_desc, &m->image), "an image");
    done(zeFenceCreate(m->queue, &fence_desc, &m->fence), "a fence");
    for (int number = 0; number < MODULES; number++) {
        size_t size;
        void *global;
        uint8_t value = (uint8_t)(11 * number);
        new_module(m, number);
        done(zeModuleGetGlobalPointer(m->modules[number], "global", &size, &global), "a global");
        done(zeCommandListAppendMemoryCopy(m->immediate, global, &value, 1, NULL, 0, NULL),
             "to copy");
    }
    for (int number = 0; number < KERNELS; number++)
        new_mixing_kernel(m, number);
    new_fixed(m);
}

/* What is in the image stays there for some steps. */
static void use_image(struct mixer *m)
{
    unsigned what = pick(m, 8);
    if (what == 0)
        done(zeCommandListAppendImageCopyFromMemory(m->open, m->image, m->memory[3], NULL, NULL, 0,
                                                    NULL),
             "to copy");
    else if (what < 4)
        done(zeCommandListAppendImageCopyToMemory(m->open, m->memory[2], m->image, NULL, NULL, 0,
                                                  NULL),
             "to copy");
}

/* An event is signalled by one step, and later steps wait for it, ask for it and reset it. */
static void use_events(struct mixer *m)
{
    int number = (int)pick(m, EVENTS);
    ze_event_handle_t event = m->events[number];
    if (!m->is_signalled[number]) {
        done(zeCommandListAppendSignalEvent(m->open, event), "to signal");
        m->is_signalled[number] = 1;
        return;
    }
    must(zeEventQueryStatus(event) == ZE_RESULT_SUCCESS, "a signalled event");
    done(zeCommandListAppendWaitOnEvents(m->open, 1, &event), "to wait");
    if (pick(m, 2)) {
        done(zeCommandListAppendEventReset(m->open, event), "to reset");
        m->is_signalled[number] = 0;
    }
}

static void execute(struct mixer *m)
{
    ze_command_list_handle_t lists[] = {m->open, m->fixed};
    uint32_t count = 1 + (pick(m, 3) == 0);
    int has_fence = (int)pick(m, 2);
    done(zeCommandListClose(m->open), "to close");
    if (m->is_fence_up && has_fence) {
        must(zeFenceQueryStatus(m->fence) == ZE_RESULT_SUCCESS, "a signalled fence");
        done(zeFenceReset(m->fence), "to reset");
    }
    /* A change between a submit and a wait, or before a query, would count as one of the device. */
    m->memory[0][pick(m, BYTES)] = (unsigned char)pick(m, 256);
    done(zeCommandQueueExecuteCommandLists(m->queue, count, lists, has_fence ? m->fence : NULL),
         "to execute");
    m->is_fence_up |= has_fence;
    if (has_fence && pick(m, 2))
        done(zeFenceHostSynchronize(m->fence, UINT64_MAX), "the fence");
    else
        done(zeCommandQueueSynchronize(m->queue, UINT64_MAX), "the queue");
    done(zeCommandListReset(m->open), "to reset");
}

/* Kernels of the second half are in no list between two steps. */
static void make_again(struct mixer *m)
{
    int number = KERNELS / 2 + (int)pick(m, KERNELS / 2);
    done(zeKernelDestroy(m->kernels[number]), "to destroy");
    new_mixing_kernel(m, number);
    if (pick(m, 4) == 0) {
        done(zeCommandListDestroy(m->fixed), "to destroy");
        new_fixed(m);
    }
}

static void step(struct mixer *m)
{
    memset(m->source, (int)pick(m, 256), BYTES);
    for (int i = 0; i < 8; i++) {
        int number = (int)pick(m, KERNELS);
        set(m, number, 1 + (int)pick(m, PROPERTIES));
        launch(m, m->open, number);
        if (i % 4 == 0)
            copy(m, m->open);
    }
    use_image(m);
    if (has_events)
        use_events(m);
    done(zeCommandListAppendMemoryCopy(m->open, m->target, m->memory[2 + pick(m, 2)], BYTES, NULL, 0,
                                       NULL),
         "to copy");
    execute(m);
    if (pick(m, 4) == 0)
        copy(m, m->immediate);
    if (pick(m, 2))
        make_again(m);
    for (int i = 0; i < BYTES; i++)
        m->sum = m->sum * 31 + m->target[i] + m->memory[0][i] + m->memory[1][i];
}


static void *run(void *number)
{
    struct mixer *m = calloc(1, sizeof *m);
    must(m != NULL, "memory");
    m->random = 88172645463325252u + (uintptr_t)number;
    set_up(m);
    for (int i = 0; steps == 0 || i < steps; i++) {
        step(m);
        if (steps == 0)
            usleep(200);
    }
    return (void *)(uintptr_t)m->sum;
}

int main(int count, char **words)
{
    enum { THREADS_MAX = 8 };
    pthread_t threads[THREADS_MAX];
    must(count >= 2, "a number of steps");
    steps = atoi(words[1]);
    int others = count > 2 ? atoi(words[2]) - 1 : 0;
    has_events = others == 0;
    must(others < THREADS_MAX, "a number of threads");
    open_device();
    if (steps == 0) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
    }
    for (int i = 0; i < others; i++)
        pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(i + 1));
    unsigned sum = (unsigned)(uintptr_t)run(NULL);
    for (int i = 0; i < others; i++) {
        void *other;
        pthread_join(threads[i], &other);
        sum += (unsigned)(uintptr_t)other;
    }
    printf("sum %08x\n", sum);
    return 0;
}
