//! `FrameClock`: how long frames took, from the times at which they ended. A frame is as long as the time since the end of
//! the frame before, of the same process; the first one of a trace has no length.

use std::collections::BTreeMap;

use gapii_trace::Command;

/// Measures frames. It has to see the commands that end frames, in their order.
#[derive(Clone, Debug, Default)]
pub struct FrameClock {
    /// By process: when its last frame ended, in nanoseconds.
    ends: BTreeMap<u32, u64>,
}

impl FrameClock {
    /// Returns how long the frame took that the command ended, in nanoseconds. `None` if it ended none, or if the trace does
    /// not tell.
    pub fn look(&mut self, command: &Command<'_>) -> Option<u64> {
        let end_ns = command.frame_end_ns?;
        let before_ns = self.ends.insert(command.process, end_ns)?;
        end_ns.checked_sub(before_ns)
    }
}
