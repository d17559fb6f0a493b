//! Memory that loom watches.

use loom::cell::UnsafeCell;

/// Memory without any ordering of its own, such as records or a thread's state: loom reports every access that is not
/// ordered.
#[derive(Default)]
pub struct Plain(UnsafeCell<u64>);

// SAFETY: shared on purpose: loom reports every access that is not ordered.
unsafe impl Sync for Plain {}

impl Plain {
    pub fn read(&self) -> u64 {
        // SAFETY: loom checks that no other thread writes the cell now.
        self.0.with(|cell| unsafe { *cell })
    }

    pub fn write(&self, value: u64) {
        // SAFETY: loom checks that no other thread uses the cell now.
        self.0.with_mut(|cell| unsafe { *cell = value });
    }
}
