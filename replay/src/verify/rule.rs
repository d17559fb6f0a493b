//! Rules of comparison ([`Rule`]: exact, names, presence, locations, a property of the driver, a query, a wait, a poll,
//! or varying for a reason), and the form of the generated table that says which rule an answer has. The first target
//! that fits an answer holds.

use gapii_commands::CommandId;

use super::why::Why;
use crate::names::Kind;

/// How an answer is compared. `answers` items of the descriptions (`docs/apilang.md`) have a word for
/// each rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// It equals the recorded answer, bit by bit.
    Exact,
    /// Names of objects of this kind: each is the driver's name of the recorded object.
    Names(Kind),
    /// Handles, addresses, and names whose kind the answer does not tell: each is null exactly if the
    /// recorded one is null.
    Presence,
    /// Locations and indices: each has all bits set, which means none, exactly if the recorded one has.
    Locations,
    /// A property of the driver: exact if the driver is that of the recording.
    Driver,
    /// As [`Self::Driver`]. The answer also tells whether the driver is that of the recording.
    DriverIdentity,
    /// The result of a query object: exact, unless it is a time or the specification leaves the count to
    /// the driver.
    QueryResult,
    /// The result of a wait: it fails exactly if the recorded wait failed.
    Waited,
    /// Whether work is done: if it was done in the recording, it is done here.
    Polled,
    /// Any answer is right, for this reason.
    Varies(Why),
}

/// The answers of a command that a target is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answers {
    /// All answers.
    All,
    /// The result.
    Result,
    /// What the driver writes at the target's parameter.
    Output,
    /// Fields of this name in the structs that the driver writes at the target's parameter.
    Field(&'static str),
    /// All answers if the target's parameter, an enum, has one of these values, which are sorted.
    Values(&'static [u64]),
}

/// A target of an `answers` item: answers of some commands, and their rule.
#[derive(Debug)]
pub struct Target {
    /// The commands by id, each with the parameter that `answers` is about; 0 if it is about none.
    pub commands: &'static [(CommandId, u8)],
    /// The answers of these commands.
    pub answers: Answers,
    /// The rule.
    pub rule: Rule,
}

/// Defines the table `TARGETS`. Sets of commands and of values have names, so that targets share them.
macro_rules! answers {
    (
        commands { $($commands:ident $($command:ident $(.$param:literal)?)*;)* }
        values { $($values:ident $($value:literal)*;)* }
        targets { $($of:ident [$($part:tt)*] => $rule:expr;)* }
    ) => {
        $(static $commands: &[(gapii_commands::CommandId, u8)] =
            &[$((gapii_commands::CommandId::$command, 0 $(+ $param)?)),*];)*
        $(static $values: &[u64] = &[$($value),*];)*

        /// Targets of all `answers` items in their order: the first one that fits an answer holds.
        pub static TARGETS: &[$crate::verify::Target] = &[$(
            $crate::verify::Target {
                commands: $of,
                answers: $crate::verify::part!($($part)*),
                rule: $rule,
            },
        )*];
    };
}

/// The [`Answers`] of a target.
macro_rules! part {
    (all) => {
        $crate::verify::Answers::All
    };
    (result) => {
        $crate::verify::Answers::Result
    };
    (output) => {
        $crate::verify::Answers::Output
    };
    (field $name:literal) => {
        $crate::verify::Answers::Field($name)
    };
    (values $set:ident) => {
        $crate::verify::Answers::Values($set)
    };
}
pub(crate) use {answers, part};
