//! Surfaces of the trace and their sizes, as far as the trace tells: limits of the context, queries, observed frames,
//! pbuffer attributes, and while none of these is known the end of the first viewport. A later viewport of a window
//! resizes it, but does not make it smaller once the program has used parts of it. At most 4,096 sizes of a surface are
//! noted (`SIZES_MAX`).

/// Largest number of size changes of a surface.
const SIZES_MAX: usize = 1 << 12;

/// A surface of the trace.
#[derive(Clone, Debug, Default)]
pub struct SurfaceFacts {
    /// Whether the window system determines the size.
    pub is_native: bool,
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of its configuration.
    pub config: u64,
    /// Sizes in pixels, each with the number of swaps after which it applies, in order.
    pub(super) sizes: Vec<(u64, (u32, u32))>,
    /// End of the first viewport, used while no size is known.
    viewport: Option<(u32, u32)>,
    /// Number of swaps so far.
    pub(super) swaps: u64,
    /// Whether a viewport covered only a part of the surface.
    has_parts: bool,
}

impl SurfaceFacts {
    /// A surface of which only the configuration is known.
    pub(super) fn new(is_native: bool, process: u32, config: u64) -> Self {
        Self { is_native, process, config, ..Self::default() }
    }

    /// Width and height after this number of swaps, as far as the trace tells.
    pub fn size(&self, swaps: u64) -> Option<(u32, u32)> {
        let later = self.sizes.partition_point(|(from, _)| *from <= swaps);
        let known = self.sizes.get(later.saturating_sub(1)).map(|(_, size)| *size);
        known.or(self.viewport)
    }

    /// Learns from a viewport. A program whose window got another size sets the new size as
    /// viewport. If the program also sets parts of its window as viewport, a smaller viewport may
    /// be such a part, so the surface is not made smaller.
    pub(super) fn see_viewport(&mut self, viewport: [i32; 4]) {
        let [x, y, width, height] = viewport.map(|number| u32::try_from(number).unwrap_or(0));
        let end = (x.saturating_add(width), y.saturating_add(height));
        if width == 0 || height == 0 {
            return;
        }
        let known = self.size(self.swaps);
        self.viewport.get_or_insert(end);
        let Some(known) = known.filter(|known| self.is_native && *known != end) else { return };
        if x != 0 || y != 0 || self.swaps == 0 {
            self.has_parts = true;
        } else if self.has_parts {
            self.learn((known.0.max(width), known.1.max(height)));
        } else {
            self.learn((width, height));
        }
    }

    /// Notes the size from the present number of swaps on. Sizes without area are ignored.
    pub(super) fn learn(&mut self, size: (u32, u32)) {
        let is_known = !self.sizes.is_empty() && self.size(self.swaps) == Some(size);
        if size.0 == 0 || size.1 == 0 || is_known || self.sizes.len() >= SIZES_MAX {
            return;
        }
        match self.sizes.last_mut() {
            Some((from, last)) if *from == self.swaps => *last = size,
            _ => self.sizes.push((self.swaps, size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_of_a_surface_changes_at_swaps() {
        let mut facts = SurfaceFacts { is_native: true, ..SurfaceFacts::default() };
        assert_eq!(facts.size(0), None);
        facts.viewport = Some((9, 9));
        assert_eq!(facts.size(0), Some((9, 9)));
        for (swaps, size) in [(0, (300, 200)), (1, (300, 200)), (4, (310, 200)), (4, (310, 220))] {
            facts.swaps = swaps;
            facts.learn(size);
        }
        facts.learn((0, 7));
        assert_eq!(facts.sizes, [(0, (300, 200)), (4, (310, 220))]);
        for (swaps, size) in [(0, (300, 200)), (3, (300, 200)), (4, (310, 220)), (9, (310, 220))] {
            assert_eq!(facts.size(swaps), Some(size), "{swaps} swaps");
        }
    }

    /// Checks the size that viewports after given numbers of swaps yield for a window of 300 by
    /// 200.
    fn check_viewports(viewports: &[(u64, [i32; 4])], expected: (u32, u32)) {
        let mut facts = SurfaceFacts { is_native: true, ..SurfaceFacts::default() };
        facts.learn((300, 200));
        for (swaps, viewport) in viewports {
            facts.swaps = *swaps;
            facts.see_viewport(*viewport);
        }
        assert_eq!(facts.size(9), Some(expected), "{viewports:?}");
    }

    #[test]
    fn window_gets_the_size_of_the_viewports_unless_they_are_parts_of_it() {
        let all = [0, 0, 300, 200];
        check_viewports(&[(0, all), (1, all)], (300, 200));
        check_viewports(&[(0, all), (1, [0, 0, 120, 333])], (120, 333));
        check_viewports(&[(0, [0, 0, 150, 200]), (1, [0, 0, 120, 333])], (300, 333));
        check_viewports(&[(0, all), (1, [150, 0, 300, 200]), (2, [0, 0, 9, 9])], (300, 200));
        check_viewports(&[(0, [0, 0, 1000, 1000]), (1, all)], (300, 200));
        check_viewports(&[(0, all), (1, [0, 0, 0, 7]), (2, [-5, -5, 0, 0])], (300, 200));
    }

    #[test]
    fn size_learned_late_applies_from_the_start() {
        let mut facts = SurfaceFacts { swaps: 3, is_native: true, ..SurfaceFacts::default() };
        facts.learn((64, 48));
        assert_eq!(facts.size(0), Some((64, 48)));
    }
}
