//! Places: a count of what runs at the same time, with its limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limited number of places.
#[derive(Debug)]
pub struct Places {
    taken: Arc<AtomicUsize>,
    limit: usize,
}

/// A place, which is free again when this is dropped.
#[derive(Debug)]
pub struct Place(Arc<AtomicUsize>);

impl Places {
    /// Makes this many places, all free.
    pub fn new(limit: usize) -> Self {
        Self { taken: Arc::default(), limit }
    }

    /// Returns the number of places, free or not.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the number of places that are taken.
    pub fn taken(&self) -> usize {
        // Relaxed: the count guards nothing but itself.
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes a place. `None` if all are taken.
    pub fn take(&self) -> Option<Place> {
        let more = |taken: usize| (taken < self.limit).then_some(taken + 1);
        // Relaxed: the count guards nothing but itself.
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Place(Arc::clone(&self.taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Relaxed: the count guards nothing but itself.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
