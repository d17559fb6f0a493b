//! `Failure`: why a command failed, as one sentence, and its exit status: 1 for a negative answer, 2 for wrong usage, 3
//! if something cannot be reached or is not allowed, 0 without a message if the reader of standard output is gone. `run`,
//! whose status is the program's, has the statuses of env(1) and timeout(1) for its own failures: 127 and 126 for a
//! program that is missing or cannot be executed, and 125 for all else.
//! Nothing here prints or exits.
//!
//! A sentence says what, why, and in backticks what to type. In a build for development a refusal without something to type
//! panics; only an [answer](Failure::answer) and the words of [the system](Failure::system) need nothing.

use std::fmt;

use crate::emptiness::reason::{Emptiness, Reason};

/// Name of the command whose exit status is that of the program that it starts.
pub const RUN: &str = "run";

/// Exit status of `run` if it fails itself, and not its program.
pub const RUN_FAILED: u8 = 125;

/// Sort of a failure, which decides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The reader of standard output has closed it; no message is printed (status 0).
    ReaderGone,
    /// The command completed with a negative answer (status 1).
    No,
    /// The command line is invalid (status 2).
    Usage,
    /// Something needed cannot be reached or is not allowed (status 3).
    Unreachable,
    /// The program that `run` is to start may not or cannot be executed (status 126).
    NotExecutable,
    /// The program that `run` is to start does not exist (status 127).
    NoProgram,
}

/// A message for the user: lower case, no full stop, with the offending value and what to do about it.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub sentence: String,
    /// Why a capture is empty, if this is the failure.
    pub reason: Option<Reason>,
}

impl Failure {
    fn new(kind: Kind, sentence: impl Into<String>) -> Failure {
        Failure { kind, sentence: sentence.into(), reason: None }
    }

    /// The same failure, whose cause has a name in JSON.
    pub fn because(self, reason: Reason) -> Failure {
        Failure { reason: Some(reason), ..self }
    }

    /// The capture has no command.
    pub fn nothing_recorded(why: &Emptiness) -> Failure {
        Failure::answer(format!("nothing was recorded: {}", why.sentence)).because(why.reason)
    }

    /// There is no such thing.
    pub fn no(sentence: impl Into<String>) -> Failure {
        Failure::new(Kind::No, sentence).that_helps()
    }

    /// The command did what it was asked for, and this is what it found, or it was stopped.
    pub fn answer(sentence: impl Into<String>) -> Failure {
        Failure::new(Kind::No, sentence)
    }

    pub fn usage(sentence: impl Into<String>) -> Failure {
        Failure::new(Kind::Usage, sentence).that_helps()
    }

    pub fn unreachable(sentence: impl Into<String>) -> Failure {
        Failure::new(Kind::Unreachable, sentence).that_helps()
    }

    /// The operating system, the driver or a process on the other side refuses something, in its own words.
    pub fn system(sentence: impl Into<String>) -> Failure {
        Failure::new(Kind::Unreachable, sentence)
    }

    /// What to type, as it stands in backticks.
    pub fn to_type(&self) -> Vec<String> {
        self.sentence.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    fn that_helps(self) -> Failure {
        debug_assert!(!self.to_type().is_empty(), "it does not say what to type: {self}");
        self
    }

    pub fn reader_gone() -> Failure {
        Failure::new(Kind::ReaderGone, "standard output was closed")
    }

    pub fn not_executable(sentence: impl Into<String>) -> Failure {
        Failure::new(Kind::NotExecutable, sentence)
    }

    pub fn no_program(sentence: impl Into<String>) -> Failure {
        Failure::new(Kind::NoProgram, sentence).that_helps()
    }

    /// Exit status of `command`, such as `start`, that fails like this.
    pub fn status_of(&self, command: &str) -> u8 {
        match self.kind {
            Kind::ReaderGone => 0,
            Kind::NotExecutable => 126,
            Kind::NoProgram => 127,
            Kind::No | Kind::Usage | Kind::Unreachable if command == RUN => RUN_FAILED,
            Kind::No => 1,
            Kind::Usage => 2,
            Kind::Unreachable => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_says_what_to_type_and_an_answer_need_not() {
        assert_eq!(Failure::no("none; try `this` or `that`").to_type(), ["this", "that"]);
        assert!(Failure::answer("nothing differs").to_type().is_empty());
        assert!(std::panic::catch_unwind(|| Failure::usage("wrong")).is_err());
    }

    #[test]
    fn own_failures_of_run_have_statuses_that_programs_rarely_have() {
        let failures = [Failure::no("`a`"), Failure::usage("`a`"), Failure::unreachable("`a`")];
        assert_eq!(failures.each_ref().map(|failure| failure.status_of("start")), [1, 2, 3]);
        assert_eq!(failures.each_ref().map(|failure| failure.status_of(RUN)), [125; 3]);
        assert_eq!(Failure::not_executable("`a`").status_of(RUN), 126);
        assert_eq!(Failure::no_program("`a`").status_of(RUN), 127);
    }
}
