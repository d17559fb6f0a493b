//! Names that descriptions may use: enumerants and commands of the registries, and declarations. For an unknown name
//! the message suggests the most similar one, if at most a third of its letters differ, and four at most.

use std::collections::{BTreeMap, BTreeSet};

use super::super::source::Span;
use super::super::typed::{
    EnumId, ExternId, FunctionId, LayoutId, ObjectId, Scope, SizesId, StructId,
};
use super::api::Api;
use super::progress::ProcedureId;
use crate::registry::Command;

/// An item with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Declared {
    Object(ObjectId),
    Struct(StructId),
    Enum(EnumId),
    Layout(LayoutId),
    Sizes(SizesId),
    Function(FunctionId),
    Extern(ExternId),
    Procedure(ProcedureId),
}

pub(super) struct Names<'a> {
    pub apis: Vec<Api<'a>>,
    constants: BTreeMap<&'a str, i64>,
    groups: BTreeSet<&'a str>,
    pub declared: BTreeMap<String, (Declared, Span)>,
}

impl<'a> Names<'a> {
    pub fn new(apis: &[Api<'a>]) -> Self {
        let mut constants = BTreeMap::new();
        let mut groups = BTreeSet::new();
        for api in apis {
            groups.insert(api.catch_all);
            for (name, value) in &api.registry.constants {
                constants.entry(name.as_str()).or_insert(*value);
            }
            let enumerants = api.registry.enumerants.iter();
            groups.extend(enumerants.flat_map(|known| known.groups.iter().map(String::as_str)));
        }
        Self { apis: apis.to_vec(), constants, groups, declared: BTreeMap::new() }
    }

    /// The value of an enumerant.
    pub fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }

    pub fn is_group(&self, name: &str) -> bool {
        self.groups.contains(name)
    }

    pub fn command(&self, name: &str) -> Option<&'a Command> {
        self.apis.iter().find_map(|api| api.registry.commands.get(name))
    }

    pub fn declared(&self, name: &str) -> Option<Declared> {
        self.declared.get(name).map(|(declared, _)| *declared)
    }

    /// The enumerant whose name is most similar to `name`.
    pub fn like_constant(&self, name: &str) -> Option<&str> {
        nearest(name, self.constants.keys().copied())
    }

    pub fn like_command(&self, name: &str) -> Option<&str> {
        let commands = self.apis.iter().flat_map(|api| api.registry.commands.keys());
        nearest(name, commands.map(String::as_str))
    }

    pub fn like_declared(&self, name: &str) -> Option<&str> {
        nearest(name, self.declared.keys().map(String::as_str))
    }
}

/// The scope that a word denotes.
pub(super) fn scope(word: &str) -> Option<Scope> {
    Some(match word {
        "context" => Scope::Context,
        "share_group" => Scope::ShareGroup,
        "thread" => Scope::Thread,
        "process" => Scope::Process,
        _ => return None,
    })
}

pub(super) fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// The candidate with the smallest edit distance to `name`, if that is at most a third of its letters.
pub(super) fn nearest<'c>(
    name: &str,
    candidates: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    let most = (name.len() / 3).min(4);
    candidates
        .filter(|candidate| *candidate != name && candidate.len().abs_diff(name.len()) <= most)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance: the number of letters to insert, remove or change.
fn distance(left: &str, right: &str) -> usize {
    let right = right.as_bytes();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, a) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, b) in right.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = change.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_found_and_a_far_one_is_not() {
        let check = |name: &str, expected: Option<&str>| {
            let known = ["GL_ARRAY_BUFFER", "GL_ELEMENT_ARRAY_BUFFER", "GL_TEXTURE_2D"];
            assert_eq!(nearest(name, known.into_iter()), expected);
        };
        check("GL_ARRAY_BUFER", Some("GL_ARRAY_BUFFER"));
        check("GL_TEXTURE2D", Some("GL_TEXTURE_2D"));
        check("GL_SOMETHING_ELSE", None);
        check("x", None);
    }
}
