//! `Failure`: why a command ends without having done its job, in one sentence, with the exit
//! status that goes with it.
//!
//! Knows no other way out: nothing here prints or exits.

use std::fmt;

/// What the exit status says, apart from 0 (done) and the program's own (`run`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Who read our output went away; nothing is left to say to anybody.
    ReaderGone = 0,
    /// The question was answered, and the answer is no.
    No = 1,
    /// The command line asks for something that makes no sense.
    Usage = 2,
    /// Something needed can't be reached or is not allowed.
    Unreachable = 3,
}

/// A sentence for the person who typed the command: lower case, no full stop, with the offending
/// value and what to do about it.
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
