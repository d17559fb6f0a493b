//! Level Zero: the objects, lists and allocations of the process, in this order: the commands that made them and set
//! their properties, as the program called them ([`kept_commands`]); the state of events and fences ([`signals`]); the
//! contents of memory ([`allocations`]).
//!
//! First the shim waits until the devices are idle, up to the stall limit (default 2 s). Work that is still running then,
//! for example because it waits for the host, is listed as missing. A replay does not have it.

use std::time::{Duration, Instant};

use gapii_state::{Process, Thread};

use super::emit::Emitter;
use super::{allocations, kept_commands, level_zero_calls as driver, signals};
use crate::capture;
use crate::generated::names::NAMES;
use crate::kept;
use crate::kept::facts::Kind;
use crate::kept::following;
use crate::kept::registry;

/// Maximum number of commands that the sentence about commands without a description names.
const NAMES_MAX: usize = 16;

/// Writes the commands that make the objects of Level Zero, and the contents of their memory.
pub fn describe(emitter: &mut Emitter, state: &mut Thread) {
    following::follow_all(state);
    let process = &*state.process;
    let unfinished = wait_for_devices(process, capture::stall_limit());
    if unfinished > 0 {
        emitter.leave_out(&format!(
            "Level Zero: work that {unfinished} queues or immediate lists had not finished"
        ));
    }
    kept_commands::describe(emitter);
    signals::describe(emitter);
    allocations::describe(emitter, process);
    let contended = registry::contended();
    if contended > 0 {
        emitter.leave_out(&format!(
            "Level Zero: {contended} commands on objects that several threads used at once"
        ));
    }
    let names = kept::missing().take(NAMES_MAX).filter_map(|id| NAMES.get(usize::from(id)));
    let names: Vec<_> = names.filter_map(|name| name.to_str().ok()).collect();
    if !names.is_empty() {
        emitter.leave_out(&format!("Level Zero: what was done by {}", names.join(", ")));
    }
}

/// Waits until all queues and immediate lists are idle, together up to `limit`. Returns the number of those that are not.
/// A synchronous list is always idle; loaders before 1.9 cannot wait for another one.
fn wait_for_devices(process: &Process, limit: Duration) -> usize {
    let is_executor = |kind| matches!(kind, Kind::Queue | Kind::ImmediateList);
    let mut executors = registry::lock().objects(is_executor);
    let state = process.lock();
    let lists = &state.command_lists;
    let is_synchronous = |handle| lists.get(lists.find(handle)).is_some_and(|it| it.is_synchronous);
    executors.retain(|executor| !is_synchronous(executor.handle));
    drop(state);
    let began = Instant::now();
    let is_busy = |executor: &&registry::Living| {
        let left = limit.saturating_sub(began.elapsed());
        !driver::synchronize(executor.kind, executor.handle, left)
    };
    executors.iter().filter(is_busy).count()
}
