//! `Pair`: two words of memory that the host and a device can use. The device writes its count into the first before a
//! command, and into the second behind it. `Pairs`: the pairs of one context, allocated 1,024 at a time.
//!
//! The memory is never freed: a list that is executed after the capture still writes into it. A context takes it along when it
//! is destroyed.

use core::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Release};

/// A word into which the device has written nothing.
const EMPTY: u64 = u64::MAX;
/// Bytes of a pair.
const PAIR_BYTES: usize = 16;
/// Pairs that are allocated at a time.
pub const MADE_AT_ONCE: usize = 1024;

/// Two words of memory of a context that lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair(*const [AtomicU64; 2]);

// SAFETY: the words are atomic, and any thread may use them.
unsafe impl Send for Pair {}

impl Pair {
    /// Returns the addresses of the two words.
    pub fn addresses(self) -> [u64; 2] {
        [self.0.addr() as u64, self.0.addr() as u64 + 8]
    }

    /// Empties both words.
    pub fn clear(self) {
        // Release: the program submits the list behind it.
        self.words().iter().for_each(|word| word.store(EMPTY, Release));
    }

    /// Returns the device's counts; `None` until it has written both.
    pub fn counts(self) -> Option<[u64; 2]> {
        let [before, behind] = self.words();
        // The device writes the second word last. Acquire: the first word is read behind it.
        let behind = behind.load(Acquire);
        let counts = [before.load(Acquire), behind];
        (!counts.contains(&EMPTY)).then_some(counts)
    }

    fn words(&self) -> &[AtomicU64; 2] {
        // SAFETY: whoever uses a pair has made sure that its context lives, and the memory with it.
        unsafe { &*self.0 }
    }
}

/// The pairs of one context.
pub struct Pairs {
    /// The number by which the context is known; a later context with the same handle has another one.
    pub context_serial: u64,
    free: Vec<Pair>,
    made: usize,
}

impl Pairs {
    /// No pairs yet.
    pub fn new(context_serial: u64) -> Self {
        Self { context_serial, free: Vec::new(), made: 0 }
    }

    /// Returns the number of pairs that were made.
    pub fn made(&self) -> usize {
        self.made
    }

    /// Takes a pair whose words are empty. `None` if there is none.
    pub fn take(&mut self) -> Option<Pair> {
        let pair = self.free.pop()?;
        pair.clear();
        Some(pair)
    }

    /// Gives a pair back.
    pub fn give_back(&mut self, pair: Pair) {
        self.free.push(pair);
    }

    /// Makes more pairs. `allocate` returns aligned memory of as many bytes, which lives as long as the context.
    pub fn make(&mut self, allocate: impl FnOnce(usize) -> Option<*mut u8>) {
        let Some(memory) = allocate(MADE_AT_ONCE * PAIR_BYTES) else { return };
        let first: *const [AtomicU64; 2] = memory.cast_const().cast();
        // The first pair is used first.
        self.free.extend((0..MADE_AT_ONCE).rev().map(|at| Pair(first.wrapping_add(at))));
        self.made += MADE_AT_ONCE;
    }
}
