//! List of the buffers that the program had mapped in part when they were described.
//!
//! The driver copies no buffer that is mapped, unless the mapping is persistent, and the program has the address of the
//! mapped part alone. No command can read the rest while the buffer is mapped, or the result is undefined (OpenGL ES 3.2,
//! 6.3.2). So the rest is described later: before the first command of the share group that finds the buffer unmapped.
//! Until then all commands of the group's threads take the slow path, on which they come by here.

use core::sync::atomic::Ordering::Relaxed;

use gapii_state::{Buffer, Context, Ref};

use super::identity;
use super::later::Later;

/// A buffer that was mapped in part when its share group was described.
#[derive(Clone, Copy)]
pub struct Late {
    /// [`gapii_state::GroupOf::number`]
    group: u64,
    /// The capture, or its keyframe.
    epoch: u64,
    pub buffer: Ref<Buffer>,
    /// Begin and end of the mapped part, in bytes.
    pub mapped: [usize; 2],
}

static LATE: Later<Late> = Later::new();

/// Whether contents of any buffer are still to be described.
#[inline]
pub fn are_there() -> bool {
    LATE.is_any()
}

/// Whether contents of a buffer of the context's share group are still to be described.
pub fn are_in_group(context: &Context) -> bool {
    let of_group = |late: &Late| is_of(late, context);
    are_there() && LATE.with(|late| late.iter().any(of_group)) == Some(true)
}

fn is_of(late: &Late, context: &Context) -> bool {
    (late.group, late.epoch) == (context.group.number(), context.group.described.load(Relaxed))
}

/// Notes a buffer that is mapped from `begin` to `end`.
pub fn note(context: &Context, buffer: Ref<Buffer>, [begin, end]: [usize; 2]) {
    let (group, epoch) = (context.group.number(), context.group.described.load(Relaxed));
    LATE.with(|late| {
        // What earlier captures have is of no use.
        late.retain(|other| other.epoch >= epoch);
        late.push(Late { group, epoch, buffer, mapped: [begin, end] });
    });
}

/// Returns the entries of the context's share group whose buffers are not mapped any more.
pub fn due(context: &Context) -> Vec<Late> {
    let due = LATE
        .with(|late| late.iter().filter(|late| is_due(late, context)).copied().collect::<Vec<_>>());
    due.unwrap_or_default()
}

fn is_due(late: &Late, context: &Context) -> bool {
    is_of(late, context) && {
        let group = context.group.lock();
        let is_named = identity::has_name(&group.buffers, late.buffer);
        let it = group.buffers.get(late.buffer);
        !is_named || it.is_none_or(|buffer| buffer.mapping.pointer == 0)
    }
}

/// Takes out entries that are described. Until then other threads wait before their next command.
pub fn forget(described: &[Late]) {
    let is_described = |one: &Late| {
        described
            .iter()
            .any(|it| (it.group, it.epoch, it.buffer) == (one.group, one.epoch, one.buffer))
    };
    LATE.with(|late| late.retain(|one| !is_described(one)));
}
