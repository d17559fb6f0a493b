//! Keepers: code between the shim and the functions of Level Zero that keeps what a snapshot needs of a command, whether
//! or not a capture runs. In a process that does not monitor (`--no-monitor`) there are no keepers.
//!
//! A command that makes an object, sets a property or is appended to a list is kept with the memory that it read and
//! wrote, as long as the object lives. `apis/level_zero/snapshot.api` says which commands these are; the keepers are
//! generated ([`crate::generated::keepers`]).
//!
//! ```text
//! program ─► entry ─► handler, while a capture runs ─► keeper ─► driver
//! ```
//!
//! The keepers never call the driver on their own, and keep no contents of allocations: the snapshot reads them.

pub mod appended;
pub mod entry;
pub mod facts;
pub mod following;
pub mod keeper;
pub mod object;
pub mod order;
pub mod properties;
pub mod registry;

use std::sync::Once;

use gapii_state::Thread;

use crate::code::Code;
use crate::environment;
use crate::generated::keepers::KEEPERS;
use crate::table;
use facts::Kept;
use keeper::Keeper;

/// Returns the code to call in place of `callee`, the driver's function for command `id`: the command's keeper, if it
/// has one and the process monitors.
pub fn wrap(id: u16, callee: Code) -> Code {
    match find(id).filter(|_| environment::monitors()) {
        Some(keeper) => {
            static IS_READY: Once = Once::new();
            // Keepers leave their half of KEEPER to the snapshot.
            IS_READY.call_once(gapii_edges::register_barrier);
            keeper.set_callee(callee)
        }
        None => callee,
    }
}

/// Returns the driver's function for command `id`, without its keeper; null if it is unknown.
pub fn driver(id: u16) -> Code {
    let kept = find(id).map(Keeper::callee).filter(|callee| !callee.is_null());
    kept.unwrap_or_else(|| table::driver(id))
}

/// Returns what is known of a command with a keeper.
pub fn command(id: u16) -> Option<&'static Kept> {
    find(id).map(Keeper::command)
}

/// Whether commands that are appended to this list are kept: it is known, and does not execute them at once.
#[inline(always)]
pub fn keeps_appended(list: u64) -> bool {
    registry::object(list).is_some_and(|list| !list.is_immediate())
}

/// Applies a command that a list keeps to the tracked state. `words` are those of its entry.
pub fn follow(thread: &mut Thread, id: u16, words: &[u64]) {
    if let Some(keeper) = find(id) {
        keeper.follow(thread, words);
    }
}

/// Returns the ids of the commands that have succeeded and whose effects cannot be described.
pub fn missing() -> impl Iterator<Item = u16> {
    KEEPERS.iter().filter(|keeper| keeper.is_missing()).map(|keeper| keeper.id())
}

/// For a forked child: it has made no objects yet.
pub fn forget() {
    registry::forget();
    KEEPERS.iter().for_each(|keeper| keeper.forget());
}

fn find(id: u16) -> Option<&'static Keeper> {
    let at = KEEPERS.binary_search_by_key(&id, |keeper| keeper.id()).ok()?;
    KEEPERS.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::ids;

    #[test]
    fn keepers_are_sorted_and_found_by_id() {
        assert!(KEEPERS.is_sorted_by_key(|keeper| keeper.id()));
        let found = find(ids::ZE_KERNEL_CREATE).map(Keeper::id);
        assert_eq!(found, Some(ids::ZE_KERNEL_CREATE));
        assert!(find(ids::ZE_KERNEL_GET_NAME).is_none());
    }

    #[test]
    fn command_without_a_keeper_keeps_its_function() {
        let callee = (&raw const KEEPERS).cast_mut().cast::<()>();
        assert_eq!(wrap(ids::ZE_KERNEL_GET_NAME, callee), callee);
    }
}
