//! `Repeats`: the last frame, played again and again. Its commands are played on the state that they have left: nothing is put
//! back, and objects that it makes are made again. Commands of other processes, of other frames, and of a snapshot are not
//! repeated, and no thread ends before the last round of the frame.

use gapii_trace::Command;
use gapii_trace::reader::Mark;

/// The frame that is repeated, and the rounds that are left.
#[derive(Default)]
pub struct Repeats {
    left: u64,
    /// Process and number.
    frame: Option<(u32, u64)>,
    /// Where the frame begins.
    begin: Option<Mark>,
    is_repeating: bool,
}

impl Repeats {
    /// Repeats `frame` so often; `begin` is the beginning of the trace.
    pub fn new(frame: Option<(u32, u64)>, times: u64, begin: Mark) -> Self {
        Self { left: times, frame, begin: Some(begin), is_repeating: false }
    }

    /// Whether this command was played before, and is not repeated.
    pub fn passes_over(&self, command: &Command<'_>) -> bool {
        self.is_repeating
            && (command.seq.is_none() || command.is_setup || !self.is_in_frame(command))
    }

    /// Whether commands are repeated.
    pub fn are_on(&self) -> bool {
        self.is_repeating
    }

    /// Whether the thread of this command may have to play again.
    pub fn keep_thread(&self, command: &Command<'_>) -> bool {
        self.is_repeating || self.left > 0 && self.is_in_frame(command)
    }

    /// Notes that a frame has ended at the present place of the trace. Returns where to go back to, if the frame is repeated.
    pub fn frame_ended(
        &mut self,
        (process, frame): (u32, u64),
        here: impl FnOnce() -> Mark,
    ) -> Option<&Mark> {
        let (of, last) = self.frame.filter(|_| self.left > 0 || self.is_repeating)?;
        if of == process && frame + 1 == last {
            self.begin = Some(here());
        }
        if (of, last) != (process, frame) {
            return None;
        }
        self.is_repeating = self.left > 0;
        self.left = self.left.checked_sub(1)?;
        self.begin.as_ref()
    }

    fn is_in_frame(&self, command: &Command<'_>) -> bool {
        self.frame == Some((command.process, command.frame))
    }
}
