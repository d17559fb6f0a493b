//! How far a walk over structs in the program's memory may go.
//!
//! A chain may be a circle, and counts of counts multiply.

use std::ops::Range;

/// Structs that one walk looks into.
const STRUCTS_MAX: u32 = 1 << 16;

/// A walk from one struct to all that it refers to.
#[derive(Default)]
pub struct Walk {
    seen: u32,
}

impl Walk {
    /// Whether the struct at `address` is to be looked into.
    pub fn goes_on(&mut self, address: u64) -> bool {
        self.seen += 1;
        address != 0 && self.seen <= STRUCTS_MAX
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
        assert_eq!((0..).take_while(|_| walk.goes_on(0x1000)).count(), STRUCTS_MAX as usize);
    }

    #[test]
    fn array_of_absurd_length_is_cut_and_null_is_empty() {
        let walk = Walk::default();
        assert_eq!(walk.elements(0x1000, i64::MAX).count(), STRUCTS_MAX as usize);
        assert_eq!(walk.elements(0, 3).count(), 0);
        assert_eq!(walk.elements(0x1000, -3).count(), 0);
    }
}
