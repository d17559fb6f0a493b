//! What contexts share.

use std::mem::take;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::generated::fields::{Context, GroupState};

/// A share group. Its state is behind one short lock, never held while anything waits.
#[derive(Debug)]
pub struct Group {
    state: Mutex<GroupState>,
    /// Raised whenever one of its names changes its bearer.
    pub version: Arc<AtomicU64>,
    /// Buffers that are mapped persistently now.
    pub persistent_maps: AtomicU32,
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
    }
}

impl Context {
    /// Forgets all but what never changes: what was done in it was not followed.
    pub fn forget(&mut self) {
        let mut fresh = Self::new(self.handle, Arc::clone(&self.group), self.version);
        fresh.extensions = take(&mut self.extensions);
        fresh.limits = take(&mut self.limits);
        *self = fresh;
    }
}

impl Default for Group {
    fn default() -> Self {
        let version = Arc::new(AtomicU64::new(1));
        let state = Mutex::new(GroupState::new(&version));
        Self { state, version, persistent_maps: AtomicU32::new(0), described: AtomicU64::new(0) }
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
