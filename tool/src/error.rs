//! `Error`: why an operation on a tracer failed.

use gapii_tool_api::{
    GAPII_DRAINING, GAPII_ENABLED, GAPII_NO_SUCH_COMMAND, GAPII_OK, GAPII_SECURE_EXECUTION,
    gapii_result,
};

/// Why an operation on a tracer failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("libgapii.so is not in this process; start the program with `gapii-ctl run`")]
    NotLoaded,
    #[error("the libgapii.so in this process has no {0}; it is older than this tool")]
    Older(&'static str),
    #[error("the libgapii.so in this process does not have the command {0}")]
    NoSuchCommand(&'static str),
    #[error("the tracer is enabled; disable it first")]
    Enabled,
    #[error("calls that began while the tracer was enabled have not ended")]
    Draining,
    #[error("the program runs with other rights than its caller has, so tracers stay disabled")]
    SecureExecution,
    #[error("libgapii.so returned the unknown result code {0}")]
    Other(i32),
}

impl Error {
    /// Converts the result code of an operation about `command` to a `Result`.
    pub(crate) fn check(answer: gapii_result, command: &'static str) -> Result<(), Self> {
        match answer {
            GAPII_OK => Ok(()),
            GAPII_NO_SUCH_COMMAND => Err(Self::NoSuchCommand(command)),
            GAPII_ENABLED => Err(Self::Enabled),
            GAPII_DRAINING => Err(Self::Draining),
            GAPII_SECURE_EXECUTION => Err(Self::SecureExecution),
            other => Err(Self::Other(other)),
        }
    }
}
