//! Events and fences of Level Zero that are signalled. An event is signalled by the host; a fence by the execution of an
//! empty list, because the host cannot signal a fence.

use core::ptr;

use gapii_recorder::observe;
use gapii_ze_api::types::{
    ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
    ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, ze_command_list_desc_t, ze_command_queue_desc_t,
    ze_event_pool_desc_t,
};

use super::allocations::create_list;
use super::emit::Emitter;
use super::level_zero_calls::is_signalled;
use crate::generated::ids;
use crate::kept::entry::{Entry, Role};
use crate::kept::facts::Kind;
use crate::kept::registry::{self, Living};

const SUCCESS: u32 = 0;

/// Its address is the handle of the empty list. No driver has it.
static EMPTY_LIST: u8 = 0;

/// Writes the commands that signal events and fences.
pub fn describe(emitter: &mut Emitter) {
    let is_wanted = |kind| matches!(kind, Kind::Event | Kind::Fence);
    let (mut counters, mut timed) = (0, 0);
    let (signals, queues, mut pools) = {
        let registry = registry::lock();
        let queues = registry.objects(|kind| kind == Kind::Queue);
        (registry.objects(is_wanted), queues, registry.objects(|kind| kind == Kind::Plain))
    };
    pools.retain(|it| it.made.command.id == ids::ZE_EVENT_POOL_CREATE && has_timestamps(&it.made));
    for signal in signals.iter().filter(|signal| is_signalled(signal.kind, signal.handle)) {
        if signal.made.command.id == ids::ZE_EVENT_COUNTER_BASED_CREATE {
            counters += 1;
        } else if signal.kind == Kind::Event {
            let pool = signal.made.handles().first().copied();
            timed += usize::from(pools.iter().any(|it| Some(it.handle) == pool));
            emitter.command(ids::ZE_EVENT_HOST_SIGNAL).arg(signal.handle).returns(SUCCESS, []);
        } else {
            let queue = signal.made.handles().first().copied();
            if let Some(queue) = queues.iter().find(|it| Some(it.handle) == queue) {
                raise(emitter, queue, signal.handle);
            }
        }
    }
    if counters > 0 {
        emitter.leave_out(&format!("Level Zero: the state of {counters} counter-based events"));
    }
    // No command sets them.
    if timed > 0 {
        emitter.leave_out(&format!("Level Zero: the timestamps of {timed} signalled events"));
    }
}

/// Writes the execution of an empty list that signals a fence of this queue.
fn raise(emitter: &mut Emitter, queue: &Living, fence: u64) {
    let place = (queue.made.arg(0), queue.made.arg(1));
    let desc = ze_command_list_desc_t {
        stype: ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
        pNext: ptr::null(),
        commandQueueGroupOrdinal: ordinal(&queue.made),
        flags: 0,
    };
    let list = &raw const EMPTY_LIST as u64;
    let at_list = &raw const list;
    create_list(emitter, ids::ZE_COMMAND_LIST_CREATE, place, &desc, list);
    emitter.command(ids::ZE_COMMAND_LIST_CLOSE).arg(list).returns(SUCCESS, []);
    emitter
        .command(ids::ZE_COMMAND_QUEUE_EXECUTE_COMMAND_LISTS)
        .arg(queue.handle)
        .arg(1_u32)
        .arg(at_list)
        .arg(fence)
        .reads(observe::array(at_list, 1, 8))
        .returns(SUCCESS, []);
    emitter
        .command(ids::ZE_COMMAND_QUEUE_SYNCHRONIZE)
        .arg(queue.handle)
        .arg(u64::MAX)
        .returns(SUCCESS, []);
    emitter.command(ids::ZE_COMMAND_LIST_DESTROY).arg(list).returns(SUCCESS, []);
}

/// Returns the group that a queue was created in.
fn ordinal(made: &Entry) -> u32 {
    word(made, 2, core::mem::offset_of!(ze_command_queue_desc_t, ordinal))
}

/// Whether the events of a pool have timestamps of kernels.
fn has_timestamps(made: &Entry) -> bool {
    const TIMESTAMPS: u32 =
        ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;
    word(made, 1, core::mem::offset_of!(ze_event_pool_desc_t, flags)) & TIMESTAMPS != 0
}

/// Returns a field of the structure at which the argument at `index` points; 0 if it is unknown.
fn word(made: &Entry, index: u8, offset: usize) -> u32 {
    let structures = made.pieces().filter(|piece| piece.role == Role::ReadRange);
    let mut structures = structures.filter(|piece| piece.address == made.arg(index));
    let bytes = structures.next().and_then(|piece| piece.bytes?.get(offset..)?.first_chunk());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}
