//! The state that the contexts of a share group share, behind one short lock.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Tracked;
use crate::generated::fields::GroupState;
use crate::stored::Stored;

/// A share group with state `G` behind one short lock, which no thread holds while it waits.
#[derive(Debug)]
pub struct GroupOf<G> {
    state: Mutex<G>,
    /// Incremented whenever a name gets another object or loses its object.
    pub version: Arc<AtomicU64>,
    /// Number of buffers with a persistent mapping for writing.
    pub persistent_maps: AtomicU32,
    /// Number of times that a buffer became an index source.
    pub index_sources: AtomicU64,
    /// Number of links of programs so far. Relaxed is enough: a thread that has learned of a link through the program
    /// also sees its number.
    pub links: AtomicU64,
    /// The last capture whose stream describes the group's objects; 0 for none.
    pub described: AtomicU64,
}

crate::stored_struct! {
    impl<G: Stored> GroupOf<G> { state, version, persistent_maps, index_sources, links, described }
}

/// A share group with state in scope `S`.
pub type Group<S = Tracked> = GroupOf<GroupState<S>>;

/// State that begins with the version counter of its share group.
pub trait Shared {
    /// The state of a new share group, whose tables raise `version`.
    fn begin(version: &Arc<AtomicU64>) -> Self;
}

impl<G: Shared> GroupOf<G> {
    /// Forgets all objects, because their changes were not tracked.
    pub fn forget(&self) {
        *self.lock() = G::begin(&self.version);
        self.persistent_maps.store(0, Relaxed);
        // Invalidates the contexts' caches of names.
        self.version.fetch_add(1, Release);
        self.index_sources.fetch_add(1, Release);
    }
}

impl<G: Shared> Default for GroupOf<G> {
    fn default() -> Self {
        let version = Arc::new(AtomicU64::new(1));
        let state = Mutex::new(G::begin(&version));
        Self {
            state,
            version,
            persistent_maps: AtomicU32::new(0),
            index_sources: AtomicU64::new(0),
            links: AtomicU64::new(0),
            described: AtomicU64::new(0),
        }
    }
}

impl<G> GroupOf<G> {
    /// A number that no other share group has during this group's lifetime.
    pub fn number(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, G> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
