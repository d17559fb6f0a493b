//! Who follows a replay hears how it goes on.

/// Hears how a replay goes on, on the thread that plays.
pub trait Events: Send {
    /// A frame has ended.
    fn frame(&mut self, frame: &FrameEnd) {
        let _ = frame;
    }

    /// So many commands of so many have been looked through, before anything is played; `of` is 0
    /// where nobody knows.
    fn surveyed(&mut self, done: u64, of: u64) {
        let _ = (done, of);
    }

    /// So many commands of so many are done; `of` is 0 where nobody knows.
    fn progress(&mut self, done: u64, of: u64) {
        let _ = (done, of);
    }

    /// Whether to stop at the next occasion.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing.
pub struct Quiet;

impl Events for Quiet {}

/// The end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameEnd {
    /// Index of the process in the trace.
    pub process: u32,
    /// From 0, within its process.
    pub frame: u64,
    /// The command that ended it.
    pub seq: u64,
}
