//! `PendingErrors`: the contexts whose GL errors are asked for where a part of a trace begins to be recorded. Asks nothing itself.

use std::collections::HashSet;

/// Where the player looks for pending errors.
#[derive(Default)]
pub struct PendingErrors {
    begin: Begin,
    /// Contexts, by process and handle, that were asked.
    asked: HashSet<(u32, u64)>,
}

/// When the part begins.
#[derive(Default)]
enum Begin {
    #[default]
    Never,
    AtFrameEnd,
    Begun,
}

impl PendingErrors {
    /// Notes that the part begins with the next command, or at the end of the present frame.
    pub fn begin(&mut self, at_any_command: bool) {
        self.begin = if at_any_command { Begin::Begun } else { Begin::AtFrameEnd };
    }

    /// Notes the end of a frame.
    pub fn frame_ended(&mut self) {
        if matches!(self.begin, Begin::AtFrameEnd) {
            self.begin = Begin::Begun;
        }
    }

    /// Whether the part has begun.
    pub fn are_looked_for(&self) -> bool {
        matches!(self.begin, Begin::Begun)
    }

    /// Whether this context must be asked. It is asked once.
    pub fn ask(&mut self, context: (u32, u64)) -> bool {
        self.asked.insert(context)
    }
}
