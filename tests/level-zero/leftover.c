/*
 * A program in a state that a snapshot cannot describe as a whole. It prints its process id, and then asks for the
 * status of an event until it is killed.
 *
 * usage: leftover waiting   a queue waits for an event that the host does not signal
 *        leftover dead      a list uses an event that is destroyed
 *        leftover timed     an event with timestamps is signalled
 */
#include "ze.h"

#include <stdint.h>
#include <unistd.h>

/* A signalled event of a pool whose events have timestamps. */
static void signal_timed_event(void)
{
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                               ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                      .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    done(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool), "a pool");
    done(zeEventCreate(pool, &event_desc, &event), "an event");
    done(zeEventHostSignal(event), "to signal");
}

int main(int count, char **words)
{
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    must(count == 2, "a state");
    int is_waiting = strcmp(words[1], "waiting") == 0, is_dead = strcmp(words[1], "dead") == 0;
    open_device();
    ze_event_handle_t other = new_event(), event = new_event();
    done(zeCommandQueueCreate(context, device, &queue_desc, &queue), "a queue");
    done(zeCommandListCreate(context, device, &list_desc, &list), "a list");
    done(zeCommandListAppendWaitOnEvents(list, 1, &event), "to wait");
    done(zeCommandListAppendBarrier(list, NULL, 0, NULL), "a barrier");
    done(zeCommandListClose(list), "to close");
    if (is_waiting)
        done(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), "to execute");
    else if (is_dead)
        done(zeEventDestroy(event), "to destroy");
    else
        signal_timed_event();
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        zeEventQueryStatus(other);
        usleep(1000);
    }
}
