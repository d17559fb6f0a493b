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

/// Returns the screen of the visual that an `XVisualInfo` of Xlib describes: its fifth word of 4 bytes. -1 for null.
pub fn visual_screen<S: Scope, M: Memory + ?Sized>(
    _thread: &mut Thread<S>,
    memory: &M,
    visual: u64,
) -> i64 {
    if visual == 0 { -1 } else { memory.element::<i32>(visual, 4).into() }
}
