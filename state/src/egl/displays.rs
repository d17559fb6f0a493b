//! The end of a display: all that belongs to it goes.

use crate::{Memory, Thread};

/// All that belongs to a display goes; what is current stays until it no longer is.
pub fn terminate<M: Memory + ?Sized>(thread: &mut Thread, _memory: &M, display: u64) {
    thread.process.contexts().terminate(display);
}
