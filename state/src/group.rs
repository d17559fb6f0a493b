//! What contexts share.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::generated::fields::GroupState;

/// A share group. Its state is behind one short lock, never held while anything waits.
#[derive(Debug)]
pub struct Group {
    state: Mutex<GroupState>,
    /// Raised whenever one of its names changes its bearer.
    pub version: Arc<AtomicU64>,
    /// Buffers that are mapped persistently now.
    pub persistent_maps: AtomicU32,
    /// How often a buffer became one that indices come from.
    pub index_sources: AtomicU64,
    /// The last capture that began in the middle and has a description of it; 0 for none.
    pub described: AtomicU64,
}

impl Group {
    /// Forgets all objects: what was done to them was not followed.
    pub fn forget(&self) {
        *self.lock() = GroupState::new(&self.version);
        self.persistent_maps.store(0, Relaxed);
        // Who remembers a name asks for it again.
        self.version.fetch_add(1, Release);
        self.index_sources.fetch_add(1, Release);
    }
}

impl Default for Group {
    fn default() -> Self {
        let version = Arc::new(AtomicU64::new(1));
        let state = Mutex::new(GroupState::new(&version));
        Self {
            state,
            version,
            persistent_maps: AtomicU32::new(0),
            index_sources: AtomicU64::new(0),
            described: AtomicU64::new(0),
        }
    }
}

impl Group {
    /// A number that no other group has while this one lives.
    pub fn number(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    pub fn lock(&self) -> MutexGuard<'_, GroupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
