//! Callbacks by which a replay reports its progress, every 16,384 commands of the survey and every 256 commands that are
//! played, and by which it can be cancelled: asked for as often in the survey, and before each command that is played.

/// Callbacks of a replay. They run on the thread that plays.
pub trait Events: Send {
    /// Called at the end of a frame.
    fn frame(&mut self, frame: &FrameEnd) {
        let _ = frame;
    }

    /// Called before each command that is played, with its number.
    fn command(&mut self, seq: Option<u64>) {
        let _ = seq;
    }

    /// Called once, where [`Options::hold`](crate::Options::hold) says.
    fn held(&mut self, held: &Held) {
        let _ = held;
    }

    /// Called before anything is played: `done` of `of` commands have been surveyed; `of` is 0 if
    /// the total is unknown.
    fn surveyed(&mut self, done: u64, of: u64) {
        let _ = (done, of);
    }

    /// Called during play: `done` of `of` commands are done; `of` is 0 if the total is unknown.
    fn progress(&mut self, done: u64, of: u64) {
        let _ = (done, of);
    }

    /// Whether the replay has to stop before the next command.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// [`Events`] that ignores everything.
pub struct Quiet;

impl Events for Quiet {}

/// A replay that is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// `seq` of the command that is played next.
    pub seq: u64,
    /// Whether no snapshot could be made before the wanted command.
    pub is_late: bool,
    /// Number of unused objects that were deleted.
    pub dropped: u64,
}

/// The end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameEnd {
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of the frame within its process, from 0.
    pub frame: u64,
    /// `seq` of the command that ended the frame.
    pub seq: u64,
}
