//! Brings the tracked state of lists up to date. While nothing is recorded, commands that a list keeps are not tracked: what
//! they read and write counts when the list is executed, or when a snapshot describes it.

use gapii_recorder::observe::Observation;
use gapii_state::{Thread, Values};

use super::registry;
use crate::kept;
use crate::program_memory::ProgramMemory;
use crate::tracking;

/// Maximum number of lists that one command executes.
const LISTS_MAX: u64 = 1 << 16;

/// Follows the lists that are about to be executed. `lists` is the array of their handles.
pub fn follow_executed(lists: Observation) {
    let Some((address, bytes)) = lists.memory() else { return };
    tracking::with_state_or_new(|thread| {
        for at in 0..(bytes / 8).min(LISTS_MAX) as i64 {
            let list = ProgramMemory.element::<u64>(address, at);
            registry::follow(list, |id, words| kept::follow(thread, id, words));
        }
    });
}

/// Follows all lists.
pub fn follow_all(thread: &mut Thread) {
    registry::follow_all(|id, words| kept::follow(thread, id, words));
}
