//! A ring on the heap for loom: every word is a cell, and loom checks that accesses to it are ordered.
//!
//! Only for models. A record here is a header and perhaps a stamp; payloads have no bytes.

use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::sync::Arc;

use crate::layout::{CounterPage, ModePage, Slot};
use crate::producer::Producer;
use crate::storage::{Ring, RingBytes};

/// A slot and its ring.
pub struct ModelRing {
    slot: Slot,
    cells: Vec<UnsafeCell<u64>>,
}

// SAFETY: the cells are shared on purpose: loom reports every access that is not ordered.
unsafe impl Sync for ModelRing {}
// SAFETY: as above.
unsafe impl Send for ModelRing {}

impl ModelRing {
    /// An empty ring of `capacity_bytes`, a power of two.
    pub fn new(capacity_bytes: u64) -> Arc<Self> {
        let cells = (0..capacity_bytes / 8).map(|_| UnsafeCell::new(0)).collect();
        Arc::new(Self { slot: Slot::default(), cells })
    }

    /// The ring's words.
    pub fn slot(&self) -> &Slot {
        &self.slot
    }

    /// A producer for this ring, whose slot the caller has claimed.
    pub fn producer(&self, counter: &CounterPage, mode: &ModePage) -> Producer<ModelBytes> {
        let mut producer = Producer::detached_at(ModelBytes(self));
        let capacity = self.cells.len() as u64 * 8;
        // SAFETY: models keep the ring and the pages in `Arc`s that outlive their producers, and claim the
        // slot first.
        let attached =
            unsafe { producer.attach_at(ModelBytes(self), capacity, &self.slot, counter, mode) };
        assert!(attached, "a model's indices are in order");
        producer
    }
}

/// The cells of a [`ModelRing`].
#[derive(Clone, Copy)]
pub struct ModelBytes(*const ModelRing);

impl ModelBytes {
    fn cell(&self, position: u64) -> &UnsafeCell<u64> {
        // SAFETY: models keep the ring in an `Arc` that outlives both of its halves.
        let ring = unsafe { &*self.0 };
        &ring.cells[(position / 8) as usize]
    }
}

impl RingBytes for ModelBytes {
    unsafe fn write_word(self, position: u64, word: u64) {
        // SAFETY: loom checks that no other thread uses the cell now.
        self.cell(position).with_mut(|cell| unsafe { *cell = word });
    }

    unsafe fn read_words(self, position: u64, out: &mut [u8]) {
        for (index, chunk) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let cell = self.cell(position + index as u64 * 8);
            // SAFETY: loom checks that no other thread writes the cell now.
            *chunk = cell.with(|cell| unsafe { *cell }).to_ne_bytes();
        }
    }

    unsafe fn payload(self, _position: u64) -> NonNull<u8> {
        NonNull::dangling()
    }
}

impl Ring for Arc<ModelRing> {
    type Bytes = ModelBytes;

    fn slot(&self) -> &Slot {
        &self.slot
    }

    fn bytes(&self) -> ModelBytes {
        ModelBytes(&raw const **self)
    }

    fn capacity_bytes(&self) -> u64 {
        self.cells.len() as u64 * 8
    }
}
