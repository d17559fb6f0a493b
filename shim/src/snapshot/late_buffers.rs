//! List of the buffers that the program had mapped in part when they were described.
//!
//! The driver copies no buffer that is mapped, unless the mapping is persistent, and the program has the address of the
//! mapped part alone. No command can read the rest while the buffer is mapped, or the result is undefined (OpenGL ES 3.2,
//! 6.3.2). So the rest is described later: before the first command of the share group that finds the buffer unmapped.
//! Until then all commands of the group's threads take the slow path, on which they come by here.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, TryLockError};

use gapii_state::{Buffer, Context, Ref};

use super::identity;

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

static LATE: Mutex<Vec<Late>> = Mutex::new(Vec::new());
/// Number of entries of [`LATE`], written while that is locked. Relaxed everywhere: a thread that unmaps a buffer has
/// described its share group or has seen the number since; other threads synchronise with it by themselves.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Never blocks for long: entries are only added and taken out here. `None` in a forked child whose parent forked
/// meanwhile.
fn late() -> Option<MutexGuard<'static, Vec<Late>>> {
    loop {
        match LATE.try_lock() {
            Ok(late) => return Some(late),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if crate::process::is_forked_child() => return None,
            Err(TryLockError::WouldBlock) => core::hint::spin_loop(),
        }
    }
}

/// Whether contents of any buffer are still to be described.
#[inline]
pub fn are_there() -> bool {
    COUNT.load(Relaxed) != 0
}

/// Whether contents of a buffer of the context's share group are still to be described.
pub fn are_in_group(context: &Context) -> bool {
    let of_group = |late: &Late| is_of(late, context);
    are_there() && late().is_some_and(|late| late.iter().any(of_group))
}

fn is_of(late: &Late, context: &Context) -> bool {
    (late.group, late.epoch) == (context.group.number(), context.group.described.load(Relaxed))
}

/// Notes a buffer that is mapped from `begin` to `end`.
pub fn note(context: &Context, buffer: Ref<Buffer>, [begin, end]: [usize; 2]) {
    let (group, epoch) = (context.group.number(), context.group.described.load(Relaxed));
    let Some(mut late) = late() else { return };
    // What earlier captures have is of no use.
    late.retain(|other| other.epoch >= epoch);
    late.push(Late { group, epoch, buffer, mapped: [begin, end] });
    COUNT.store(late.len(), Relaxed);
}

/// Returns the entries of the context's share group whose buffers are not mapped any more.
pub fn due(context: &Context) -> Vec<Late> {
    let Some(late) = late() else { return Vec::new() };
    late.iter().filter(|late| is_due(late, context)).copied().collect()
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
    let Some(mut late) = late() else { return };
    let is_described = |one: &Late| {
        described
            .iter()
            .any(|it| (it.group, it.epoch, it.buffer) == (one.group, one.epoch, one.buffer))
    };
    late.retain(|one| !is_described(one));
    COUNT.store(late.len(), Relaxed);
}
