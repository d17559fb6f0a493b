//! Why answers may differ.

/// Why something may be other than recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Why {
    /// The driver is not the one of the recording, or nothing recorded says which that was.
    AnotherDriver,
    /// It is a time, or tells whether something was ready in time.
    Time,
    /// It is in a form that is the driver's own business.
    OwnForm,
    /// It counts what drivers may count as they like.
    Counter,
    /// A window is stored otherwise than the pbuffer that stands for it.
    WindowFormat,
    /// The command failed, as it had in the recording, and what was recorded is what the program
    /// had in that memory.
    NothingWritten,
    /// The command failed in the recording, and replay does not call the driver with such arguments.
    NotPlayed,
    /// It was counted, at least in part, before the recording began.
    BeforeRecording,
    /// Callbacks are code of the program, which is not there.
    Callback,
}

impl Why {
    /// The reason as reports and docs/replay.md name it.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::AnotherDriver => "the driver is not known to be that of the recording",
            Self::Time => "a matter of time",
            Self::OwnForm => "a form of the driver's own",
            Self::Counter => "counted as drivers like",
            Self::WindowFormat => "a window's format, and a pbuffer's",
            Self::NothingWritten => "nothing was written, the command failed",
            Self::NotPlayed => "not played, the command had failed",
            Self::BeforeRecording => "counted before the recording",
            Self::Callback => "a callback of the program",
        }
    }
}
