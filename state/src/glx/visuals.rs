//! Visuals of X.

use crate::{Memory, Scope, Thread, Values};

/// Returns the number of the visual that an `XVisualInfo` of Xlib describes: its second word of 8 bytes.
pub fn visual_id<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    visual: u64,
) -> u64 {
    if visual == 0 { 0 } else { memory.element::<u64>(visual, 1) }
}
