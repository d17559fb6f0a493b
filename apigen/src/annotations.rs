//! What `apis/*.toml` adds to the registry.
//!
//! Each table of a file is a concept; `apis/README.md` describes its fields. Names are only
//! collected here, with their places; [`crate::resolve`] knows which of them exist.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::extent::{self, Extent};
use crate::problem::Problem;

/// The concepts of one file.
#[derive(Debug)]
pub struct File<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// In the order of the file.
    pub concepts: Vec<Concept>,
}

/// A table of an annotation file.
#[derive(Default, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Concept {
    #[serde(default)]
    pub effect: Effects,
    /// Extents by `command.parameter`.
    #[serde(default)]
    pub extent: BTreeMap<Spanned<String>, Spanned<String>>,
    /// `command.parameter`s that the command reads though their type is not `const`.
    #[serde(default)]
    pub input: Vec<Spanned<String>>,
    /// `command.parameter`s and `command.result`s by the enum group their values belong to.
    #[serde(default)]
    pub group: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    /// Tables of sizes: number of elements by the value of an enum argument.
    #[serde(default)]
    pub sizes: BTreeMap<Spanned<String>, Sizes>,
    /// Commands with a hand-written part.
    #[serde(default)]
    pub hook: BTreeMap<Spanned<String>, Hook>,
    /// Names that stand for their value before all others.
    #[serde(default)]
    pub prefer: Vec<Spanned<String>>,
}

/// Commands by the moment they take effect.
#[derive(Default, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Effects {
    #[serde(default)]
    pub enter: Vec<Spanned<String>>,
    #[serde(default)]
    pub leave: Vec<Spanned<String>>,
    #[serde(default)]
    pub recorded: Vec<Spanned<String>>,
}

/// A table of sizes.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// For values that no case names; 0 leaves them unobserved.
    pub default: u16,
    #[serde(default)]
    pub cases: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

/// Which hand-written functions a hooked command calls besides the hook itself.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    #[serde(default)]
    pub enter_flags: bool,
    #[serde(default)]
    pub leave_flags: bool,
}

/// Parses an annotation file.
pub fn parse<'a>(name: &'a str, text: &'a str) -> Result<File<'a>, Problem> {
    let concepts: BTreeMap<Spanned<String>, Concept> = toml::from_str(text).map_err(|error| {
        Problem::at(name, text, error.span().unwrap_or(0..0), error.message().to_owned())
    })?;
    let mut concepts: Vec<_> = concepts.into_iter().collect();
    concepts.sort_by_key(|(name, _)| name.span().start);
    let concepts = concepts.into_iter().map(|(_, concept)| concept).collect();
    Ok(File { name, text, concepts })
}

impl File<'_> {
    /// A mistake at `at` of this file.
    pub fn problem(&self, at: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::at(self.name, self.text, at, message)
    }

    /// Parses the value of an `extent` entry.
    pub fn extent(&self, value: &Spanned<String>) -> Result<Extent, Problem> {
        extent::parse(value.get_ref()).map_err(|error| {
            self.problem(value.span(), format!("extent `{}`: {error}", value.get_ref()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concept_is_read_with_the_places_of_its_names() {
        let text = "[frames]\neffect.leave = [\"glFinish\"]\n";
        let file = parse("apis/x.toml", text).unwrap();
        let name = &file.concepts[0].effect.leave[0];
        assert_eq!(name.get_ref(), "glFinish");
        assert_eq!(file.problem(name.span(), "m").to_string(), "apis/x.toml:2: m");
    }

    #[test]
    fn unknown_field_is_rejected_with_its_line() {
        let problem = parse("apis/x.toml", "[a]\n[b]\nlenght = 1\n").unwrap_err();
        assert_eq!(problem.line, 3);
    }
}
