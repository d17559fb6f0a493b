//! `Failure`: why a command failed, as one sentence, and its exit status: 1 for a negative answer, 2 for wrong usage, 3
//! if something cannot be reached or is not allowed, 0 without a message if the reader of standard output is gone.
//! Nothing here prints or exits.

use std::fmt;

/// Exit status of a failure. 0 means success; `run` also returns the program's own status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The reader of standard output has closed it; no message is printed.
    ReaderGone = 0,
    /// The command completed with a negative answer (status 1).
    No = 1,
    /// The command line is invalid (status 2).
    Usage = 2,
    /// Something needed cannot be reached or is not allowed (status 3).
    Unreachable = 3,
}

/// A message for the user: lower case, no full stop, with the offending value and what to do about it.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub sentence: String,
}

impl Failure {
    pub fn no(sentence: impl Into<String>) -> Failure {
        Failure { kind: Kind::No, sentence: sentence.into() }
    }

    pub fn usage(sentence: impl Into<String>) -> Failure {
        Failure { kind: Kind::Usage, sentence: sentence.into() }
    }

    pub fn unreachable(sentence: impl Into<String>) -> Failure {
        Failure { kind: Kind::Unreachable, sentence: sentence.into() }
    }

    pub fn reader_gone() -> Failure {
        Failure { kind: Kind::ReaderGone, sentence: "standard output was closed".to_owned() }
    }

    pub fn status(&self) -> u8 {
        self.kind as u8
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}
