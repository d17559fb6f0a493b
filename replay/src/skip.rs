//! `Skip`: the reason why a command is not played, as a clause.

use std::borrow::Cow;
use std::fmt;

/// The reason why a command was not played, as a clause: "the trace does not describe it".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skip(Cow<'static, str>);

impl From<&'static str> for Skip {
    fn from(why: &'static str) -> Self {
        Self(Cow::Borrowed(why))
    }
}

impl From<String> for Skip {
    fn from(why: String) -> Self {
        Self(Cow::Owned(why))
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Result of playing a command.
pub type Outcome = Result<(), Skip>;
