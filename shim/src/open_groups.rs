//! `OpenGroups`: the debug groups that a thread has begun and not ended, and which of them end a frame. Groups that are nested
//! more than 64 deep end none. Groups that were begun before the rule was set are not known.
//!
//! A thread of a program has one nesting, whatever contexts it uses; it reads no name and knows no rule.

use core::cell::Cell;

/// The open debug groups of a thread. All zeros: none.
#[repr(C)]
pub struct OpenGroups {
    /// The order to record under whose rule the groups were begun.
    order: Cell<u64>,
    /// A bit for each open group: its end ends a frame. The outermost group has the lowest bit.
    named: Cell<u64>,
    depth: Cell<u32>,
}

impl OpenGroups {
    /// No groups.
    #[cfg(test)]
    const fn none() -> Self {
        Self { order: Cell::new(0), named: Cell::new(0), depth: Cell::new(0) }
    }

    /// Notes that a group begins. `ends_frame`: the rule of order `order` names it.
    pub fn push(&self, order: u64, ends_frame: bool) {
        self.forget_others(order);
        let depth = self.depth.get();
        if let Some(bit) = 1_u64.checked_shl(depth) {
            let others = self.named.get() & !bit;
            self.named.set(if ends_frame { others | bit } else { others });
        }
        self.depth.set(depth.saturating_add(1));
    }

    /// Notes that the innermost group ends. Returns whether its end ends a frame.
    pub fn pop(&self, order: u64) -> bool {
        self.forget_others(order);
        let Some(depth) = self.depth.get().checked_sub(1) else { return false };
        self.depth.set(depth);
        1_u64.checked_shl(depth).is_some_and(|bit| self.named.get() & bit != 0)
    }

    /// Forgets the groups that were begun under another rule.
    fn forget_others(&self, order: u64) {
        if self.order.replace(order) != order {
            self.depth.set(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_that_the_rule_names_ends_a_frame_where_it_ends() {
        let groups = OpenGroups::none();
        assert!(!groups.pop(2), "begun before the rule was set");
        groups.push(2, true);
        groups.push(2, false);
        groups.push(2, true);
        assert_eq!(
            [groups.pop(2), groups.pop(2), groups.pop(2), groups.pop(2)],
            [true, false, true, false]
        );
    }

    #[test]
    fn groups_of_another_order_and_too_deep_ones_end_no_frame() {
        let groups = OpenGroups::none();
        groups.push(2, true);
        assert!(!groups.pop(4), "of another order");
        for _ in 0..65 {
            groups.push(4, true);
        }
        assert!(!groups.pop(4), "65 deep");
        assert!(groups.pop(4), "64 deep");
    }
}
