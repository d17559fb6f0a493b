//! How far a walk over structs in the program's memory may go.
//!
//! A chain may be a circle, and counts of counts multiply.

use std::ops::Range;

/// Structs that one walk looks into.
const STRUCTS_MAX: u32 = 1 << 16;
/// Structs that are looked into because the one before refers to them.
const DEPTH_MAX: u32 = 64;

/// A walk from one struct to all that it refers to.
#[derive(Default)]
pub struct Walk {
    seen: u32,
    depth: u32,
}

impl Walk {
    /// Whether the struct at `address` is to be looked into; if so, [`Walk::leave`] follows.
    pub fn enter(&mut self, address: u64) -> bool {
        let goes_on = address != 0 && self.seen < STRUCTS_MAX && self.depth < DEPTH_MAX;
        if goes_on {
            self.seen += 1;
            self.depth += 1;
        }
        goes_on
    }

    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The indices of an array of `count` structs, as far as the walk goes.
    pub fn elements(&self, first: u64, count: i64) -> Range<i64> {
        let left = i64::from(STRUCTS_MAX.saturating_sub(self.seen));
        0..if first == 0 { 0 } else { count.min(left) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_in_a_circle_ends() {
        let mut walk = Walk::default();
        assert_eq!((0..).take_while(|_| walk.enter(0x1000)).count(), DEPTH_MAX as usize);
    }

    #[test]
    fn walk_over_many_structs_ends() {
        let mut walk = Walk::default();
        let mut looked_into = 0;
        while walk.enter(0x1000) {
            looked_into += 1;
            walk.leave();
        }
        assert_eq!(looked_into, STRUCTS_MAX);
    }

    #[test]
    fn array_of_absurd_length_is_cut_and_null_is_empty() {
        let walk = Walk::default();
        assert_eq!(walk.elements(0x1000, i64::MAX).count(), STRUCTS_MAX as usize);
        assert_eq!(walk.elements(0, 3).count(), 0);
        assert_eq!(walk.elements(0x1000, -3).count(), 0);
    }
}
