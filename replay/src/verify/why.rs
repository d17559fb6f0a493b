//! Reasons why answers may differ.

/// Reason why an answer may differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Why {
    /// The driver is not that of the recording, or the recording does not identify its driver.
    AnotherDriver,
    /// The answer is a time, or tells whether something was ready in time.
    Time,
    /// The answer's form is specific to the driver.
    OwnForm,
    /// The specification leaves the count to the driver.
    Counter,
    /// A window's pixel format may differ from that of the pbuffer that replaces it.
    WindowFormat,
    /// The command failed in the recording and here. The recorded bytes are what the program had in
    /// that memory before.
    NothingWritten,
    /// The command failed in the recording, and replay does not pass such arguments to the driver.
    NotPlayed,
    /// The query began before the recording, so that its count is not known.
    BeforeRecording,
    /// Callbacks are code of the program, which does not exist here.
    Callback,
}

impl Why {
    /// The reason as reports and docs/replay.md name it.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::AnotherDriver => "the driver is not known to be that of the recording",
            Self::Time => "timing",
            Self::OwnForm => "a driver-specific form",
            Self::Counter => "a driver-specific count",
            Self::WindowFormat => "a window replaced by a pbuffer",
            Self::NothingWritten => "nothing was written, the command failed",
            Self::NotPlayed => "not played, the command had failed",
            Self::BeforeRecording => "counted before the recording",
            Self::Callback => "a callback of the program",
        }
    }
}
