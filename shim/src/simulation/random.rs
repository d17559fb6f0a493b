//! Pseudo-random numbers from a seed (splitmix64).

use std::cell::Cell;

/// A sequence of pseudo-random numbers.
pub struct Random(Cell<u64>);

impl Random {
    /// Begins the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&self, limit: u64) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9E37_79B9_7F4A_7C15));
        let mut word = self.0.get();
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % limit
    }

    /// Returns true once in `times` calls, on average.
    pub fn once_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }
}
